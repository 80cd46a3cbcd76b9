/* Operators that are kept together become colocation groups, so that all who know these need know nothing more. */
#include "base/disjoint.h"
#include "graph/graph.h"

/* The members of each set of several, by its first member; roots of sets are their first members. */
static int32_t *count_members(int32_t *into, int32_t n, arena *a) {
  int32_t *count = ARENA_ZERO(a, int32_t, n);
  for (int32_t v = 0; count && v < n; v++) count[disjoint_root(into, v)]++;
  return count;
}

/* Joins all operators of one key. */
static bool join_keys(int32_t *into, const int32_t *key, int32_t n, arena *a) {
  int32_t most = -1;
  for (int32_t v = 0; v < n; v++)
    if (key[v] > most) most = key[v];
  int32_t *first = ARENA_NEW(a, int32_t, (int64_t)most + 1);
  if (!first) return false;
  for (int32_t k = 0; k <= most; k++) first[k] = -1;
  for (int32_t v = 0; v < n; v++) {
    if (key[v] < 0) continue;
    if (first[key[v]] < 0)
      first[key[v]] = v;
    else
      disjoint_join(into, first[key[v]], v);
  }
  return true;
}

bool graph_keep_together(situ_graph *out, const situ_graph *g, const int32_t *keys, arena *a) {
  int32_t n = g->n_operators, *into, *number, *colocation;
  if (!ARENA_ARRAYS(a, ARRAY(into, n), ARRAY(number, n), ARRAY(colocation, n))) return false;
  disjoint_init(into, n);
  if (!join_keys(into, g->colocation, n, a) || !join_keys(into, keys, n, a)) return false;
  int32_t *count = count_members(into, n, a);
  if (!count) return false;
  *out = *g;
  out->colocation = colocation;
  out->n_colocations = 0;
  for (int32_t v = 0; v < n; v++) {
    int32_t root = disjoint_root(into, v);
    if (root == v) number[v] = count[v] > 1 ? out->n_colocations++ : -1;
    colocation[v] = number[root];
  }
  return true;
}
