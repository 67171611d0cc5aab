#!/usr/bin/env python3
"""Copies of the verifier's sources in which each check can be switched off:   mask.py OUT_DIR SOURCE...

A check is a place that reports a fault of fault.def. In the copy it asks bjvmi_masked(number) first, and when that is
true the code goes on as if nothing had been found. check_sites.h in OUT_DIR lists the checks by number. Nothing is
left out silently: a report that has none of the known shapes stops this program."""
import re
import sys
from pathlib import Path

REPORT = re.compile(r"\b(?:bjvmi_check_fail|fail|corrupt)\(")
FAULT = re.compile(r"\bBJVMI_FAULT_(\w+)\b")
NOT_OF_THE_FILE = {"bjvm_image_load"}  # its reports are about the arguments of the call and about memory
DECLARATIONS = "#include <stdbool.h>\nbool bjvmi_masked(int site);\n"


def closing(text, at):
    """The index behind the bracket that closes the one in front of `at`."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def function_at(text, at):
    """The name of the function whose body holds `at`: the last line before it that begins one."""
    names = re.findall(r"(?m)^(?:static )?(?:const )?[a-z]\w*(?: \*| )(\w+)\(", text[:at])
    return names[-1] if names else ""


def reports(text):
    """(start, end, fault) of every expression that reports or is a fault, in order."""
    found, at = [], 0
    while match := FAULT.search(text, at):
        at = match.end()
        if match[1] == "NONE":
            continue
        start, end = match.span()
        for call in REPORT.finditer(text, max(0, start - 200), start):
            if closing(text, call.end()) > end:
                start, end = call.start(), closing(text, call.end())
                break
        found.append((start, end, match[1]))
    return found


def masked(text, start, end, site):
    """The report with its question in front, and where the piece to be replaced begins."""
    before = text[:start].rstrip()
    if before.endswith("return") and text[end] == ";":
        start = before.rindex("return")
        if text[:start].rstrip().endswith((")", "else")):
            return start, f"if (!bjvmi_masked({site})) return {text[len(before):end].lstrip()}"
        return start, f"return bjvmi_masked({site}) || {text[len(before):end].lstrip()}"
    expression = text[start:end]
    if expression.startswith("BJVMI_FAULT_"):
        return start, f"(bjvmi_masked({site}) ? BJVMI_FAULT_NONE : {expression})"
    if expression.startswith(("fail(r", "bjvmi_check_fail(")):
        return start, f"(bjvmi_masked({site}) || {expression})"
    sys.exit(f"mask.py: a report of an unknown shape: {expression}")


def mask_source(path, sites):
    text, out, at = path.read_text(), [DECLARATIONS], 0
    for start, end, fault in reports(text):
        function = function_at(text, start)
        if function in NOT_OF_THE_FILE:
            continue
        start, replacement = masked(text, start, end, len(sites))
        sites.append((path.name, function, fault))
        out += [text[at:start], replacement]
        at = end
    return "".join(out) + text[at:]


def main():
    folder, sites = Path(sys.argv[1]), []
    for source in map(Path, sys.argv[2:]):
        (folder / f"masked_{source.name}").write_text(mask_source(source, sites))
    rows = "".join(f'    {{"{file}", "{function}", "{fault}", BJVMI_FAULT_{fault}}},\n' for file, function, fault in sites)
    (folder / "check_sites.h").write_text(
        "static const struct {\n  const char *file, *function, *fault;\n  int number;\n} sites[] = {\n" + rows + "};\n")


if __name__ == "__main__":
    main()
