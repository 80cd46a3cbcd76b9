#!/bin/sh
# The ledger of latency: what each solver makes of the latency of one input (stream, links that serve one transfer at a time),
# as CSV on stdout. No clock is looked at; `bench/latency.sh > bench/latency.csv` and `git diff` show what a change did.
# Rows of scotch and metis also depend on the version of the library. milp, which takes one of these networks and minutes for it, is
# in bench/anytime.py.
set -eu
. "$(dirname "$0")/rows.sh"

# What is found, not what is worth the trouble.
found="--tolerance 0 --min-gain 0 --uncertainty 0 --granularity operator"

# model, platform
rows() {
  instance=${1#builtin:} platform=$2
  for solver in single heft peft cpop dls m_etf m_sct scotch metis; do
    plan_row "$1" "$instance" "$platform" $solver 0 --platform "$platform" --solver $solver
  done
  for steps in 1000 4000 16000; do
    for solver in tabu iterated_greedy; do
      plan_row "$1" "$instance" "$platform" $solver $steps --platform "$platform" --solver heft,single,$solver
    done
    plan_row "$1" "$instance" "$platform" auto $steps --platform "$platform" $found
  done
}

echo "instance,platform,solver,seed,steps,value_ns,bound_ns"
for platform in cpu+2*v100-16g 4*a100-40g; do
  for model in inception-v3 transformer-xl randwire-ws amoebanet-d; do
    rows "builtin:$model" "$platform"
  done
done
