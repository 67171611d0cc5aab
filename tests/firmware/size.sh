#!/bin/sh
# How much of everything a firmware needs:   sh tests/firmware/size.sh
# For ARMv7 (Thumb-2) and x86-64, -Os -Dsize=small: the library by part; what remains of it when one direction, both, or both
# and the building of mini tables are linked; the largest functions and tables, the deepest stack as the compiler tells it,
# what the sample used of stack and memory in a session (the marks are those of painted blocks), and what it costs to load and
# bind its plan file. Exit 1 where a limit is exceeded on ARMv7.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/firmware/arch.sh"

max_bytes=$((48 * 1024)) # text + rodata of bjvm, both directions
max_stack=$((8 * 1024))  # of bjvm, and the sample around it
table() { python3 "$firmware/size_table.py" "$@"; }

link_probe() {
  arch=$1
  name=$2
  shift 2
  # shellcheck disable=SC2046,SC2086
  $(gcc_of "$arch") $firmware_flags "$@" -I "$root/vm/include" -isystem "$root/subprojects/upb/overlay" \
    -isystem "$(upb_root "$arch")/include" "$firmware/size_probe.c" "$work/$arch/vm/libbjvm-vm.a" \
    -L"$(upb_libs "$arch")" -lupb -lutf8_range -static -Wl,--gc-sections,-Map="$work/$arch/$name.map" \
    -o "$work/$arch/$name"
}

sizes() {
  arch=$1
  firmware_build "$arch" || die "$arch: does not build"
  echo "$arch ($(gcc_of "$arch") $($(gcc_of "$arch") -dumpfullversion), -Os, -Dsize=small)"
  table parts "$work/$arch/vm/libbjvm-vm.a" "$(tool_of "$arch" size)"
  link_probe "$arch" size-encode -DENCODE
  link_probe "$arch" size-decode -DDECODE
  link_probe "$arch" size-both -DENCODE -DDECODE
  link_probe "$arch" size-tables -DENCODE -DDECODE -DTABLES
  echo
  table head "linked"
  table linked "encode only" "$work/$arch/size-encode.map"
  table linked "decode only" "$work/$arch/size-decode.map"
  table linked "both" "$work/$arch/size-both.map" | tee "$work/$arch/both.txt"
  table linked "both, and tables" "$work/$arch/size-tables.map"
  echo "  largest of bjvm, both directions:"
  table largest "$work/$arch/size-both" "$(tool_of "$arch" nm)" "$work/$arch/vm/libbjvm-vm.a"
  echo "  stack by the compiler's word (upb's functions not counted):"
  python3 "$root/tests/check_callgraph.py" "$work/$arch" --stack | sed -n 's/^stack/ /p' | head -n 3 | tee "$work/$arch/stack.txt"
  if [ -f "$work/$arch/portable.err" ]; then
    echo "  used in the sample's session (bytes; schema: an image, mini tables and 3 bound plans):"
    sed 's/^/    /' "$work/$arch/portable.err"
  fi
  echo
}

need_architectures armhf
firmware_build "$native" || die "the native build failed"
# A session on both leaves the marks that are shown below. (Not the unit tests: they take minutes under qemu.)
sh "$firmware/run.sh" --session-only armhf amd64 > "$work/size-run.log" 2>&1 || tail -n 5 "$work/size-run.log"
sizes armhf
sizes amd64

# From a file in flash (a const array) to bound plans, on this machine: time, instructions, and RAM taken. The mini tables are
# the file's own.
load_times() {
  program=$work/$native/load-$1
  # shellcheck disable=SC2086
  $(gcc_of "$native") $firmware_flags -I "$work" -I "$root/vm/include" -isystem "$root/subprojects/upb/overlay" \
    -isystem "$(upb_root "$native")/include" -DPLAN_HEADER="\"$1.h\"" "$firmware/load_probe.c" "$work/$1.c" \
    "$work/$native/vm/libbjvm-vm.a" -L"$(upb_libs "$native")" -lupb -lutf8_range -static -Wl,--gc-sections -o "$program"
  echo "from flash to bound plans, $native, $1 file of $(sed -n 's/^#define NODE_PLAN_SIZE \([0-9]*\)u.*/\1/p' "$work/$1.h") bytes"
  "$program" > "$work/load.txt"
  for function in bjvm_image_load bjvm_image_build_tables bjvm_tables_registry; do
    read -r line <&3
    echo "  $line, $(instructions_in "$function" "$program") instructions"
  done 3< "$work/load.txt"
  echo
}

# instructions_in FUNCTION PROGRAM: what callgrind counts in one call of it and in what it calls.
instructions_in() {
  command -v valgrind > /dev/null 2>&1 || {
    echo "? (no valgrind)"
    return 0
  }
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="$1" "$2" once 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\)$/\1/p'
}

load_times portable
load_times "prebound$(bits_of "$native")"

bytes=$(awk '/both: bjvm/ { print $NF }' "$work/armhf/both.txt")
stack=$(awk 'NR == 1 { print $1 }' "$work/armhf/stack.txt")
echo "armv7, both directions: $bytes bytes of text and rodata (limit $max_bytes), $stack bytes of stack (limit $max_stack)"
[ "$bytes" -le "$max_bytes" ] && [ "$stack" -le "$max_stack" ]
