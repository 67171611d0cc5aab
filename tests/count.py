#!/usr/bin/env python3
"""Counts what `meson test` ran:  count.py BUILD_DIR LABEL

Reads meson-logs/testlog.junit.xml (each Criterion test is a case there) and testlog.json (one line per program), prints
one line per suite and the output of what failed, and ends with the line `total PASSED FAILED`. A program that failed
although none of its cases did (a crash on the way out, a timeout, no cases at all) counts as one failure: a test that
did not run must not look like a test that passed. A program without cases of its own may end its output with the line
`N passed, M failed`; then those are its counts. Skipped tests are counted neither way, but named.
"""
import json
import re
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

EXCERPT_LINES = 60  # of a failing program's output: enough for one table row and its assertion


def read_programs(path):
    """Name -> (result, duration, output) of each program."""
    programs = {}
    for line in path.read_text(errors="replace").splitlines():
        entry = json.loads(line)
        output = entry.get("stdout", "") + entry.get("stderr", "")
        programs[entry["name"]] = (entry["result"], float(entry.get("duration", 0)), output)
    return programs


def read_cases(path):
    """Program name -> list of (case, 'passed' | 'failed' | 'skipped')."""
    cases = defaultdict(list)
    # A program may print bytes that XML has no place for, and Meson passes them on.
    text = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", path.read_text(errors="replace"))
    for suite in ET.fromstring(text.encode()):
        for case in suite.findall("testcase"):
            state = "passed"
            if case.find("failure") is not None or case.find("error") is not None:
                state = "failed"
            elif case.find("skipped") is not None:
                state = "skipped"
            # A program with subtests is "project.PROGRAM" as a suite; one without is a case of its project.
            name = suite.get("name", "")
            program = name.split(".", 1)[1] if " / " in name and "." in name else case.get("name")
            cases[program].append((case.get("name"), state))
    return cases


def suite_of(program):
    """The suite of `bjvm:unit / time_test` is unit."""
    left = program.split(" / ")[0]
    return left.split(":", 1)[1].split("+")[0] if ":" in left else left


def main():
    build, label = Path(sys.argv[1]), sys.argv[2]
    logs = build / "meson-logs"
    try:
        programs = read_programs(logs / "testlog.json")
        cases = read_cases(logs / "testlog.junit.xml")
    except (OSError, ET.ParseError, ValueError) as error:
        print(f"   {label}: no test results: {error}")
        print("total 0 1")
        return
    totals = defaultdict(lambda: [0, 0, 0, 0.0])  # passed, failed, skipped, seconds
    for program, (result, duration, output) in programs.items():
        row = totals[suite_of(program)]
        row[3] += duration
        states = [state for _, state in cases.get(program, [])]
        passed, failed = states.count("passed"), states.count("failed")
        own = re.search(r"^(\d+) passed, (\d+) failed\s*\Z", output, re.M) if len(states) == 1 else None
        if own:
            passed, failed = int(own.group(1)), int(own.group(2))
        row[2] += states.count("skipped") or (1 if result == "SKIP" else 0)
        bad = result not in ("OK", "SKIP", "EXPECTEDFAIL")
        if (bad and failed == 0) or (result == "OK" and (not states or (own and not passed))):
            failed += 1
        row[0] += passed
        row[1] += failed
        if failed:
            print(f"   FAILED {label} {program} ({result})")
            for line in output.splitlines()[-EXCERPT_LINES:]:
                print(f"      | {line}")
    for suite, (passed, failed, skipped, seconds) in sorted(totals.items()):
        note = f", {skipped} skipped" if skipped else ""
        print(f"   {label:<10} {suite:<12} {passed:>6} passed, {failed} failed{note}  {seconds:.1f} s")
    print(f"total {sum(t[0] for t in totals.values())} {sum(t[1] for t in totals.values())}")


if __name__ == "__main__":
    main()
