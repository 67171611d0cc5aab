# Debian packages without installing anything; a script sources this. Nothing of the machine's apt state is touched: apt
# works in a private directory, with source lists made from the machine's own by replacing the suite. POSIX sh.
#
# The script sets   work   a folder of its own, where lists and packages go and which it removes
#                   arch   Debian's name of the architecture (amd64, arm64, ...)
# and has           fail MESSAGE, which ends the script (or the subshell it is called in)
# then calls        apt_tools, apt_start and, for each package, apt_download.
# shellcheck shell=sh disable=SC2034,SC2154

# The suite of the machine itself.
codename=$(. /etc/os-release 2> /dev/null && echo "${VERSION_CODENAME:-none}")

# Fails where Debian's tools are missing; $1 is what to do then.
apt_tools() {
  for apt_tool in apt-get apt-cache dpkg dpkg-deb awk; do
    command -v "$apt_tool" > /dev/null 2>&1 || fail "$apt_tool not found: this needs Debian's apt${1:+; $1}"
  done
}

# The machine's binary sources that carry component main, one file per source: number.sources or number.list, with the
# word @SUITE@ where the suite goes. Mirror, options and key are kept as they are; security and update suites are
# passed over, and so is what names no Debian release (other vendors' archives).
apt_templates() {
  mkdir -p "$work/templates"
  for apt_file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$apt_file" ] || continue
    awk -v RS= -v out="$work/templates" -v base="$(basename "$apt_file" .sources)" '
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
    ' RELEASE="$1" "$apt_file"
  done
  for apt_file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$apt_file" ] || continue
    awk -v out="$work/templates" -v base="$(basename "$apt_file" .list)" -v RELEASE="$1" '
      $1 == "deb" {
        sub(/[ \t]#.*/, ""); options = ""; rest = $0; sub(/^[ \t]*deb[ \t]+/, "", rest)
        if (rest ~ /^\[/) { options = rest; sub(/\].*/, "]", options); sub(/^\[[^]]*\][ \t]*/, "", rest)
                            gsub(/arch=[^] \t]*/, "", options) }
        n = split(rest, word, /[ \t]+/); main = 0
        for (i = 3; i <= n; i++) if (word[i] == "main") main = 1
        if (main && (" " word[2] " ") ~ RELEASE && word[1] !~ /^cdrom:/)
          print "deb " options " " word[1] " @SUITE@ main" > (out "/" base "-" NR ".list")
      }
    ' "$apt_file"
  done
}

apt_start() {
  : >> "$work/status"
  : >> "$work/log"
  apt_templates " (stable|oldstable|testing|unstable|experimental|sid|trixie|forky|duke|bookworm|$codename) "
  [ -n "$(ls "$work/templates")" ] || fail "found no Debian source with component main under /etc/apt"
}

# private_apt SUITE PROGRAM ARGUMENT...: lists of their own for each suite, of the wanted architecture only.
private_apt() {
  apt_state=$work/suites/$1
  apt_program=$2
  shift 2
  "$apt_program" -q \
    -o Dir::Etc::sourcelist="$(echo "$apt_state"/apt.*)" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
    -o Dir::State="$apt_state/state" -o Dir::State::Lists="$apt_state/lists" \
    -o Dir::State::status="$work/status" -o Dir::Cache="$apt_state/cache" \
    -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User="$(id -un)" \
    -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# Makes the lists of a suite, once, from the first source that has it.
apt_update() {
  [ -d "$work/suites/$1" ] && return 0
  for apt_template in "$work/templates"/*; do
    mkdir -p "$work/suites/$1/state" "$work/suites/$1/lists/partial" "$work/suites/$1/cache/archives/partial"
    sed "s/@SUITE@/$1/" "$apt_template" > "$work/suites/$1/apt.${apt_template##*.}"
    private_apt "$1" apt-get -o APT::Update::Error-Mode=any update >> "$work/log" 2>&1 && return 0
    rm -rf "${work:?}/suites/$1"
  done
  return 1
}

# apt_download NAME WANTED SUITE...: the newest of the first suite that has it, as the file $deb of version $version from
# $suite. WANTED is the least version, or =PREFIX. Fails when none has it.
apt_download() {
  apt_name=$1
  apt_wanted=$2
  shift 2
  apt_all=$*
  for suite; do
    apt_update "$suite" || continue
    version=$(private_apt "$suite" apt-cache madison "$apt_name" 2>> "$work/log" | awk 'NR == 1 { print $3 }')
    [ -n "$version" ] || continue
    case $apt_wanted in
      =*) case $version in "${apt_wanted#=}"*) ;; *) continue ;; esac ;;
      *) dpkg --compare-versions "${version#*:}" ge "$apt_wanted" || continue ;;
    esac
    rm -rf "$work/deb"
    mkdir "$work/deb"
    (cd "$work/deb" && private_apt "$suite" apt-get download "$apt_name:$arch=$version" >> "$work/log" 2>&1) || continue
    deb=$(echo "$work/deb"/*.deb)
    return 0
  done
  case $apt_wanted in
    0) ;;
    =*) apt_name="$apt_name $apt_wanted*" ;;
    *) apt_name="$apt_name >= $apt_wanted" ;;
  esac
  apt_reason=$(grep -E '^(E|W|Err)' "$work/log" | tail -n 1)
  fail "no $apt_name for $arch in $apt_all${apt_reason:+ ($apt_reason)}"
}
