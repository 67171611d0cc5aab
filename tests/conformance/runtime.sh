#!/bin/sh
# Unpacks a newer C library beside the machine's own, for the prebuilt conformance runner:
#
#     sh tests/conformance/runtime.sh FOLDER
#
# FOLDER gets libc6, libstdc++6, libgcc-s1 and zlib1g of Debian 13 or later; run.sh starts the runner through
# the loader found there. Nothing is installed and the machine's apt state is not touched: apt works in a
# private directory with a source list made from the machine's own by replacing the suite. Does nothing when
# the folder is there.
set -eu

target=$1
[ -f "$target/VERSIONS" ] && exit 0

fail() {
  echo "runtime.sh: $*" >&2
  exit 1
}
for tool in apt-get apt-cache dpkg dpkg-deb awk; do
  command -v "$tool" > /dev/null 2>&1 || fail "$tool not found: without Debian's apt this needs glibc >= 2.38"
done

mkdir -p "$(dirname "$target")"
work=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
: > "$work/status"

suites="bookworm|trixie|forky|sid|stable|oldstable|testing|unstable"

# The machine's Debian sources, `deb` form, with @SUITE@ for the suite. The key's path becomes an option.
{
  awk -v RS= -v known=" ($suites) " '
    {
      types = uris = suites = key = ""
      n = split($0, line, "\n")
      for (i = 1; i <= n; i++) {
        value = line[i]; sub(/^[A-Za-z-]+:[ \t]*/, "", value)
        if (line[i] ~ /^Types:/) types = value
        if (line[i] ~ /^URIs:/) uris = value
        if (line[i] ~ /^Suites:/) suites = " " value " "
        if (line[i] ~ /^Signed-By:/ && value ~ /^\//) key = "[signed-by=" value "] "
      }
      if (types ~ /deb/ && suites ~ known &&
          split(uris, uri, " ") >= 1)
        print "deb " key uri[1] " @SUITE@ main"
    }' /etc/apt/sources.list.d/*.sources 2> /dev/null || :
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2> /dev/null |
    sed -n -E "s/^deb +(\[[^]]*\] +)?([^ ]+) +($suites) .*main.*/deb \1\2 @SUITE@ main/p"
} | awk '!seen[$0]++' > "$work/template"
[ -s "$work/template" ] || fail "found no Debian source under /etc/apt"

private_apt() {
  program=$1
  shift
  "$program" -q -o Dir::Etc::sourcelist="$work/apt.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o Dir::State="$work/state" \
    -o Dir::State::Lists="$work/lists" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" \
    -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User="$(id -un)" \
    -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

for suite in trixie testing unstable; do
  rm -rf "$work/state" "$work/lists" "$work/cache" "$work/debs" "$work/root"
  mkdir -p "$work/state" "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root"
  sed "s/@SUITE@/$suite/" "$work/template" > "$work/apt.list"
  private_apt apt-get -o APT::Update::Error-Mode=any update > "$work/log" 2>&1 || continue
  (cd "$work/debs" && private_apt apt-get download libc6 libstdc++6 libgcc-s1 zlib1g) \
    >> "$work/log" 2>&1 || continue
  for deb in "$work/debs"/*.deb; do
    dpkg-deb -x "$deb" "$work/root"
    echo "$(basename "$deb" .deb) ($suite)" >> "$work/root/VERSIONS"
  done
  break
done
[ -f "$work/root/VERSIONS" ] ||
  fail "cannot download libc6 of Debian 13 or later: $(grep -E '^(E|W|Err)' "$work/log" | tail -n 1)"
rm -rf "$target"
mv -T "$work/root" "$target"
