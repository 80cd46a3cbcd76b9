#!/bin/sh
# A quarter of an hour on a machine with a GPU, without network: what situ predicts of plans for its CPU and GPU, and what runs.
#
#   bench/gpu_day.sh pack FOLDER [BUILD] [LLAMACPP]   here: the library, what it links, the Python package, these scripts and, where
#                                                     LLAMACPP names it, the source of llama.cpp
#   sh FOLDER/gpu_day.sh run OUT [SECONDS] [--small]  there: needs python3 with PyTorch; for llama.cpp nvcc, cmake and ninja too
#
# OUT gets gpu_day.md, whose tables belong in docs/results/measured.md, and the logs. Without a GPU the CPU stands for both.
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
  cp "$here/gpu_day.sh" "$here/gpu_day.py" "$here/llm_files.py" "$here/../tests/cli/gguf_models.py" "$folder/"
  cp "$build/situ" "$folder/"
  if [ -n "$llamacpp" ]; then
    tar -C "$llamacpp" --exclude=.git --exclude=models --exclude=docs --exclude=media --exclude='*.gguf' -czf "$folder/llamacpp.tar.gz" .
  fi
  du -sh "$folder" >&2
}

# Where there is a GPU and time: llama.cpp for its architecture; a 7B-shaped model and a mixture, on both devices.
llama() {
  out=$1 until=$2
  [ -f "$here/llamacpp.tar.gz" ] && command -v nvcc >/dev/null && command -v cmake >/dev/null || return 0
  work=$(mktemp -d)
  tar -C "$work" -xzf "$here/llamacpp.tar.gz"
  cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native -DGGML_CUDA_FA=OFF \
    -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF >"$out/cmake.log" 2>&1 || return 0
  timeout $((until - $(date +%s))) cmake --build "$work/build" --target llama-bench >"$out/build.log" 2>&1 || return 0
  python3 - "$here" "$work" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import gguf_models, llm_files
gguf_models.write(sys.argv[2] + "/dense.gguf", *gguf_models.llama(16, 4096, 32, 8, 11008, 4096, kind="Q4_0", head=128))
keys, tensors = llm_files.moe("qwen3moe", 16, 2048, 16, 4, 128, 4096, 64, 8, 768, kind="Q4_0", out_kind="Q4_0")
keys.update({"qwen3moe.expert_feed_forward_length": 768, "qwen3moe.feed_forward_length": 2048})
gguf_models.write(sys.argv[2] + "/experts.gguf", keys, gguf_models.with_norms(16, 128, tensors))
PY
  platform=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
  for call in "dense -ngl 99" "dense -ngl 8" "experts -ngl 99" "experts -ngl 99 -ncmoe 8"; do
    [ "$(date +%s)" -lt "$until" ] || return 0
    options=${call#* }
    model=$work/${call%% *}.gguf
    # shellcheck disable=SC2086  # options are words
    "$work/build/bin/llama-bench" -m "$model" $options -p 512 -n 64 -r 3 -o md >>"$out/llama-bench.md" 2>>"$out/llama-bench.log" || true
    "$here/situ" judge "$model" --platform "cpu+$platform" --command "llama-bench -m m.gguf $options -p 512 -n 64" \
      >>"$out/llama-judge.txt" 2>&1 || true
  done
}

run() {
  out=$1 seconds=${2:-540} small=${3:-}
  mkdir -p "$out"
  begun=$(date +%s)
  export LD_LIBRARY_PATH="$here/lib" PYTHONPATH="$here/python"
  nvidia-smi >"$out/nvidia-smi.txt" 2>&1 || true
  # shellcheck disable=SC2086  # it may be no word
  python3 "$here/gpu_day.py" "$out/gpu_day.md" --seconds $((seconds * 4 / 9)) $small 2>&1 | tee "$out/gpu_day.log"
  llama "$out" $((begun + seconds))
  [ ! -f "$out/llama-bench.md" ] || cat "$out/llama-bench.md" "$out/llama-judge.txt" >>"$out/gpu_day.md"
  cat "$out/gpu_day.md"
}

case "${1:-}" in
  pack | run) "$@" ;;
  *) sed -n 's/^# \{0,1\}//p' "$0" | head -8 && exit 2 ;;
esac
