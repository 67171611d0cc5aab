#!/usr/bin/env python3
"""Compares with codecs of other languages:  run.py [--build DIR] [--results FILE] [--cases A,B]

Each is a program beside this one, started for each case and direction: once it keeps the pool in memory and times
itself, warm; some times it turns a file into the other form as `planc --stream` does, and the whole process is timed and what
it wrote is checked. Adds `languages.PEER.CASE.DIRECTION` to FILE (default bench/out/results.json), whose figures of bjvm the
ratios are to, and prints tables. A peer that is not there is named as missing. Exit status: 0 done, 1 failed, 2 bad
usage."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent
PACKAGES = BENCH / "packages"
CASES = ("simple", "complex", "repeated", "map", "struct", "timestamp")
DIRECTIONS = ("encode", "decode")
ENDINGS = {"encode": "binpb", "decode": "json"}
MESSAGES = 256  # the first of each pool: slow ones must come to an end too
SECONDS = 0.2  # to get warm, and of timing
PROCESS_RUNS = 3


def fail(text):
    print(f"languages/run.py: {text}", file=sys.stderr)
    sys.exit(1)


# -- Peers --------------------------------------------------------------------------------------------------------------


class Peer:
    """`command` and `environment` start it; `missing` says why it cannot be."""

    def __init__(self, name, what, program, command, environment=None, missing=None):
        self.name, self.what, self.missing, self.version = name, what, missing, ""
        self.command = [*command, str(HERE / program)]
        self.environment = {**os.environ, **(environment or {})}

    def arguments(self, mode, type_name, direction, source):
        return [*self.command, mode, str(PACKAGES / "npm"), str(BENCH / "corpus"), type_name, direction, str(source),
                str(SECONDS)]


def node_peer(name, what, package):
    missing = None
    if shutil.which("node") is None:
        missing = "node not found"
    elif not (PACKAGES / "npm/node_modules" / package).is_dir():
        missing = f"{package} not found: run bench/fetch_peers.sh npm"
    return Peer(name, what, f"{name}.mjs", ["node"], missing=missing)


def python_peer():
    """The module that the system's own Python has, or the unpacked one."""
    root = PACKAGES / "python/usr"
    unpacked = {"PYTHONPATH": str(root / "lib/python3/dist-packages"),
                "LD_LIBRARY_PATH": ":".join(map(str, root.glob("lib/*-linux-*")))}
    arguments = ("python_protobuf", "google.protobuf.json_format", "python_protobuf.py", ["/usr/bin/python3"])
    for environment in ({}, unpacked):
        done = subprocess.run(["/usr/bin/python3", "-c", "import google.protobuf.json_format"],
                              env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            return Peer(*arguments, environment)
    return Peer(*arguments, missing="python3-protobuf not found: install it or run bench/fetch_peers.sh python")


def peers():
    return [node_peer("protobuf_es", "@bufbuild/protobuf, toJsonString and fromJsonString", "@bufbuild/protobuf"),
            node_peer("protobufjs", "protobufjs with ext/protojson, toJsonString and fromJsonString", "protobufjs"),
            python_peer()]


# -- Running ------------------------------------------------------------------------------------------------------------


def run(command, environment=None, given=None):
    done = subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        fail(f"{' '.join(command)} failed:\n{done.stderr.decode(errors='replace')}")
    return done.stdout


class Pool:
    """A case's messages in files, and what they are in planc's own, sorted JSON."""

    def __init__(self, case, build, folder):
        self.case = case
        self.type = run([str(build / "bench/bench"), "--write-pool", case, folder, str(MESSAGES)]).split()[0].decode()
        self.files = {d: Path(folder) / f"{case}.{ENDINGS[d]}" for d in DIRECTIONS}
        self.planc = str(build / "planc/planc")
        self.schema = ["--descriptor-set", str(BENCH / "corpus.binpb"), "--type", self.type, "--stream"]
        self.sorted = self.sort(self.files["encode"].read_bytes())

    def sort(self, binary):
        return run([self.planc, "encode", *self.schema, "--sort-map-keys"], given=binary)

    def check(self, peer, direction, output):
        binary = output if direction == "decode" else run([self.planc, "decode", *self.schema], given=output)
        if self.sort(binary) != self.sorted:
            fail(f"{peer.name} {self.case} {direction}: other messages than were given")


def run_processes(command, environment, output):
    """The median of some runs; what they write is in the file `output`."""
    times = []
    for _ in range(PROCESS_RUNS):
        with output.open("wb") as file:
            start = time.perf_counter()
            done = subprocess.run(command, env=environment, stdout=file, stderr=subprocess.PIPE)
            times.append(time.perf_counter() - start)
        if done.returncode != 0:
            fail(f"{' '.join(command)} failed:\n{done.stderr.decode(errors='replace')}")
    return statistics.median(times)


def measure(peer, pool, direction, own_ns, own_seconds):
    source = pool.files[direction]
    output = source.with_name("output")
    seconds = run_processes(peer.arguments("stream", pool.type, direction, source), peer.environment, output)
    pool.check(peer, direction, output.read_bytes())
    timed = json.loads(run(peer.arguments("time", pool.type, direction, source), peer.environment))
    peer.version = timed["version"]
    return {"median_ns": round(timed["median_ns"], 1), "min_ns": round(timed["min_ns"], 1),
            "ratio": round(timed["median_ns"] / own_ns, 2), "passes": timed["passes"], "messages": timed["messages"],
            "process_s": round(seconds, 4), "planc_s": round(own_seconds, 4), "process_ratio": round(seconds / own_seconds, 2)}


def measure_all(options, results, present):
    figures = {peer.name: {} for peer in present}
    with tempfile.TemporaryDirectory() as folder:
        for case in options.cases:
            own = results["cases"].get(case)
            if own is None or not present:
                continue
            print(f"languages: {case}", file=sys.stderr)
            pool = Pool(case, options.build, folder)
            for direction in DIRECTIONS:
                source = pool.files[direction]
                seconds = run_processes([pool.planc, direction, *pool.schema, str(source)], None, source.with_name("output"))
                for peer in present:
                    figures[peer.name].setdefault(case, {})[direction] = measure(
                        peer, pool, direction, own[direction]["bjvm"]["median_ns"], seconds)
    return figures


# -- Report -------------------------------------------------------------------------------------------------------------


def table(title, languages, first, own, cell):
    """`own(figure, case, direction)` gives the column `first`, `cell(figure)` that of a peer."""
    names = list(languages)
    lines = ["", title, "", f"| case | direction | {first} | " + " | ".join(names) + " |",
             "| :-- | :-- | --: |" + " --: |" * len(names)]
    for case, ways in languages[names[0]].items():
        for direction, figure in ways.items():
            cells = [own(figure, case, direction), *(cell(languages[name][case][direction]) for name in names)]
            lines.append(f"| {case} | {direction} | " + " | ".join(cells) + " |")
    return lines


def report(results, languages, all_peers):
    lines = ["## Other languages", "", f"The first {MESSAGES} messages of each pool.", ""]
    for peer in all_peers:
        lines.append(f"- peer {peer.name}: {peer.what}; "
                     + (f"MISSING: {peer.missing}" if peer.missing else f"version {peer.version}"))
    if languages:
        lines += table("Warm, timed inside: median ns per message (time / time of bjvm)", languages, "bjvm",
                       lambda _, case, direction: f"{results['cases'][case][direction]['bjvm']['median_ns']:.1f}",
                       lambda f: f"{f['median_ns']:.0f} ({f['ratio']:.1f})")
        lines += table("Whole processes, those messages from a file to a file once: seconds (time / time of planc)",
                       languages, "planc", lambda f, case, direction: f"{f['planc_s']:.3f}",
                       lambda f: f"{f['process_s']:.3f} ({f['process_ratio']:.1f})")
    return "\n".join(lines)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=BENCH.parent / "build", help="where bench and planc are (default build)")
    parser.add_argument("--results", type=Path, default=BENCH / "out/results.json")
    parser.add_argument("--cases", type=lambda names: names.split(","), default=CASES, help=f"(default {','.join(CASES)})")
    return parser.parse_args()


def main():
    options = read_options()
    results = json.loads(options.results.read_text())
    all_peers = peers()
    languages = measure_all(options, results, [peer for peer in all_peers if not peer.missing])
    results["languages"] = languages
    results["meta"]["languages"] = {p.name: {"what": p.what, "version": p.version} for p in all_peers if not p.missing}
    results["meta"]["missing"].update({p.name: p.missing for p in all_peers if p.missing})
    options.results.write_text(json.dumps(results, indent=1) + "\n")
    print(report(results, languages, all_peers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
