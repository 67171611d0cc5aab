#!/usr/bin/env python3
"""Writes what the documents say that the sources say already:  gen_docs.py [--check]

    docs/errors.md        all of it, from vm/include/bjvm/status.def and vm/fault.def
    docs/opcodes.md       all of it, from vm/ops.def
    docs/plan-format.md   the parts between `<!-- from plan_format.h: NAME -->` and `<!-- end -->`, from vm/plan_format.h

--check changes nothing and exits with 1 if a document is not what would be written.
"""
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
VM = DOCS.parent / "vm"
STATUS, OPS, FORMAT = VM / "include/bjvm/status.def", VM / "ops.def", VM / "plan_format.h"
FAULTS = VM / "fault.def"
NOTE = "<!-- Made by docs/gen_docs.py from {}. Change that, then run it. -->\n"


def table(head, rows, align=None):
    """A Markdown table."""
    align = align or ["---"] * len(head)
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |\n" for row in [head, align, *rows])


def one_line(text):
    return " ".join(re.sub(r"^\s*\*?", "", line) for line in text.strip().splitlines()).strip()


# -- errors.md --------------------------------------------------------------------------------------------------------


# What to do about a code: what the table of texts is too short for.
REMEDIES = {
    "TRUNCATED": "the text was cut; read more of it and start again",
    "DEPTH": "raise `max_depth` (above 100 with `scratch`), or do not trust the text",
    "UNKNOWN_FIELD": "a misspelt name or a newer sender: `BJVM_DECODE_IGNORE_UNKNOWN` skips it",
    "DUPLICATE_FIELD": "`BJVM_DECODE_LAST_WINS` takes the last one",
    "DUPLICATE_KEY": "the same",
    "DUPLICATE_ONEOF": "the same",
    "UNKNOWN_ENUM": "`BJVM_DECODE_IGNORE_UNKNOWN` drops unknown names and, of closed enums, numbers",
    "ANY_TYPE": "add the type to the registry's DefPool",
    "UNKNOWN_EXTENSION": "add the extension to the registry's DefPool",
    "OUT_OF_MEMORY": "the arena, or the growing output, could not get more; also a `max_depth` that is a mistake",
    "OVERFLOW": "`output.needed` is the capacity that would have done",
    "SINK": "the sink's `write` returned false, or its block is smaller than 1024 bytes",
    "SCRATCH": "give the call a `scratch` arena (docs/guide.md says what needs one)",
    "FROZEN": "decode into a message that is not frozen",
    "NO_REGISTRY": "give the call a registry: an Any cannot be handled without",
    "PLAN_VERSION": "compile the plan file again with the planc of this library",
    "PLAN_CORRUPT": "`offset` names the first fault in the file",
    "PLAN_MISMATCH": "the plan was compiled from another version of the schema than the mini table; the message names the field",
    "PLAN_VARIANT": "call `bjvm_plan_prepare` with these encode flags after binding",
    "PLAN_LIMIT": "`path` names the type or field",
}


def errors_md():
    text = STATUS.read_text(encoding="utf-8")
    out = NOTE.format("vm/include/bjvm/status.def and vm/fault.def") + "# Status codes\n\n"
    out += ("Every call that can fail returns a `bjvm_status`. `bjvm_status_name` gives the name below without its prefix `BJVM_`, "
            "`bjvm_status_text` the text. Numbers are part of the interface and are never reused. How a `bjvm_error` tells the place "
            "is in [guide.md](guide.md#errors).\n")
    groups = re.split(r"/\* (\d+)\.\.: (.*?) \*/", text)
    rows = re.compile(r'X\((\w+), (\d+), "(.*?)"\)')
    out += "\n" + table(["number", "name", "text"], [(n, f"`{name}`", t) for name, n, t in rows.findall(groups[0])])
    for first, title, body in zip(groups[1::3], groups[2::3], groups[3::3]):
        out += f"\n## {first} and up: {title}\n\n"
        out += table(["number", "name", "text", "what to do"],
                     [(n, f"`{name}`", t, REMEDIES.get(name, "")) for name, n, t in rows.findall(body)])
    known = {name for name, _, _ in rows.findall(text)}
    faults = FAULTS.read_text(encoding="utf-8")
    out += ("\n# Faults of plan files\n\nWhat `bjvm_image_load`, binding and `bjvm_image_build_tables` say of a plan file in `message`. A library built with "
            "`-Dsize=small` has no sentences and says `fault 30`, perhaps behind a record (`word 7: fault 110`); here is what that "
            "means, and `planc verify FILE.bjp` says it of the same file. Numbers are never reused.\n")
    groups = re.split(r"/\* (\d+)\.\.: (.*?) \*/", faults)
    for first, title, body in zip(groups[1::3], groups[2::3], groups[3::3]):
        out += f"\n## {first} and up: {title}\n\n" + table(["number", "sentence"], [(n, t) for _, n, t in rows.findall(body)])
    unknown = set(REMEDIES) - known
    if unknown:
        sys.exit(f"gen_docs.py: remedies for codes that are not there: {', '.join(sorted(unknown))}")
    return out


