#include "graph/ancestors.h"

bool ancestors_find(bit_rows *out, const situ_graph *g, arena *a) {
  if (!bit_rows_make(out, g->n_operators, a)) return false;
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      bit_rows_join(out, v, g->producer[g->in[i]]);
      bit_rows_add(out, v, g->producer[g->in[i]]);
    }
  return true;
}
