#include "graph/segments.h"

#include "base/checked.h"
#include "graph/layers.h"
#include "graph/topological.h"

bool segments_is_constant(const situ_graph *g, int32_t v) {
  return g->in_start[v] == g->in_start[v + 1] && g->flops[v] == 0 && g->moved_bytes[v] == 0 && g->weight_bytes[v] == 0;
}

static int64_t made_bytes(const situ_graph *g, int32_t v) {
  int64_t bytes = 0;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) bytes = sat_add(bytes, g->size_bytes[t]);
  return bytes;
}

/* The integer k with k^2 nearest to the number of operators with weights, at least 2. */
static int32_t count_wanted(const situ_graph *g) {
  int32_t n = 0, k = 2;
  for (int32_t v = 0; v < g->n_operators; v++) n += g->weight_bytes[v] > 0;
  while (k * (k + 1) < n) k++; /* (k + 1/2)^2 = k (k + 1) + 1/4 */
  return k;
}

/* The last place at which a tensor of the operator at place i is used; i if none is. */
static int32_t last_use(const situ_graph *g, const int32_t *order, const int32_t *place, int32_t i) {
  int32_t v = order[i], last = i;
  for (int64_t k = g->use_start[g->out_start[v]]; k < g->use_start[g->out_start[v + 1]]; k++)
    if (place[g->use[k]] > last) last = place[g->use[k]];
  return last;
}

/* Cuts a topological order behind places where the tensors of at most one operator cross, constants aside, the first
 * that are as near to even shares of the bytes as the place behind. */
static bool cut(segment_list *out, const situ_graph *g, arena *a) {
  int32_t n = g->n_operators, crossing = 0, *order, *place, *ends;
  double total = 0, sum = 0;
  if (!ARENA_ARRAYS(a, ARRAY(order, n), ARRAY(place, n), ZEROS(ends, n)) || !topological_late(order, g, a))
    return false;
  for (int32_t i = 0; i < n; i++) {
    place[order[i]] = i;
    total += (double)made_bytes(g, order[i]);
  }
  double share = total / count_wanted(g);
  out->n = 1;
  for (int32_t i = 0; i < n; i++) {
    int32_t last = last_use(g, order, place, i);
    out->of[order[i]] = out->n - 1;
    sum += (double)made_bytes(g, order[i]);
    crossing -= ends[i];
    if (last > i && !segments_is_constant(g, order[i])) {
      crossing++;
      ends[last]++;
    }
    if (crossing > 1 || i + 1 == n || sum + (double)made_bytes(g, order[i + 1]) / 2 < share * out->n) continue;
    if (sum < total) out->n++;
  }
  return true;
}

/* Whether layers are blocks: of single products, what lies between is kept anyway. */
static bool are_blocks(const layer_list *l, const situ_graph *g) {
  int32_t n = 0;
  for (int32_t v = 0; v < g->n_operators; v++) n += l->of[v] >= 0 && g->weight_bytes[v] > 0;
  return l->n > 0 && n >= 2 * l->n;
}

bool segments_find(segment_list *out, const situ_graph *g, arena *a) {
  layer_list layers;
  *out = (segment_list){0};
  if (!layers_find(&layers, g, a)) return false;
  bool blocks = are_blocks(&layers, g);
  if (!blocks && !((out->of = ARENA_NEW(a, int32_t, g->n_operators)) && cut(out, g, a))) return false;
  if (blocks || out->n < 2) *out = (segment_list){layers.n, layers.of};
  return true;
}
