#!/usr/bin/env python3
"""Includes point one way:  vm <- planc library <- lib <- planc program.

Follows the quoted includes of every source of a room to the end; a file of a room that is out of reach is an error, so
is reflection or upb's own JSON in vm, and so is an internal name of upb anywhere but in vm/upb_layout.h and vm/upb_map.h.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("vm", "planc", "lib")
MAY_SEE = {"vm": {"vm"}, "planc": {"vm", "planc"}, "lib": {"vm", "planc", "lib"}}
SEAM = ("vm/upb_layout.h", "vm/upb_map.h")
NOT_IN_VM = re.compile(r"upb/(reflection|json|text|util)/|google/protobuf/|utf8proc")
INTERNAL_NAME = re.compile(r"\bUPB_PRIVATE\b|\bUPB_ONLYBITS\b|\b_upb_\w+|\w+_dont_copy_me\w*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', re.S)
TEXT_SUFFIXES = {".c", ".h", ".def", ".inc", ".py", ".sh", ".md", ".build", ".txt", ".proto", ".json", ""}
NOT_OURS = {".git", "packages"}


def strip_comments(text):
    return COMMENT.sub(lambda m: m.group() if m.group().startswith('"') else " ", text)


def program_files():
    """The sources of the planc program: they may see everything."""
    text = (ROOT / "planc/meson.build").read_text()
    found = re.search(r"planc_program_sources = files\((.*?)\)", text, re.S)
    return {ROOT / "planc" / name for name in re.findall(r"'([^']+)'", found.group(1))} if found else set()


def resolve(name, here):
    """The file of the tree that `#include "name"` in `here` means, or None."""
    own_room = here.relative_to(ROOT).parts[0]
    rooms = [own_room] + [room for room in ROOMS if room != own_room]
    folders = [here.parent] + [ROOT / room / sub for room in rooms for sub in ("", "include")]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def reach(source):
    """Every file of the tree that `source` includes, each with the file that named it."""
    seen, work = {}, [source]
    while work:
        here = work.pop()
        for _, name in INCLUDE.findall(strip_comments(here.read_text())):
            target = resolve(name, here)
            if target and target.resolve() not in seen and target.resolve() != source:
                seen[target.resolve()] = here
                work.append(target.resolve())
    return seen


def check_room(room, programs, errors):
    starts = [p for p in (ROOT / room).rglob("*") if p.suffix in (".c", ".h") and p not in programs]
    starts = [p for p in starts if p.suffix == ".c" or "include" in p.parts]
    for source in sorted(starts):
        for target, by in reach(source).items():
            other = target.relative_to(ROOT).parts[0]
            if other not in MAY_SEE[room]:
                errors.append(f"{by.relative_to(ROOT)}: includes {target.relative_to(ROOT)} (reached from "
                              f"{source.relative_to(ROOT)}): {room} must not see {other}")


def check_upb_names(errors):
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix not in (".c", ".h", ".def", ".inc"):
                continue
            where, text = str(path.relative_to(ROOT)), strip_comments(path.read_text())
            includes = [name for _, name in INCLUDE.findall(text)]
            if room == "vm":
                errors += [f"{where}: vm must not include {n}" for n in includes if NOT_IN_VM.search(n)]
            if where in SEAM:
                continue
            seam = " and ".join(SEAM)
            errors += [f"{where}: internal header {n}: only {seam} may" for n in includes
                       if n.startswith("upb/") and ("/internal/" in n or n.startswith("upb/port/"))]
            for number, line in enumerate(text.splitlines(), 1):
                errors += [f"{where}:~{number}: {m.group()} is internal to upb: only {seam} may use it"
                           for m in INTERNAL_NAME.finditer(line)]


def check_stays_inside(errors):
    outside = "../" + "shared"  # in two pieces, or this line would find itself
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if not path.is_file() or path.suffix not in TEXT_SUFFIXES or NOT_OURS & set(parts) or parts[0].startswith("build"):
            continue
        if outside in path.read_text(errors="ignore"):
            errors.append(f"{path.relative_to(ROOT)}: mentions {outside}")


def main():
    errors = []
    programs = program_files()
    for room in ROOMS:
        check_room(room, programs, errors)
    check_upb_names(errors)
    check_stays_inside(errors)
    print("\n".join(errors) if errors else "includes point one way")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
