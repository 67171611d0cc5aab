#!/bin/sh
# The benchmark from a fresh checkout:   sh bench/run.sh [--quick] [options of bench, see --help]
# Installs what is missing, fetches upb and the peers, builds build/, checks every peer's output and measures. Without --quick
# also measures text variants and worst cases (exit status 1 if one is superlinear), counts instructions under valgrind and
# times planc on streams with hyperfine and codecs of other languages.
# Leaves results.json, report.md and charts of the ratios (SVG) in bench/out/; the report is shown as well. What cannot be had
# is named there.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
case ${1-} in
  -h | --help)
    sed -n '2,7s/^# //p' "$0"
    [ ! -x "$root/build/bench/bench" ] || { echo && "$root/build/bench/bench" --help; }
    exit 0
    ;;
esac
. "$root/docs/setup.sh"

need_packages gcc libc6-dev meson ninja-build pkg-config python3 libutf8proc-dev protobuf-compiler
# These add tables to the report; it says what it lacks.
for tool in valgrind hyperfine g++; do
  (need_packages "$tool") || say "going on without $tool"
done
fetch_upb
quick=false
for option; do [ "$option" = --quick ] && quick=true; done
peers='simdjson cpp'
[ "$quick" = true ] || peers="$peers python npm"
pkg-config --exists yyjson 2> /dev/null || peers="yyjson $peers"
for peer in $peers; do
  [ ! -f "$root/bench/packages/$peer/VERSIONS" ] || continue
  # Without it the benchmark still runs. What is new has to be found, so the build is configured again.
  if sh "$root/bench/fetch_peers.sh" "$peer"; then rm -f "$root/build/.setup"; else say "going on without $peer"; fi
done
# No tests in a new folder: they want Criterion, which the benchmark does not.
set_up_build build '-Dbench=true' '-Dtests=false' || die "configuring failed"
build_all build || die "the build failed; all of it is in build/build.log"
# On demand alone, because generated C++ takes its time.
if [ -f "$root/bench/packages/cpp/VERSIONS" ]; then
  logged "$root/build/cpp.log" ninja -C "$root/build" bench/cpp_process || say "going on without cpp"
fi

out=$root/bench/out
mkdir -p "$out"
trap 'rm -f "$out/results.json.new" "$out/report.md.new" "$out/section.new"' EXIT
say "measuring, some minutes without --quick"
# All cases and the text variants, unless told otherwise or to do something else.
if [ "$quick" = false ]; then
  chosen=false
  for option; do
    case $option in
      --cases | --variants | --list | --callgrind | --threads | --cold | --write | --write-pool | --help | -h) chosen=true ;;
    esac
  done
  [ "$chosen" = true ] || set -- --cases all --variants "$@"
fi
# 1: a worst case is superlinear, which the report says, or a check has failed and there are no results.
status=0
"$root/build/bench/bench" --json "$out/results.json.new" "$@" > "$out/report.md.new" || status=$?
# section COMMAND...: adds what it prints to the report, or that it is missing.
section() {
  if "$@" > "$out/section.new"; then
    { echo && cat "$out/section.new"; } >> "$out/report.md.new"
  else
    printf '\nMISSING: %s has failed\n' "$*" >> "$out/report.md.new"
  fi
}

# --help and --list measure nothing, and a check that fails leaves nothing.
if [ -s "$out/results.json.new" ]; then
  mv "$out/results.json.new" "$out/results.json"
  if [ "$quick" = false ]; then
    say "counting instructions"
    section sh "$root/bench/budgets.sh" --report
    say "timing planc"
    section sh "$root/bench/stream.sh"
    say "timing other languages"
    section python3 "$root/bench/languages/run.py"
    printf '\n## Cold costs\n' >> "$out/report.md.new"
    section "$root/build/bench/bench" --cold
    # The schema of the conformance tests is there once those have run.
    conformance=$root/build-conformance/conformance.binpb
    if [ -f "$conformance" ]; then
      section "$root/build/bench/bench" --cold --schema "$conformance" --type protobuf_test_messages.proto3.TestAllTypesProto3
    else
      printf '\nMISSING: TestAllTypesProto3, whose schema is there once tests/conformance/run.sh has run\n' >> "$out/report.md.new"
    fi
    printf '\n## Threads\n' >> "$out/report.md.new"
    for direction in encode decode; do section "$root/build/bench/bench" --threads 2 complex "$direction"; done
  fi
  mv "$out/report.md.new" "$out/report.md"
  cat "$out/report.md"
  python3 "$root/bench/charts.py"
else
  cat "$out/report.md.new"
fi
exit "$status"
