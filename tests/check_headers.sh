#!/bin/sh
# Every public header compiles alone, as C11 and as C++17 (what upb's headers ask for), with gcc and with clang, without
# a warning.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/docs/setup.sh"
cd "$root" || exit 1

upb_flags=$(upb_cflags)
status=0
# try HEADER COMPILER...
try() {
  header=$1
  shift
  # Included from a one-line file: a header as the main file would draw warnings about #pragma once and the like.
  # shellcheck disable=SC2086 # a list of options
  printf '#include "%s"\n' "$header" | "$@" -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror \
    -Ivm/include -Iplanc/include -Ilib/include $upb_flags - ||
    {
      echo "$header does not compile alone with: $*"
      status=1
    }
}

for file in vm/include/bjvm/*.h planc/include/bjvm/*.h lib/include/bjvm/*.h; do
  [ -f "$file" ] || continue
  header=bjvm/${file##*/}
  for compiler in gcc clang; do try "$header" $compiler -x c -std=c11; done
  for compiler in g++ clang++; do
    command -v $compiler > /dev/null && try "$header" $compiler -x c++ -std=c++17
  done
done
exit $status
