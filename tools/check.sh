#!/bin/sh
# The thorough tier: all rounds of every test and the long suite; warnings of clang being errors; every suite under
# AddressSanitizer and UBSan with each object allocated apart; a build without policies that learn.
set -eu
cores=$(nproc 2>/dev/null || echo 2)

say() { printf '\n== %s\n' "$*"; }
build_with() { # folder, compiler, meson options...
  folder=$1 compiler=$2
  shift 2
  [ -f "$folder/build.ninja" ] || CC=$compiler meson setup "$folder" -Dwerror=true "$@" >/dev/null
  ninja -C "$folder" -j "$cores" | tail -n 1
}
run_tests() { # folder, arguments of meson test...
  folder=$1
  shift
  meson test -C "$folder" --no-rebuild --print-errorlogs --quiet "$@"
}

say "all rounds of every test"
build_with build gcc
run_tests build --setup full --timeout-multiplier 4

say "clang, warnings are errors"
build_with build-clang clang
run_tests build-clang --setup fast --timeout-multiplier 4 --suite house --suite unit --no-suite long

say "gcc with AddressSanitizer and UBSan, each object allocated apart"
build_with build-asan gcc -Db_sanitize=address,undefined -Db_lundef=false -Darena_debug=true
# LeakSanitizer stumbles, one time in three, over what plugins of hwloc leave behind when they are unloaded.
HWLOC_PLUGINS_PATH=/nonexistent run_tests build-asan --setup fast --timeout-multiplier 8

say "without policies that learn"
build_with build-small gcc -Dlearn=disabled
run_tests build-small --setup fast --timeout-multiplier 4 --suite house --suite unit --no-suite long
