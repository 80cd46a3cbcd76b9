#!/bin/sh
# Places a language model of 13 billion weights, too large for either GPU, on a CPU with two unlike GPUs, explains the
# plan, and says what it wrote and what to try next.
set -eu
build=${1:-build}
out=$build/demo
mkdir -p "$out"
set -x
"$build/situ" place 'builtin:llama?layers=40&hidden=5120&ffn=13824&heads=40&kv_heads=40&tokens=1&context=1024' \
  --platform 'cpu+rtx4090+rtx3090' --steps 20000 \
  -o "$out/plan.json" --write "trace=$out/trace.json" --svg "$out/plan.svg" \
  --report "$out/plan.html"
"$build/situ" explain "$out/plan.json" --steps 200
"$build/situ" check "$out/plan.json"
{ set +x; } 2>/dev/null
cat <<EOT

Written:
  $out/plan.json    the plan: device, start and end of each operator, bound, provenance
  $out/trace.json   its timeline; open it in https://ui.perfetto.dev
  $out/plan.svg     its picture
  $out/plan.html    a page to look at; open both in a browser

Next: $build/situ place YOUR-MODEL.onnx --platform this-host
      $build/situ compare builtin:inception-v3 --platform 'cpu+2*v100-16g' --objective latency
      $build/situ --help
EOT
