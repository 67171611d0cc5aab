# Shared by docs/quickstart.sh and tests/run.sh, which source it with $root set to the top of the tree: installs what
# is missing, fetches upb, makes build folders. Quiet when there is nothing to do; noise goes to a log that is shown
# only when something fails. POSIX sh.
# shellcheck shell=sh

: "${root:?the script that sources this sets it}"

say() { echo "-- $*"; }

die() {
  echo "error: $*" >&2
  exit 1
}

# Runs "$@" with all output in the file $1; on failure shows its end.
logged() {
  logged_file=$1
  shift
  "$@" > "$logged_file" 2>&1 && return 0
  tail -n 40 "$logged_file" >&2
  return 1
}

# Is there what Debian's package $1 would bring? Asked of the machine and not of dpkg, so that a meson from elsewhere
# counts too.
have_package() {
  case $1 in
    gcc) command -v cc && command -v gcc ;;
    libc6-dev) [ -f /usr/include/stdio.h ] ;;
    g++) command -v g++ ;;
    clang) command -v clang && command -v clang++ ;;
    libclang-rt-dev) echo 'int main(void) { return 0; }' | clang -fsanitize=address -x c -o /dev/null - ;;
    clang-format) command -v clang-format ;;
    meson) command -v meson ;;
    ninja-build) command -v ninja ;;
    pkg-config) command -v pkg-config ;;
    protobuf-compiler) command -v protoc ;;
    python3) command -v python3 ;;
    valgrind) command -v valgrind ;;
    libcriterion-dev) pkg-config --exists criterion ;;
    libutf8proc-dev) pkg-config --exists libutf8proc ;;
    *) dpkg -s "$1" ;;
  esac > /dev/null 2>&1
}

apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }

# Installs those of the Debian packages "$@" that are missing; not as root, says how and stops. Package lists are
# renewed only when installing with the ones at hand fails (a fresh container has none, an old one outdated ones).
need_packages() {
  missing=
  for package in "$@"; do
    have_package "$package" || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  command -v apt-get > /dev/null 2>&1 || die "missing, under whatever name your system has them:$missing"
  if [ "$(id -u)" -ne 0 ]; then
    echo "Some packages are missing. Install them, then run this again:" >&2
    echo "  sudo apt-get install -y$missing" >&2
    exit 1
  fi
  say "installing:$missing"
  apt_log=$(mktemp)
  # shellcheck disable=SC2086 # a list of words
  if ! apt_install $missing > "$apt_log" 2>&1; then
    logged "$apt_log" apt-get update || die "apt-get update failed"
    logged "$apt_log" apt_install $missing || die "could not install:$missing"
  fi
  rm -f "$apt_log"
}

# Does pkg-config offer a upb that may be new enough? (The configure step tests it for good.)
have_system_upb() { pkg-config --exists 'upb >= 36' 2> /dev/null; }

fetch_upb() {
  have_system_upb && return 0
  sh "$root/subprojects/upb/fetch.sh" || exit 1
}

# The folder with google/protobuf/descriptor.proto.
proto_dir() {
  if have_system_upb && [ -f "$(pkg-config --variable=includedir upb)/google/protobuf/descriptor.proto" ]; then
    pkg-config --variable=includedir upb
  else
    echo "$root/subprojects/upb/packages/$(dpkg --print-architecture)/usr/include"
  fi
}

# The compiler arguments that find upb's headers, as subprojects/upb/meson.build gives them.
upb_cflags() {
  echo "-isystem $root/subprojects/upb/overlay"
  if have_system_upb; then
    pkg-config --cflags upb
  else
    echo "-isystem $root/subprojects/upb/packages/$(dpkg --print-architecture)/usr/include"
  fi
}

# set_up_build DIR WANTED FRESH: configures $root/DIR. WANTED are the Meson options it must have; FRESH are given only to
# a folder that does not exist yet. A folder that Meson can no longer use (half made, moved, made by another Meson) is
# made again; one that is not Meson's is left alone.
set_up_build() {
  build=$root/$1
  # What a folder cannot change: its compiler, and what cross and native files say.
  fixed=${CC-cc}
  for word in $3; do
    [ ! -f "$word" ] || fixed="$fixed $(cksum < "$word")"
  done
  stamp="$root|$fixed|$(meson --version)|$2"
  [ -f "$build/build.ninja" ] && [ "$(cat "$build/.setup" 2> /dev/null)" = "$stamp" ] && return 0
  setup_log=$(mktemp)
  # That, like a stale folder, takes a new one.
  old_fixed=$(cut -d '|' -f 2 "$build/.setup" 2> /dev/null || true)
  if [ "${old_fixed:-$fixed}" = "$fixed" ] && [ -f "$build/meson-private/coredata.dat" ] &&
    [ -f "$build/build.ninja" ]; then
    # shellcheck disable=SC2086 # $2 is a list of options
    if meson setup --reconfigure "$build" "$root" $2 > "$setup_log" 2>&1; then
      echo "$stamp" > "$build/.setup"
      rm -f "$setup_log"
      return 0
    fi
    say "$1 is stale, making it again"
  fi
  if [ -d "$build" ]; then
    [ -d "$build/meson-private" ] || [ -d "$build/meson-logs" ] || [ -z "$(ls -A "$build")" ] ||
      die "$build is in the way: it is no build folder"
    rm -rf "$build"
  fi
  say "configuring $1${2:+ ($2)}"
  # shellcheck disable=SC2086
  logged "$setup_log" meson setup "$build" "$root" $2 $3 || return 1
  echo "$stamp" > "$build/.setup"
  rm -f "$setup_log"
}

# Builds $root/$1, quietly.
build_all() {
  if ninja -C "$root/$1" -n 2> /dev/null | grep -q 'no work to do'; then
    return 0
  fi
  say "building $1"
  logged "$root/$1/build.log" ninja -C "$root/$1"
}
