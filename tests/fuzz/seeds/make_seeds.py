#!/usr/bin/env python3
"""Makes first seeds of the fuzz targets from the case table and its schema:  make_seeds.py OUT_DIR [PLANC]

One file per case in OUT_DIR/decode and OUT_DIR/encode, as fuzz.h lays an input out; with PLANC one plan file per type in
OUT_DIR/plan. The seeds of decode and encode beside this script are what libFuzzer's -merge=1 kept of these and of what it
found since: the smallest set with the same coverage. Those of plan are to be made again when the format changes.
"""
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent.parent
DECODE = {"ignore_unknown": 1, "last_wins": 2, "case_insensitive_enums": 4, "check_required": 8}
PLAN_OPTIONS = [[], ["--mini-descriptors"], ["--mini-descriptors", "--abi=64"], ["--abi=32"]]
ENCODE = {"use_proto_names": 1, "emit_defaults": 2, "enums_as_ints": 4, "int64_as_numbers": 8}


def types():
    text = (TESTS / "fuzz/fuzz.h").read_text()
    body = re.search(r"fuzz_types\[\] = \{(.*?)\};", text, re.S).group(1)
    return re.findall(r'"([^"]+)"', body)


def unescape(text):
    return re.sub(rb"\\([0-9a-fA-F]{2})", lambda m: bytes.fromhex(m.group(1).decode()), text.encode())


def flags(options, table):
    return sum(table.get(option, 0) for option in options.split(","))


def make_plans(planc, out, known):
    """Small files first of all: a change hits something that matters more often."""
    out.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in known if name not in ("cases.v3.Lots", "cases.v3.HasDense")]
    for number, name in enumerate(wanted):
        types = [name] if number % 4 else [name, wanted[number - 1]]
        command = [planc, "compile", "--descriptor-set", str(TESTS / "cases/cases.binpb"), "-o", str(out / f"{name}.bjp")]
        command += [word for name in types for word in ("--type", name)]
        command += ["--extensions"] * (number % 3 == 0) + PLAN_OPTIONS[number % len(PLAN_OPTIONS)]
        subprocess.run(command, check=True)


def main():
    out, known = Path(sys.argv[1]), types()
    for op in ("decode", "encode"):
        (out / op).mkdir(parents=True, exist_ok=True)
    for line in (TESTS / "cases/table.tsv").read_text().splitlines():
        column = line.split("\t")
        if line.startswith("#") or len(column) < 7 or column[2] not in known:
            continue
        name, op, options = column[0], column[3], column[4]
        head = [known.index(column[2]), flags(options, DECODE), flags(options, ENCODE), len(name) * 37 % 256]
        body = unescape(column[5]) if op == "decode" else bytes.fromhex(column[5])
        if len(body) < 4096:
            (out / op / name).write_bytes(bytes(head) + body)
        for answer in column[6:]:  # a message wanted is a message to print
            if op == "decode" and answer.startswith("pb:") and len(answer) < 8192:
                (out / "encode" / name).write_bytes(bytes(head) + bytes.fromhex(answer[3:]))
    if len(sys.argv) > 2:
        make_plans(sys.argv[2], out / "plan", known)


if __name__ == "__main__":
    main()
