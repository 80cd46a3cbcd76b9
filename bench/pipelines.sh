#!/bin/sh
# The table of docs/results.md, in Markdown, from the ledger: the period of each plan in milliseconds.
set -eu
awk -F, '
  function ms(ns) { return ns == "" ? "" : sprintf("%.6g", ns / 1e6) }
  NR == 1 || $2 ~ /^calls/ { next }
  {
    if (!($1 in seen)) { seen[$1] = 1; order[n++] = $1 }
    value[$1, $2, $3 ($5 == 1 ? " (1 order)" : "")] = $6
    if ($3 == "single") bound[$1] = $7
  }
  END {
    print "| workload | bound | single | pipedream | scotch | metis | linear_dp (1 order) | linear_dp | ideal_dp | free: scotch | metis | free_search | expert |"
    print "|-|-|-|-|-|-|-|-|-|-|-|-|-|"
    split("single,pipedream,scotch,metis,linear_dp (1 order),linear_dp,ideal_dp", contiguous, ",")
    split("scotch metis free_search expert", free, " ")
    for (i = 0; i < n; i++) {
      w = order[i]
      line = "| " w " | " ms(bound[w])
      for (k = 1; k <= 7; k++) line = line " | " ms(value[w, "contiguous", contiguous[k]])
      for (k = 1; k <= 4; k++) line = line " | " ms(value[w, "free", free[k]])
      print line " |"
    }
  }' "${1:-$(dirname "$0")/ledger.csv}"
