#!/usr/bin/env python3
"""Sizes for size.sh.

size_table.py parts ARCHIVE SIZE      text, rodata, data and bss of the archive by part, as `SIZE -A` tells them
size_table.py head LABEL              the head of a table
size_table.py linked LABEL MAP        what a link map says remains of libbjvm-vm, upb and the rest
size_table.py largest PROGRAM NM      the largest functions and tables of bjvm in a linked program
"""
import re
import subprocess
import sys
from collections import defaultdict

PARTS = [  # the first pattern that matches an object's name
    ("print: loop, kernels, output", r"encode|pretty|output"),
    ("read: loop, keys, scalars", r"decode"),
    ("numbers", r"num_"),
    ("strings, UTF-8, base64", r"string_|utf8|base64|kernels"),
    ("time, field masks", r"time_text|mask"),
    ("verify", r"verify"),
    ("load, bind, tables", r"image|bind|table"),
    ("reports, status texts", r"error|fault|status|text"),
    ("listing (dump)", r"dump"),
    ("other", r""),
]
COLUMNS = ("text", "rodata", "data", "bss")


def column_of(section):
    for name in COLUMNS:
        if re.match(rf"\.{name}(\.|$)", section):
            # Constants with addresses in them; no one writes them.
            return "rodata" if section.startswith(".data.rel.ro") else name
    return None


def line(label, sizes):
    total = sizes["text"] + sizes["rodata"]
    print(f"  {label:<30}" + "".join(f"{sizes[c]:>9}" for c in COLUMNS) + f"{total:>13}")


def head(label):
    print(f"  {label:<30}" + "".join(f"{c:>9}" for c in COLUMNS) + f"{'text+rodata':>13}")


def parts(archive, size):
    table, total = defaultdict(lambda: defaultdict(int)), defaultdict(int)
    part = None
    for text in subprocess.run([size, "-A", archive], check=True, capture_output=True, text=True).stdout.splitlines():
        if match := re.match(r"(\S+)\s+\(ex ", text):
            part = next(label for label, pattern in PARTS if re.match(pattern, match.group(1)))
        elif (match := re.match(r"(\.\S+)\s+(\d+)", text)) and (column := column_of(match.group(1))):
            table[part][column] += int(match.group(2))
            total[column] += int(match.group(2))
    head("part of libbjvm-vm.a")
    for label, _ in PARTS:
        if label in table:
            line(label, table[label])
    line("all", total)


def linked(label, path):
    """Input sections of a GNU ld map: ` .text.name  0xADDRESS 0xSIZE file`, the name perhaps on a line of its own."""
    text = open(path).read().split("Linker script and memory map", 1)[1]
    owners = defaultdict(lambda: defaultdict(int))
    for section, size, file in re.findall(r"^ (\.[\w.$-]+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S.*)$", text, re.M):
        owner = "bjvm" if "libbjvm-vm.a" in file else "upb" if "libupb.a" in file or "utf8_range" in file else "rest"
        if column := column_of(section):
            owners[owner][column] += int(size, 16)
    line(f"{label}: bjvm", owners["bjvm"])
    line(f"{label}: upb", owners["upb"])


def largest(program, nm):
    output = subprocess.run([nm, "-S", "--size-sort", "-r", program], check=True, capture_output=True, text=True).stdout
    rows = [row.split() for row in output.splitlines() if len(row.split()) == 4]
    return [(int(size, 16), name) for _, size, _, name in rows]


def largest_of(program, nm, archive):
    """Only names that the archive defines: libc has large things too."""
    text = subprocess.run([nm, "--defined-only", archive], check=True, capture_output=True, text=True).stdout
    own = {row.split()[-1] for row in text.splitlines() if len(row.split()) == 3}
    for size, name in [entry for entry in largest(program, nm) if entry[1] in own][:24]:
        print(f"  {size:>6}  {name}")


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "head":
        head(*arguments)
    else:
        {"parts": parts, "linked": linked, "largest": largest_of}[command](*arguments)


if __name__ == "__main__":
    main()
