#!/usr/bin/env python3
"""Counts what costs in the machine code of the two loops and of the kernels:

    python3 bench/jumps.py [--all] [ARCHIVE]      ARCHIVE: default build/libbjvm.a; --all: also functions without any

Indirect jumps (one at the end of each opcode's handler is what threaded dispatch is; a loop with a single one shares it),
indirect calls, direct calls, and loads and stores of the stack outside of prologue and epilogue: spills, and results that
callees write there. Needs objdump; knows x86-64 and AArch64."""
import argparse
import re
import subprocess
import sys
from pathlib import Path

LOOPS = ("bjvmi_encode_run", "bjvmi_decode_run")
# Objects whose functions are kernels, by source file.
KERNELS = ("base64.c", "encode_json.c", "encode_map.c", "num_int.c", "num_parse.c", "num_print.c", "sparse.c", "sparse_rows.c",
           "string_avx2.c", "string_neon.c", "string_portable.c", "string_sse2.c", "string_unescape.c", "utf8.c")
COLUMNS = ("instructions", "indirect jumps", "indirect calls", "calls", "stack loads", "stack stores", "saved")


class X86:
    """AT&T syntax: the operand that is written comes last."""
    frame = re.compile(r"^mov\s+%rsp,%rbp$")
    saved = re.compile(r"^(push|pop)")
    indirect_jump = re.compile(r"^(notrack )?jmp\s+\*")
    indirect_call = re.compile(r"^(notrack )?call\s+\*")
    call = re.compile(r"^call\s+[^*]")
    # Loads only, although the stack operand comes last or is the only one.
    reads_last = re.compile(r"^v?(cmp|test|ucomis|comis|ptest|bt |bt[lqw]? |mul|div|imul|idiv)")
    # Reads what it writes.
    both = re.compile(r"^(add|sub|and|or|xor|inc|dec|neg|not|sh[lr]|sar|adc|sbb)")

    @staticmethod
    def stack(text, framed):
        """(loads, stores) of the stack by one instruction."""
        base = r"%r[sb]p" if framed else r"%rsp"
        if text.startswith(("lea", "nop")) or not re.search(rf"\({base}[,)]", text):
            return 0, 0
        last = re.search(rf"\({base}[^)]*\)$", text) is not None
        if not last or X86.reads_last.match(text):
            return 1, 0
        return (1, 1) if X86.both.match(text) else (0, 1)


class Arm64:
    frame = re.compile(r"^mov\s+x29, sp$")
    saved = re.compile(r"^(stp|ldp|str|ldr)\s.*(\[sp, #-?\d+\]!|\[sp\], #\d+)")
    indirect_jump = re.compile(r"^br\s")
    indirect_call = re.compile(r"^blr\s")
    call = re.compile(r"^bl\s")

    @staticmethod
    def stack(text, framed):
        base = r"\[(sp|x29)\b" if framed else r"\[sp\b"
        if Arm64.saved.match(text) or not re.search(base, text):
            return 0, 0
        return (1, 0) if text.startswith("ld") else (0, 1) if text.startswith("st") else (0, 0)


def disassemble(archive):
    """[(object, function, [instructions])]"""
    run = subprocess.run(["objdump", "-d", "--no-show-raw-insn", archive], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(1)
    functions, member, arch = [], "", None
    for line in run.stdout.splitlines():
        started = re.match(r"(\S+):\s+file format elf64-(\S+)", line)
        if started:
            member = started.group(1)
            arch = {"x86-64": X86, "littleaarch64": Arm64}.get(started.group(2))
            if arch is None:
                sys.exit(f"jumps.py: {started.group(2)} is not known")
        elif re.match(r"[0-9a-f]+ <.*>:$", line):
            functions.append((member, line[line.index("<") + 1 : -2], []))
        elif re.match(r"\s+[0-9a-f]+:\t", line):
            text = re.sub(r"\s*(#|<|//).*", "", line.split("\t", 1)[1]).strip()
            functions[-1][2].append(text)
    return arch, functions


def count(arch, body):
    found = dict.fromkeys(COLUMNS, 0)
    framed = any(arch.frame.match(text) for text in body)
    found["instructions"] = sum(not text.startswith("nop") for text in body)
    for text in body:
        found["indirect jumps"] += bool(arch.indirect_jump.match(text))
        found["indirect calls"] += bool(arch.indirect_call.match(text))
        found["calls"] += bool(arch.call.match(text))
        found["saved"] += bool(arch.saved.match(text))
        loads, stores = arch.stack(text, framed)
        found["stack loads"] += loads
        found["stack stores"] += stores
    return found


def source(member):
    return re.sub(r"\.o(bj)?$", "", member.rsplit("/", 1)[-1]).split("_vm_")[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("archive", nargs="?", default=str(root / "build/libbjvm.a"))
    parser.add_argument("--all", action="store_true", help="kernels without stack traffic too")
    options = parser.parse_args()
    arch, functions = disassemble(options.archive)
    if not set(LOOPS) <= {name for _, name, _ in functions}:
        sys.exit(f"jumps.py: {options.archive} has no {' or no '.join(LOOPS)}")
    print("| function | of | " + " | ".join(COLUMNS) + " |")
    print("| :-- | :-- |" + " --: |" * len(COLUMNS))
    clean = []
    rows = [f for f in functions if f[1].split(".")[0] in LOOPS]
    rows += sorted((f for f in functions if source(f[0]) in KERNELS), key=lambda f: (source(f[0]), f[1]))
    for member, name, body in rows:
        found = count(arch, body)
        if name.split(".")[0] not in LOOPS and not options.all and not (found["stack loads"] or found["stack stores"]):
            clean.append(f"{name} ({source(member)})")
            continue
        print(f"| `{name}` | {source(member)} | " + " | ".join(str(found[c]) for c in COLUMNS) + " |")
    if clean:
        print(f"\nWithout loads or stores of the stack: {len(clean)} other kernel functions.")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
