#!/usr/bin/env python3
"""Runs two builds of the benchmark in turn and compares them. Usually started by compare.sh, which builds them.

A round is one short run of each, the one right after the other, in an order that changes from round to round; a run's
figure for a case is the least time of a few measurements. A difference is claimed when the median of the rounds' ratios
is 10 % or more away from 1 and the quartiles of the two sides do not overlap; all else is inconclusive. For arena bytes
and mallocs an alert is more than 5 % and more than 16 bytes (for the number of mallocs: 5 % and one in twenty
operations). A case that one side lacks fails. Exit status: 0 no regression, 1 failed or missing, 2 bad usage, 3 a
regression or an alert."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CLAIM = 1.10  # a ratio of times
ALERT_SHARE, ALERT_BYTES, ALERT_CALLS = 1.05, 16, 0.05
# What is compared: the name in the report, and where the figures are.
ROWS = [("encode", "encode", "bjvm"), ("decode", "decode", "bjvm"), ("decode, aliasing", "decode", "bjvm_alias")]
SIDES = ("base", "head")


def fail(text):
    print(f"compare.py: {text}", file=sys.stderr)
    sys.exit(1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="the program of the one side")
    parser.add_argument("--head", required=True, help="and of the other")
    parser.add_argument("--base-name", default="base")
    parser.add_argument("--head-name", default="head")
    parser.add_argument("--out", default="bench/out", help="folder for compare.md and compare.json")
    parser.add_argument("--rounds", type=int, default=15, help="(default 15)")
    parser.add_argument("--cases", help="only these cases, A,B")
    parser.add_argument("--cpu", type=int, help="the cpu to run on (default: the last one there is)")
    options = parser.parse_args()
    if not 3 <= options.rounds <= 1000:
        parser.error("--rounds: 3 to 1000")
    if options.cpu is None:
        options.cpu = max(os.sched_getaffinity(0))
    return options


# -- Running ------------------------------------------------------------------------------------------------------


def run_once(program, options):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [program, "--quick", "--rounds", "3", "--peers", "bjvm,bjvm_alias", "--cpu", str(options.cpu),
                   "--json", out.name]
        if options.cases:
            command += ["--cases", options.cases]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            fail(f"{program} failed:\n{done.stderr}")
        return json.loads(Path(out.name).read_text())


def run_rounds(options):
    """{side: [results of each round]}"""
    runs = {side: [] for side in SIDES}
    for number in range(options.rounds):
        order = SIDES if number % 2 == 0 else SIDES[::-1]
        for side in order:
            runs[side].append(run_once(getattr(options, side), options))
        if sys.stderr.isatty():
            print(f"\rround {number + 1} of {options.rounds} ", end="", file=sys.stderr, flush=True)
    return runs


# -- Comparing ----------------------------------------------------------------------------------------------------


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    below = int(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (at - below) * (values[above] - values[below])


def spread(values):
    return [round(quantile(values, share), 3) for share in (0.25, 0.5, 0.75)]


def verdict(base, head):
    ratio = quantile([h / b for b, h in zip(base, head)], 0.5)
    (base_low, _, base_high), (head_low, _, head_high) = spread(base), spread(head)
    if ratio >= CLAIM and head_low > base_high:
        return ratio, "regression"
    if ratio <= 1 / CLAIM and head_high < base_low:
        return ratio, "improvement"
    return ratio, "inconclusive"


def figures_of(runs, case, direction, peer):
    """The figures of each round, None where there are none."""
    return [run["cases"].get(case, {}).get(direction, {}).get(peer) for run in runs]


def compare_row(runs, case, label, direction, peer, missing):
    found = {side: figures_of(runs[side], case, direction, peer) for side in SIDES}
    row = {"case": case, "direction": label}
    for side in SIDES:
        if not found[side] or None in found[side]:
            missing.append(f"{side} has no {label} of {case}")
            return None
        row[f"{side}_ns"] = spread([f["min_ns"] for f in found[side]])
    times = [[f["min_ns"] for f in found[side]] for side in SIDES]
    ratio, row["verdict"] = verdict(*times)
    row["ratio"] = round(ratio, 4)
    row["memory"] = compare_memory(found, f"{label} of {case}", missing)
    return row


def compare_memory(found, where, missing):
    memory = {}
    for name in ("arena_bytes", "malloc_bytes", "mallocs"):
        # They vary by a byte at most, where a hash table's seed is an address.
        values = {side: [f[name] for f in found[side] if name in f] for side in SIDES}
        for side in SIDES:
            if len(values[side]) < max(map(len, values.values())):
                missing.append(f"{side} has no {name} for {where}")
        if values["base"] and values["head"]:
            base, head = (quantile(values[side], 0.5) for side in SIDES)
            least = ALERT_CALLS if name == "mallocs" else ALERT_BYTES
            memory[name] = {"base": base, "head": head, "alert": head > base * ALERT_SHARE and head - base > least}
    return memory


def compare(runs):
    """The rows, and what is missing."""
    missing, rows = [], []
    for name in ("compiler", "flags", "upb", "kernels", "dispatch"):
        values = {run["meta"].get(name) for side in SIDES for run in runs[side]}
        if len(values) != 1:
            missing.append(f"the sides differ in {name}: {', '.join(map(str, sorted(values, key=str)))}")
    cases = list(dict.fromkeys(case for side in SIDES for run in runs[side] for case in run["meta"]["cases"]))
    if not cases:
        missing.append("no cases")
    for case in cases:
        for label, direction, peer in ROWS:
            row = compare_row(runs, case, label, direction, peer, missing)
            if row:
                rows.append(row)
    return rows, missing


# -- Report -------------------------------------------------------------------------------------------------------


def memory_text(memory, name):
    if name not in memory:
        return "-"
    base, head = memory[name]["base"], memory[name]["head"]
    digits = 2 if name == "mallocs" else 0
    text = f"{base:.{digits}f}" if base == head else f"{base:.{digits}f} -> {head:.{digits}f}"
    return text + (" ALERT" if memory[name]["alert"] else "")


def markdown(result):
    meta = result["meta"]
    lines = [f"# {meta['base']} against {meta['head']}", "",
             f"- {meta['compiler']}, {meta['flags']}; kernels {meta['kernels']}; upb: {meta['upb']}",
             f"- {meta['cpu']}, cpu {meta['pinned_to']}; {meta['rounds']} rounds, the two sides in turn",
             f"- a claim takes {round((CLAIM - 1) * 100)} % and separated quartiles; ratio: head / base, less is faster", ""]
    count = result["count"]
    lines += [f"**{count['improvement']} improvements, {count['regression']} regressions, "
              f"{count['inconclusive']} inconclusive, {count['alert']} memory alerts**", ""]
    lines += [f"- MISSING: {text}" for text in result["missing"]]
    lines += ["| case | direction | base ns [quartiles] | head ns [quartiles] | ratio | verdict | arena B | mallocs | "
              "malloc B |", "| :-- | :-- | --: | --: | --: | :-- | --: | --: | --: |"]
    for row in result["rows"]:
        times = [f"{row[f'{side}_ns'][1]:.1f} [{row[f'{side}_ns'][0]:.1f} {row[f'{side}_ns'][2]:.1f}]" for side in SIDES]
        bold = "**" if row["verdict"] != "inconclusive" else ""
        memory = [memory_text(row["memory"], name) for name in ("arena_bytes", "mallocs", "malloc_bytes")]
        lines.append(f"| {row['case']} | {row['direction']} | {times[0]} | {times[1]} | {row['ratio']:.3f} | "
                     f"{bold}{row['verdict']}{bold} | {' | '.join(memory)} |")
    return "\n".join(lines) + "\n"


def summarize(options, runs, rows, missing):
    meta = {name: runs["head"][0]["meta"].get(name)
            for name in ("compiler", "flags", "upb", "upb_build", "kernels", "dispatch", "cpu", "pinned_to")}
    meta |= {"base": options.base_name, "head": options.head_name, "rounds": options.rounds}
    count = {name: sum(row["verdict"] == name for row in rows) for name in ("improvement", "regression", "inconclusive")}
    count["alert"] = sum(m["alert"] for row in rows for m in row["memory"].values())
    return {"meta": meta, "count": count, "missing": missing, "rows": rows}


def main():
    options = arguments()
    runs = run_rounds(options)
    result = summarize(options, runs, *compare(runs))
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "compare.json").write_text(json.dumps(result, indent=1) + "\n")
    (out / "compare.md").write_text(markdown(result))
    print(markdown(result), end="")
    if result["missing"]:
        fail("; ".join(result["missing"]))
    return 3 if result["count"]["regression"] or result["count"]["alert"] else 0


if __name__ == "__main__":
    sys.exit(main())
