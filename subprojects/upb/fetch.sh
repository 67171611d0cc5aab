#!/bin/sh
# Unpacks Debian's libprotobuf-dev and libutf8-range-dev (upb's headers and static libraries) beside this script:
#
#     sh subprojects/upb/fetch.sh [arch]        arch: a Debian name (amd64, arm64, armhf, i386, s390x); default: native
#
# Nothing is installed and the machine's apt state is not touched (apt.sh). The suite is the first of experimental,
# unstable, testing that has protobuf 36 or later; packages/<arch>/VERSIONS says which. Does nothing when the packages are
# there already.
set -eu

minimum=36
here=$(cd "$(dirname "$0")" && pwd)

fail() {
  echo "fetch.sh: $*" >&2
  exit 1
}

. "$here/apt.sh"
apt_tools "elsewhere install upb >= $minimum where pkg-config finds it"

arch=${1:-$(dpkg --print-architecture)}
target=$here/packages/$arch
[ -f "$target/VERSIONS" ] && exit 0

mkdir -p "$here/packages"
work=$(mktemp -d "$here/packages/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
root=$work/root
mkdir "$root"
apt_start

for need in "libprotobuf-dev $minimum" "libutf8-range-dev 0"; do
  # shellcheck disable=SC2086 # two words on purpose
  apt_download $need experimental unstable testing
  dpkg-deb -x "$deb" "$root" || fail "cannot unpack ${deb##*/}"
  echo "${need% *} $version $arch $suite" >> "$root/VERSIONS"
done
[ -n "$(find "$root/usr/lib" -name libupb.a)" ] || fail "libprotobuf-dev has no libupb.a"
# Another fetch may have been faster; its result is as good, so losing the race is no failure.
rm -rf "$target.old"
[ -e "$target" ] && [ ! -f "$target/VERSIONS" ] && mv -T "$target" "$target.old"
mv -T "$root" "$target" 2> /dev/null || [ -f "$target/VERSIONS" ] || fail "cannot write $target"
rm -rf "$target.old"
sed 's/^/upb: unpacked /' "$target/VERSIONS"
