#!/usr/bin/env python3
"""Runs the case table through `planc encode` and `planc decode`, one process a case.

  run_cli.py PLANC CASE_TEST [--kind K] [--id ID] [--jobs N]

PLANC is the program under test. CASE_TEST, the C program of this folder, compares messages, so that both runs of
the table judge alike. Exit status 1 of planc means refused; a signal, a time-out, any other status and a
sanitizer's report are failures whatever the answer is.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SET = str(HERE / "cases.binpb")
SANITIZER = re.compile(rb"(Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer|: runtime error: ")

Case = collections.namedtuple("Case", "id kind type op opts input answers")


def unescape(text):
    return re.sub(rb"\\(..)", lambda m: bytes([int(m.group(1), 16)]), text.encode("ascii"))


def read_table():
    with open(HERE / "table.tsv", encoding="ascii") as table:
        for line in table:
            if not line.startswith("#"):
                columns = line.rstrip("\n").split("\t")
                yield Case(*columns[:6], columns[6:])


def run(planc, case):
    """Returns (state, standard output); state is ok, refused or a complaint."""
    flags = ["--" + opt.replace("_", "-") for opt in case.opts.split(",") if opt]
    data = unescape(case.input) if case.op == "decode" else bytes.fromhex(case.input)
    command = [planc, case.op, "--descriptor-set", SET, "--type", case.type] + flags
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        return "no end after 30 s", b""
    if SANITIZER.search(done.stderr):
        return "sanitizer: " + done.stderr[:300].decode("utf-8", "replace"), b""
    if done.returncode == 1:
        if not done.stderr.strip():
            return "refused without a word", b""
        return "refused", b""
    if done.returncode != 0:
        return "status %d: %s" % (done.returncode, done.stderr[:300].decode("utf-8", "replace")), b""
    return "ok", done.stdout


class Judge:
    """Asks one CASE_TEST process whether messages are the same."""

    def __init__(self, program):
        command = [program, SET, "--compare"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def compare(self, type_name, want, got):
        self.process.stdin.write(("%s\t%s\t%s\n" % (type_name, want, got)).encode("ascii"))
        self.process.stdin.close()
        answer = self.process.stdout.read().decode("utf-8", "replace").strip()
        self.process.wait()
        return answer or "the judge gave no answer"


def judge(args, case, state, out):
    """None if the result is as wanted, else what is wrong."""
    if state == "refused":
        return None if "error" in case.answers else "refused, but is right"
    if state != "ok":
        return state
    problem = "accepted, but must be refused"
    for answer in case.answers:
        if answer.startswith("json:"):
            text = out[:-1] if out.endswith(b"\n") else out
            if text == unescape(answer[5:]):
                return None
            problem = "another text: " + text[:300].decode("utf-8", "backslashreplace")
        elif answer.startswith("pb:"):
            verdict = Judge(args.judge).compare(case.type, answer[3:], out.hex())
            if verdict == "same":
                return None
            problem = "the message differs: " + verdict
    return problem


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planc")
    parser.add_argument("judge", metavar="case_test")
    parser.add_argument("--kind")
    parser.add_argument("--id")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    cases = [c for c in read_table() if args.kind in (None, c.kind) and args.id in (None, c.id)]
    kinds = collections.OrderedDict()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        problems = pool.map(lambda c: judge(args, c, *run(args.planc, c)), cases)
        for case, problem in zip(cases, problems):
            row = kinds.setdefault(case.kind, [0, 0])
            row[problem is not None] += 1
            if problem is not None:
                print("FAIL %s (%s, %s): %s" % (case.id, case.kind, case.op, problem))
    print("%-16s %8s %8s   (planc)" % ("kind", "passed", "failed"))
    for kind, row in kinds.items():
        print("%-16s %8d %8d" % (kind, row[0], row[1]))
    passed, failed = (sum(row[i] for row in kinds.values()) for i in (0, 1))
    print("%-16s %8d %8d   of %d" % ("all", passed, failed, len(cases)))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
