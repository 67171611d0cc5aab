#!/usr/bin/env python3
"""Listings and bytes that must not change by accident:  golden_test.py PLANC [--update]

For each TYPE there are
    TYPE.json     messages, one a line, in canonical JSON with sorted maps
    TYPE.hex      the same messages in protobuf binary, in hex, one a line
    TYPE.listing  what `planc dump` prints for the type
Each line of JSON must decode to its line of hex, and that encode to the line of JSON, byte for byte. --update writes hex and
listings anew from the JSON and the program at hand; read the difference before you commit it.

Prints what failed, then `N passed, M failed`.
"""
import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = str(HERE.parent / "cases/cases.binpb")
WIDE = "golden.Wide"  # its schema is made here
TYPES = ["cases.ed.Ed", "cases.v2.P2", "cases.v3.HasDense", "cases.v3.Maps", "cases.v3.Mini", "cases.v3.Names",
         "cases.v3.One", "cases.v3.Wkt", WIDE]
WIDE_FIELDS = 500
TYPE_INT32, TYPE_STRING, OPTIONAL, REPEATED = 5, 9, 1, 3


# -- The schema of the wide message, in protobuf binary --------------------------------------------------------------


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def wide_field(n):
    """int32 item_N, and every third one a repeated string."""
    third = n % 3 == 0
    return (text(1, f"item_{n}") + number(3, n) + number(4, REPEATED if third else OPTIONAL)
            + number(5, TYPE_STRING if third else TYPE_INT32))


def wide_schema():
    """A FileDescriptorSet with `message Wide` of package golden, proto3."""
    message = text(1, "Wide") + b"".join(text(2, wide_field(n)) for n in range(1, WIDE_FIELDS + 1))
    return text(1, text(1, "wide.proto") + text(2, "golden") + text(4, message) + text(12, "proto3"))


# -- Running ----------------------------------------------------------------------------------------------------------


class Program:
    def __init__(self, path, folder):
        self.path = path
        self.wide = Path(folder) / "wide.binpb"
        self.wide.write_bytes(wide_schema())

    def run(self, command, kind, data=b"", *flags):
        """Standard output, or an exception that tells what went wrong."""
        schema = str(self.wide) if kind == WIDE else CASES
        done = subprocess.run([self.path, command, "--descriptor-set", schema, "--type", kind, *flags], input=data,
                              capture_output=True, timeout=60)
        if done.returncode != 0:
            raise ValueError(f"planc {command} exits with {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def decode(self, kind, json):
        return self.run("decode", kind, json.encode()).hex()

    def encode(self, kind, hexed):
        return self.run("encode", kind, bytes.fromhex(hexed), "--sort-map-keys").decode().removesuffix("\n")


def lines(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def difference(expected, got):
    return "\n".join(list(difflib.unified_diff(expected, got, "expected", "got", lineterm="", n=1))[:40])


def check_type(program, kind):
    """Yields (what, fault or None)."""
    expected, got = lines(HERE / f"{kind}.listing"), program.run("dump", kind).decode().splitlines()
    yield f"{kind} listing", None if expected == got else difference(expected, got)
    json_lines, hex_lines = lines(HERE / f"{kind}.json"), lines(HERE / f"{kind}.hex")
    if not json_lines or len(json_lines) != len(hex_lines):
        yield kind, f"{len(json_lines)} lines of JSON, {len(hex_lines)} of hex"
    for i, (json, hexed) in enumerate(zip(json_lines, hex_lines), 1):
        got = program.decode(kind, json)
        yield f"{kind} line {i} decoded", None if got == hexed else f"expected {hexed}\ngot      {got}"
        got = program.encode(kind, hexed)
        yield f"{kind} line {i} encoded", None if got == json else f"expected {json}\ngot      {got}"


def update_type(program, kind):
    (HERE / f"{kind}.listing").write_bytes(program.run("dump", kind))
    hexed = [program.decode(kind, json) for json in lines(HERE / f"{kind}.json")]
    (HERE / f"{kind}.hex").write_text("".join(line + "\n" for line in hexed), encoding="utf-8")
    json = [program.encode(kind, line) for line in hexed]
    (HERE / f"{kind}.json").write_text("".join(line + "\n" for line in json), encoding="utf-8")


def main():
    path = os.path.abspath(sys.argv[1])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        program = Program(path, folder)
        if "--update" in sys.argv:
            for kind in TYPES:
                update_type(program, kind)
        for kind in TYPES:
            for what, fault in check_type(program, kind):
                if fault is None:
                    passed += 1
                else:
                    failed += 1
                    print(f"FAILED {what}:\n{fault}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
