# Shared by run.sh, size.sh and bench/arm64/run.sh, which source it with $root set: one library build, one firmware and its plan files for each
# architecture. Architectures go by Debian's names; the native one is built like the others, without a cross file.
# shellcheck shell=sh disable=SC2034 # used by those who source it
: "${root:?the script that sources this sets it}"
. "$root/docs/setup.sh"

firmware=$root/tests/firmware
native=$(dpkg --print-architecture)
all_architectures="amd64 i386 armhf arm64 s390x"
work=$root/build-firmware

# triplet_of ARCH: also the name of its gcc package.
triplet_of() {
  case $1 in
    amd64) echo x86_64-linux-gnu ;;
    i386) echo i686-linux-gnu ;;
    armhf) echo arm-linux-gnueabihf ;;
    arm64) echo aarch64-linux-gnu ;;
    s390x) echo s390x-linux-gnu ;;
    *) die "$1: not one of $all_architectures" ;;
  esac
}

# What starts a program of ARCH here.
runner_of() {
  [ "$1" = "$native" ] && return 0
  case $1 in
    amd64) echo qemu-x86_64 ;;
    armhf) echo qemu-arm ;;
    arm64) echo qemu-aarch64 ;;
    *) echo "qemu-$1" ;;
  esac
}

# sources_of FOLDER LIST: the sources that the folder's meson.build names in LIST.
sources_of() { sed -n "/^$2 = files/,/^)/s/ *'\(.*\)',/$1\/\1/p" "$root/$1/meson.build"; }

bits_of() {
  case $1 in
    i386 | armhf) echo 32 ;;
    *) echo 64 ;;
  esac
}

gcc_of() { if [ "$1" = "$native" ]; then echo gcc; else echo "$(triplet_of "$1")-gcc"; fi; }
tool_of() { if [ "$1" = "$native" ]; then echo "$2"; else echo "$(triplet_of "$1")-$2"; fi; }

# Installs what building for "$@" takes, or says what is missing.
need_architectures() {
  wanted="gcc libc6-dev meson ninja-build pkg-config python3 libutf8proc-dev protobuf-compiler"
  for arch in "$@"; do
    [ "$arch" = "$native" ] && continue
    triplet=$(triplet_of "$arch") || exit 1
    wanted="$wanted gcc-$triplet libc6-dev-$arch-cross qemu-user"
  done
  # shellcheck disable=SC2086 # a list of words
  need_packages $wanted
  for arch in "$native" "$@"; do sh "$root/subprojects/upb/fetch.sh" "$arch" || exit 1; done
}

# firmware_build ARCH: libbjvm-vm as a firmware wants it, in build-firmware/ARCH.
firmware_build() {
  options='-Dtests=false -Dbench=false -Dsize=small -Db_staticpic=false -Db_ndebug=true --buildtype=minsize'
  mkdir -p "$work"
  if [ "$1" = "$native" ]; then
    set_up_build "build-firmware/$1" "$options" "--native-file $firmware/cross/native.ini" && build_all "build-firmware/$1"
  else
    set_up_build "build-firmware/$1" "$options" "--cross-file $firmware/cross/$1.ini" &&
      build_all "build-firmware/$1"
  fi
}

# The program that makes plan files; from the native build, which has it beside its libbjvm-vm.
planc() { "$work/$native/planc/planc" "$@"; }

upb_root() { echo "$root/subprojects/upb/packages/$1/usr"; }
upb_libs() { dirname "$(find "$(upb_root "$1")/lib" -name libupb.a)"; }

# compile_plan SCHEMA [OPTION...]: the node's plan of a schema, mini descriptors included.
compile_plan() {
  schema=$1
  shift
  planc compile -I "$firmware" -I "$(upb_root "$native")/include" "$firmware/$schema.proto" --mini-descriptors \
    --type node.Command --type node.Telemetry --type node.Reply "$@"
}

# compile_array NAME [OPTION...]: the same as a C array in build-firmware/NAME.c, with NAME.h.
compile_array() {
  name=$1
  shift
  compile_plan node --emit=c --symbol node_plan --header "$work/$name.h" -o "$work/$name.c" "$@"
}

firmware_flags="-std=c11 -Os -ffunction-sections -fdata-sections -Wall -Wextra -Wshadow -Wconversion"
trap_flags="-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free"

# link_firmware ARCH PLAN_NAME OUT [FLAG...]: the sample with the plan in build-firmware/PLAN_NAME.c.
link_firmware() {
  arch=$1
  plan=$2
  out=$3
  shift 3
  # shellcheck disable=SC2046,SC2086 # lists of words
  $(gcc_of "$arch") $firmware_flags "$@" -I "$work" -I "$firmware" -I "$root/vm/include" \
    -isystem "$root/subprojects/upb/overlay" -isystem "$(upb_root "$arch")/include" -DPLAN_HEADER="\"$plan.h\"" \
    "$firmware/board.c" "$firmware/node.c" "$firmware/schema.c" "$work/$plan.c" \
    "$work/$arch/vm/libbjvm-vm.a" -L"$(upb_libs "$arch")" -lupb -lutf8_range \
    -static -Wl,--gc-sections $trap_flags -o "$out"
}
