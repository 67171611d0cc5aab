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
# Nothing is installed and the machine's apt state is not touched: apt works in a private directory, with source lists
# made from the machine's own by replacing the suite, as subprojects/upb/fetch.sh does. packages/PEER/VERSIONS says what was
# taken. Does nothing for a peer that is there already. Exit 1: one cannot be had; the benchmark then names it as missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=$here/packages
npm_packages='protobufjs@8 @bufbuild/protobuf@2'

# Ends the subshell that a peer is fetched in, not the others.
fail() {
  echo "fetch_peers.sh: $*" >&2
  exit 1
}

# -- apt in a private directory ----------------------------------------------------------------------------------------

# The machine's own Debian sources with @SUITE@ where the suite goes; mirror, options and key are kept as they are.
collect_sources() {
  mkdir "$work/templates"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    awk -v RS= -v codename="$codename" -v out="$work/templates/$(basename "$file" .sources)" '
      /\nSuites:|^Suites:/ && (" " $0 "\n") ~ ("[ \t]" codename "[ \t\n]") {
        gsub(/(^|\n)Suites:[^\n]*/, "\nSuites: @SUITE@"); gsub(/(^|\n)Components:[^\n]*/, "\nComponents: main")
        sub(/^\n/, ""); print > (out "-" NR ".sources")
      }' "$file"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] || continue
    awk -v codename="$codename" -v out="$work/templates/$(basename "$file" .list)" '
      $1 == "deb" && $0 ~ ("[ \t]" codename "[ \t]+.*main") {
        sub("[ \t]" codename "[ \t].*", " @SUITE@ main"); print > (out "-" NR ".list")
      }' "$file"
  done
  [ -n "$(ls "$work/templates")" ] || fail "found no Debian source with component main under /etc/apt"
}

start_apt() {
  [ -d "$work/templates" ] && return 0
  for tool in apt-get apt-cache dpkg dpkg-deb awk; do
    command -v "$tool" > /dev/null 2>&1 || fail "$tool not found: this needs Debian's apt"
  done
  : > "$work/status"
  collect_sources
}

# private_apt SUITE PROGRAM ARGUMENT...
private_apt() {
  state=$work/suites/$1
  program=$2
  shift 2
  "$program" -q \
    -o Dir::Etc::sourcelist="$(echo "$state"/apt.*)" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
    -o Dir::State="$state/state" -o Dir::State::Lists="$state/lists" \
    -o Dir::State::status="$work/status" -o Dir::Cache="$state/cache" \
    -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User="$(id -un)" \
    -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# Makes the private lists of a suite, once, from the first source that has it.
update_suite() {
  [ -d "$work/suites/$1" ] && return 0
  for template in "$work/templates"/*; do
    mkdir -p "$work/suites/$1/state" "$work/suites/$1/lists/partial" "$work/suites/$1/cache/archives/partial"
    sed "s/@SUITE@/$1/" "$template" > "$work/suites/$1/apt.${template##*.}"
    private_apt "$1" apt-get -o APT::Update::Error-Mode=any update >> "$work/log" 2>&1 && return 0
    rm -rf "${work:?}/suites/$1"
  done
  return 1
}

# get_package NAME WANTED SUITE...: unpacks the newest of the first suite that has it into $root. WANTED: the least version, or
# =PREFIX.
get_package() {
  name=$1
  wanted=$2
  shift 2
  for suite; do
    update_suite "$suite" || continue
    version=$(private_apt "$suite" apt-cache madison "$name" 2>> "$work/log" | awk 'NR == 1 { print $3 }')
    case $wanted in
      =*) case $version in "${wanted#=}"*) ;; *) continue ;; esac ;;
      *) [ -n "$version" ] && dpkg --compare-versions "${version#*:}" ge "$wanted" || continue ;;
    esac
    rm -rf "$work/deb"
    mkdir "$work/deb"
    (cd "$work/deb" && private_apt "$suite" apt-get download "$name:$arch=$version" >> "$work/log" 2>&1) || continue
    dpkg-deb -x "$work/deb"/*.deb "$root" || return 1
    # A library of the same version as what wants it, whatever its name is by now.
    dpkg-deb -f "$work/deb"/*.deb Depends | tr ',' '\n' | awk '{ print $1 }' >> "$root/DEPENDS"
    echo "$name $version $suite" >> "$root/VERSIONS"
    return 0
  done
  fail "no $name, version $wanted, in $* ($(grep -E '^(E|W|Err)' "$work/log" | tail -n 1))"
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
  [ "$1" = npm ] || start_apt
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
codename=$(. /etc/os-release 2> /dev/null && echo "${VERSION_CODENAME:-none}")
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
