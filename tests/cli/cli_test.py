#!/usr/bin/env python3
"""planc from outside: exit codes, help, error lines with carets, reading and writing of files.

Usage: cli_test.py [PLANC [PART...]]   (or BJVM_PLANC in the environment). Prints what failed, then `N passed, M failed`.
What the messages say in full is the library's affair (tests/errors); here it is their form and place.
"""
import glob
import os
import pty
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLANC = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ["BJVM_PLANC"])
ROOT = HERE.parent.parent
SET = str(HERE.parent / "cases/cases.binpb")
COMMANDS = ["compile", "dump", "verify", "encode", "decode", "lint"]
CODEC_FLAGS = [
    "--ignore-unknown", "--use-proto-names", "--enums-as-ints", "--emit-defaults", "--sort-map-keys",
    "--int64-as-numbers", "--last-wins", "--case-insensitive-enums", "--pretty", "--ascii", "--html-safe",
    "--check-required",
]

passed = 0
failed = 0


def check(name, good, detail=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: {detail}")


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout or b"", (done.stderr or b"").decode()
        self.lines = self.err.splitlines()

    def __repr__(self):
        return f"exit {self.code}, out {self.out[:200]!r}, err {self.err[:600]!r}"


def planc(*args, data=b"", **more):
    more.setdefault("stdout", subprocess.PIPE)
    if "stdin" not in more:
        more["input"] = data
    return Result(subprocess.run([PLANC, *args], stderr=subprocess.PIPE, timeout=120, **more))


def codec(command, kind, *args, data=b"", **more):
    data = data.encode() if isinstance(data, str) else data
    return planc(command, "--descriptor-set", SET, "--type", kind, *args, data=data, **more)


def expect(name, result, code, out=None, err=None):
    """`err` is a pattern for all of standard error (None: empty when the exit is 0, one line otherwise)."""
    good = result.code == code and (out is None or result.out == out)
    if code:
        good = good and result.out == b""
    if err is None:
        good = good and len(result.lines) == (1 if code else 0)
    else:
        good = good and re.fullmatch(err, result.err.rstrip("\n"), re.S) is not None
    check(name, good, result)


# -- Command line -------------------------------------------------------------------------------------------------


def usage():
    expect("no command", planc(), 2, err=r"planc: error: a command is missing .*")
    version = planc("--version")
    check("--version", version.code == 0 and re.fullmatch(rb"planc [\w.()\- ]+\n", version.out), version)
    overview = planc("--help")
    check("--help", overview.code == 0 and all(c.encode() in overview.out for c in COMMANDS), overview)
    check("-h and help", planc("-h").out == planc("help").out == overview.out)
    for c in COMMANDS:
        text = planc(c, "--help")
        check(f"{c} --help", text.code == 0 and text.out.startswith(b"Usage: planc " + c.encode()), text)
        check(f"{c} help forms", planc("help", c).out == planc(c, "-h").out == text.out)
        check(f"{c} --help fits 110 columns", max(map(len, text.out.splitlines())) <= 110, text)
        for flag in CODEC_FLAGS + ["--max-depth N", "--indent N", "--descriptor-set FILE", "--type NAME"]:
            if c in ("encode", "decode"):
                check(f"{c} --help tells {flag}", flag.encode() in text.out)
    expect("unknown command", planc("encod"), 2, err=r"planc: error: unknown command 'encod'; did you mean 'encode'\? .*")
    expect("nothing like it", planc("zzzzzz"), 2, err=r"planc: error: unknown command 'zzzzzz' \(see planc --help\)")
    expect("unknown option first", planc("--verion"), 2,
           err=r"planc: error: unknown option '--verion'; did you mean '--version'\? .*")
    expect("nothing like that option", planc("--zzzzzz"), 2, err=r"planc: error: unknown option '--zzzzzz' \(see .*")


def options():
    base = ["encode", "--descriptor-set", SET, "--type", "cases.v3.T"]
    for word, hint in [("--ignor-unknown", "ignore-unknown"), ("--enum-as-ints", "enums-as-ints"),
                       ("--max_depth=3", "max-depth"), ("--Pretty", "pretty"), ("--sort-map-kesy", "sort-map-keys")]:
        expect(f"unknown {word}", planc(*base, word), 2,
               err=rf"planc: error: unknown option '{word.split('=')[0]}'; did you mean '--{hint}'\? .*")
    expect("no hint", planc(*base, "--zzzzzzzzz"), 2, err=r"planc: error: unknown option '--zzzzzzzzz' \(.*")
    expect("short", planc(*base, "-x"), 2, err=r"planc: error: unknown option '-x'.*")
    expect("option of another command", planc(*base, "--stats"), 2, err=r"planc: error: unknown option '--stats'.*")
    expect("flag with a value", planc(*base, "--pretty=1"), 2, err=r".*takes no value.*")
    expect("no value", planc(*base, "--max-depth"), 2, err=r".*needs a value.*")
    expect("empty value", planc(*base, "--max-depth="), 2, err=r".*needs a value.*")
    for value in ["0", "-1", "x", "1x", "65536", "99999999999999999999", "+5", " 5", "1e3"]:
        expect(f"--max-depth {value!r}", planc(*base, "--max-depth", value), 2, err=r".*from 1 to 65535.*")
    expect("--indent 17", planc(*base, "--indent=17"), 2, err=r".*from 1 to 16.*")
    expect("set twice", planc(*base, "--descriptor-set", SET), 2, err=r".*given twice.*")
    expect("two types", planc(*base, "--type", "cases.v3.T"), 2, err=r".*more than one --type.*")
    expect("two files", planc(*base, "a", "b"), 2, err=r".*more than one FILE.*")
    expect("no type", planc("encode", "--descriptor-set", SET), 2, err=r".*--type is missing.*")
    expect("no set", planc("decode", "--type", "x"), 2, err=r".*a schema is missing: --descriptor-set or --plan.*")
    expect("both from stdin", planc("decode", "--descriptor-set=-", "--type", "x"), 2, err=r".*both.*")
    expect("verify without file", planc("verify"), 2)
    expect("compile with file", planc("compile", "x.bjp"), 2)
    expect("compile both", planc("compile", "x.proto", "--descriptor-set", SET, "--type", "x"), 2)
    expect("dump of a plan with a type", planc("dump", "x.bjp", "--type", "x"), 2)
    expect("--emit", planc("compile", "--emit=elf"), 2, err=r".*takes blob, c or asm.*")
    expect("--abi", planc("compile", "--abi=16"), 2, err=r".*takes 32 or 64.*")
    for symbol in "1x", "a b", "a-b", "\u00e9":
        expect(f"--symbol {symbol!r}", planc("compile", "--symbol", symbol), 2, err=r".*takes a C identifier, not.*")
    compile_x = ["compile", "--descriptor-set", SET, "--type", "cases.v3.Mini"]
    expect("--header of a blob", planc(*compile_x, "--header", "x.h"), 2, err=r".*--header goes with.*")
    expect("asm to stdout", planc(*compile_x, "--emit=asm"), 2, err=r".*use -o FILE.*")
    expect("depfile of stdout", planc(*compile_x, "--depfile=x.d", "--emit=c"), 2, err=r".*--depfile needs.*")
    expect("stream and pretty", planc(*base, "--stream", "--pretty"), 2, err=r".*does not go with --pretty.*")
    expect("plan from stdin too", planc("encode", "--plan=-"), 2, err=r".*both.*")
    expect("dump of both", planc("dump", "--descriptor-set", SET, "--type", "cases.v3.T", "x.bjp"), 2)
    expect("equals and blank", planc("encode", f"--descriptor-set={SET}", "--type=cases.v3.T", data=b"\x08\x05"), 0,
           b'{"i32":5}\n')
    expect("after --", planc(*base, "--", "--pretty"), 1, err=r"--pretty: error: cannot open: .*")
    for command, data, out in [("encode", b"\x08\x05", None), ("decode", b'{"i32":5}', b"\x08\x05")]:
        result = codec(command, "cases.v3.T", *CODEC_FLAGS, "--max-depth=50", "--indent", "4", data=data)
        check(f"{command} takes all flags", result.code == 0 and out in (None, result.out), result)


# -- Codec --------------------------------------------------------------------------------------------------------


def forms():
    t = "cases.v3.T"
    expect("encode", codec("encode", t, data=b"\x08\x05\x18\x07"), 0, b'{"i32":5,"i64":"7"}\n')
    expect("encode empty", codec("encode", t), 0, b"{}\n")
    expect("decode", codec("decode", t, data='{"i32":5}\n'), 0, b"\x08\x05")
    expect("decode to nothing", codec("decode", t, data="{}"), 0, b"")
    expect("leading dot", codec("encode", "." + t), 0, b"{}\n")
    expect("int64-as-numbers", codec("encode", t, "--int64-as-numbers", data=b"\x18\x07"), 0, b'{"i64":7}\n')
    expect("ascii", codec("encode", t, "--ascii", data=b"\x72\x02\xc3\xa9"), 0, b'{"str":"\\u00e9"}\n')
    expect("html-safe", codec("encode", t, "--html-safe", data=b"\x72\x01<"), 0, b'{"str":"\\u003c"}\n')
    expect("enums-as-ints", codec("encode", t, "--enums-as-ints", data=b"\x80\x01\x01"), 0, b'{"color":1}\n')
    expect("pretty", codec("encode", t, "--pretty", data=b"\x08\x05"), 0, b'{\n  "i32": 5\n}\n')
    expect("indent", codec("encode", t, "--indent=4", data=b"\x08\x05"), 0, b'{\n    "i32": 5\n}\n')
    defaults = codec("encode", "cases.v3.Mini", "--emit-defaults")
    expect("emit-defaults", defaults, 0, b'{"n":0,"s":""}\n')
    expect("ignore-unknown", codec("decode", t, "--ignore-unknown", data='{"nope":[1],"i32":5}'), 0, b"\x08\x05")
    expect("last-wins", codec("decode", t, "--last-wins", data='{"i32":4,"i32":5}'), 0, b"\x08\x05")
    expect("case-insensitive-enums", codec("decode", t, "--case-insensitive-enums", data='{"color":"red"}'), 0,
           b"\x80\x01\x01")
    expect("check-required off", codec("decode", "cases.v2.Need", data="{}"), 0, b"")
    expect("check-required decode", codec("decode", "cases.v2.Need", "--check-required", data="{}"), 1,
           err=r"<stdin>:1:\d+: error: .*REQUIRED\)\n.*")
    expect("check-required encode", codec("encode", "cases.v2.Need", "--check-required"), 1,
           err=r"<stdin>: error: .*REQUIRED\)")
    expect("any and extensions", codec("decode", "cases.v2.P2", data='{"[cases.v2.ext_num]":5}'), 0, b"\xa0\x06\x05")
    text = b'{"any":{"@type":"x.com/cases.v3.Mini","n":1}}\n'
    wire = codec("decode", "cases.v2.Holder", data=text)
    expect("any there and back", codec("encode", "cases.v2.Holder", data=wire.out), 0, text)
    a = codec("decode", "google.protobuf.Struct", data='{"b":1,"a":2,"d":3,"c":4}').out
    b = codec("decode", "google.protobuf.Struct", data='{"c":4,"d":3,"a":2,"b":1}').out
    check("the binary of a map has one order", a == b and a)


def depth():
    t = "cases.v3.T"

    def nested(n):
        return '{"sub":' * (n - 1) + "{}" + "}" * (n - 1)

    check("depth 100", codec("decode", t, data=nested(100)).code == 0)
    expect("depth 101", codec("decode", t, data=nested(101)), 1, err=r"<stdin>:1:\d+: error: .*DEPTH\)\n.*")
    for n in (101, 5000, 20000):
        wire = codec("decode", t, f"--max-depth={n}", data=nested(n))
        check(f"decode to {n}", wire.code == 0, wire)
        back = codec("encode", t, f"--max-depth={n}", data=wire.out)
        check(f"encode to {n}", back.code == 0 and back.out == nested(n).encode() + b"\n", back)
    deep = codec("decode", t, "--max-depth=20000", data=nested(20000)).out
    expect("binary too deep", codec("encode", t, data=deep), 1, err=r"<stdin>: error: .*(depth|deep|DEPTH).*")
    for n in (100, 3000):
        text = '{"a":' * (n - 1) + "{}" + "}" * (n - 1)
        wire = codec("decode", "google.protobuf.Struct", f"--max-depth={n}", data=text)
        back = codec("encode", "google.protobuf.Struct", f"--max-depth={n}", data=wire.out)
        check(f"Struct to {n} and back", back.code == 0 and back.out == text.encode() + b"\n", back)
        value = f'{{"@type":"x/google.protobuf.Struct","value":{text}}}'
        wire = codec("decode", "google.protobuf.Any", f"--max-depth={n + 1}", data=value)
        back = codec("encode", "google.protobuf.Any", f"--max-depth={n + 1}", data=wire.out)
        check(f"Struct to {n} in an Any and back", back.code == 0 and back.out == value.encode() + b"\n", back)


# -- Error lines --------------------------------------------------------------------------------------------------

# Text, line and column, path, code, the line shown, the column of the caret (from 0).
CARETS = [
    ('{"i32":x}', 1, 8, "i32", "SYNTAX", '{"i32":x}', 7),
    ('{"i32":1.5}', 1, 8, "i32", "NOT_INTEGER", '{"i32":1.5}', 7),
    ('{"nope":1}', 1, 2, None, "UNKNOWN_FIELD", '{"nope":1}', 1),
    ('{\n  "i32": true\n}\n', 2, 10, "i32", "WRONG_TYPE", '  "i32": true', 9),
    ('{\r\n  "i32": true\r\n}\r\n', 2, 10, "i32", "WRONG_TYPE", '  "i32": true', 9),
    ('{\t"i32":\ttrue}', 1, 10, "i32", "WRONG_TYPE", '{ "i32": true}', 9),
    ('{"str":"日本","i32":true}', 1, 19, "i32", "WRONG_TYPE", '{"str":"日本","i32":true}', 20),
    ('{"str":"e\u0301e\u0301","i32":true}', 1, 21, "i32", "WRONG_TYPE", '{"str":"e\u0301e\u0301","i32":true}', 18),
    ('{"str":"😀","i32":true}', 1, 18, "i32", "WRONG_TYPE", '{"str":"😀","i32":true}', 18),
    ('{"str":"\u202e","i32":true}', 1, 18, "i32", "WRONG_TYPE", '{"str":"?","i32":true}', 17),
    ('\ufeff{"i32":1}', 1, 1, None, "SYNTAX", '?{"i32":1}', 0),
    ('{"i32":\u200b1}', 1, 8, "i32", "SYNTAX", '{"i32":?1}', 7),
    ('{"i32":1} x', 1, 11, None, "TRAILING", '{"i32":1} x', 10),
    ("", 1, 1, None, "TRUNCATED", "", 0),
    ('{"i32":1', 1, 9, None, "TRUNCATED", '{"i32":1', 8),
    ('{"i32":1,\n', 2, 1, None, "TRUNCATED", "", 0),
    ('{"sub":{"sub":{"i32":"x"}}}', 1, 22, "sub.sub.i32", None, '{"sub":{"sub":{"i32":"x"}}}', 21),
]


def error_lines():
    for text, line, column, path, code, shown, caret in CARETS:
        result = codec("decode", "cases.v3.T", data=text)
        path = rf"path {re.escape(path)}, " if path else "(path [^ ]+, )?"
        first = rf"<stdin>:{line}:{column}: error: \S.* \({path}{code or '[A-Z_]+'}\)"
        good = result.code == 1 and result.out == b"" and len(result.lines) == 3
        good = good and re.fullmatch(first, result.lines[0]) and result.lines[1:] == [shown, " " * caret + "^"]
        check(f"caret of {text!r}", good, f"{result} expected {first}")
    # A long line is cut around the place, and the caret moves with it.
    for before, after in [(200, 0), (0, 200), (200, 200), (39, 200), (100000, 100000), (60, 2), (30, 30)]:
        text = '{"str":"' + "ab" * (before // 2) + '","i32":true,"raw":"' + "cd" * (after // 2) + '"}'
        result = codec("decode", "cases.v3.T", data=text)
        good = result.code == 1 and len(result.lines) == 3
        if good:
            place = result.lines[2].index("^")
            good = len(result.lines[1]) <= 80 and result.lines[1][place : place + 4] == "true"
            good = good and result.lines[1].startswith("...") == (len(text) > 80 and text.index("true") > 40)
        check(f"cut line {before} {after}", good, result)
    wide = codec("decode", "cases.v3.T", data='{"str":"' + "日" * 100 + '","i32":true,"str":"' + "本" * 100 + '"}')
    good = len(wide.lines) == 3
    if good:
        head = wide.lines[1].split("true")[0]
        good = wide.lines[2].index("^") == sum(2 if c > "\u2fff" else 1 for c in head)
    check("cut line of wide characters", good, wide)
    pile = codec("decode", "cases.v3.T", data='{"str":"e' + "\u0301" * 100000 + '","i32":true}')
    check("a pile of combining marks is cut", len(pile.lines) == 3 and len(pile.err) < 2000, pile)
    bad = codec("decode", "cases.v3.T", data=b'{"str":"a\xffb","i32":1}')
    good = bad.lines[1:] == ['{"str":"a?b","i32":1}', " " * 9 + "^"] and "BAD_UTF8" in bad.lines[0]
    check("bytes that are no UTF-8", good, bad)
    escape = codec("decode", "cases.v3.T", data=b'{"\x7f\\u001b[31mred":1}')
    check("nothing steers the terminal", "\x1b" not in escape.err and "\x7f" not in escape.err, escape)
    nul = codec("decode", "cases.v3.T", data=b'{"i32":1}\0')
    check("a NUL is seen", nul.code == 1 and "TRAILING" in nul.err, nul)
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "in put.json")
        Path(name).write_text('{\n"i32":x}')
        result = codec("decode", "cases.v3.T", name)
        check("the file's name", result.err.startswith(name + ":2:7: error: "), result)
        expect("stdin by name", codec("decode", "cases.v3.T", "-", data='{"i32":5}'), 0, b"\x08\x05")
    any_error = codec("encode", "google.protobuf.Any", data=b"\x0a\x06x.y/zz\x12\x00")
    expect("encode error", any_error, 1, err=r"<stdin>: error: .* \((path .*, )?ANY_TYPE\)")
    for data in (b"\x08", b"\xff\xff", b"\x72\x05ab", b"\x07", b"\x00\x00"):
        expect(f"binary {data!r}", codec("encode", "cases.v3.T", data=data), 1,
               err=r"<stdin>: error: not a binary cases\.v3\.T: .*")
    expect("binary with bad UTF-8", codec("encode", "cases.v3.T", data=b"\x72\x01\xff"), 1, err=r"<stdin>: error: .*UTF-8.*")


# -- Files --------------------------------------------------------------------------------------------------------


def reading():
    expect("no such file", codec("encode", "cases.v3.T", "/no/such"), 1, err=r"/no/such: error: cannot open: .*")
    expect("a folder", codec("encode", "cases.v3.T", "/tmp"), 1, err=r"/tmp: error: cannot read: .*")
    expect("no such set", planc("encode", "--descriptor-set=/no/such", "--type=x"), 1, err=r"/no/such: error: .*")
    size = 30_000_000
    big = codec("decode", "cases.v3.T", data=b'{"str":"' + b"x" * size + b'"}')
    check("a large input", big.code == 0 and len(big.out) == size + 5, big.code)
    back = codec("encode", "cases.v3.T", data=big.out)
    check("a large output", back.code == 0 and len(back.out) == size + 11, back.code)
    # Through a pipe that is filled in pieces.
    feed = subprocess.Popen([PLANC, "decode", "--descriptor-set", SET, "--type", "cases.v3.T"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for piece in (b'{"i3', b'2":', b"5}"):
        feed.stdin.write(piece)
        feed.stdin.flush()
    out, _ = feed.communicate(timeout=60)
    check("input in pieces", out == b"\x08\x05" and feed.returncode == 0)


def writing():
    data = b"\x08\x05"
    full = "/dev/full"
    expect("-o to a full device", codec("encode", "cases.v3.T", "-o", full, data=data), 1,
           err=r"/dev/full: error: cannot write: .*")
    with open(full, "wb") as sink:
        done = codec("encode", "cases.v3.T", data=data, stdout=sink)
        check("a full standard output", done.code == 1 and "<stdout>: error: cannot write" in done.err, done)
        done = planc("--help", stdout=sink)
        check("help to a full output", done.code == 1 and len(done.lines) == 1, done)
        done = planc("encode", "--help", stdout=sink)
        check("a command's help to a full output", done.code == 1 and len(done.lines) == 1, done)
    r, w = os.pipe()
    os.close(r)
    done = codec("encode", "cases.v3.T", data=data, stdout=w)
    os.close(w)
    check("a reader that went away", done.code == 1 and "<stdout>: error: cannot write" in done.err, done)
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "out.json")
        os.umask(0o022)
        expect("-o", codec("encode", "cases.v3.T", "-o", target, data=data), 0, b"")
        check("-o content", Path(target).read_bytes() == b'{"i32":5}\n')
        check("-o mode", stat.S_IMODE(os.stat(target).st_mode) == 0o644)
        os.chmod(target, 0o600)
        expect("-oFILE", codec("encode", "cases.v3.T", "-o" + target, data=b"\x08\x06"), 0, b"")
        check("mode is kept", stat.S_IMODE(os.stat(target).st_mode) == 0o600)
        expect("failure", codec("encode", "cases.v3.T", "--output=" + target, data=b"\x08"), 1)
        check("failure leaves the file", Path(target).read_bytes() == b'{"i32":6}\n')
        link = os.path.join(folder, "link")
        os.symlink("out.json", link)
        expect("through a link", codec("encode", "cases.v3.T", "-o", link, data=data), 0, b"")
        check("the link stays", os.path.islink(link) and Path(target).read_bytes() == b'{"i32":5}\n')
        expect("to a folder", codec("encode", "cases.v3.T", "-o", folder, data=data), 1, err=r".*cannot write.*")
        expect("into no folder", codec("encode", "cases.v3.T", "-o", folder + "/no/x", data=data), 1, err=r".*cannot write.*")
        Path(target).write_bytes(data)
        expect("onto the input", codec("encode", "cases.v3.T", "-o", target, target), 0, b"")
        check("the input is replaced", Path(target).read_bytes() == b'{"i32":5}\n')

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            import signal
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        long_text = codec("decode", "cases.v3.T", data='{"str":"' + "x" * 5000 + '"}').out
        done = codec("encode", "cases.v3.T", "-o", target, data=long_text, preexec_fn=limit)
        check("a write that breaks off", done.code == 1 and "cannot write" in done.err, done)
        check("it leaves the file", Path(target).read_bytes() == b'{"i32":5}\n')
        check("nothing else is left", sorted(os.listdir(folder)) == ["link", "out.json"], os.listdir(folder))
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE)
        expect("into a pipe", codec("encode", "cases.v3.T", "-o", fifo, data=data), 0, b"")
        check("the pipe got it", reader.communicate(timeout=60)[0] == b'{"i32":5}\n')


# -- Descriptor sets ----------------------------------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 128:
            return value, at


def fields(data):
    """(number, bytes of the field with its tag, content) of a message with length-delimited and varint fields only."""
    at = 0
    while at < len(data):
        start = at
        tag, at = varint(data, at)
        if tag & 7 == 2:
            size, at = varint(data, at)
            content, at = data[at : at + size], at + size
        else:
            content, at = varint(data, at)
        yield tag >> 3, data[start:at], content


def sets():
    files = [(next(c for n, _, c in fields(content) if n == 1).decode(), raw)
             for _, raw, content in fields(Path(SET).read_bytes())]
    with tempfile.TemporaryDirectory() as folder:
        def run(name, parts, kind="cases.v3.T"):
            path = os.path.join(folder, name)
            Path(path).write_bytes(b"".join(raw for _, raw in parts))
            return planc("encode", "--descriptor-set", path, "--type", kind), re.escape(path)

        result, _ = run("reversed", files[::-1])
        expect("files in reverse order", result, 0, b"{}\n")
        result, path = run("twice", files + files[:1])
        expect("a file twice", result, 1, err=rf"{path}: error: .*'{re.escape(files[0][0])}' twice")
        missing = [f for f in files if f[0] != "google/protobuf/struct.proto"]
        result, path = run("missing", missing)
        expect("a missing import", result, 1,
               err=rf"{path}: error: '\S+' imports 'google/protobuf/struct.proto', which is not in the set .*")
        result, path = run("empty", [])
        expect("an empty set", result, 1, err=rf"{path}: error: .*no files")
        result, path = run("junk", [("", b"\xff\x00junk")])
        expect("no set at all", result, 1, err=rf"{path}: error: not a FileDescriptorSet.*")

        def file(name, *imports, body=b""):
            content = b"\x0a" + bytes([len(name)]) + name + b"".join(b"\x1a" + bytes([len(i)]) + i for i in imports)
            content += body
            return name.decode(), b"\x0a" + bytes([len(content)]) + content

        result, path = run("cycle", [file(b"a", b"b"), file(b"b", b"c"), file(b"c", b"a")])
        expect("a cycle", result, 1, err=rf"{path}: error: 'c' imports 'a', which imports it in turn")
        result, path = run("itself", [file(b"a", b"a")])
        expect("a file that imports itself", result, 1, err=rf"{path}: error: .*in turn")
        message = b"\x22\x03\x0a\x01M"
        result, path = run("clash", [file(b"a", body=message), file(b"b", body=message)], "M")
        expect("a type twice", result, 1, err=rf"{path}: error: in 'b': .*M.*")
        result, path = run("chain", [file(b"%d" % i, *([b"%d" % (i + 1)] if i < 2999 else []),
                                          body=b"\x22\x08\x0a\x06M%05d" % i) for i in range(3000)], "M00000")
        expect("3000 files in a chain", result, 0, b"{}\n")
        # Of those that are equally near, up to three.
        for names, hint in [(["a.M"], "'a.M'"), (["a.M", "b.M"], "'a.M' or 'b.M'"), (["a.Mx", "b.M"], "'b.M'"),
                            (["a.M", "b.M", "c.M", "d.M"], "'a.M', 'b.M' or 'c.M'")]:
            parts = [file(b"f%d" % i, body=b"\x12\x01" + name[:1].encode() + b"\x22" + bytes([len(name)]) + b"\x0a"
                          + bytes([len(name) - 2]) + name[2:].encode()) for i, name in enumerate(names)]
            result, path = run("names", parts, "M")
            expect(f"M of {names}", result, 1, err=rf"{path}: error: no message type 'M' in the set; did you mean {hint}\?")
    for kind, hint in [("cases.v3.Mimi", "cases.v3.Mini"), ("cases.v3.mini", "cases.v3.Mini"),
                       ("Mini", "cases.v3.Mini"), ("google.protobuf.TimeStamp", "google.protobuf.Timestamp")]:
        expect(f"type {kind}", codec("encode", kind), 1, err=rf".*: error: no message type '{kind}' .*'{hint}'\?")
    expect("type zzz", codec("encode", "zzz"), 1, err=r".*: error: no message type 'zzz' in the set")
    expect("an enum as type", codec("encode", "cases.v3.Color"), 1, err=r".*no message type 'cases.v3.Color'.*")
    expect("a map entry as type", codec("encode", "google.protobuf.Struct.FieldsEntry"), 1, err=r".*entry of a map.*")


# -- Plan files ---------------------------------------------------------------------------------------------------


def plans():
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "t.bjp")
        base = ["compile", "--descriptor-set", SET, "--type", "cases.v3.T"]
        made = planc(*base)
        check("compile", made.code == 0 and made.out[:4] == b"BJVM" and made.err == "", made)
        expect("compile -o", planc(*base, "-o", plan), 0, b"")
        check("the same bytes", Path(plan).read_bytes() == made.out)
        more = planc(*base, "--type=cases.v2.P2", "--extensions", "--stats")
        check("two types", more.code == 0 and len(more.out) > len(made.out), more)
        check("--stats", re.search(r"^roots +2 +8 ", more.err, re.M)
              and re.search(rf"^all +1 +{len(more.out)} +100.0% ", more.err, re.M), more)
        total = sum(int(line.split()[2]) for line in more.err.splitlines()[1:12])
        check("--stats adds up", total == len(more.out), more)
        check("--extensions", re.search(r"^extensions +[1-9]", more.err, re.M), more)
        expect("compile an unknown type", planc(*base, "--type=cases.v3.Tx", "-o", plan), 1, err=r".*no message type.*")
        check("the old file stays", Path(plan).read_bytes() == made.out)
        expect("no type", planc("compile", "--descriptor-set", SET), 2)
        master, slave = pty.openpty()
        done = planc(*base, stdout=slave)
        check("not to a terminal", done.code == 2 and "terminal" in done.err, done)
        for args in [], ["-"], ["--plan=-"]:
            expect(f"dump {args} from a terminal", planc("dump", *args, stdin=slave), 2, err=r".*not read from a terminal.*")
        check("dump of a file at a terminal", planc("dump", plan, stdin=slave).code == 0)
        os.close(master)
        os.close(slave)
        listing = planc("dump", plan)
        check("dump", listing.code == 0 and b"cases.v3.T" in listing.out, listing)
        expect("dump from a set", planc("dump", *base[1:]), 0, listing.out)
        expect("dump needs a type", planc("dump", "--descriptor-set", SET), 2)
        expect("dump from stdin", planc("dump", "-", data=made.out), 0, listing.out)
        expect("dump from stdin without FILE", planc("dump", data=made.out), 0, listing.out)
        verified = planc("verify", plan, plan)
        check("verify", verified.code == 0 and verified.out.count(b": ok, ") == 2, verified)
        bad = os.path.join(folder, "bad.bjp")
        for at in range(0, len(made.out), max(1, len(made.out) // 200)):
            data = bytearray(made.out)
            data[at] ^= 0x40
            Path(bad).write_bytes(data)
            result = planc("verify", bad)
            good = result.code == 1 and re.fullmatch(rf"{re.escape(bad)}: error: .* \((byte \d+, )?PLAN_[A-Z]+\)\n", result.err)
            check(f"verify with byte {at} changed", good, result)
        for size in (0, 1, 63, 64, len(made.out) - 1):
            expect(f"dump of {size} bytes", planc("dump", "-", data=made.out[:size]), 1, err=r"<stdin>: error: .*PLAN_.*")
        both = planc("verify", bad, plan)
        check("one bad of two", both.code == 1 and both.out.count(b": ok, ") == 1 and len(both.lines) == 1, both)


def lint():
    def run(*names):
        body = b""
        for number, (name, json) in enumerate(names, 1):
            field = b"".join(bytes([tag, len(text)]) + text for tag, text in ((10, name), (0x52, json)) if text)
            field += bytes([0x18, number, 0x20, 1, 0x28, 5])
            body += b"\x12" + bytes([len(field)]) + field
        body = b"\x0a\x01M" + body
        content = b"\x0a\x01f\x22" + bytes([len(body)]) + body
        return planc("lint", "--descriptor-set=-", data=b"\x0a" + bytes([len(content)]) + content)

    for name, found, fields_given in [
        ("clean", "", [(b"a_b", b""), (b"c", b"d")]),
        ("case", "M.b: name 'nAme' differs only in case or form from that of M.a", [(b"a", b"name"), (b"b", b"nAme")]),
        ("full width", "differs only", [(b"a", b"ab"), (b"b", "\uff41b".encode())]),
        ("decomposed", "M.a: name 'e\u0301' is not in Unicode normal form C", [(b"a", "e\u0301".encode())]),
        ("invisible", "M.a: name 'a' has in its JSON form the invisible character U+200B", [(b"a", "x\u200b".encode())]),
        ("key of an Any", "M.a: name '@type' is that of the type URL in an Any", [(b"a", b"@type"), (b"b", b"at")]),
        ("taken", "M.x: name 'x' is taken in JSON by M.a", [(b"a", b"x"), (b"x", b"y")]),
    ]:
        result = run(*fields_given)
        good = result.code == (1 if found else 0) and result.err == "" and found in result.out.decode()
        check(f"lint {name}", good and len(result.out.splitlines()) == (1 if found else 0), result)
    swap = planc("lint", "--descriptor-set", SET)
    check("lint of the cases", swap.code == 1 and b"cases.v2.Swap.swap_a" in swap.out, swap)
    for field in (b"quoted", b"slashed", b"tabbed", b"fake_escape"):
        check(f"lint {field.decode()}", b"cases.v3.Names." + field + b": name '" + field + b"' has a JSON form that needs escapes" in swap.out, swap)
    expect("lint without set", planc("lint"), 2)


# -- Plans as input, streams, other forms of output ---------------------------------------------------------------


def compile_to(path, *args, types=("cases.v3.T",)):
    named = [word for kind in types for word in ("--type", kind)]
    result = planc("compile", "--descriptor-set", SET, *named, *args, "-o", path)
    check(f"compile {args}", result.code == 0 and result.err == "", result)
    return path


def plan_input():
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)

        own = compile_to(at("own.bjp"), "--mini-descriptors", types=("cases.v3.T", "cases.v3.Mini", "cases.v2.Holder"))
        one = compile_to(at("one.bjp"), "--mini-descriptors")
        bare = compile_to(at("bare.bjp"))
        wire = b"\x08\x05\x18\x07"
        expect("one root", planc("encode", "--plan", one, data=wire), 0, b'{"i32":5,"i64":"7"}\n')
        expect("back", planc("decode", "--plan", one, data=b'{"i64":"7","i32":5}'), 0, wire)
        expect("--type of several", planc("encode", "--plan", own, "--type=cases.v3.Mini"), 0, b"{}\n")
        expect("several roots", planc("encode", "--plan", own), 1, err=r".*3 message types; name one with --type")
        expect("a nested type", planc("encode", "--plan", own, "--type", "google.protobuf.Any"), 0, b"{}\n")
        expect("near miss", planc("encode", "--plan", own, "--type", "cases.v3.Mink"), 1,
               err=r".*no message type 'cases.v3.Mink' in the plan; did you mean 'cases.v3.Mini'\?")
        expect("no mini descriptors", planc("encode", "--plan", bare), 1, err=r".*no mini descriptors.*")
        expect("plan and set", planc("encode", "--plan", bare, "--descriptor-set", SET, data=wire), 0,
               b'{"i32":5,"i64":"7"}\n')
        for abi in ("32", "64"):
            path = compile_to(at(f"abi{abi}.bjp"), f"--abi={abi}", "--mini-descriptors")
            expect(f"abi {abi}", planc("encode", "--plan", path, "--use-proto-names", data=wire), 0,
                   b'{"i32":5,"i64":"7"}\n')
            listing = planc("dump", "--plan", path)
            check(f"dump of abi {abi}", f"prebound for {abi} bits".encode() in listing.out, listing)
        flags = ["--emit-defaults", "--use-proto-names", "--enums-as-ints", "--int64-as-numbers", "--ascii"]
        by_set, by_plan = codec("encode", "cases.v3.T", *flags, data=wire), planc("encode", "--plan", one, *flags, data=wire)
        check("options with a plan", by_set.code == by_plan.code == 0 and by_set.out == by_plan.out, by_plan)
        # Any and extensions through the plan's own registry.
        text = b'{"any":{"@type":"x.com/cases.v3.Mini","n":1}}\n'
        wire = codec("decode", "cases.v2.Holder", data=text).out
        expect("any of a plan", planc("decode", "--plan", own, "--type=cases.v2.Holder", data=text), 0, wire)
        expect("any back", planc("encode", "--plan", own, "--type=cases.v2.Holder", data=wire), 0, text)
        other = b'{"any":{"@type":"x.com/cases.v2.P2"}}'
        expect("any of a type that is not there", planc("decode", "--plan", own, "--type=cases.v2.Holder", data=other), 1,
               err=r"<stdin>:1:\d+: error: .*ANY_TYPE\)\n.*")
        ext = compile_to(at("ext.bjp"), "--mini-descriptors", "--extensions", types=("cases.v2.P2",))
        expect("extension in", planc("decode", "--plan", ext, data=b'{"[cases.v2.ext_num]":5}'), 0, b"\xa0\x06\x05")
        for flags in ([], ["--enums-as-ints"]):
            expect("extension out", planc("encode", "--plan", ext, *flags, data=b"\xa0\x06\x05"), 0,
                   b'{"[cases.v2.ext_num]":5}\n')
        bad = bytearray(Path(own).read_bytes())
        bad[200] ^= 1
        Path(at("bad.bjp")).write_bytes(bad)
        expect("a damaged plan", planc("encode", "--plan", at("bad.bjp")), 1, err=r".*byte \d+, PLAN_CORRUPT\)")
        bad = bytearray(Path(own).read_bytes())
        bad[4] = 2
        Path(at("bad.bjp")).write_bytes(bad)
        expect("another major version", planc("verify", "--plan", at("bad.bjp")), 1,
               err=r".*(another major version of the format; this library reads 1\.0 to 1\.2|fault 22) \(PLAN_VERSION\)")
        expect("verify --plan", planc("verify", "--plan", own), 0)
        again = compile_to(at("again.bjp"), "--mini-descriptors", types=("cases.v3.T", "cases.v3.Mini", "cases.v2.Holder"))
        check("the same bytes with mini descriptors", Path(again).read_bytes() == Path(own).read_bytes())


def frame(*messages):
    return b"".join(bytes([len(m)]) + m for m in messages)


def streams():
    t = "cases.v3.T"
    wire = frame(b"\x08\x01", b"", b"\x08\x03")
    lines = b'{"i32":1}\n{}\n{"i32":3}\n'
    expect("encode stream", codec("encode", t, "--stream", data=wire), 0, lines)
    expect("decode stream", codec("decode", t, "--stream", data=lines), 0, wire)
    expect("no end of the last line", codec("decode", t, "--stream", data=lines[:-1]), 0, wire)
    expect("blank lines and CRLF", codec("decode", t, "--stream", data=b'\n \t\r\n{"i32":1}\r\n\n{}\r\n{"i32":3}\n\n'), 0, wire)
    expect("empty streams", codec("encode", t, "--stream"), 0, b"")
    expect("empty streams", codec("decode", t, "--stream"), 0, b"")
    for n in (127, 128, 300, 70000, 3000000):
        text = b'{"str":"' + b"x" * n + b'"}\n'
        there = codec("decode", t, "--stream", data=text * 2)
        back = codec("encode", t, "--stream", data=there.out)
        check(f"messages of {n} bytes", there.code == 0 and back.out == text * 2, there)
    many = codec("decode", t, "--stream", data=lines * 100000)
    check("many lines", many.out == wire * 100000)
    check("many messages", codec("encode", t, "--stream", data=many.out).out == lines * 100000)

    def fails(name, command, data, out, err):
        result = codec(command, t, "--stream", data=data)
        good = result.code == 1 and result.out == out and re.fullmatch(err, result.err.rstrip("\n"), re.S)
        check(name, good, result)

    fails("a bad line", "decode", lines + b'{"i32":x}\n{}\n', wire,
          r'<stdin>:4:8: error: message 4: .*SYNTAX\)\n\{"i32":x\}\n {7}\^')
    fails("line and number", "decode", b'\n\n{}\n\n{"nope":1}\n', b"\0", r"<stdin>:5:2: error: message 2: .*UNKNOWN_FIELD\)\n.*")
    fails("two values on a line", "decode", b"{}\n{} {}\n", b"\0", r"<stdin>:2:4: error: message 2: .*TRAILING\)\n.*")
    fails("a bad message", "encode", wire + frame(b"\xff"), lines, r"<stdin>: error: message 4: not a binary .*")
    fails("cut inside", "encode", wire + b"\x05\x08", lines, r"<stdin>: error: message 4: the input ends inside it")
    fails("cut in the length", "encode", wire + b"\x85", lines, r"<stdin>: error: message 4: the input ends inside its length")
    fails("no varint", "encode", wire + b"\xff" * 10, lines, r"<stdin>: error: message 4: its length is no varint")
    fails("too long", "encode", b"\xff\xff\xff\xff\xff\x01", b"", r"<stdin>: error: message 1: longer than 2 GB")
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "in"), os.path.join(folder, "out")
        Path(source).write_bytes(lines)
        expect("files", codec("decode", t, "--stream", source, "-o", target), 0, b"")
        check("files", Path(target).read_bytes() == wire)
        expect("no such file", codec("decode", t, "--stream", source + "x"), 1, err=r".*cannot open.*")
        expect("full disk", codec("decode", t, "--stream", "-o", "/dev/full", data=lines), 1, err=r"/dev/full: error: cannot write.*")
    # What has been read is answered before more is waited for.
    args = [PLANC, "decode", "--descriptor-set", SET, "--type", t, "--stream"]
    with subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for _ in range(3):
            process.stdin.write(b'{"i32":1}\n')
            process.stdin.flush()
            check("an answer at once", os.read(process.stdout.fileno(), 100) == b"\x02\x08\x01")
        process.stdin.close()
        check("and an end", process.wait() == 0)


