#!/bin/sh
# Unpacks a newer C library beside the machine's own, for the prebuilt conformance runner:
#
#     sh tests/conformance/runtime.sh FOLDER
#
# FOLDER gets libc6, libstdc++6, libgcc-s1 and zlib1g of Debian 13 or later; run.sh starts the runner through
# the loader found there. Nothing is installed and the machine's apt state is not touched (subprojects/upb/apt.sh).
# Does nothing when the folder is there.
set -eu

target=$1
[ -f "$target/VERSIONS" ] && exit 0

fail() {
  echo "runtime.sh: $*" >&2
  exit 1
}

. "$(dirname "$0")/../../subprojects/upb/apt.sh"
apt_tools "elsewhere the runner needs glibc 2.38 or newer"

mkdir -p "$(dirname "$target")"
work=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
arch=amd64
root=$work/root
mkdir "$root"
apt_start

for name in libc6 libstdc++6 libgcc-s1 zlib1g; do
  apt_download "$name" 0 trixie testing unstable
  dpkg-deb -x "$deb" "$root" || fail "cannot unpack ${deb##*/}"
  echo "$name $version $suite" >> "$root/VERSIONS"
done
rm -rf "$target"
mv -T "$root" "$target"
