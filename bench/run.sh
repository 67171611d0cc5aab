#!/bin/sh
# The benchmark from a fresh checkout:   sh bench/run.sh [--quick] [options of bench, see --help]
# Installs what is missing, fetches upb and the peers, builds build/, checks every peer's output and measures. Leaves
# bench/out/results.json and bench/out/report.md; the report is shown as well. A peer that cannot be had is named there.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/docs/setup.sh"

need_packages gcc libc6-dev meson ninja-build pkg-config python3 libutf8proc-dev protobuf-compiler
fetch_upb
if ! pkg-config --exists yyjson 2> /dev/null && [ ! -f "$root/bench/packages/VERSIONS" ]; then
  # Without it the benchmark still runs. What is new has to be found, so the build is configured again.
  if sh "$root/bench/fetch_peers.sh"; then rm -f "$root/build/.setup"; else say "going on without yyjson"; fi
fi
# No tests in a new folder: they want Criterion, which the benchmark does not.
set_up_build build '-Dbench=true' '-Dtests=false' || die "configuring failed"
build_all build || die "the build failed; all of it is in build/build.log"

out=$root/bench/out
mkdir -p "$out"
trap 'rm -f "$out/results.json.new" "$out/report.md.new"' EXIT
say "measuring, some minutes without --quick"
"$root/build/bench/bench" --json "$out/results.json.new" "$@" > "$out/report.md.new"
# --help and --list measure nothing.
if [ -s "$out/results.json.new" ]; then
  mv "$out/results.json.new" "$out/results.json"
  mv "$out/report.md.new" "$out/report.md"
  cat "$out/report.md"
else
  cat "$out/report.md.new"
fi
