#!/usr/bin/env python3
"""Every source file is named in the meson.build that builds it, and lists are sorted. A test that is not built would
otherwise be missing without a word. The same goes for public functions and the test of their arguments."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEST_ENDINGS = ("_test.c", "_fuzz.c", ".c")  # what a list leaves out of a file's name


def names(build_file):
    """All quoted words of a meson.build outside of comments."""
    return set(re.findall(r"'([^'\n]+)'", re.sub(r"(?m)#.*$", "", build_file.read_text())))


def check_rooms(errors):
    for room in ("vm", "planc", "lib"):
        listed = names(ROOT / room / "meson.build")
        for path in sorted(list((ROOT / room).glob("*.c")) + list((ROOT / room / "include/bjvm").glob("*"))):
            if str(path.relative_to(ROOT / room)) not in listed:
                errors.append(f"{path.relative_to(ROOT)}: not named in {room}/meson.build")


def check_tests(errors):
    listed = names(ROOT / "tests/meson.build")
    for path in sorted((ROOT / "tests").glob("*/*.c")):
        if (path.parent / "meson.build").exists() or path.name == "replay.c":
            continue
        ending = next(e for e in TEST_ENDINGS if path.name.endswith(e))
        spellings = {path.name[: -len(ending)], f"{path.parent.name}/{path.name}"}
        if not spellings & listed:
            errors.append(f"{path.relative_to(ROOT)}: not named in tests/meson.build")


def check_sorted(errors):
    for build_file in sorted(ROOT.glob("*/meson.build")):
        for block in re.findall(r"(?:files\(|\[)\n((?:[ \t]*'[^'\n]+',\n)+)", build_file.read_text()):
            items = re.findall(r"'([^'\n]+)'", block)
            if items != sorted(items):
                errors.append(f"{build_file.relative_to(ROOT)}: list with {items[0]} is not sorted")


def check_arguments(errors):
    test = (ROOT / "tests/unit/argument_test.c").read_text()
    for header in sorted(ROOT.glob("*/include/bjvm/*.h")):
        for name in re.findall(r"BJVM_API [^;()]*?\b(bjvm_\w+)\(", header.read_text()):
            if name + "(" not in test:
                errors.append(f"{header.relative_to(ROOT)}: {name} is not called in tests/unit/argument_test.c")


def main():
    errors = []
    check_rooms(errors)
    check_tests(errors)
    check_sorted(errors)
    check_arguments(errors)
    print("\n".join(errors) if errors else "every source is built")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
