#!/bin/sh
# Instructions executed on AArch64, counted by QEMU's user emulation:   sh bench/arm64/run.sh
# Builds the library for arm64 with NEON and with the portable kernels, and prints two tables in Markdown: each kernel by the byte
# of input, and each case of the benchmark by the operation (mean of its 1,024 messages), C library included.
# Counts say nothing of latency, of the width of the machine or of mispredictions.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/firmware/arch.sh"
need_architectures arm64
out=$root/build-arm64-counts

include="-I$root/vm -I$root/vm/include -I$root/planc -I$root/planc/include -I$root/lib -I$root/lib/include"
include="$include -isystem $root/subprojects/upb/overlay -isystem $(upb_root arm64)/include"
flags='-std=gnu11 -O2 -DNDEBUG -w'
corpus=$root/bench/corpus.binpb
about="-DBENCH_CORPUS='\"$corpus\"' -DBENCH_COMPILER='\"gcc\"' -DBENCH_MACHINE='\"aarch64\"' -DBENCH_FLAGS='\"-O2\"'"
about="$about -DBENCH_UPB_BUILD='\"\"' -DBENCH_UPB_VERSION='\"\"'"

# build FORM [FLAG]: build-arm64-counts/FORM/bench and kernels.
build() {
  rm -rf "${out:?}/$1"
  mkdir -p "$out/$1/vm"
  sources="$(sources_of vm vm_sources) $(sources_of vm vm_loops) $(sources_of planc planc_sources) $(sources_of lib lib_sources)"
  for source in $sources $(sources_of bench bench_sources) bench/arm64/kernels.c; do
    loops=
    case $source in vm/*code_vm.c) loops='-fno-gcse -fno-crossjumping' ;; esac # as in vm/meson.build
    echo "$(gcc_of arm64) $flags ${2-} $loops $include $about -c $root/$source -o $out/$1/$(echo "$source" | tr / _).o"
  done | xargs -d '\n' -P "$(nproc)" -I '{}' sh -c '{}'
  "$(gcc_of arm64)" -c "$root/subprojects/upb/isoc23.c" -o "$out/$1/isoc23.o"
  mv "$out/$1"/vm_*.o "$out/$1/vm/"
  mv "$out/$1/bench_arm64_kernels.c.o" "$out/$1/kernels.o"
  libraries="-L$(upb_libs arm64) -lupb -lutf8_range -lm -lpthread"
  # shellcheck disable=SC2086 # lists of words
  "$(gcc_of arm64)" -static "$out/$1"/*_*.o "$out/$1"/vm/*.o "$out/$1/isoc23.o" $libraries -o "$out/$1/bench"
  # shellcheck disable=SC2086
  "$(gcc_of arm64)" -static "$out/$1/kernels.o" "$out/$1"/vm/vm_string*.o "$out/$1"/vm/vm_kernels.c.o "$out/$1"/vm/vm_utf8.c.o \
    "$out/$1"/vm/vm_base64.c.o "$out/$1"/vm/vm_sparse_rows.c.o -o "$out/$1/kernels"
}

# count PROGRAM ARGUMENT...: the instructions of a run.
count() { $(runner_of arm64) -plugin "$out/insn.so" "$@" 2>&1 > /dev/null | tail -n 1; }

# each N PROGRAM ARGUMENT...: the instructions of one of N operations; N is the program's last argument.
each() {
  n=$1
  shift
  once=$(count "$@" "$n")
  twice=$(count "$@" $((2 * n)))
  echo "$once $twice $n" | awk '{ printf "%.1f\n", ($2 - $1) / $3 }'
}

mkdir -p "$out"
gcc -std=c11 -O2 -shared -fPIC -fvisibility=hidden "$root/bench/arm64/insn.c" -o "$out/insn.so"
build neon
build portable -DBJVM_PORTABLE_KERNELS

echo "| kernel and input | portable | NEON | ratio |"
echo "|---|---|---|---|"
"$(runner_of arm64)" "$out/neon/kernels" | while read -r row bytes; do
  echo "$row $bytes $(each 20 "$out/neon/kernels" portable "$row") $(each 20 "$out/neon/kernels" neon "$row")"
done | awk '{ printf "| %s | %.2f | %.2f | %.1f |\n", $1, $3 / $2, $4 / $2, $3 / $4 }'
echo
echo "| case | encode: portable | NEON | ratio | decode: portable | NEON | ratio |"
echo "|---|---|---|---|---|---|---|"
for case in simple complex scalars repeated map struct timestamp double string deep any wide order descriptor; do
  operations=1024 # the whole pool, so that twice as many make no more messages
  [ $case != descriptor ] || operations=8 # it has one
  echo "$case"
  for direction in encode decode; do
    for form in portable neon; do each $operations "$out/$form/bench" --callgrind $case $direction; done
  done
done | paste - - - - - | awk '{ printf "| %s | %.0f | %.0f | %.2f | %.0f | %.0f | %.2f |\n", $1, $2, $3, $2 / $3, $4, $5, $4 / $5 }'
