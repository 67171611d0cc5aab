#!/bin/sh
# C sources are formatted by .clang-format; generated tables say `clang-format off` themselves.
set -eu
cd "$(dirname "$0")/.."
if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
  # Tracked, and new files that are not ignored.
  files=$(git ls-files --cached --others --exclude-standard -- '*.c' '*.h')
else
  files=$(find vm planc lib tests bench docs -name '*.[ch]')
fi
existing=
for file in $files; do
  [ -f "$file" ] && existing="$existing $file"
done
[ -n "$existing" ] || exit 0
# shellcheck disable=SC2086 # a list of file names without spaces
clang-format --dry-run -Werror $existing
