#!/bin/sh
# The latency table of docs/results.md, in Markdown, from the ledger: milliseconds. "path": the longest chain, the bound
# before any search; "bound": what call_dp proves; "gap" is that of call_dp.
set -eu
awk -F, '
  function ms(ns) { return ns == "" ? "" : sprintf("%.7g", ns / 1e6) }
  $2 != "calls" { next }
  {
    if (!($1 in seen)) { seen[$1] = 1; order[n++] = $1 }
    value[$1, $3] = $6
    bound[$1, $3] = $7
  }
  END {
    print "| workload | path | single | greedy | call_search | call_dp | bound | gap |"
    print "|-|-|-|-|-|-|-|-|"
    for (i = 0; i < n; i++) {
      w = order[i]
      v = value[w, "call_dp"]
      gap = v == "" ? "" : sprintf("%.2f %%", 100 * (v - bound[w, "call_dp"]) / v)
      print "| " w " | " ms(bound[w, "single"]) " | " ms(value[w, "single"]) " | " ms(value[w, "greedy"]) " | " \
            ms(value[w, "call_search"]) " | " ms(v) " | " ms(bound[w, "call_dp"]) " | " gap " |"
    }
  }' "${1:-$(dirname "$0")/ledger.csv}"
