#!/bin/sh
# The firmware sample on every architecture:   sh tests/firmware/run.sh [--session-only] [arch...]
#                                              (amd64 i386 armhf arm64 s390x; --session-only: without the unit tests)
# Builds libbjvm-vm (-Dsize=small) and the node for each, and holds a session with it (session.py, expected.jsonl): with the
# portable plan file in its flash, and with files prebound for 32 and for 64 bits. malloc and its kin are trapped. On armhf
# and s390x vm's unit tests and the case table run too, and those of the loops once more as a program gets them by default; on arm64 those
# of the wide kernels (NEON) and the case table, and random messages must give the bytes they give on this machine. One line per
# architecture, then `N passed, M failed`.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/firmware/arch.sh"

forms_count=1000 # random messages of each schema
passed=0
failed=0
notes=
pass() { passed=$((passed + 1)); }

fail() {
  failed=$((failed + 1))
  echo "   FAILED $*"
}

# session ARCH PLAN: the node with that plan in flash says what is expected.
session() {
  program=$work/$1/node-$2
  marks=$work/$1/$2.err
  if ! link_firmware "$1" "$2" "$program" > "$work/log" 2>&1; then
    head -n 20 "$work/log" | sed 's/^/      | /'
    fail "$1 $2: does not link"
    return 0
  fi
  # shellcheck disable=SC2046
  if python3 "$firmware/session.py" "$work/node_v2.bjp" "$work/node_other.bjp" $(runner_of "$1") "$program" \
    > "$work/log" 2> "$marks"; then
    pass
  else
    cut -c 1-300 "$work/log" | sed 's/^/      | /'
    fail "$1 $2: $(tail -n 1 "$marks")"
    return 0
  fi
  # A prebound file is used in place where it was made for, and nowhere else.
  want='plans bound in RAM'
  [ "$2" = "prebound$(bits_of "$1")" ] && [ "$1" != s390x ] && want='plans in place'
  if grep -q "$want" "$marks"; then pass; else fail "$1 $2: not '$want': $(cat "$marks")"; fi
}

# The library asks for what a firmware has; the traps work, and what is linked has nothing of upb's reflection, JSON and binary codec.
check_program() {
  program=$work/$1/node-portable
  if python3 "$root/tests/check_symbols.py" "$work/$1/vm/libbjvm-vm.a" > "$work/log"; then
    pass
  else
    fail "$1: $(head -n 3 "$work/log")"
  fi
  status=0
  # shellcheck disable=SC2046
  $(runner_of "$1") "$program" trap > "$work/log" 2>&1 || status=$?
  if [ "$status" -eq 99 ] && grep -q 'malloc was called' "$work/log"; then pass; else fail "$1: malloc is not trapped"; fi
  if "$(tool_of "$1" nm)" "$program" |
    grep -E ' _?upb_(DefPool|MessageDef|FieldDef|EnumDef|Json|Decode|Encode|TextEncode)\w*$' \
      > "$work/log"; then
    fail "$1: linked although not needed: $(awk '{ print $3 }' "$work/log" | tr '\n' ' ')"
  else
    pass
  fi
}

# set_up_tests ARCH FORM: how its tests are compiled and which vm they are linked to: that of the firmware (small), or one as a
# program gets it by default, with the wide kernels and the fast ways.
set_up_tests() {
  include="-I$root/vm -I$root/vm/include -I$root/planc -I$root/planc/include -I$root/lib -I$root/lib/include"
  include="$include -I$root/tests/plain -I$root/tests/common -I$root/tests/unit -I$root/tests"
  include="$include -isystem $root/subprojects/upb/overlay -isystem $(upb_root "$1")/include"
  sources="$(sources_of planc planc_sources) $(sources_of lib lib_sources) tests/common/support.c"
  test_flags="-std=c11 -O1 -g -w -DBJVM_SIZE_SMALL -DBJVM_TESTS_EMULATED"
  vm_library=$work/$1/vm/libbjvm-vm.a
  [ "$2" = default ] || return 0
  sources="$sources $(sources_of vm vm_sources) $(sources_of vm vm_loops) tests/diff/random_message.c"
  test_flags="-std=c11 -O2 -g -w -DBJVM_TESTS_EMULATED"
  vm_library=
}

# What a test needs beside its own file: the plan compiler and lib (only their programs need utf8proc), and what tests share.
compile_tests() {
  rm -rf "$work/$1/objects"
  mkdir -p "$work/$1/objects"
  for source in $sources; do
    echo "$(gcc_of "$1") $test_flags $include -c $root/$source -o $work/$1/objects/$(echo "$source" | tr / _).o"
  done | xargs -P "$(nproc)" -I '{}' sh -c '{}' &&
    "$(gcc_of "$1")" -c "$root/subprojects/upb/isoc23.c" -o "$work/$1/isoc23.o"
}

