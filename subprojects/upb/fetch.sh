#!/bin/sh
# Unpacks Debian's libprotobuf-dev and libutf8-range-dev (upb's headers and static libraries) beside this script:
#
#     sh subprojects/upb/fetch.sh [arch]        arch: a Debian name (amd64, arm64, armhf, i386, s390x); default: native
#
# Nothing is installed and the machine's apt state is not touched: apt works in a private directory, with a source list
# made from the machine's own by replacing the suite. The suite is the first of experimental, unstable, testing that has
# protobuf 36 or later; packages/<arch>/VERSIONS says which. Does nothing when the packages are there already.
set -eu

minimum=36
here=$(cd "$(dirname "$0")" && pwd)

fail() {
  echo "fetch.sh: $*" >&2
  exit 1
}

for tool in apt-get apt-cache dpkg dpkg-deb awk; do
  command -v "$tool" > /dev/null 2>&1 ||
    fail "$tool not found: this needs Debian's apt; elsewhere install upb >= $minimum where pkg-config finds it"
done

arch=${1:-$(dpkg --print-architecture)}
target=$here/packages/$arch
[ -f "$target/VERSIONS" ] && exit 0

mkdir -p "$here/packages"
work=$(mktemp -d "$here/packages/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
log=$work/log
: > "$work/status"
: > "$log"

# The machine's binary sources that carry component main, one file per source: number.sources or number.list, with the
# word @SUITE@ where the suite goes. Mirror, options and key are kept as they are; security and update suites are
# passed over, and so is what names no Debian release (other vendors' archives).
collect_sources() {
  mkdir -p "$work/templates"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    awk -v RS= -v out="$work/templates" -v base="$(basename "$file" .sources)" '
      {
        n = split($0, line, "\n"); text = ""; types = suites = components = ""; enabled = 1; key = ""
        for (i = 1; i <= n; i++) {
          if (line[i] ~ /^#/) continue
          if (line[i] ~ /^[A-Za-z-]+:/) { key = tolower(line[i]); sub(/:.*/, "", key) }
          value = line[i]; sub(/^[A-Za-z-]+:[ \t]*/, "", value)
          if (key == "enabled" && tolower(value) ~ /^(no|false|0)/) enabled = 0
          if (key == "types") { types = types " " value " "; if (line[i] ~ /^[A-Za-z]/) text = text "Types: deb\n"; continue }
          if (key == "suites") { suites = suites " " value " "; if (line[i] ~ /^[A-Za-z]/) text = text "Suites: @SUITE@\n"; continue }
          if (key == "components") { components = components " " value " "; if (line[i] ~ /^[A-Za-z]/) text = text "Components: main\n"; continue }
          if (key == "architectures" || key == "enabled") continue
          text = text line[i] "\n"
        }
        if (enabled && types ~ / deb / && components ~ / main / && suites ~ RELEASE)
          print text > (out "/" base "-" NR ".sources")
      }
    ' RELEASE="$release" "$file"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] || continue
    awk -v out="$work/templates" -v base="$(basename "$file" .list)" -v RELEASE="$release" '
      $1 == "deb" {
        sub(/[ \t]#.*/, ""); options = ""; rest = $0; sub(/^[ \t]*deb[ \t]+/, "", rest)
        if (rest ~ /^\[/) { options = rest; sub(/\].*/, "]", options); sub(/^\[[^]]*\][ \t]*/, "", rest)
                            gsub(/arch=[^] \t]*/, "", options) }
        n = split(rest, word, /[ \t]+/); main = 0
        for (i = 3; i <= n; i++) if (word[i] == "main") main = 1
        if (main && (" " word[2] " ") ~ RELEASE && word[1] !~ /^cdrom:/)
          print "deb " options " " word[1] " @SUITE@ main" > (out "/" base "-" NR ".list")
      }
    ' "$file"
  done
}

codename=$(. /etc/os-release 2> /dev/null && echo "${VERSION_CODENAME:-}")
release=" (stable|oldstable|testing|unstable|experimental|sid|trixie|forky|duke|bookworm${codename:+|$codename}) "
collect_sources
[ -n "$(ls "$work/templates")" ] || fail "found no Debian source with component main under /etc/apt"

# apt in a private state directory, one per suite, for the wanted architecture only.
private_apt() {
  program=$1
  suite=$2
  list=$(echo "$work/$suite"/apt.*)
  shift 2
  "$program" -q \
    -o Dir::Etc::sourcelist="$list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
    -o Dir::State="$work/$suite/state" -o Dir::State::Lists="$work/$suite/lists" \
    -o Dir::State::status="$work/status" -o Dir::Cache="$work/$suite/cache" \
    -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User="$(id -un)" \
    -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# Makes the private lists of one suite, from the first source that has the suite at all.
update_suite() {
  suite=$1
  [ -d "$work/$suite" ] && return 0
  for template in "$work/templates"/*; do
    mkdir -p "$work/$suite/state" "$work/$suite/lists/partial" "$work/$suite/cache/archives/partial"
    sed "s/@SUITE@/$suite/" "$template" > "$work/$suite/apt.${template##*.}"
    private_apt apt-get "$suite" -o APT::Update::Error-Mode=any update >> "$log" 2>&1 && return 0
    rm -rf "${work:?}/$suite"
  done
  return 1
}

# Downloads the newest $1 of the first suite where it is at least version $2 into $work/debs, and says so on stdout.
get_package() {
  for suite in experimental unstable testing; do
    update_suite "$suite" || continue
    version=$(private_apt apt-cache "$suite" madison "$1" 2>> "$log" | awk 'NR == 1 { print $3 }')
    [ -n "$version" ] || continue
    dpkg --compare-versions "${version#*:}" ge "$2" || continue
    mkdir -p "$work/debs"
    (cd "$work/debs" && private_apt apt-get "$suite" download "$1:$arch=$version" >> "$log" 2>&1) || continue
    echo "$1 $version $arch $suite"
    return 0
  done
  return 1
}

for need in "libprotobuf-dev $minimum" "libutf8-range-dev 0"; do
  # shellcheck disable=SC2086 # two words on purpose
  get_package $need >> "$work/VERSIONS" || {
    reason=$(grep -E '^(E|W|Err)' "$log" | tail -n 1)
    fail "no ${need% *} >= ${need#* } for $arch in experimental, unstable or testing${reason:+ ($reason)}"
  }
done

for deb in "$work/debs"/*.deb; do
  dpkg-deb -x "$deb" "$work/root" || fail "cannot unpack ${deb##*/}"
done
[ -n "$(find "$work/root/usr/lib" -name libupb.a)" ] || fail "libprotobuf-dev has no libupb.a"
cp "$work/VERSIONS" "$work/root/VERSIONS"
# Another fetch may have been faster; its result is as good, so losing the race is no failure.
rm -rf "$target.old"
[ -e "$target" ] && [ ! -f "$target/VERSIONS" ] && mv -T "$target" "$target.old"
mv -T "$work/root" "$target" 2> /dev/null || [ -f "$target/VERSIONS" ] || fail "cannot write $target"
rm -rf "$target.old"
sed 's/^/upb: unpacked /' "$target/VERSIONS"
