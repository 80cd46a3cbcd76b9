# What the ledgers share; sourced by ledger.sh and latency.sh. Their first argument is the build folder.
build=${1:-build}
here=$(dirname "$0")
shared=${SITU_SHARED:-$here/../../shared}
data=$shared/data/workloads
seed=0

number() { printf '%s\n' "$2" | sed -n "s/^  \"$1\": \(-\{0,1\}[0-9]*\),\{0,1\}\$/\1/p"; }

# model, instance, rules, name of the row, steps (0: to its end), arguments
plan_row() {
  model=$1 instance=$2 rules=$3 name=$4 steps=$5
  shift 5
  [ "$steps" = 0 ] || set -- "$@" --steps "$steps"
  plan=$("$build/situ" place "$model" --fusion none --seed $seed --json "$@" 2>/dev/null) || { echo "$instance: no plan of $name" >&2; return 0; }
  echo "$instance,$rules,$name,$seed,$steps,$(number value_ns "$plan"),$(number lower_bound_ns "$plan")"
}
