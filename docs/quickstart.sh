#!/bin/sh
# From a fresh checkout to a first result:   sh docs/quickstart.sh
# Installs what is missing (as root; otherwise says which command does), fetches upb, builds into build/, then lets
# docs/quickstart.c compile plans for protobuf's own .proto files and go from JSON to a message and back.
# Running it again takes seconds.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/docs/setup.sh"

need_packages gcc libc6-dev meson ninja-build pkg-config python3 libutf8proc-dev protobuf-compiler
fetch_upb
set_up_build build '' '-Dtests=false' || die "configuring failed"
build_all build || die "the build failed; all of it is in build/build.log"
[ -x "$root/build/planc/planc" ] || die "build/planc/planc was not built"

# A descriptor set of every .proto file that came with upb and that the protoc at hand can read; comments and places in
# the source too, so that the JSON is a large one.
protos=$(proto_dir)
out=$root/build/quickstart
mkdir -p "$out"
files=
skipped=
for file in $(cd "$protos" && find google/protobuf -name '*.proto' | sort); do
  if protoc -I "$protos" -o /dev/null "$file" 2> /dev/null; then
    files="$files $file"
  else
    skipped="$skipped ${file##*/}"
  fi
done
[ -z "$skipped" ] || say "skipped, $(protoc --version) cannot read them:$skipped"
# shellcheck disable=SC2086 # a list of file names without spaces
protoc -I "$protos" --include_imports --include_source_info --descriptor_set_out="$out/schema.binpb" $files

say "running build/docs/quickstart"
[ -x "$root/build/docs/quickstart" ] || die "build/docs/quickstart was not built"
exec "$root/build/docs/quickstart" "$protos" "$out/schema.binpb"