# link_plain ARCH NAME SOURCE: a program with a plain main, as build-firmware/ARCH/NAME.
link_plain() {
  # shellcheck disable=SC2086 # lists of words
  "$(gcc_of "$1")" $test_flags $include "$root/$3" "$work/$1"/objects/*.o $vm_library \
    -L"$(upb_libs "$1")" -lupb -lutf8_range "$work/$1/isoc23.o" -lm -lpthread -static -o "$work/$1/$2" > "$work/log" 2>&1 ||
    { fail "$1 $2: does not build: $(grep -m 1 -E 'error|undefined' "$work/log")" && return 1; }
}

# run_plain ARCH NAME SOURCE [ARGUMENT...]: a test with a plain main.
run_plain() {
  arch=$1
  name=$2
  source=$3
  shift 3
  link_plain "$arch" "$name" "$source" || return 0
  # shellcheck disable=SC2046
  BJVM_TESTS_DIR=$root/tests BJVM_PROTO_DIR=$(upb_root "$native")/include \
    $(runner_of "$arch") "$work/$arch/$name" "$@" > "$work/log" 2>&1 || true
  counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$work/log" | tail -n 1)
  if [ -z "$counts" ] || [ "${counts#* }" -ne 0 ]; then
    tail -n 12 "$work/log" | sed 's/^/      | /'
    fail "$arch $name"
  fi
  [ -z "$counts" ] || tests=$((tests + ${counts%% *}))
}

# Which unit tests run on ARCH in FORM.
tests_of() {
  # What small builds leave out: the fast ways of the loops; on arm64 the wide kernels, and the rest is the same for all 64-bit machines.
  case $1-$2 in
    arm64-default) echo base64_test decode_test encode_test probe_test short_string_test sparse_test string_test utf8_test && return 0 ;;
    *-default) echo decode_array_test decode_map_test decode_test encode_test num_parse_test probe_test sparse_test && return 0 ;;
  esac
  for source in "$root"/tests/unit/*_test.c; do
    basename "$source" .c
  done
}

# run_tests ARCH FORM
run_tests() {
  tests=0
  set_up_tests "$1" "$2"
  compile_tests "$1" > "$work/log" 2>&1 || {
    fail "$1: tests do not build: $(grep -m 1 error "$work/log")"
    return 0
  }
  for name in $(tests_of "$1" "$2"); do run_plain "$1" "$name" "tests/unit/$name.c"; done
  run_plain "$1" case_test tests/cases/case_test.c "$root/tests/cases/cases.binpb" "$root/tests/cases/table.tsv"
  passed=$((passed + tests))
  notes="$notes, $tests unit tests and cases ($2)"
}

# The fingerprints of tests/diff/forms.c: what the library of the native build prints and reads, small as it is, and what the
# NEON kernels do.
compare_forms() {
  documents="$root/tests/cases/cases.binpb $root/bench/corpus.binpb"
  link_plain "$1" forms tests/diff/forms.c || return 0
  # shellcheck disable=SC2086 # lists of words
  gcc $test_flags $include "$root/tests/diff/forms.c" "$root/tests/diff/random_message.c" "$root/tests/common/support.c" \
    -no-pie "$work/$native/libbjvm.a" -L"$(upb_libs "$native")" -lupb -lutf8_range "$root/subprojects/upb/isoc23.c" -lm -lpthread \
    -o "$work/$native/forms" > "$work/log" 2>&1 || {
    fail "forms do not build: $(grep -m 1 -E 'error|undefined' "$work/log")"
    return 0
  }
  # shellcheck disable=SC2046,SC2086
  if "$work/$native/forms" $documents "$forms_count" > "$work/$native/forms.txt" &&
    $(runner_of "$1") "$work/$1/forms" $documents "$forms_count" > "$work/$1/forms.txt" &&
    grep -q "kernels neon" "$work/$1/forms.txt"; then
    sed '$d' "$work/$native/forms.txt" > "$work/log"
    if sed '$d' "$work/$1/forms.txt" | cmp - "$work/log" > /dev/null; then
      pass
      notes="$notes, same bytes as on $native"
    else
      fail "$1: other bytes than on $native: $(sed '$d' "$work/$1/forms.txt" | diff - "$work/log" | sed -n 2p)"
    fi
  else
    fail "$1 forms: $(tail -n 1 "$work/$1/forms.txt")"
  fi
}

session_only=false
if [ "${1-}" = --session-only ]; then
  session_only=true
  shift
fi
architectures=${*:-$all_architectures}
# shellcheck disable=SC2086
need_architectures $architectures
cd "$root"
firmware_build "$native" || die "the native build failed"

compile_plan node_v2 -o "$work/node_v2.bjp"
compile_plan node_other -o "$work/node_other.bjp"
compile_array portable
compile_array prebound32 --abi=32
compile_array prebound64 --abi=64

for arch in $architectures; do
  before=$failed
  notes=
  if firmware_build "$arch"; then
    for plan in portable prebound32 prebound64; do session "$arch" "$plan"; done
    [ -f "$work/$arch/node-portable" ] && check_program "$arch"
    notes=", $(cat "$work/$arch/portable.err" 2> /dev/null)"
    case $arch in
      armhf | s390x) $session_only || { run_tests "$arch" small && run_tests "$arch" default; } ;;
      arm64) $session_only || { run_tests "$arch" default && compare_forms "$arch"; } ;;
    esac
  else
    fail "$arch: does not build"
  fi
  if [ "$failed" -eq "$before" ]; then verdict=ok; else verdict=FAILED; fi
  echo "$arch: $verdict$notes"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
