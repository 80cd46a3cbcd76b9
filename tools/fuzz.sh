#!/bin/sh
# Fuzzes the readers with libFuzzer for SECONDS (default 60), starting from tests/fuzz/corpus. New finds go to build-fuzz/.
set -eu
seconds=${SECONDS_TO_FUZZ:-60}
[ -f build-fuzz/build.ninja ] || CC=clang meson setup build-fuzz -Db_sanitize=address,undefined -Db_lundef=false \
  -Darena_debug=true -Dtests=disabled -Dc_args=-fsanitize=fuzzer-no-link >/dev/null
ninja -C build-fuzz libsitu-all.a >/dev/null
mkdir -p build-fuzz/corpus
clang -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc tests/fuzz/fuzz_read.c build-fuzz/libsitu-all.a \
  $(pkg-config --libs jansson libprotobuf-c hwloc) -lm -lpthread -o build-fuzz/fuzz_read
build-fuzz/fuzz_read -max_total_time="$seconds" -rss_limit_mb=2048 build-fuzz/corpus tests/fuzz/corpus
