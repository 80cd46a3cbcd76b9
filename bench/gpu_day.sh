#!/bin/sh
# A quarter of an hour on a machine with a GPU, without network: what situ predicts of its CPU and GPU, and what runs.
#
#   bench/gpu_day.sh pack FOLDER [BUILD] [LLAMACPP]   here: the library, what it links, the Python package, these scripts and, where
#                                                     LLAMACPP names it, a build of llama.cpp with CUDA (its bin) or its source
#   sh FOLDER/gpu_day.sh run OUT [SECONDS] [--small]  there: needs python3 with PyTorch, transformers and accelerate; for the source
#                                                     of llama.cpp nvcc, cmake and ninja too
#
# OUT gets one file for each part (bench/gpu_day), and the logs. Without a GPU the CPU stands for it. PARTS="whole maps" runs those
# alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

pack() {
  folder=$1 build=${2:-build} llamacpp=${3:-}
  mkdir -p "$folder/lib" "$folder/python"
  for library in "$build"/libsitu.so.*; do
    [ -f "$library" ] || continue
    cp -L "$library" "$folder/lib/"
    # All but those of the C library, which have to be the machine's own.
    ldd "$library" | awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libpthread|libdl|librt)\.so/ {print $3}' | while read -r file; do
      cp -L "$file" "$folder/lib/"
    done
  done
  cp -r "$here/../python/situ" "$folder/python/"
  rm -rf "$folder/python/situ/__pycache__"
  cp "$here/gpu_day.sh" "$here"/gpu_day/*.py "$here/llm_files.py" "$here/../tests/cli/gguf_models.py" \
    "$here/../tests/python/test_torch_memory.py" "$build/situ" "$folder/"
  strip "$folder/situ" "$folder"/lib/* 2>/dev/null || true
  if [ -x "$llamacpp/llama-bench" ]; then
    mkdir -p "$folder/llamacpp"
    cp -L "$llamacpp"/llama-bench "$llamacpp"/llama-fit-params "$llamacpp"/*.so.0 "$llamacpp"/*-impl.so "$folder/llamacpp/"
  elif [ -n "$llamacpp" ]; then
    tar -C "$llamacpp" --exclude=.git --exclude=models --exclude=docs --exclude=media --exclude='*.gguf' -czf "$folder/llamacpp.tar.gz" .
  fi
  du -sh "$folder" >&2
}

# llama.cpp for the card of this machine, from its source.
compiled() {
  [ -f "$here/llamacpp.tar.gz" ] && command -v nvcc >/dev/null && command -v cmake >/dev/null || return 0
  mkdir -p "$here/source"
  tar -C "$here/source" -xzf "$here/llamacpp.tar.gz"
  cmake -S "$here/source" -B "$here/source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native \
    -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF >"$1/cmake.log" 2>&1 || return 0
  timeout "$2" cmake --build "$here/source/build" --target llama-bench llama-fit-params >"$1/build.log" 2>&1 || return 0
  ln -sfn source/build/bin "$here/llamacpp"
}

# What a part takes of the time, in hundredths, and its arguments.
part() {
  case " ${PARTS:-engine placed whole training maps} " in *" $1 "*) ;; *) return 0 ;; esac
  name=$1 limit=$((seconds * $2 / 100))
  shift 2
  # shellcheck disable=SC2086  # it may be no word
  timeout $((limit + 30)) python3 "$here/$name.py" "$@" --seconds "$limit" $small >"$out/$name.log" 2>&1 || echo "$name: exit code $?"
  echo "== $name, $(($(date +%s) - begun)) s"
  tail -25 "$out/$name.log"
}

run() {
  out=$1 seconds=${2:-540} small=${3:-}
  mkdir -p "$out"
  begun=$(date +%s)
  # Libraries that the machine has are its own.
  for library in "$here"/lib/*; do
    ! ldconfig -p | grep -q "^[[:space:]]*$(basename "$library") " || rm -f "$library"
  done
  export LD_LIBRARY_PATH="$here/lib:${LD_LIBRARY_PATH:-}" PYTHONPATH="$here/python" PYTHONUNBUFFERED=1
  { nvidia-smi; nvidia-smi -q; lscpu; free -b; } >"$out/machine.txt" 2>&1 || true
  [ -x "$here/llamacpp/llama-bench" ] || compiled "$out" $((seconds / 2))
  [ ! -x "$here/llamacpp/llama-bench" ] || part engine 36 "$out" "$here" "$here/llamacpp"
  part placed 20 "$out/placed.csv"
  part whole 14 "$out/whole.csv"
  part training 14 "$out/training.csv"
  part maps 12 "$out/maps.csv" "$here"
}

case "${1:-}" in
  pack | run) "$@" ;;
  *) sed -n 's/^# \{0,1\}//p' "$0" | head -10 && exit 2 ;;
esac
