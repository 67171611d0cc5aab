#!/bin/sh
# Unpacks what the benchmark is compared with and Debian 12 does not have, into packages/ beside this script:
#
#     sh bench/fetch_peers.sh        libyyjson-dev and libyyjson0, from the first of the suites below that has them
#
# Nothing is installed and the machine's apt state is not touched: apt works in a private directory, with source lists
# made from the machine's own by replacing the suite, as subprojects/upb/fetch.sh does. packages/VERSIONS says what was
# taken. Does nothing when it is there already. Exit 1: it cannot be had; the benchmark then names the peer as missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=$here/packages
suites='trixie testing unstable'
packages='libyyjson-dev libyyjson0'

fail() {
  echo "fetch_peers.sh: $*" >&2
  exit 1
}

[ -f "$target/VERSIONS" ] && exit 0
for tool in apt-get apt-cache dpkg dpkg-deb awk; do
  command -v "$tool" > /dev/null 2>&1 || fail "$tool not found: this needs Debian's apt; elsewhere install yyjson"
done

work=$(mktemp -d "$here/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
arch=$(dpkg --print-architecture)
codename=$(. /etc/os-release 2> /dev/null && echo "${VERSION_CODENAME:-none}")
mkdir "$work/templates"
: > "$work/status"
: > "$work/log"

# The machine's own Debian sources with @SUITE@ where the suite goes; mirror, options and key are kept as they are.
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

# private_apt SUITE LIST PROGRAM ARGUMENT...
private_apt() {
  state=$work/$1
  list=$2
  program=$3
  shift 3
  "$program" -q \
    -o Dir::Etc::sourcelist="$list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
    -o Dir::State="$state/state" -o Dir::State::Lists="$state/lists" \
    -o Dir::State::status="$work/status" -o Dir::Cache="$state/cache" \
    -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User="$(id -un)" \
    -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# Downloads all packages from one suite of one source into $work/debs.
download() {
  rm -rf "${work:?}/$1" "$work/debs"
  mkdir -p "$work/$1/state" "$work/$1/lists/partial" "$work/$1/cache/archives/partial" "$work/debs"
  private_apt "$1" "$2" apt-get -o APT::Update::Error-Mode=any update >> "$work/log" 2>&1 || return 1
  # shellcheck disable=SC2086 # a list of words
  (cd "$work/debs" && private_apt "$1" "$2" apt-get download $packages >> "$work/log" 2>&1)
}

for suite in $suites; do
  for template in "$work/templates"/*; do
    list=$work/$suite.${template##*.}
    sed "s/@SUITE@/$suite/" "$template" > "$list"
    download "$suite" "$list" || continue
    mkdir "$work/root"
    for deb in "$work/debs"/*.deb; do
      dpkg-deb -x "$deb" "$work/root" || fail "cannot unpack ${deb##*/}"
      dpkg-deb -f "$deb" Package Version | awk -v suite="$suite" '{ printf "%s ", $2 } END { print suite }' \
        >> "$work/root/VERSIONS"
    done
    rm -rf "$target"
    mv -T "$work/root" "$target" || fail "cannot write $target"
    sed 's/^/peer: unpacked /' "$target/VERSIONS"
    exit 0
  done
done
fail "no yyjson in $suites ($(grep -E '^(E|W|Err)' "$work/log" | tail -n 1))"
