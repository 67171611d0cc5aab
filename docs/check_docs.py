#!/usr/bin/env python3
"""Tries what the documents show:  check_docs.py BUILD_DIR

- The C block of README.md is the marked region of docs/example.c, and the program built from it runs.
- Every ```c block of docs/*.md compiles: one with a function of its own as it is, others inside a function that declares
  what the guide says they may use.
- Every ```console block of README.md and docs/*.md prints what it shows, with planc and a schema.binpb at hand.
- Links between documents lead somewhere, and every option and status code is described.
- docs/gen_docs.py has nothing to write.
Prints what failed, then `N passed, M failed`.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
DOCUMENTS = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]

STATUSES = dict(re.findall(r'^X\((\w+), \d+, "(.*)"\)$', (ROOT / "vm/include/bjvm/status.def").read_text(encoding="utf-8"), re.M))

INCLUDES = """
#include <stdio.h>
#include <string.h>
#include "bjvm/bjvm.h"
"""
# What a fragment may use.
PRELUDE = """
bool write_to_file(void *context, const char *text, size_t size);
void fragment(upb_DefPool *pool, const upb_MessageDef *message_def, upb_Message *msg, upb_Arena *arena, upb_Arena *scratch,
              const char *json, size_t json_size, const void *plan_data, size_t plan_size, const upb_MiniTable *table);
void fragment(upb_DefPool *pool, const upb_MessageDef *message_def, upb_Message *msg, upb_Arena *arena, upb_Arena *scratch,
              const char *json, size_t json_size, const void *plan_data, size_t plan_size, const upb_MiniTable *table) {
  bjvm_error error;
"""
# What it declares itself if it needs it and an earlier fragment of the document has shown it.
SHOWN_BEFORE = [("cache", "bjvm_cache *cache = bjvm_cache_new(pool);"),
                ("plan", "const bjvm_plan *plan = bjvm_cache_get(bjvm_cache_new(pool), message_def, &error);"),
                ("out", "bjvm_output out = bjvm_output_heap();"),
                ("message", "upb_Message *message = msg;"),
                ("bound", "const bjvm_plan *bound = bjvm_cache_get(bjvm_cache_new(pool), message_def, &error);")]

passed = 0
failed = 0


def spoken(text):
    """With the texts of statuses, where a build with -Dsize=small says their names."""
    return re.sub(r"\b([A-Z][A-Z0-9_]+)(?=: )", lambda name: STATUSES.get(name.group(1), name.group(1)), text)


def check(name, good, detail=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}:\n{detail}")


def blocks(path, language):
    """(line number, text) of the fenced blocks of that language."""
    text = path.read_text(encoding="utf-8")
    return [(text[: m.start()].count("\n") + 1, m.group(1))
            for m in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)]


def compiler_for_example(build):
    """The command that compiles docs/example.c, without its file names, and where it runs."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith("docs/example.c"):
            words = entry["command"].split()
            keep, skip = [], False
            for word in words:
                if skip or word in ("-c",) or word.endswith("docs/example.c"):
                    skip = False
                elif word in ("-o", "-MF", "-MQ"):
                    skip = True
                elif word != "-MD":
                    keep.append(word)
            return keep, entry["directory"]
    sys.exit("check_docs.py: the build does not compile docs/example.c")


def declares(fragment, name):
    return re.search(rf"^(const )?\w[\w ]*[ *]{name}( =|;|\[)", fragment, re.M) is not None


def check_fragments(build):
    command, folder = compiler_for_example(build)
    for path in DOCUMENTS:
        for line, fragment in blocks(path, "c"):
            if path.name == "README.md":
                continue
            before = "".join(f"  {how}\n" for name, how in SHOWN_BEFORE
                             if re.search(rf"\b{name}\b", fragment) and not declares(fragment, name))
            whole = re.search(r"^\w[\w ]*[ *]\w+\([^;]*\) \{$", fragment, re.M)
            code = fragment if whole else PRELUDE + before + fragment + "}\n"
            quiet = [f"-Wno-{name}" for name in ("unused", "unused-parameter", "unused-but-set-variable", "shadow",
                                                 "missing-prototypes")]
            done = subprocess.run([*command, *quiet, "-fsyntax-only", "-Werror", "-x", "c", "-"], input=INCLUDES + code,
                                  text=True, cwd=folder, capture_output=True)
            check(f"{path.name}:{line}: fragment compiles", done.returncode == 0, done.stderr)


def check_example(build):
    source = (DOCS / "example.c").read_text(encoding="utf-8")
    region = re.search(r"// \[readme\]\n(.*?)// \[/readme\]", source, re.S).group(1).strip("\n")
    shown = [text.strip("\n") for _, text in blocks(ROOT / "README.md", "c")]
    check("README.md shows docs/example.c", shown == [region], f"the README has\n{shown}\nthe file\n{region}")
    program, schema = str(build / "docs/example"), str(ROOT / "tests/cases/cases.binpb")

    def run(text):
        return subprocess.run([program, schema, "cases.v3.Mini", text], capture_output=True, text=True, timeout=60)

    done = run('{"s": "x", "n": "1e2"}')
    check("example prints", (done.returncode, done.stdout) == (0, '{"n":100,"s":"x"}\n'), str(done))
    done = run('{"n": 1.5}')
    check("example tells errors", done.returncode == 1 and spoken(done.stderr).startswith("1:7: not an integer"), str(done))


def check_consoles(build):
    environment = {**os.environ, "PATH": f"{build / 'planc'}{os.pathsep}{os.environ['PATH']}"}
    for path in DOCUMENTS:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / "tests/cases/cases.binpb", Path(folder) / "schema.binpb")
            for line, text in blocks(path, "console"):
                for step in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
                    done = subprocess.run(["sh", "-c", step[0]], cwd=folder, env=environment, text=True, timeout=60,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    check(f"{path.name}:{line}: $ {step[0]}", spoken(done.stdout) == step[1], f"expected\n{step[1]}got\n{done.stdout}")


def anchors(path):
    """GitHub's anchors of a document's headings."""
    found = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def check_links():
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
            if target.startswith("http"):
                continue
            name, _, anchor = target.partition("#")
            other = (path.parent / name).resolve() if name else path
            good = other.exists() and (not anchor or anchor in anchors(other))
            check(f"{path.name}: link to {target}", good, "leads nowhere")


def check_complete():
    """Each option of codec.h is described in the guide, by its short name."""
    header = (ROOT / "vm/include/bjvm/codec.h").read_text(encoding="utf-8")
    guide = (DOCS / "guide.md").read_text(encoding="utf-8")
    for name in re.findall(r"^  BJVM_(?:ENCODE|DECODE)_(\w+) = \d+", header, re.M):
        check(f"guide.md has {name}", f"| `{name}` |" in guide, "not described")
    for struct in ("encode", "decode"):
        body = re.search(rf"typedef struct bjvm_{struct}_options \{{\n(.*?)\n\}}", header, re.S).group(1)
        for name in re.findall(r"\b(\w+);", re.sub(r"/\*.*?\*/", "", body, flags=re.S)):
            check(f"guide.md has {struct} option {name}", f"| `{name}` |" in guide, "not described")


def main():
    build = Path(sys.argv[1]).resolve()
    check_example(build)
    check_fragments(build)
    check_consoles(build)
    check_links()
    check_complete()
    done = subprocess.run([sys.executable, str(DOCS / "gen_docs.py"), "--check"], capture_output=True, text=True)
    check("generated documents are fresh", done.returncode == 0, done.stdout + done.stderr)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
