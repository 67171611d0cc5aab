#!/bin/sh
# Everything that can be tested on one machine:   sh tests/run.sh
#   build/           release: all suites, then the instruction budgets, the structure checks and the fuzz seeds under valgrind
#   build-asan/      address + undefined sanitizers: all suites but slow
#   build-tsan/      thread sanitizer: suite threads
#   build-clang/     clang, warnings are errors: all suites but slow
#   build-portable/  switch dispatch, portable kernels: all suites but slow
#   build-switch/    switch dispatch, wide kernels: forms and conformance
#   build-small/     -Dsize=small: all suites but slow
#   build-firmware/  the firmware sample on five architectures (tests/firmware/run.sh)
#   conformance      the official runner against build/ and build-portable/
# Ends with `N passed, M failed`, counted from what ran (tests/count.py); exit 0 only when M is 0 and N is not.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/docs/setup.sh"

passed=0
failed=0
started=$(date +%s)
jobs=$(nproc 2> /dev/null || echo 2)

elapsed() { echo "$(($(date +%s) - started)) s"; }

# check NAME COMMAND...: one thing that passes or fails as a whole. Lines of its output that start with `note: ` are shown.
check() {
  check_name=$1
  shift
  check_log=$(mktemp)
  if "$@" > "$check_log" 2>&1; then
    passed=$((passed + 1))
    echo "   $check_name: ok  [$(elapsed)]"
    sed -n 's/^note: /      | /p' "$check_log"
  else
    failed=$((failed + 1))
    echo "   FAILED $check_name"
    tail -n 40 "$check_log" | sed 's/^/      | /'
  fi
  rm -f "$check_log"
}

# run_suites DIR [MESON TEST OPTION...]: runs and counts.
run_suites() {
  dir=$1
  shift
  rm -f "$root/$dir/meson-logs/testlog.json" "$root/$dir/meson-logs/testlog.junit.xml" \
    "$root/$dir"/meson-logs/sanitizer.*
  meson test -C "$root/$dir" --no-rebuild --num-processes "$jobs" "$@" > "$root/$dir/test.log" 2>&1 || true
  result=$(python3 "$root/tests/count.py" "$root/$dir" "${dir#build-}") || result='total 0 1'
  echo "$result" | sed '$d'
  for report in "$root/$dir"/meson-logs/sanitizer.*; do
    [ -f "$report" ] && head -n 15 "$report" | sed 's/^/      | /'
  done
  counts=$(echo "$result" | tail -n 1)
  passed=$((passed + $(echo "$counts" | cut -d ' ' -f 2)))
  failed=$((failed + $(echo "$counts" | cut -d ' ' -f 3)))
  say "$dir done  [$(elapsed)]"
}

# make_build DIR OPTIONS [COMPILER]: configures and builds; a build that fails is one failure, and its tests are passed
# over.
make_build() {
  if (
    [ -z "${3-}" ] || export CC="$3"
    set_up_build "$1" "$2" '' && build_all "$1"
  ); then
    return 0
  fi
  echo "   FAILED $1 does not build"
  failed=$((failed + 1))
  return 1
}

need_packages gcc g++ libc6-dev clang libclang-rt-dev clang-format meson ninja-build pkg-config python3 \
  libcriterion-dev libutf8proc-dev protobuf-compiler valgrind
command -v npm > /dev/null 2>&1 || need_packages nodejs npm # others than Debian's may be there already
fetch_upb
cd "$root"

if make_build build '-Dtests=true'; then
  run_suites build
  check 'an installed library serves a program' sh tests/install/run.sh build
  check 'exported and undefined symbols' python3 tests/check_symbols.py build
  check 'no recursion in vm' python3 tests/check_callgraph.py build
  check 'instruction budgets' sh bench/budgets.sh --check
fi

say "structure"
check 'includes point one way' python3 tests/check_arrows.py
check 'every source is built' python3 tests/check_lists.py
check 'public headers compile alone' sh tests/check_headers.sh
check 'formatting' sh tests/check_format.sh

