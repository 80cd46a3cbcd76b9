#!/bin/sh
# The quality ledger: what each solver makes of the 16 published throughput workloads, as CSV on stdout. No clock is
# looked at, so that the same build gives the same rows; `bench/ledger.sh > bench/ledger.csv` and `git diff` show what a
# change did. Rows of scotch and metis also hang on the version of the library, and are left out without it.
set -eu
. "$(dirname "$0")/rows.sh"

# instance, rules (contiguous or free), name of the row, steps (0: to its end), arguments
row() {
  [ "$2" = contiguous ] || set -- "$@" --free
  plan_row "$data/throughput/$1.json" "$@"
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
  for solver in single pipedream scotch metis linear_dp many_orders ideal_dp; do
    row "$instance" contiguous $solver 0 --solver $solver
  done
  for solver in scotch metis; do
    row "$instance" free $solver 0 --solver $solver
  done
  row "$instance" free free_search 20000 --solver free_search
  case $instance in LayerGraphs/*) expert "$instance" ;; esac
done
