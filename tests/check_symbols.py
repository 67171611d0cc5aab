#!/usr/bin/env python3
"""What the built libraries need and show:  check_symbols.py BUILD_DIR  (a release build)
                                           check_symbols.py ARCHIVE    (a libbjvm-vm.a of any architecture)

- libbjvm-vm.a asks for nothing but a few functions of string.h, the compiler's own helpers, and upb without reflection,
  JSON and binary codec: no heap, no stdio, no locale, no errno, no abort. It has no writable data.
- What the libraries show to whoever makes a shared object of them is what the public headers declare: visible names are bjvm_*,
  the others are hidden.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAY_NEED = re.compile(
    r"mem(cpy|move|set|cmp|chr)|str(len|cmp|ncmp)|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__mem(cpy|move|set)_chk"
    r"|__cpu_(model|indicator_init|features2)"  # __builtin_cpu_supports
    r"|__(u?div|u?mod|mul|ashl|ashr|lshr|clz|ctz|popcount|bswap|fix|float|extend|trunc|add|sub|[gln][te]|eq|unord|cmp|ucmp)\w*[sdt]?[ift]\d?"
    r"|__aeabi_\w+|__aarch64_\w+|__atomic_\w+|_?upb_\w+|kUpb_\w+|_kUpb_\w+|kWyhashSalt")
MUST_NOT_NEED = re.compile(
    r"_?upb_(DefPool|DefBuilder|FileDef|MessageDef|FieldDef|EnumDef|EnumValueDef|OneofDef|ExtensionRange|ServiceDef|MethodDef"
    r"|Json\w*|Encode\w*|Decode\w*|TextEncode|DefToProto|Message_\w*ByDef)\b|upb_Message_GetOrCreateMutableMessage")
WRITABLE = re.compile(r"^\.(data|bss|tdata|tbss)(\.(?!rel\.ro)|$)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needs(archive):
    """Undefined symbol -> the members that ask for it, without those another member defines."""
    wanted, defined, member = {}, set(), "?"
    for line in run("nm", "-g", str(archive)).splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif match := re.match(r"(?:[0-9a-f]+)?\s+([A-Za-z])\s+(\S+)$", line):
            if match.group(1) in "Uwv":
                wanted.setdefault(match.group(2), set()).add(member)
            else:
                defined.add(match.group(2))
    return {name: members for name, members in wanted.items() if name not in defined}


def check_needs(archive, errors):
    for name, members in sorted(needs(archive).items()):
        if not MAY_NEED.fullmatch(name) or MUST_NOT_NEED.match(name):
            errors.append(f"{archive.name}: {', '.join(sorted(members))} needs {name}")


def check_constant(archive, errors):
    for line in run("objdump", "-t", str(archive)).splitlines():
        match = re.match(r"[0-9a-f]+ .{7} (\S+)\s+([0-9a-f]+)\s+(?:\.hidden )?(\S+)$", line)
        if match and WRITABLE.match(match.group(1)) and int(match.group(2), 16) > 0:
            errors.append(f"{archive.name}: {match.group(3)} is writable data ({match.group(1)})")


def exported(library):
    """The global symbols of an archive that are not hidden."""
    shown = set()
    for line in run("objdump", "-t", str(library)).splitlines():
        match = re.match(r"[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+\s+(\.hidden )?(\S+)$", line)
        if match and match.group(1)[0] in "gu" and match.group(2) != "*UND*" and not match.group(3):
            shown.add(match.group(4))
    return shown


def declared(rooms):
    """The functions and objects that public headers mark with BJVM_API."""
    found = set()
    for room in rooms:
        for header in (ROOT / room / "include/bjvm").glob("*.h"):
            text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header.read_text(), flags=re.S)
            text = re.sub(r"(?m)^[ \t]*#.*$", "", text)
            found.update(re.findall(r"\bBJVM_API\b[^;{(]*?\b(\w+)\s*[\[(;]", text))
    return found


def check_exports(library, rooms, errors):
    shown, promised = exported(library), declared(rooms)
    errors += [f"{library.name}: exports {name}" for name in sorted(shown) if not re.match(r"bjvm_", name)]
    errors += [f"{library.name}: {name} is declared in a header and not exported" for name in sorted(promised - shown)]
    errors += [f"{library.name}: {name} is exported and in no public header"
               for name in sorted(shown - promised) if name.startswith("bjvm_")]


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    errors = []
    vm_static = build / "vm/libbjvm-vm.a" if build.is_dir() else build
    check_needs(vm_static, errors)
    check_constant(vm_static, errors)
    if build.is_dir():
        check_exports(build / "vm/libbjvm-vm.a", ["vm"], errors)
        check_exports(build / "libbjvm.a", ["vm", "planc", "lib"], errors)
    print("\n".join(errors) if errors else "symbols are as promised")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
