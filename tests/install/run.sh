#!/bin/sh
# An installed bjvm serves a program that knows only pkg-config:   sh tests/install/run.sh BUILD_DIR
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
DESTDIR=$prefix meson install -C "$build" --no-rebuild --quiet
pc=$(find "$prefix" -name bjvm.pc)
export PKG_CONFIG_PATH="${pc%/*}"
# The files say where they will be; this is a rehearsal in another folder.
flags() { pkg-config "$@" bjvm | sed "s,\([-]I\|[-]L\)\(/usr/local\),\1$prefix\2,g"; }
# shellcheck disable=SC2046 # flags are words
cc $(flags --cflags) "$root/tests/install/consumer.c" -o "$prefix/consumer" $(flags --libs)
for run in 1 2 3 4 5 6 7 8; do # which look-ups fail depends on the seed of a process
  "$prefix/consumer" "$root/tests/cases/cases.binpb" > "$prefix/said" || {
    cat "$prefix/said"
    exit 1
  }
done
cat "$prefix/said"

# A plan file and generated mini tables, without a pool.
upb_include=$(find "$root"/subprojects/upb/packages/*/usr/include -maxdepth 0 2> /dev/null | head -n 1)
upb_include=${upb_include:-$(pkg-config --variable=includedir upb)}
"$prefix/usr/local/bin/planc" compile google/protobuf/descriptor.proto -I "$upb_include" \
  --type google.protobuf.FileDescriptorSet --emit=c --symbol plan_data -o "$prefix/descriptor_plan.c" --header "$prefix/descriptor_plan.h"
# shellcheck disable=SC2046
cc $(flags --cflags) -I"$prefix" "$root/tests/install/generated.c" "$prefix/descriptor_plan.c" -o "$prefix/generated" $(flags --libs)
"$prefix/generated"
