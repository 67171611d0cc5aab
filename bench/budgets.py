#!/usr/bin/env python3
"""Counts instructions with callgrind, for budgets and for the report. Started by budgets.sh, which tells the options.

A budget is the mean of instructions an operation spends in the program itself, bjvm and upb's arenas and tables: memcpy
and its like are left out, because the C library picks them by the processor. The report counts everything. One run of
valgrind does all cases: the counts are written out whenever bench_operations returns."""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUDGETS = HERE / "budgets.json"
OPERATIONS = 128  # of each case and direction
TOLERANCE = 0.02
# Which keys of a map share a chain depends on the address of upb's seed, which every build and folder has another of, and
# the keys of these pools are few and come again: seen up to 2.6 %.
SEEDED_TOLERANCE = {"map": 0.05, "struct": 0.05}
DIRECTIONS = ("encode", "decode")
REPORT_OPERATIONS = 64
PEERS = (("bjvm", "both"), ("bjvm_alias", "decode"), ("upb", "both"), ("upb_binary", "decode"), ("yyjson", "both"), ("simdjson", "both"))


def fail(text):
    print(f"budgets.py: {text}", file=sys.stderr)
    sys.exit(1)


def read_counts(path, program):
    """(instructions in the program, everywhere) of one file of callgrind."""
    names, own, total = {}, 0, 0
    inside, skip = False, False
    for line in path.read_text().splitlines():
        named = re.match(r"c?ob=\((\d+)\)(?: (.*))?$", line)
        if named:
            number, name = named.groups()
            names[number] = name or names[number]
            if line.startswith("ob="):
                inside = Path(names[number]).name == program
        elif line.startswith("calls="):
            skip = True  # the next line is the cost of what was called
        elif re.match(r"[-+*0-9]", line):
            cost = 0 if skip else int((line.split() + ["0"])[1])
            skip = False
            total += cost
            own += cost if inside else 0
        elif line.startswith("totals:") and int(line.split()[1]) != total:
            fail(f"{path.name} is not understood: {line}, but its lines give {total}")
    return own, total


def count(program, operations, peer="bjvm", direction="both"):
    """(key, {case: {direction: {own, total, bytes}}}), means of an operation."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        # Function names are enough, and not every valgrind reads every compiler's debug information.
        plain = Path(folder) / "bench"
        subprocess.run(["objcopy", "--strip-debug", program, str(plain)], check=True)
        done = subprocess.run(
            ["valgrind", "--quiet", "--tool=callgrind", "--toggle-collect=bench_operations",
             "--dump-after=bench_operations", f"--callgrind-out-file={out}", str(plain), "--peer", peer, "--callgrind",
             "all", direction, str(operations)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            fail(f"the benchmark failed under valgrind:\n{done.stderr}")
        first, *lines = done.stdout.splitlines()
        cases = {}
        for number, line in enumerate(lines, 1):
            case, way, operations_done, size = line.split()
            file = out.with_name(f"counts.{number}")
            if not file.is_file():
                fail(f"valgrind has written no counts for {case} {way}")
            own, total = read_counts(file, plain.name)
            cases.setdefault(case, {})[way] = {
                "own": own / int(operations_done), "total": total / int(operations_done),
                "bytes": int(size) / int(operations_done)}
    # Of a Debian package the version, and neither machine nor suite.
    key = re.sub(r"(libprotobuf-dev \S+).*", r"\1", first.removeprefix("build "))
    return key, cases


def load_budgets():
    if not BUDGETS.exists():
        return {"operations": OPERATIONS, "budgets": {}}
    return json.loads(BUDGETS.read_text())


def update(program):
    key, cases = count(program, OPERATIONS)
    data = load_budgets()
    if data["operations"] != OPERATIONS:
        data = {"operations": OPERATIONS, "budgets": {}}
    data["budgets"][key] = {case: {way: round(c["own"], 1) for way, c in ways.items()} for case, ways in cases.items()}
    data["budgets"] = dict(sorted(data["budgets"].items()))
    text = json.dumps(data, indent=1)
    BUDGETS.write_text(re.sub(r'\{\s+("encode": \S+),\s+("decode": \S+)\s+\}', r"{\1, \2}", text) + "\n")
    print(f"written: {key}")


def check(program):
    data = load_budgets()
    key, cases = count(program, OPERATIONS)
    budgets = data["budgets"].get(key)
    if budgets is None or data["operations"] != OPERATIONS:
        print(f"note: no instruction budgets for this key: {key}")
        return 0
    over, under = [], []
    for case in dict.fromkeys([*budgets, *cases]):
        for way in DIRECTIONS:
            budget, found = budgets.get(case, {}).get(way), cases.get(case, {}).get(way)
            if budget is None or found is None:
                over.append(f"{case} {way}: {'no budget, run --update' if found else 'not counted'}")
                continue
            change = found["own"] / budget - 1
            text = f"{case} {way}: {found['own']:.1f} instructions, budget {budget:.1f} ({change:+.1%})"
            print(text)
            tolerance = SEEDED_TOLERANCE.get(case, TOLERANCE)
            (over if change > tolerance else under if change < -tolerance else []).append(text)
    if under and not over:
        print(f"note: {len(under)} instruction counts are below budget by more than that: sh bench/budgets.sh --update")
    for text in over:
        print(f"OVER {text}")
    return 1 if over else 0


def report_rows(counts, measure):
    columns = [(peer, way) for peer, ways in PEERS for way in DIRECTIONS if ways in (way, "both")]
    columns.sort(key=lambda c: DIRECTIONS.index(c[1]))
    lines = ["| case | JSON B | " + " | ".join(f"{peer} {way}" for peer, way in columns) + " |",
             "| :-- | --: |" + " --: |" * len(columns)]
    for case, ways in counts["bjvm"].items():
        size = ways["encode"]["bytes"]
        cells = []
        for peer, way in columns:
            found = counts.get(peer, {}).get(case, {}).get(way)
            cells.append(measure(found["total"], size) if found else "-")
        lines.append(f"| {case} | {size:.0f} | " + " | ".join(cells) + " |")
    return lines


def report(program):
    counts, key, missing = {}, "", []
    listed = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for peer, ways in PEERS:
        if re.search(rf"^peer {peer}: .*; missing: ", listed, re.M):
            missing.append(peer)
            continue
        key, counts[peer] = count(program, REPORT_OPERATIONS, peer, ways)
    lines = ["## Instructions for each byte of JSON", "",
             f"callgrind, C library included, the first {REPORT_OPERATIONS} messages of each pool; {key}", ""]
    lines += [f"MISSING: {', '.join(missing)}", ""] if missing else []
    lines += report_rows(counts, lambda total, size: f"{total / size:.2f}")
    lines += ["", "Instructions for each message:", ""]
    lines += report_rows(counts, lambda total, size: f"{total:.0f}")
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "instructions.md").write_text("\n".join(lines) + "\n")
    (out / "instructions.json").write_text(json.dumps({"key": key, "missing": missing, "counts": counts}, indent=1) + "\n")
    print("\n".join(lines))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="the benchmark program")
    mode = parser.add_mutually_exclusive_group(required=True)
    for name in ("check", "update", "report"):
        mode.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    if options.update:
        return update(options.bench)
    return check(options.bench) if options.check else report(options.bench)


if __name__ == "__main__":
    sys.exit(main())
