#include "problem/footprint.h"

#include "base/checked.h"

int64_t footprint_bytes(const situ_graph *g, int32_t v) {
  int64_t bytes = g->workspace_bytes[v];
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) bytes = sat_add(bytes, g->size_bytes[g->in[i]]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) bytes = sat_add(bytes, g->size_bytes[t]);
  return bytes;
}

int64_t footprint_stash_bytes(const situ_graph *g, int32_t v) {
  if (g->phase[v] != SITU_PHASE_FORWARD) return 0;
  int64_t bytes = 0;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
    bool kept = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && !kept; i++)
      kept = g->phase[g->use[i]] != SITU_PHASE_FORWARD;
    if (kept) bytes = sat_add(bytes, g->size_bytes[t]);
  }
  return bytes;
}