def array_of(text):
    return bytes(int(n) for n in re.search(r"= \{(.*)\};", text, re.S).group(1).replace("\n", "").split(",") if n.strip())


def emit():
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)

        types = ("cases.v3.T", "cases.v3.Mini")
        blob = Path(compile_to(at("plans.bjp"), types=types)).read_bytes()
        compile_to(at("alone.c"), "--emit=c", types=types)
        check("the array", array_of(Path(at("alone.c")).read_text()) == blob)
        compile_to(at("my-plans.v1.c"), "--emit=c", "--header", at("plans.h"), types=types)
        header = Path(at("plans.h")).read_text()
        for line in (f"#define MY_PLANS_SIZE {len(blob)}u", "#define MY_PLANS_ALIGN 8", "#define MY_PLANS_TYPE_COUNT 2",
                     '#define MY_PLANS_TYPE_CASES_V3_MINI "cases.v3.Mini"', "#define MY_PLANS_LAYOUT 0x0000000000000000u",
                     f"#define MY_PLANS_SCHEMA 0x{int.from_bytes(blob[24:32], 'little'):016x}u",
                     f"extern const unsigned char my_plans[{len(blob)}];"):
            check(f"header: {line}", line in header, header)
        compile_to(at("other.S"), "--emit=asm", "--symbol=the_plan", "--header", at("other.h"), "--depfile", at("other.d"),
                   types=types)
        check("the file beside it", Path(at("other.bjp")).read_bytes() == blob)
        check("depfile", Path(at("other.d")).read_text()
              == f"{at('other.S')} {at('other.h')} {at('other.bjp')}: \\\n  {SET}\n", Path(at("other.d")).read_text())
        if shutil.which("cc"):
            Path(at("main.c")).write_text(
                '#include <stdio.h>\n#include <stdint.h>\n#include "plans.h"\n#include "other.h"\n'
                "int main(void) { fwrite(my_plans, 1, MY_PLANS_SIZE, stdout); fwrite(the_plan, 1, THE_PLAN_SIZE, stdout);\n"
                "return (uintptr_t)my_plans % MY_PLANS_ALIGN || (uintptr_t)the_plan % THE_PLAN_ALIGN; }\n")
            built = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", folder, at("main.c"),
                                    at("my-plans.v1.c"), at("other.S"), "-o", at("main")], capture_output=True)
            check("both compile", built.returncode == 0, built.stderr)
            ran = subprocess.run([at("main")], capture_output=True) if built.returncode == 0 else None
            check("both are the plan, aligned", ran and ran.returncode == 0 and ran.stdout == blob * 2)
        for output in [], ["-o", "-"]:
            source = planc("compile", "--descriptor-set", SET, "--type", "cases.v3.Mini", "--emit=c", *output)
            check("the array is a plan where no file names it", source.code == 0 and b"unsigned char plan[" in source.out, source)
        expect("no folder", planc("compile", "--descriptor-set", SET, "--type", "cases.v3.Mini", "--emit=c", "-o",
                                  at("none/x.c")), 1, err=r".*cannot write.*")


