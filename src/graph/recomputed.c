/* What training steps that recompute activations hold beside the operator that runs. */
#include "base/checked.h"
#include "base/disjoint.h"
#include "graph/graph.h"

/* Whether an operator of another phase uses tensor t. */
static bool is_waited_for(const situ_graph *g, int32_t t) {
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
    if (g->phase[g->use[i]] != SITU_PHASE_RECOMPUTE) return true;
  return false;
}

bool graph_find_recomputed(situ_graph *g, arena *scratch) {
  int32_t n = g->n_operators, *into;
  int64_t *held;
  bool any = false;
  for (int32_t v = 0; v < n && !any; v++) any = g->phase[v] == SITU_PHASE_RECOMPUTE;
  if (!any) return true;
  g->recomputed_bytes = ARENA_ZERO(g->arena, int64_t, n);
  if (!g->recomputed_bytes || !ARENA_ARRAYS(scratch, ARRAY(into, n), ZEROS(held, n))) return false;
  disjoint_init(into, n);
  for (int32_t v = 0; v < n; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && g->phase[v] == SITU_PHASE_RECOMPUTE; i++)
      if (g->phase[g->producer[g->in[i]]] == SITU_PHASE_RECOMPUTE) disjoint_join(into, v, g->producer[g->in[i]]);
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t], segment = disjoint_root(into, u);
    if (g->phase[u] == SITU_PHASE_RECOMPUTE && is_waited_for(g, t))
      held[segment] = sat_add(held[segment], g->size_bytes[t]);
  }
  for (int32_t v = 0; v < n; v++) {
    int64_t *own = &g->recomputed_bytes[v];
    if (g->phase[v] == SITU_PHASE_RECOMPUTE) *own = held[disjoint_root(into, v)];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && g->phase[v] != SITU_PHASE_RECOMPUTE; i++) {
      int32_t u = g->producer[g->in[i]];
      if (g->phase[u] == SITU_PHASE_RECOMPUTE) *own = max64(*own, held[disjoint_root(into, u)]);
    }
  }
  return true;
}
