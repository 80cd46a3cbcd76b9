#!/bin/sh
# The quality ledger: what each solver makes of the 16 published throughput workloads and the 8 of latency, as CSV on stdout. No clock is
# looked at, so that the same build gives the same rows; `bench/ledger.sh > bench/ledger.csv` and `git diff` show what a
# change did. Rows of scotch and metis also depend on the version of the library, and are left out without it.
set -eu
. "$(dirname "$0")/rows.sh"

# instance, rules (contiguous, free, calls, or calls1 with one call for each accelerator), name of the row, steps (0: to its end), arguments
row() {
  case $2 in
    free) set -- "$@" --free ;;
    calls) set -- "$@" --execution calls ;;
    calls1) set -- "$@" --calls 1 ;;
  esac
  case $2 in calls*) folder=latency ;; *) folder=throughput ;; esac
  plan_row "$data/$folder/$1.json" "$@"
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
  row "$instance" free steepest_descent 0 --solver steepest_descent
  row "$instance" free free_search 20000 --solver free_search
  case $instance in LayerGraphs/*) expert "$instance" ;; esac
done
for path in "$data"/latency/*/*.json; do
  instance=${path#"$data/latency/"}
  instance=${instance%.json}
  for solver in single greedy call_dp; do
    row "$instance" calls $solver 0 --solver $solver
  done
  row "$instance" calls1 call_dp 0 --solver call_dp
  row "$instance" calls call_search 20000 --solver call_search
done