def compilers():
    """(name, a PATH that has this compiler of .proto files and no other) of those that are here. The conformance tests
    bring buf; a script that needs node in its turn would not run on such a PATH."""
    own = glob.glob(str(ROOT / "build-conformance/node_modules/@bufbuild/buf-*/bin/buf"))
    for name, path in (("protoc", shutil.which("protoc")), ("buf", (own + [shutil.which("buf")])[0])):
        if path:
            folder = tempfile.mkdtemp()
            os.symlink(path, os.path.join(folder, name))
            yield name, folder
            shutil.rmtree(folder)


def protos_by(name, path):
    with tempfile.TemporaryDirectory() as folder:
        def at(file):
            return os.path.join(folder, file)

        def run(*args, **more):
            return planc(*args, env={**os.environ, "PATH": path}, **more)

        def write(file, text):
            os.makedirs(os.path.dirname(at(file)), exist_ok=True)
            Path(at(file)).write_text(text)

        write("proto dir/base.proto", 'syntax = "proto3"; package p; message Base { int32 n = 1; }\n')
        write("proto dir/top.proto", 'syntax = "proto3"; package p; import "base.proto"; message Top { Base base = 1; }\n')
        args = ["compile", "-I", at("proto dir"), "--type", "p.Top", "-o", at("top.bjp"), "--depfile", at("top.d")]
        made = run(*args, at("proto dir/top.proto"), "--mini-descriptors")
        expect(f"{name}: compile FILE.proto", made, 0, b"")
        deps = Path(at("top.d")).read_text()
        escaped = folder.replace(" ", "\\ ")
        check(f"{name}: depfile of .proto files", deps.startswith(f"{escaped}/top.bjp: ")
              and f"{escaped}/proto\\ dir/base.proto" in deps and f"{escaped}/proto\\ dir/top.proto" in deps, deps)
        expect(f"{name}: the plan made of it", planc("decode", "--plan", at("top.bjp"), data=b'{"base":{"n":1}}'), 0,
               b"\x0a\x02\x08\x01")
        there = run("compile", "-I", at("proto dir/../proto dir"), "--type", "p.Top", "proto dir/top.proto", cwd=folder)
        check(f"{name}: other spellings of a folder", there.code == 0 and there.out[:4] == b"BJVM", there)
        os.symlink(at("proto dir"), at("link"))
        linked = run("compile", "--proto-path=" + at("link"), "--type", "p.Top", at("proto dir/top.proto"))
        check(f"{name}: a folder by a link", linked.out == there.out, linked)
        here = run("compile", "--type", "p.Top", "top.proto", cwd=at("proto dir"))
        check(f"{name}: no folder given", here.out == there.out, here)
        listing = run("dump", "--proto-path", at("proto dir"), "--type", "p.Top", at("proto dir/top.proto"))
        check(f"{name}: dump FILE.proto", listing.code == 0 and b"p.Base" in listing.out, listing)

        # Several folders, one of them twice; what protobuf brings along.
        write('a "b", c/one.proto', 'syntax = "proto3"; package q; import "base.proto"; import "two.proto";\n'
              'import "google/protobuf/timestamp.proto";\n'
              "message One { p.Base base = 1; Two two = 2; google.protobuf.Timestamp at = 3; }\n")
        write("d\\e/two.proto", 'syntax = "proto3"; package q; message Two { int32 n = 1; }\n')
        folders = ["-I", at('a "b", c'), "-I", at("proto dir"), "-I", at("d\\e"), "-I", at("proto dir")]
        known = ["-I", os.environ["BJVM_PROTO_DIR"]] if os.environ.get("BJVM_PROTO_DIR") else []
        many = run("compile", *folders, *(known if name == "protoc" else []), "--type", "q.One", "--mini-descriptors",
                   "-o", at("one.bjp"), at('a "b", c/one.proto'))
        expect(f"{name}: several folders", many, 0, b"")
        expect(f"{name}: several folders", planc("decode", "--plan", at("one.bjp"), data=b'{"two":{"n":1},"base":{"n":2}}'),
               0, b"\x0a\x02\x08\x02\x12\x02\x08\x01")
        two = run("dump", *folders, "--type", "p.Top", "--type", "q.Two", at("proto dir/top.proto"), at("d\\e/two.proto"))
        check(f"{name}: two files", two.code == 0 and b"q.Two" in two.out, two)

        write("proto dir/bad.proto", 'syntax = "proto3";\nmessage Bad {\n  int32 n 1;\n}\n')
        bad = run("compile", "-I", at("proto dir"), "--type", "p.Top", at("proto dir/bad.proto"))
        check(f"{name}: a bad FILE.proto", bad.code == 1 and bad.out == b"" and f"{name} cannot compile it" in bad.err
              and re.search(r"bad\.proto:3:\d+:", bad.err), bad)
        write("proto dir/lost.proto", 'syntax = "proto3";\nimport "nowhere.proto";\nmessage Lost { int32 n = 1; }\n')
        lost = run("compile", "-I", at("proto dir"), "--type", "Lost", at("proto dir/lost.proto"))
        check(f"{name}: a missing import", lost.code == 1 and re.search(r"lost\.proto:2:\d+:|nowhere\.proto", lost.err), lost)
        absent = run("compile", "-I", at("proto dir"), "--type", "p.Top", at("proto dir/none.proto"))
        check(f"{name}: no such file", absent.code == 1 and f"{name} cannot compile it" in absent.err, absent)

        write("ed/ed.proto", 'edition = "2023"; package e; message Ed { int32 n = 1; string s = 2 [features.field_presence '
              "= IMPLICIT]; }\n")
        edition = run("dump", "-I", at("ed"), "--type", "e.Ed", at("ed/ed.proto"))
        if edition.code == 0 or name == "buf":  # an older protoc does not know them
            check(f"{name}: an edition", edition.code == 0 and b"int32.has " in edition.out and b"string  " in edition.out,
                  edition)