# -- opcodes.md -------------------------------------------------------------------------------------------------------


SHAPES = [
    ("SCALAR", "nothing: 0", "IMPLICIT, HASBIT, ONEOF, ARRAY, ALWAYS"),
    ("ENUM", "index of the enum record", "the same"),
    ("MESSAGE", "index of the message record", "HASBIT, ONEOF, ARRAY, ALWAYS"),
    ("MAP", "index of the map entry's message record", "ARRAY"),
    ("CONTROL", "nothing: 0", "its own, below"),
]


def opcodes_md():
    text = OPS.read_text(encoding="utf-8")
    kinds = re.findall(r'^KIND\((\w+),\s*(\d+), (\w+),\s*"(\w+)",\s*"(.*)"\)', text, re.M)
    forms = re.findall(r'^FORM\((\w+),\s*(\d+), "([^"]*)",\s*"(.*)"\)', text, re.M)
    ends = re.findall(r'^END_FORM\((\w+),\s*(\d+), "([^"]*)",\s*"(.*)"\)', text, re.M)
    shapes = {shape for _, _, shape, _, _ in kinds}
    if not kinds or not forms or not ends or shapes != {name for name, _, _ in SHAPES}:
        sys.exit("gen_docs.py: vm/ops.def is not as expected")
    out = NOTE.format("vm/ops.def") + "# Opcodes\n\n"
    out += ("An opcode is one byte, `kind << 3 | form`: what a value is, and how a field is there. Listings (`planc dump`) print the "
            "mnemonic of the kind with the suffix of the form: `int32`, `string.oneof`, `message[]`. Both virtual machines run the same words.\n")
    out += "\n## Kinds\n\n"
    out += table(["no", "kind", "shape", "mnemonic", "prints (and reads, besides null)"],
                 [(n, f"`{name}`", shape, f"`{mnemonic}`", synopsis) for name, n, shape, mnemonic, synopsis in kinds])
    out += "\n`INT64_NUMBER` and `UINT64_NUMBER` are never in a file: binding makes them for `BJVM_ENCODE_INT64_AS_NUMBERS`.\n"
    out += "\n## Forms\n\n"
    out += table(["no", "form", "suffix", "when it is printed, and what reading it sets"],
                 [(n, f"`{name}`", f"`{suffix}`" if suffix else "none", synopsis) for name, n, suffix, synopsis in forms])
    out += "\n`ARRAY_ALWAYS`, and `ALWAYS` for fields of a message, come into being when words are made for `BJVM_ENCODE_EMIT_DEFAULTS`.\n"
    out += "\n## Forms of END\n\n"
    out += table(["no", "form", "suffix", "what it does"], [(n, f"`{name}`", f"`{suffix}`", synopsis) for name, n, suffix, synopsis in ends])
    out += "\n## Shapes\n\nThe verifier and the listing ask for a kind's shape, not for the kind.\n\n"
    out += table(["shape", "the word's `sub`", "forms in a file"], SHAPES)
    out += "\n## Every opcode byte of a file\n\n"
    rows = []
    for name, n, shape, mnemonic, _ in kinds:
        if name.endswith("_NUMBER"):
            continue
        allowed = {"SCALAR": "IMPLICIT HASBIT ONEOF ALWAYS ARRAY", "ENUM": "IMPLICIT HASBIT ONEOF ALWAYS ARRAY",
                   "MESSAGE": "HASBIT ONEOF ALWAYS ARRAY", "MAP": "ARRAY", "CONTROL": ""}[shape].split()
        for form, f, suffix, _ in (ends if shape == "CONTROL" else forms):
            if shape == "CONTROL" or form in allowed:
                rows.append((f"0x{int(n) << 3 | int(f):02x}", f"`{mnemonic}{suffix}`"))
    columns = 4
    per = -(-len(rows) // columns)
    grid = [sum((list(rows[c * per + r]) if c * per + r < len(rows) else ["", ""] for c in range(columns)), []) for r in range(per)]
    out += table(["byte", "op"] * columns, grid)
    return out


# -- plan-format.md ---------------------------------------------------------------------------------------------------

SIZES = {"char": 1, "uint8_t": 1, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "uint64_t": 8, "bjvmi_table": 16}
NAMES = {"char": "bytes", "uint8_t": "u8", "uint16_t": "u16", "int32_t": "i32", "uint32_t": "u32", "uint64_t": "u64",
         "bjvmi_table": "key table"}


def struct_table(text, name):
    body = re.search(rf"typedef struct {name} \{{\n(.*?)\n\}} {name};", text, re.S)
    if not body:
        sys.exit(f"gen_docs.py: no struct {name} in plan_format.h")
    rows, at = [], 0
    for kind, declarators, comment in re.findall(r"(\w+) ([\w\[\], ]+);[ \t]*(?:/\*(.*?)\*/)?", body.group(1), re.S):
        for declarator in declarators.split(","):
            field, count = re.match(r"\s*(\w+)(?:\[(\d+)\])?", declarator).groups()
            count = int(count or 1)
            at = -(-at // min(SIZES[kind], 8)) * min(SIZES[kind], 8) if kind != "bjvmi_table" else -(-at // 4) * 4
            rows.append((at, SIZES[kind] * count, NAMES[kind] + (f"[{count}]" if count > 1 and kind != "char" else ""), f"`{field}`",
                         one_line(comment)))
            at += SIZES[kind] * count
    return table(["at", "bytes", "type", "field", "meaning"], rows)


def enum_table(text, first):
    """The enum whose first enumerator is `first`."""
    body = re.search(rf"enum(?: \w+)? \{{\n(\s*{first}\b.*?)\n\}}", text, re.S)
    if not body:
        sys.exit(f"gen_docs.py: no enum with {first} in plan_format.h")
    rows, value = [], -1
    for name, given, comment in re.findall(r"^\s*(\w+)(?: = (\w+))?,?[ \t]*(?:/\*(.*?)\*/)?", body.group(1), re.S | re.M):
        value = int(given) if given and given.isdigit() else value + 1
        if name.endswith("_COUNT"):
            continue
        short = re.sub(r"^BJVMI_", "", name)
        rows.append((value, f"`{short}`", one_line(comment)))
    return table(["value", "name", "meaning"], rows)


def function_text(text, name):
    body = re.search(rf"^static inline \w+ {name}\(.*?^\}}\n", text, re.S | re.M)
    if not body:
        sys.exit(f"gen_docs.py: no function {name} in plan_format.h")
    return "```text\n" + body.group().replace("static inline ", "") + "```\n"


def from_format(text, what):
    sort, name = what.split()
    return {"struct": struct_table, "enum": enum_table, "function": function_text}[sort](text, name)


def plan_format_md(path):
    text = FORMAT.read_text(encoding="utf-8")
    return re.sub(r"(<!-- from plan_format.h: (.*?) -->\n).*?(<!-- end -->)",
                  lambda m: m.group(1) + "\n" + from_format(text, m.group(2)) + "\n" + m.group(3), path.read_text(encoding="utf-8"), flags=re.S)


def main():
    check = "--check" in sys.argv
    stale = []
    for path, made in [(DOCS / "errors.md", errors_md()), (DOCS / "opcodes.md", opcodes_md()),
                       (DOCS / "plan-format.md", plan_format_md(DOCS / "plan-format.md"))]:
        if path.exists() and path.read_text(encoding="utf-8") == made:
            continue
        stale.append(path.name)
        if not check:
            path.write_text(made, encoding="utf-8")
    if check and stale:
        print(f"stale: {', '.join(stale)}; run docs/gen_docs.py")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
