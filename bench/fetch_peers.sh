#!/bin/sh
# Unpacks what the benchmark is compared with, beside this script:
#
#     sh bench/fetch_peers.sh [PEER...]        default: all of them
#
# yyjson    packages/yyjson: library and header, from Debian 13 or later
# simdjson  packages/simdjson: the same; Debian 12's own when a newer one does not link here
# cpp       packages/cpp: protobuf 36 or later for C++ (headers, libraries, protoc) with a C library that they run with
# python    packages/python: the machine's own suite's python3-protobuf
# npm       packages/npm: protobufjs and @bufbuild/protobuf, by npm
#
# Nothing is installed and the machine's apt state is not touched (subprojects/upb/apt.sh). packages/PEER/VERSIONS says what
# was taken. Does nothing for a peer that is there already. Exit 1: one cannot be had; the benchmark then names it as missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=$here/packages
npm_packages='protobufjs@8 @bufbuild/protobuf@2'

# Ends the subshell that a peer is fetched in, not the others.
fail() {
  echo "fetch_peers.sh: $*" >&2
  exit 1
}

. "$here/../subprojects/upb/apt.sh"

# get_package NAME WANTED SUITE...: unpacks what apt_download finds into $root.
get_package() {
  apt_download "$@"
  dpkg-deb -x "$deb" "$root" || fail "cannot unpack ${deb##*/}"
  # A library of the same version as what wants it, whatever its name is by now.
  dpkg-deb -f "$deb" Depends | tr ',' '\n' | awk '{ print $1 }' >> "$root/DEPENDS"
  echo "$1 $version $suite" >> "$root/VERSIONS"
}

# Packages that $root's depend on and whose names match $1, and theirs.
get_depends() {
  pattern=$1
  shift
  while next=$(sort -u "$root/DEPENDS" | grep -E "$pattern" | grep -vxF "$(cut -d ' ' -f 1 "$root/VERSIONS")" | head -n 1) &&
    [ -n "$next" ]; do
    get_package "$next" 0 "$@"
  done
}

# -- The peers ---------------------------------------------------------------------------------------------------------

fetch_yyjson() {
  get_package libyyjson-dev 0 trixie testing unstable
  get_depends '^libyyjson' trixie testing unstable
}

fetch_simdjson() {
  for suites in 'trixie testing unstable' "$codename"; do
    rm -rf "$root"
    mkdir "$root"
    # shellcheck disable=SC2086 # lists of words
    (get_package libsimdjson-dev 0 $suites && get_depends '^libsimdjson' $suites) || continue
    folder=$(dirname "$(find "$root/usr/lib" -name libsimdjson.so)")
    echo '#include <simdjson.h>
      int main() { simdjson::dom::parser parser; return parser.parse("1", 1).error(); }' |
      ${CXX-c++} -std=c++17 -x c++ -isystem "$root/usr/include" -o "$work/program" - -L "$folder" -lsimdjson \
        -Wl,-rpath,"$folder" >> "$work/log" 2>&1 && "$work/program" >> "$work/log" 2>&1 && return 0
  done
  fail "no libsimdjson links with ${CXX-c++} and runs here"
}

fetch_cpp() {
  suites='experimental unstable testing'
  # shellcheck disable=SC2086 # lists of words
  {
    get_package protobuf-compiler 36 $suites
    get_package libprotobuf-dev 36 $suites
    get_depends '^lib(protobuf|protoc|absl[0-9]|utf8-)' $suites
    # Headers of the release that libprotobuf was built with, which need not be the newest.
    get_package libabsl-dev "=$(sed -n 's/^libabsl\([0-9]*\) .*/\1/p' "$root/VERSIONS")" $suites
    for name in libc6 libstdc++6 libgcc-s1 zlib1g; do get_package "$name" 0 trixie $suites; done
  }
  # usr-merge, which dpkg knows of only where it is installed.
  for folder in lib lib64; do
    [ ! -d "$root/$folder" ] || { cp -a "$root/$folder/." "$root/usr/$folder/" && rm -rf "${root:?}/$folder"; }
  done
}

fetch_python() {
  get_package python3-protobuf 0 "$codename"
  get_depends '^libprotobuf' "$codename"
}

fetch_npm() {
  command -v npm > /dev/null 2>&1 || fail "npm not found"
  # shellcheck disable=SC2086 # a list of words
  npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts --prefix "$root" $npm_packages \
    > "$work/log" 2>&1 || fail "npm could not install $npm_packages ($(tail -n 1 "$work/log"))"
  for package in $npm_packages; do
    name=${package%@*}
    sed -n "s|^  \"version\": \"\(.*\)\".*|$name \1 npm|p" "$root/node_modules/$name/package.json"
  done > "$root/VERSIONS"
}

# fetch PEER: into a folder of its own that gets its name when it is whole.
fetch() {
  [ -f "$target/$1/VERSIONS" ] && return 0
  root=$work/$1
  mkdir "$root"
  if [ "$1" != npm ]; then
    apt_tools
    apt_start
  fi
  case $1 in
    yyjson) fetch_yyjson ;;
    simdjson) fetch_simdjson ;;
    cpp) fetch_cpp ;;
    python) fetch_python ;;
    npm) fetch_npm ;;
  esac
  rm -f "$root/DEPENDS"
  rm -rf "${target:?}/$1"
  mv -T "$root" "$target/$1" || fail "cannot write $target/$1"
  sed "s/^/peer $1: unpacked /" "$target/$1/VERSIONS"
}

arch=$(dpkg --print-architecture 2> /dev/null || echo unknown)
[ $# -gt 0 ] || set -- yyjson simdjson cpp python npm
mkdir -p "$target"
work=$(mktemp -d "$target/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
: > "$work/log"
status=0
for peer; do
  case $peer in
    yyjson | simdjson | cpp | python | npm) ;;
    *) fail "no such peer: $peer" ;;
  esac
  # In a process of its own: -e holds there, and one that cannot be had does not stop the others.
  (fetch "$peer") &
  wait $! || status=1
done
exit $status
