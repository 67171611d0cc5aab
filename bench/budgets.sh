#!/bin/sh
# Instruction counts per case and direction, against the budgets in bench/budgets.json:
#     sh bench/budgets.sh --check [DIR]     exit 1 when one is more than 2 % (map, struct: 5 %) over its budget
#     sh bench/budgets.sh --update [DIR]    writes the counts of this build as the budgets of its key
#     sh bench/budgets.sh --report [DIR]    counts bjvm and its peers: bench/out/instructions.md and .json
# DIR is the build folder (default build), with the benchmark in it. The key is what the counts depend on: compiler, flags,
# version of upb, dispatch and kernels. --check passes, with a note, where there is no valgrind or no budget for the key.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

case ${1-} in
  -h | --help)
    sed -n '2,7s/^# //p' "$0"
    exit 0
    ;;
  --check | --update | --report) ;;
  *)
    sed -n '2,7s/^# //p' "$0" >&2
    exit 2
    ;;
esac
dir=${2-build}
case $dir in /*) ;; *) dir=$root/$dir ;; esac
if ! command -v valgrind > /dev/null 2>&1; then
  echo "note: no valgrind, instructions are not counted"
  [ "$1" = --check ] && exit 0
  exit 1
fi
if [ ! -x "$dir/bench/bench" ]; then
  echo "budgets.sh: $dir/bench/bench is not there: build it (ninja -C $dir bench/bench)" >&2
  exit 1
fi
exec python3 "$root/bench/budgets.py" "$1" --bench "$dir/bench/bench"
