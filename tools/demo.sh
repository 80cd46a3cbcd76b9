#!/bin/sh
# Places Inception-v3 on a CPU with two unlike GPUs and says what it wrote and what to try next.
set -eu
build=${1:-build}
out=$build/demo
mkdir -p "$out"
set -x
"$build/situ" place 'builtin:inception-v3' --platform 'cpu+v100-16g+p100-16g' --objective latency \
  -o "$out/plan.json" --write "trace=$out/trace.json" --svg "$out/plan.svg"
"$build/situ" check "$out/plan.json"
{ set +x; } 2>/dev/null
cat <<EOT

Written:
  $out/plan.json    the plan: device, start and end of each operator, bound, provenance
  $out/trace.json   its timeline; open it in https://ui.perfetto.dev
  $out/plan.svg     its picture; open it in a browser

Next: $build/situ compare builtin:inception-v3 --platform 'cpu+2*v100-16g' --objective latency
      $build/situ --help
EOT
