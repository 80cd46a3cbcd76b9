#!/bin/sh
# The quality ledger: what each solver makes of the 16 published throughput workloads and the 8 of latency, as CSV on stdout. No clock is
# looked at, so that the same build gives the same rows; `bench/ledger.sh > bench/ledger.csv` and `git diff` show what a
# change did. Rows of scotch and metis also hang on the version of the library, and are left out without it.
set -eu
build=${1:-build}
here=$(dirname "$0")
shared=${SITU_SHARED:-$here/../../shared}
data=$shared/data/workloads
seed=0

number() { printf '%s\n' "$2" | sed -n "s/^  \"$1\": \(-\{0,1\}[0-9]*\),\{0,1\}\$/\1/p"; }

# instance, rules (contiguous, free or calls), name of the row, steps (0: to its end), arguments
row() {
  instance=$1 rules=$2 name=$3 steps=$4 folder=throughput
  shift 4
  case $rules in
    free) set -- "$@" --free ;;
    calls) folder=latency; set -- "$@" --execution calls ;;
  esac
  [ "$steps" = 0 ] || set -- "$@" --steps "$steps"
  plan=$("$build/situ" place "$data/$folder/$instance.json" --seed $seed --json "$@" 2>/dev/null) || { echo "$instance: no plan of $name" >&2; return 0; }
  echo "$instance,$rules,$name,$seed,$steps,$(number value_ns "$plan"),$(number lower_bound_ns "$plan")"
}

# The splits are of the layer graphs; training has that of inference where it has none of its own.
expert() {
  model=${1#*/}
  for split in "$model" "${model%_*}_inference"; do
    file=$data/human-experts/${split}_expert.json
    [ -f "$file" ] || continue
    row "$1" free expert 0 --fix "$file"
    return
  done
}

echo "instance,rules,solver,seed,steps,value_ns,bound_ns"
for path in "$data"/throughput/*/*.json; do
  instance=${path#"$data/throughput/"}
  instance=${instance%.json}
  row "$instance" contiguous linear_dp 1 --solver linear_dp # the published order alone
  for solver in single pipedream scotch metis linear_dp ideal_dp; do
    row "$instance" contiguous $solver 0 --solver $solver
  done
  for solver in scotch metis; do
    row "$instance" free $solver 0 --solver $solver
  done
  row "$instance" free free_search 20000 --solver free_search
  case $instance in LayerGraphs/*) expert "$instance" ;; esac
done
for path in "$data"/latency/*/*.json; do
  instance=${path#"$data/latency/"}
  instance=${instance%.json}
  for solver in single greedy call_dp; do
    row "$instance" calls $solver 0 --solver $solver
  done
  row "$instance" calls call_search 20000 --solver call_search
done
