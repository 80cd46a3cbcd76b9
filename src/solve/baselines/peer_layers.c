#include "solve/baselines/peer_layers.h"

#include <string.h>

#include "base/checked.h"
#include "view/footprint.h"
#include "view/unit.h"

enum { MAX_OPERATORS = 200000 };

static bool is_state(const situ_graph *g, int32_t v) {
  const char *kind = g->kind_name[g->kind[v]];
  return strcmp(kind, "Attention") == 0 || strcmp(kind, "StateSpace") == 0;
}
static bool is_expert(const situ_graph *g, int32_t v) { return strncmp(g->kind_name[g->kind[v]], "Experts", 7) == 0; }

bool peer_layers_serve(const situ_problem *p) {
  if (p->n_operators > MAX_OPERATORS || p->n_copies > 1 || p->training) return false;
  arena *a = arena_new();
  layer_list l;
  bool ok = a && layers_find(&l, p->given, a) && l.n >= 2 && l.name;
  arena_free(a);
  return ok;
}

/* Whether the experts of some layer may be separated from the operators before them. */
static bool experts_part(const peer_layers *l, const situ_problem *p) {
  for (int32_t v = 1; v < p->n_operators; v++)
    if (is_expert(p->graph, v) && l->layers.of[v] == l->layers.of[v - 1] && !unit_joins(p, v - 1, v)) return true;
  return false;
}

static void measure(peer_layers *l, const situ_problem *p) {
  const situ_graph *g = p->graph;
  bool part = experts_part(l, p);
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = l->layers.of[v];
    l->room_bytes = max64(l->room_bytes, footprint_bytes(g, v));
    if (k < 0 && l->layers.before[v]) {
      l->first_bytes = sat_add(l->first_bytes, g->weight_bytes[v]);
      continue;
    }
    if (k < 0) k = l->n;
    l->bytes[k] = sat_add(l->bytes[k], g->weight_bytes[v]);
    if (!is_state(g, v)) l->weights[k] = sat_add(l->weights[k], g->weight_bytes[v]);
    if (part && k < l->n && is_expert(g, v)) l->experts[k] = sat_add(l->experts[k], g->weight_bytes[v]);
  }
}

bool peer_layers_serve_gpus(const situ_problem *p) {
  int32_t n_gpus = 0;
  for (int32_t d = 0; d < p->n_devices; d++) n_gpus += !p->unused[d] && !problem_is_host(p, d);
  return n_gpus > 0 && peer_layers_serve(p);
}

bool peer_layers_find(peer_layers *out, solve_run *run) {
  const situ_problem *p = run->problem;
  *out = (peer_layers){.host = -1};
  if (!layers_find(&out->layers, p->given, run->arena)) return false;
  out->n = out->layers.n;
  if (!ARENA_ARRAYS(run->arena, ARRAY(out->gpu, p->n_devices), ZEROS(out->bytes, out->n + 1),
                    ZEROS(out->weights, out->n + 1), ZEROS(out->experts, out->n), ARRAY(out->device, p->n_operators)))
    return false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->unused[d]) continue;
    if (!problem_is_host(p, d))
      out->gpu[out->n_gpus++] = d;
    else if (out->host < 0)
      out->host = d;
  }
  measure(out, p);
  return true;
}

int64_t peer_layers_memory(const peer_layers *l, const situ_problem *p, int32_t d) {
  int64_t memory = p->platform->memory_bytes[p->memory_of[d]];
  return memory > l->room_bytes ? memory - l->room_bytes : 0;
}

void peer_layers_offer(peer_layers *l, solve_run *run, const int32_t *of_layer, const bool *spilled, int32_t first) {
  const situ_problem *p = run->problem;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = l->layers.of[v];
    bool away = k >= 0 && spilled && spilled[k] && l->host >= 0 && is_expert(p->graph, v);
    l->device[v] = away ? l->host : k >= 0 ? of_layer[k] : l->layers.before[v] ? first : of_layer[l->n];
  }
  solve_offer(run, &(placement){.device = l->device});
}
