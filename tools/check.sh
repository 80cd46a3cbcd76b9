#!/bin/sh
# The long tier: every test under AddressSanitizer and UBSan with each object allocated apart, with gcc and with clang,
# warnings being errors, a build without policies that learn, and the long laws. `quick` leaves out all but the first two.
set -eu
quick=${1:-}
cores=$(nproc 2>/dev/null || echo 2)

say() { printf '\n== %s\n' "$*"; }
build_with() { # folder, compiler, meson options...
  folder=$1 compiler=$2
  shift 2
  [ -f "$folder/build.ninja" ] || CC=$compiler meson setup "$folder" -Dwerror=true "$@" >/dev/null
  ninja -C "$folder" -j "$cores" | tail -n 1
}

say "clang, warnings are errors"
build_with build-clang clang
meson test -C build-clang --no-rebuild --print-errorlogs --suite house --suite unit --quiet

say "gcc with AddressSanitizer and UBSan, each object allocated apart"
build_with build-asan gcc -Db_sanitize=address,undefined -Db_lundef=false -Darena_debug=true
if [ "$quick" = quick ]; then
  meson test -C build-asan --no-rebuild --print-errorlogs --suite unit --timeout-multiplier 6 --quiet
  exit 0
fi
meson test -C build-asan --no-rebuild --print-errorlogs --no-suite long --timeout-multiplier 8 --quiet

say "without policies that learn"
build_with build-small gcc -Dlearn=disabled
meson test -C build-small --no-rebuild --print-errorlogs --suite house --suite unit --quiet

say "the long laws"
build_with build gcc
meson test -C build --no-rebuild --print-errorlogs --suite long
