#!/bin/sh
# The latency table of docs/results.md, in Markdown, from the ledger: milliseconds. "path": the longest chain, the bound
# before any search; "bound": what call_dp proves; "gap" is that of call_dp. q = 1: one call for each accelerator.
set -eu
awk -F, '
  function proved(w, solver,  v) {
    v = value[w, solver]
    return " | " ms(v) " | " ms(bound[w, solver]) " | " (v == "" ? "" : sprintf("%.2f %%", 100 * (v - bound[w, solver]) / v))
  }
  function ms(ns) { return ns == "" ? "" : sprintf("%.7g", ns / 1e6) }
  $2 !~ /^calls/ { next }
  {
    if (!($1 in seen)) { seen[$1] = 1; order[n++] = $1 }
    solver = $3 ($2 == "calls" ? "" : " q = 1")
    value[$1, solver] = $6
    bound[$1, solver] = $7
  }
  END {
    print "| workload | path | single | greedy | call_search | call_dp | bound | gap | call_dp, q = 1 | bound | gap |"
    print "|-|-|-|-|-|-|-|-|-|-|-|"
    for (i = 0; i < n; i++) {
      w = order[i]
      print "| " w " | " ms(bound[w, "single"]) " | " ms(value[w, "single"]) " | " ms(value[w, "greedy"]) " | " \
            ms(value[w, "call_search"]) proved(w, "call_dp") proved(w, "call_dp q = 1") " |"
    }
  }' "${1:-$(dirname "$0")/ledger.csv}"
