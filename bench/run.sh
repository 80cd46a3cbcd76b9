#!/bin/sh
# Speed and quality tables in Markdown: simulator, reading, HEFT against size, pipelines, wide graphs, latency against
# time; the last two take an hour. Timings of one machine and one moment: compare the rows of one run with each other, not
# with other runs.
set -eu
build=${1:-build}
here=$(dirname "$0")
shared=${SITU_SHARED:-$here/../../shared}
ninja -C "$build" bench/speed >/dev/null
speed=$build/bench/speed

echo "### Simulator: millions of operators + edges a second"
echo
echo "| model | contention | memory | operators | edges | million/s | value ms |"
echo "|-|-|-|-|-|-|-|"
"$speed" simulate 'builtin:layered?operators=50000' 'cpu+3*v100-16g'
"$speed" simulate 'builtin:transformer-xl' 'cpu+3*v100-16g'
echo
echo "### HEFT against size, 4 devices"
echo
echo "| operators | edges | whole solve s | one schedule s | ns per operator and edge | peak MB |"
echo "|-|-|-|-|-|-|"
for operators in 1000 10000 100000 1000000; do
  "$speed" heft "builtin:layered?operators=$operators" 'cpu+3*v100-16g'
done
echo
if [ -d "$shared/data/onnx" ]; then
  echo "### Reading"
  echo
  echo "| file | operators | ms | ns per operator | peak MB |"
  echo "|-|-|-|-|-|"
  for file in onnx/TFBertForQuestionAnswering onnx/gpt2_past onnx/light_densenet121 onnx/ppocrv4_det; do
    "$speed" read "$shared/data/$file.onnx"
  done
  "$speed" read "$shared/data/workloads/throughput/OperatorGraphs/bert_L-12_training.json"
  echo
  echo "### Published pipelines to proven optimality"
  echo
  python3 "$here/workloads.py" "$build/situ" "$shared"
  echo
  echo "### Wide graphs"
  echo
  python3 "$here/wide.py" "$build/situ" "$shared" > "$build/wide.csv"
  python3 "$here/tables.py" wide "$build/wide.csv"
  echo
  echo "### Latency against time"
  echo
  python3 "$here/anytime.py" "$build/situ" "$shared" --known "$here/anytime.csv" > "$build/anytime.csv"
  python3 "$here/tables.py" anytime "$build/anytime.csv"
fi
