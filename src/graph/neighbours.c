#include "graph/neighbours.h"

int32_t neighbours_only_user(const situ_graph *g, int32_t v) {
  int32_t only = -1;
  for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++) {
    if (only >= 0 && g->use[i] != only) return -1;
    only = g->use[i];
  }
  return only;
}

int32_t neighbours_only_producer(const situ_graph *g, int32_t v) {
  int32_t only = -1;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    if (only >= 0 && u != only) return -1;
    only = u;
  }
  return only;
}