# Criterion's own allocations are no business of ours, hence no leak check here: tests/alloc counts instead.
# clang, because gcc's undefined sanitizer, joined with the address one, ignores log_path, and Criterion eats its report.
if make_build build-asan '--buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false' clang; then
  run_suites build-asan --no-suite slow --timeout-multiplier 3
fi
# Criterion does not run under TSan: the threads program alone.
if make_build build-tsan '-Db_sanitize=thread -Db_lundef=false -Dbench=false' gcc; then
  run_suites build-tsan --suite threads
fi
if make_build build-clang '--werror' clang; then
  run_suites build-clang --no-suite slow
fi
if make_build build-portable '-Ddispatch=switch -Dkernels=portable'; then
  run_suites build-portable --no-suite slow
  # What the arena hides from ASan (its blocks are one allocation each) valgrind sees at least at their ends. The portable
  # kernels read no byte beyond an object; the wide ones may, inside a page (vm/short_string.h).
  check 'fuzz seeds under valgrind' meson test -C build-portable --no-rebuild --suite fuzz-seeds \
    --timeout-multiplier 10 --logbase valgrind --wrapper 'valgrind --quiet --error-exitcode=9'
fi
# The other half of the forms: switch dispatch with the wide kernels.
if (
  set_up_build build-switch '-Ddispatch=switch -Dbench=false' '' &&
    ninja -C build-switch tests/forms tests/conformance/testee > build-switch/build.log 2>&1
); then
  say "build-switch done  [$(elapsed)]"
else
  echo "   FAILED build-switch does not build"
  failed=$((failed + 1))
fi
if make_build build-small '-Dsize=small'; then
  run_suites build-small --no-suite slow
fi

# Every form gives the same bytes: 10,000 random messages of each schema and a document, printed and read.
check 'all forms give the same bytes' sh -c '
  set -e
  for dir in build build-clang build-portable build-switch build-small; do
    "$dir/tests/forms" tests/cases/cases.binpb bench/corpus.binpb 10000 > "$dir/forms.txt"
    tail -n 1 "$dir/forms.txt"
    sed "\$d" "$dir/forms.txt" | diff - build/forms.txt | grep -v "form: " | grep "^[<>]" && exit 1
  done
  exit 0'

# Static memory, five architectures, 32 and 64 bit, both byte orders (qemu runs what is not the machine's own).
say "firmware"
firmware_log=build/firmware.log
sh tests/firmware/run.sh > "$firmware_log" 2>&1 || true
grep -v '^-- ' "$firmware_log" | sed '$d; s/^/   /'
counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$firmware_log" | tail -n 1)
if [ -n "$counts" ]; then
  passed=$((passed + ${counts% *}))
  failed=$((failed + ${counts#* }))
else
  failed=$((failed + 1))
  tail -n 5 "$firmware_log"
fi
say "firmware done  [$(elapsed)]"

# The official runner and buf come from npm. The plan source, the dispatch and the kernels in turn.
say "conformance"
conformance_log=build/conformance.log
BUILD=$root/build BUILD_SWITCH=$root/build-switch BUILD_PORTABLE=$root/build-portable \
  sh tests/conformance/run.sh cached loaded guard switch portable > "$conformance_log" 2>&1 || failed=$((failed + 1))
grep -E '^[a-z]+: CONFORMANCE|^run.sh:' "$conformance_log" | sed 's/^/   /' || tail -n 20 "$conformance_log"
successes=$(sed -n 's/^[a-z]*: CONFORMANCE SUITE PASSED: \([0-9]*\) successes.*/\1/p' "$conformance_log")
for count in $successes; do passed=$((passed + count)); done
check 'planc compiles .proto files with that buf' env BJVM_NEED_BUF=1 python3 tests/cli/cli_test.py build/planc/planc protos

say "all done  [$(elapsed)]"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