def protos():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "x.proto").write_text('syntax = "proto3"; message X { int32 n = 1; }\n')
        none = planc("compile", "-I", folder, "--type", "X", f"{folder}/x.proto", env={**os.environ, "PATH": folder})
        expect("no compiler", none, 1, err=r"planc: error: neither protoc nor buf is on PATH.*")
    found = []
    for name, path in compilers():
        found.append(name)
        protos_by(name, path)
        if len(found) == 2:  # an edition once more: what protoc says of it does not matter if buf takes it
            with tempfile.TemporaryDirectory() as folder:
                os.symlink(shutil.which("protoc"), f"{folder}/protoc")
                os.symlink(os.readlink(f"{path}/buf"), f"{folder}/buf")
                Path(folder, "x.proto").write_text('edition = "2023"; message X { int32 n = 1; }\n')
                Path(folder, "y.proto").write_text("nonsense\n")
                env = {**os.environ, "PATH": folder}
                both = planc("dump", "-I", folder, "--type", "X", f"{folder}/x.proto", env=env)
                check("protoc, or else buf", both.code == 0 and b"message 0 X" in both.out and both.err == "", both)
                neither = planc("dump", "-I", folder, "--type", "X", f"{folder}/y.proto", env=env)
                check("neither takes it", neither.code == 1 and neither.err.count("y.proto:1:1:") >= 2, neither)
    check("buf is here", "buf" in found or not os.environ.get("BJVM_NEED_BUF"))
    left = [name for name in os.listdir("/tmp") if name.startswith("planc.")]
    check("no temporary file is left", not left, left)


parts = (usage, options, forms, depth, error_lines, reading, writing, sets, plans, lint, plan_input, streams, emit, protos)
for part in parts:
    if not sys.argv[2:] or part.__name__ in sys.argv[2:]:
        part()
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0 or passed == 0)
