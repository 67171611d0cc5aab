#!/usr/bin/env python3
"""A session with the node:  session.py NEW_PLAN OTHER_PLAN [COMMAND...]

NEW_PLAN is the schema update, OTHER_PLAN a good plan file of a schema that the node's program cannot serve. The session
goes through every command, every sort of refusal, and the update in between. COMMAND starts the node: what it answers is
compared with expected.jsonl. Without COMMAND the commands are printed, one a line.
"""
import base64
import json
import re
import subprocess
import sys
from pathlib import Path

PART = 1536  # bytes of a plan in one command
LINE_MAX = 4096
HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "expected.jsonl"
VM = HERE.parent.parent / "vm"
FAULTS = dict(re.findall(r'^X\(\w+, (\d+), "(.*)"\)$', (VM / "fault.def").read_text(), re.M))
STATUSES = dict(re.findall(r'^X\((\w+), \d+, "(.*)"\)$', (VM / "include/bjvm/status.def").read_text(), re.M))

CONFIG = {
    "device": "höhe-7 \"east\"", "mode": "SAMPLE", "intervalMs": 1500, "key": "AAEC/f7/",
    "limits": {"door": 2, "boot": 5}, "validFrom": "2026-02-28T12:00:00.25Z",
}


lines = []


def say(command):
    line = command if isinstance(command, str) else json.dumps(command, ensure_ascii=False, separators=(",", ":"))
    assert len(line.encode()) <= LINE_MAX and "\n" not in line
    lines.append(line)


def send_plan(data):
    for offset in range(0, len(data), PART):
        part = base64.b64encode(data[offset:offset + PART]).decode()
        say({"planPart": {"offset": offset, "data": part}})
    say({"planCommit": {"size": len(data)}})


def refused():
    say("")
    say('{"report":{"count":1}')
    say('{"report":{"count":1}} x')
    say('{"report":{"count":-1}}')
    say('{"report":{"counts":1}}')
    say('{"configure":{"limits":{"door":true}}}')
    say('{"configure":{"mode":"CALIBRATE"}}')
    say('{"configure":{"key":"*"}}')
    say('{"configure":{"validFrom":"2026-02-29T00:00:00Z"}}')
    say('{"report":{},"planCommit":{}}')
    say({"configure": {"device": "a name that is longer than the node has room for"}})
    say({"configure": {"extra": {str(n): "SIGNAL_DBM" for n in range(20, 30)}}})
    say({"configure": {"limits": {f"{n:x}": n for n in range(300)}}})  # more than the node has memory for
    say({"planPart": {"offset": 8190, "data": "AAAAAAAA"}})


def hold(new, other):
    damaged = bytearray(new)
    damaged[len(new) // 2] ^= 1
    say({"report": {"count": 1}})
    say({"configure": CONFIG})
    say({"report": {"count": 2}})
    refused()
    say({"report": {"count": 1}})
    for plan in (bytes(damaged), new[:100], other):  # the old schema stays in use
        send_plan(plan)
    say({"planCommit": {"size": 0}})
    extra = {"12": "BATTERY_MILLIVOLT", "13": "SIGNAL_DBM"}
    say({"configure": {**CONFIG, "extra": extra}})
    say({"report": {"count": 1}})
    send_plan(new)
    say({"report": {"count": 1}})
    say({"configure": {**CONFIG, "mode": "CALIBRATE", "extra": {**extra, "9": 1}}})
    say({"report": {"count": 8}})
    send_plan(new)  # once more, into the other bank
    say({"report": {"count": 1}})


def normal(line):
    """Without what may differ between machines: how far a command got before the memory was used up, and whether a report
    has sentences or, as in a small build, names and numbers."""
    line = re.sub(r"\bfault (\d+)", lambda found: FAULTS[found.group(1)], line)
    line = re.sub(r'(?<="detail":")([A-Z][A-Z0-9_]+)\b', lambda found: STATUSES.get(found.group(1), found.group(1)), line)
    return re.sub(r'("error":"OUT_OF_MEMORY".*),"path":.*', r"\1}", line)


def check(command):
    text = "".join(line + "\n" for line in lines)
    run = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    sys.stderr.write(run.stderr.decode(errors="replace"))
    got = [normal(line) for line in run.stdout.decode(errors="replace").splitlines()]
    want = EXPECTED.read_text().splitlines()
    for number, pair in enumerate(zip(want, got), 1):
        if pair[0] != pair[1]:
            print(f"line {number}:\n  want {pair[0]}\n  got  {pair[1]}")
            return 1
    if run.returncode != 0 or len(got) != len(want):
        print(f"{len(got)} of {len(want)} lines, exit status {run.returncode}")
        return 1
    return 0


def main():
    hold(*(Path(name).read_bytes() for name in sys.argv[1:3]))
    if len(sys.argv) > 3:
        return check(sys.argv[3:])
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
