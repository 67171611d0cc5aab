#!/usr/bin/env python3
"""Makes table.tsv, the form of the case table that case_test reads, from open.jsonl.

  make_table.py            writes table.tsv beside this script
  make_table.py --check    exit 1 if table.tsv does not belong to open.jsonl (needs no protoc)

A developer's tool: messages written as text format become protobuf binary, with the protoc on PATH as the
reader. One case a line, columns separated by tabs:

  id  kind  type  op  options,with,commas  input  answer [answer...]

Input: of decode, JSON with every byte that is not printable ASCII, and the backslash, as \\hh; of encode,
protobuf binary in hex. An answer is `error`, `json:` and escaped text, or `pb:` and hex; any one of them will do.
The first line names the SHA-256 of open.jsonl.
"""
import hashlib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "open.jsonl"
TABLE = HERE / "table.tsv"
SCHEMAS = {"cases.v2.": "cases2.proto", "cases.ed.": "cases_ed.proto"}  # the rest: cases3.proto


def escape(data):
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else "\\%02x" % b for b in data)


def binary_of(type_name, text):
    """Text format to binary, by protoc."""
    schema = next((s for prefix, s in SCHEMAS.items() if type_name.startswith(prefix)), "cases3.proto")
    command = ["protoc", "-I" + str(HERE), "--encode=" + type_name, str(HERE / schema)]
    # Types that only an Any names must be imported too: protoc resolves them among all files it was given.
    others = [] if schema == "cases_ed.proto" else ["cases2.proto", "cases3.proto"]
    command += [str(HERE / other) for other in others if other != schema]
    done = subprocess.run(command, input=text.encode("utf-8"), capture_output=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.hex()


def answer(case, want):
    if want.get("error"):
        return ["error"]
    if "either" in want:
        return [one for choice in want["either"] for one in answer(case, choice)]
    if "json_any_of" in want:
        return ["json:" + escape(text.encode("utf-8")) for text in want["json_any_of"]]
    if "json" in want:
        return ["json:" + escape(want["json"].encode("utf-8"))]
    return ["pb:" + (want["pb_hex"] if "pb_hex" in want else binary_of(case["type"], want["text"]))]


def input_of(case):
    if case["op"] == "decode":
        return escape(bytes.fromhex(case["json_hex"]) if "json_hex" in case else case["json"].encode("utf-8"))
    return case["pb_hex"] if "pb_hex" in case else binary_of(case["type"], case["text"])


def row(case):
    columns = [case["id"], case["kind"], case["type"], case["op"], ",".join(case.get("opts", []))]
    return "\t".join(columns + [input_of(case)] + answer(case, case["want"])) + "\n"


def main():
    source = SOURCE.read_bytes()
    stamp = "# made by make_table.py from open.jsonl %s\n" % hashlib.sha256(source).hexdigest()
    cases = [json.loads(line) for line in source.decode("utf-8").split("\n") if line.strip()]
    if "--check" in sys.argv[1:]:
        with open(TABLE, encoding="ascii") as table:
            fresh = table.readline() == stamp
            fresh = [line.split("\t")[0] for line in table] == [c["id"] for c in cases] and fresh
        print("table.tsv is %s" % ("fresh" if fresh else "stale: run make_table.py"))
        return 0 if fresh else 1
    rows = []
    for case in cases:
        try:
            rows.append(row(case))
        except ValueError as problem:
            print("%s: %s" % (case["id"], problem), file=sys.stderr)
            return 1
    TABLE.write_text(stamp + "".join(rows), encoding="ascii")
    print("%d cases" % len(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
