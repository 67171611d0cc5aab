#!/bin/sh
# Two revisions side by side:   sh bench/compare.sh BASE HEAD [options of compare.py: --rounds N, --cases A,B, --cpu N]
# Builds both with the same compiler ($CC, or cc) and the benchmark sources of HEAD, in a temporary folder, runs them in
# turn and says for each case and direction: improvement, regression or inconclusive; and how arena bytes and calls of
# malloc have changed. BASE and HEAD are what git calls revisions, or `.`: the working tree as it is, new files included.
# Writes bench/out/compare.md and compare.json. Exit status: 0 no regression, 1 something failed or is missing, 2 bad
# usage, 3 a regression.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/docs/setup.sh"

usage() {
  sed -n '2,8s/^# //p' "$0"
  exit "$1"
}

case ${1-} in -h | --help) usage 0 ;; esac
if [ $# -lt 2 ]; then usage 2 >&2; fi
base=$1
head=$2
shift 2

revision() {
  [ "$1" = . ] && echo 'working tree' && return 0
  git -C "$root" rev-parse --quiet --verify --short "$1^{commit}" || {
    echo "error: no such revision: $1" >&2
    exit 2
  }
}

# export_tree REVISION DIR
export_tree() {
  mkdir -p "$2"
  if [ "$1" = . ]; then
    (cd "$root" && git ls-files -z --cached --others --exclude-standard |
      tar -cf - --null --ignore-failed-read -T - 2> /dev/null) | tar -xf - -C "$2"
  else
    git -C "$root" archive "$1" | tar -xf - -C "$2"
  fi
  # Neither is in the repository; both are fetched once.
  for packages in subprojects/upb/packages bench/packages; do
    if [ -d "$root/$packages" ] && [ -d "$2/${packages%/*}" ]; then ln -s "$root/$packages" "$2/$packages"; fi
  done
}

build_tree() {
  say "building $1 ($2)"
  if (set_up_tree "$3") > "$3/log" 2>&1; then return 0; fi
  tail -n 20 "$3/log" >&2
  [ "$1" = HEAD ] && die "HEAD ($2) does not build"
  die "BASE ($2) does not build with the benchmark sources of HEAD: its public headers or build files are older than" \
    "they ask for. Compare with a later revision, or build HEAD's bench/ from before that change"
}

set_up_tree() {
  meson setup "$1/build" "$1" -Dtests=false -Dbench=true && ninja -C "$1/build" bench/bench
}

base_name=$(revision "$base")
head_name=$(revision "$head")
need_packages gcc libc6-dev meson ninja-build pkg-config python3 libutf8proc-dev
fetch_upb
# Of equal length: what the program keeps of its path is then as long on both sides.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export_tree "$base" "$work/base"
export_tree "$head" "$work/head"
[ -f "$work/head/bench/compare.py" ] || die "HEAD ($head_name) has no bench/compare.py"
rm -rf "$work/base/bench"
cp -R "$work/head/bench" "$work/base/bench"
build_tree HEAD "$head_name" "$work/head"
build_tree BASE "$base_name" "$work/base"

status=0
python3 "$work/head/bench/compare.py" --base "$work/base/build/bench/bench" --head "$work/head/build/bench/bench" \
  --base-name "$base ($base_name)" --head-name "$head ($head_name)" --out "$root/bench/out" "$@" || status=$?
exit "$status"
