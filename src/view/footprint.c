#include "view/footprint.h"

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

int64_t footprint_staying_bytes(const situ_graph *g, int32_t v) {
  int64_t bytes = footprint_stash_bytes(g, v);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (g->use_start[t] == g->use_start[t + 1]) bytes = sat_add(bytes, g->size_bytes[t]);
  return bytes;
}

int64_t footprint_held_bytes(const situ_problem *p, int32_t v) {
  return sat_add(p->graph->weight_bytes[v], sat_mul(p->in_flight, footprint_stash_bytes(p->graph, v)));
}

/* Whether tensor t, which an operator of another phase than forward reads or makes, is in the stash, or among what is
 * recomputed. */
static bool is_counted(const situ_graph *g, int32_t t) {
  situ_phase made = g->phase[g->producer[t]];
  bool kept = false;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) kept |= g->phase[g->use[i]] != made;
  return kept && (made == SITU_PHASE_FORWARD || made == SITU_PHASE_RECOMPUTE);
}

int64_t footprint_transient_bytes(const situ_graph *g, int32_t v) {
  if (g->phase[v] == SITU_PHASE_FORWARD) return footprint_bytes(g, v);
  int64_t bytes = g->workspace_bytes[v];
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (!is_counted(g, g->in[i])) bytes = sat_add(bytes, g->size_bytes[g->in[i]]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (!is_counted(g, t)) bytes = sat_add(bytes, g->size_bytes[t]);
  return bytes;
}

int64_t footprint_running_bytes(const situ_problem *p, int32_t v) {
  bool trained = p->execution == SITU_EXECUTION_PIPELINE && !p->of_stream && p->training;
  return trained ? sat_add(footprint_transient_bytes(p->graph, v), graph_recomputed_bytes(p->graph, v))
                 : sat_mul(p->in_flight, footprint_bytes(p->graph, v));
}

bool footprint_is_per_device(const situ_problem *p) {
  bool usable[SITU_MAX_DEVICES];
  for (int32_t d = 0; d < p->n_devices; d++) usable[d] = !p->unused[d];
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0) usable[p->pin[v]] = true;
  for (int32_t a = 0; a < p->n_devices; a++)
    for (int32_t b = 0; b < a; b++) {
      if (p->memory_of[a] != p->memory_of[b] || !usable[a] || !usable[b]) continue;
      bool hosts = problem_is_host(p, a) && problem_is_host(p, b); /* others hand over without a transfer */
      if (!hosts || p->platform->memory_bytes[p->memory_of[a]] != SITU_UNLIMITED_BYTES) return false;
    }
  return true;
}

bool footprint_pools_bind(const situ_problem *p) {
  const situ_graph *g = p->graph;
  /* Per input in flight, stash and footprint of an operator are at most all tensors each. */
  int64_t weights = 0, each = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    weights = sat_add(weights, g->weight_bytes[v]);
    each = sat_add(each, g->workspace_bytes[v]);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) each = sat_add(each, sat_mul(2, g->size_bytes[t]));
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t all = 0, limit = p->platform->memory_bytes[m];
    if (p->platform->next_in_pool[m] < 0 || !p->platform->heads_pool[m] || limit == SITU_UNLIMITED_BYTES) continue;
    for (int32_t w = m; w >= 0; w = p->platform->next_in_pool[w])
      all = sat_add(all, sat_add(weights, sat_mul(problem_max_in_flight(p), each)));
    if (all > limit) return true;
  }
  return false;
}

bool footprint_fits_always(const situ_problem *p) {
  const situ_graph *g = p->graph;
  int64_t sum = 0;
  for (int32_t v = 0; v < g->n_operators; v++) sum = sat_add(sum, sat_add(g->weight_bytes[v], g->workspace_bytes[v]));
  for (int32_t t = 0; t < g->n_tensors; t++) sum = sat_add(sum, g->size_bytes[t]);
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t all = 0; /* each memory of a pool may hold a copy */
    for (int32_t w = p->platform->heads_pool[m] ? m : -1; w >= 0; w = p->platform->next_in_pool[w])
      all = sat_add(all, sum);
    if (p->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES && p->platform->memory_bytes[m] < all) return false;
  }
  return true;
}
