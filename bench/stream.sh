#!/bin/sh
# Whole processes: planc on large streams, timed by hyperfine:   sh bench/stream.sh [DIR [MB]]
# DIR: the build folder (default build), with planc and the benchmark in it. MB: of JSON in each stream (default 64). Writes
# bench/out/stream.json and shows a table. Exit status: 0 done, 1 failed or no hyperfine.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
case ${1-} in
  -h | --help)
    sed -n '2,4s/^# //p' "$0"
    exit 0
    ;;
esac
dir=${1-build}
case $dir in /*) ;; *) dir=$root/$dir ;; esac
megabytes=${2-64}
command -v hyperfine > /dev/null 2>&1 || {
  echo "stream.sh: no hyperfine" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$root/bench/out"
set --
for name in complex order repeated descriptor; do
  type=$("$dir/bench/bench" --write "$name" "$((megabytes * 1000000))" "$work/$name" | cut -d ' ' -f 1)
  planc="$dir/planc/planc"
  schema="--descriptor-set $root/bench/corpus.binpb --type $type --stream"
  # Right before timed: both ways lead back to what was written.
  # shellcheck disable=SC2086 # a list of words
  "$planc" decode $schema "$work/$name.json" | "$planc" encode $schema | cmp - "$work/$name.json"
  set -- "$@" -n "$name encode" "$planc encode $schema $work/$name.binpb" \
    -n "$name decode" "$planc decode $schema $work/$name.json"
done
hyperfine --shell=none --warmup 1 --runs 7 --output=null --export-json "$work/times.json" "$@" > "$work/log" 2>&1 || {
  tail -n 20 "$work/log" >&2
  exit 1
}

python3 - "$work" "$root/bench/out/stream.json" << 'END'
import json
import os
import sys

work, out = sys.argv[1:]
rows = []
for result in json.load(open(f"{work}/times.json"))["results"]:
    case, direction = result["command"].split()
    size = os.path.getsize(f"{work}/{case}.json")
    rows.append({"case": case, "direction": direction, "json_bytes": size, "median_s": round(result["median"], 4),
                 "min_s": round(result["min"], 4), "max_s": round(result["max"], 4),
                 "user_s": round(result["user"], 4), "system_s": round(result["system"], 4)})
json.dump(rows, open(out, "w"), indent=1)
print("## planc on a stream: whole processes, by hyperfine\n\nMB/s: of JSON, by the median of 7 runs; output to /dev/null.\n")
print("| case | direction | JSON MB | median s | min s | max s | user s | system s | MB/s |")
print("| :-- | :-- | --: | --: | --: | --: | --: | --: | --: |")
for r in rows:
    size = r["json_bytes"] / 1e6
    print(f"| {r['case']} | {r['direction']} | {size:.0f} | {r['median_s']:.3f} | {r['min_s']:.3f} | {r['max_s']:.3f} | "
          f"{r['user_s']:.3f} | {r['system_s']:.3f} | {size / r['median_s']:.0f} |")
END
