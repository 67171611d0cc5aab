#!/bin/sh
# Makes corpus.binpb from corpus.proto and the .proto files that protoc brings:
#
#     sh bench/corpus.sh            makes it
#     sh bench/corpus.sh --check    exit 1 when corpus.proto has changed since, 77 when there is no protoc
#
# --check compares what corpus.proto itself gives and not its imports: those differ from one protoc to the next, and the
# document of the case `descriptor` should not.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v protoc > /dev/null 2>&1 || {
  echo "corpus.sh: protoc not found" >&2
  exit 77
}

if [ "${1-}" = --check ]; then
  own=$(mktemp)
  trap 'rm -f "$own"' EXIT
  protoc -I "$here" --descriptor_set_out="$own" corpus.proto
  python3 -c 'import sys; a, b = (open(f, "rb").read() for f in sys.argv[1:]); sys.exit(b not in a)' \
    "$here/corpus.binpb" "$own" || {
    echo "corpus.sh: corpus.binpb is older than corpus.proto: run sh bench/corpus.sh" >&2
    exit 1
  }
  exit 0
fi

include=$(dirname "$(command -v protoc)")/../include
# shellcheck disable=SC2046 # file names without blanks
cd "$include" && protoc --include_imports -I "$here" -I . --descriptor_set_out="$here/corpus.binpb" corpus.proto \
  $(ls google/protobuf/*.proto)
