#!/usr/bin/env python3
"""libbjvm-vm does not recurse:  check_callgraph.py BUILD_DIR [--stack]     (a build folder made with gcc)

Compiles vm's sources again as BUILD_DIR does, with gcc's -fcallgraph-info, and joins the call graphs of all files. There
must be no cycle. A call through a pointer is followed to every function that can be behind it: the kernels, the hooks of
outputs. What the caller gives (a sink's write, a registry) and what lib gives (link, make_variant) ends outside of vm: none
of them is handed a run, so a call back into vm would be a new call with a state of its own, made by the user's code. Such a
call by any other name is a failure: add it to POINTERS with a reason.

--stack lists the public functions with the deepest stack below each and the path to it. Of upb's functions it knows nothing.
"""
import json
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VM = ROOT / "vm"
OUTSIDE = []  # code of the caller or of lib
# The member a call goes through -> the functions of vm it may reach: a pattern of their names.
POINTERS = {
    "escape": r"\w*escape\w*",
    "scan": r"\w*scan\w*",
    "utf8": r"\w*utf8\w*",
    "base64_encode": r"\w*base64_encode\w*|encode",
    "base64_decode": r"\w*base64_decode\w*|decode",
    "read_rows": r"\w*rows_read\w*",
    "grow": r"\w*grow\w*",
    "write": OUTSIDE,  # a sink's or a listing's receiver
    # A registry: the caller's, or that over a plan file.
    "find_message": r"find_message", "find_extension": r"find_extension",
    "find_extension_by_table": r"find_extension_by_table",
    "decode": OUTSIDE, "encode": OUTSIDE,
    "link": OUTSIDE, "make_variant": OUTSIDE,  # installed by lib's cache; the compiler calls no codec
}
NODE = re.compile(r'node: \{ title: "([^"]+)" label: "([^"]*)"')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"(?: label: "([^"]*)")?')


class Graph:
    def __init__(self):
        self.calls = {}  # function -> set of functions
        self.stack = {}  # function -> bytes of its own frame
        self.dynamic = set()
        self.indirect = []  # (function, file, line, column)
        self.taken = set()  # functions whose address is taken

    def read(self, path):
        """One unit. Returns plain name -> name, static functions of other units having the same plain ones."""
        names = {}
        for line in path.read_text().splitlines():
            if match := NODE.match(line):
                name, label = match.groups()
                names[plain(name)] = name
                if size := re.search(r"\\n(\d+) bytes \(([\w,]+)\)", label):
                    self.calls.setdefault(name, set())
                    self.stack[name] = int(size.group(1))
                    if size.group(2) == "dynamic":
                        self.dynamic.add(name)
            elif match := EDGE.match(line):
                source, target, place = match.groups()
                if target == "__indirect_call":
                    file, row, column = place.rsplit(":", 2)
                    self.indirect.append((source, file, int(row), int(column)))
                else:
                    self.calls.setdefault(source, set()).add(target)
        return names

    def read_taken(self, path, names):
        name = None
        for line in path.read_text().splitlines():
            if match := re.match(r"(\w+)/\d+ \(\w+\)", line):
                name = match.group(1)
            elif line.strip() == "Address is taken." and name:
                self.taken.add(names.get(name, name))


def plain(function):
    """The name without the file in front of a static function's."""
    return function.rsplit(":", 1)[-1].split(".")[0]


def command_for(entry):
    """The unit's command without its outputs, include paths made absolute so that it can run anywhere."""
    words, out, skip = shlex.split(entry["command"]), [], False
    for i, word in enumerate(words):
        if skip or word in ("-MD", "-c", entry["file"]):
            skip = False
            continue
        if word in ("-o", "-MF", "-MQ"):
            skip = True
            continue
        if i > 0 and words[i - 1] in ("-I", "-isystem"):
            word = str(Path(entry["directory"], word))
        elif word.startswith("-I") and len(word) > 2:
            word = "-I" + str(Path(entry["directory"], word[2:]))
        out.append(word)
    return out


def compile_unit(entry, folder):
    source = Path(entry["directory"], entry["file"]).resolve()
    out = folder / source.stem
    out.mkdir()
    command = command_for(entry) + ["-w", "-fcallgraph-info=su", "-fdump-ipa-cgraph", "-c", str(source), "-o", "unit.o"]
    subprocess.run(command, cwd=out, check=True)
    return out


def load(build):
    graph = Graph()
    entries = json.loads((build / "compile_commands.json").read_text())
    units = [e for e in entries if Path(e["directory"], e["file"]).resolve().parent == VM]
    if not units:
        sys.exit(f"{build}: no unit of vm in compile_commands.json")
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        for out in pool.map(lambda entry: compile_unit(entry, Path(name)), units):
            names = graph.read(next(out.glob("*.ci")))
            graph.read_taken(next(out.glob("*.cgraph")), names)
    return graph


def follow_pointers(graph, errors):
    """Adds an edge for every function that may be behind a pointer; lists the calls by member."""
    seen = {}
    for function, file, row, column in graph.indirect:
        path = Path(file) if Path(file).is_absolute() else VM / Path(file).name
        text = path.resolve().read_text().splitlines()[row - 1]
        names = re.findall(r"(?:->|\.)(\w+)\(", text) + re.findall(r"(\w+)\(", text)
        member = next((n for n in names if n in POINTERS), None)
        if member is None:
            errors.append(f"{path.name}:{row}: {plain(function)} calls through a pointer: {text.strip()}")
            continue
        pattern = POINTERS[member]
        targets = set() if pattern is OUTSIDE else {
            f for f in graph.taken & graph.calls.keys() if re.fullmatch(pattern, plain(f))}
        seen.setdefault(member, (set(), set()))
        seen[member][0].add(plain(function))
        seen[member][1].update(targets)
        graph.calls[function] |= targets
    reached = set().union(*(targets for _, targets in seen.values()))
    errors += [f"{name}: its address is taken, and no pointer of POINTERS leads to it"
               for name in sorted(graph.taken & graph.calls.keys() - reached)]
    for member, (callers, targets) in sorted(seen.items()):
        print(f"through {member}: called by {', '.join(sorted(callers))}; "
              f"reaches {', '.join(sorted(plain(t) for t in targets)) or 'code outside of vm'}")


def find_cycle(graph):
    """A cycle as a list of functions, or None. Depth first, without recursion."""
    state = {}
    for root in sorted(graph.calls):
        path, stack = [], [(root, iter(sorted(graph.calls[root])))]
        if root in state:
            continue
        state[root] = "open"
        path.append(root)
        while stack:
            function, rest = stack[-1]
            for target in rest:
                if state.get(target) == "open":
                    return path[path.index(target):] + [target]
                if target in graph.calls and target not in state:
                    state[target] = "open"
                    path.append(target)
                    stack.append((target, iter(sorted(graph.calls[target]))))
                    break
            else:
                state[function] = "done"
                path.pop()
                stack.pop()
    return None


def deepest(graph):
    """Function -> (bytes, path). A cycle is gone through once."""
    depth = {}

    def visit(function):
        if function not in depth:
            depth[function] = (0, ())
            below = max((visit(t) for t in graph.calls[function] if t in graph.calls), default=(0, ()),
                        key=lambda d: d[0])
            depth[function] = (graph.stack.get(function, 0) + below[0], (function,) + below[1])
        return depth[function]

    for function in graph.calls:
        visit(function)
    return depth


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    errors = []
    graph = load(build)
    follow_pointers(graph, errors)
    cycle = find_cycle(graph)
    if cycle:
        errors.append("recursion: " + " -> ".join(plain(f) for f in cycle))
    errors += [f"{plain(f)}: its frame has no fixed size" for f in sorted(graph.dynamic)]
    if "--stack" in sys.argv:
        depth = deepest(graph)
        for function in sorted((f for f in depth if f.startswith("bjvm_")), key=lambda f: -depth[f][0])[:8]:
            size, path = depth[function]
            print(f"stack {size:6} {function}: " +
                  " > ".join(f"{plain(f)} {graph.stack.get(f, 0)}" for f in path))
    edges = sum(len(targets) for targets in graph.calls.values())
    print("\n".join(errors) if errors else f"no cycle among {len(graph.calls)} functions and {edges} calls")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
