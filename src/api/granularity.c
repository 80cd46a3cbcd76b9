#include "api/granularity.h"

#include <string.h>

#include "base/disjoint.h"
#include "graph/layers.h"

enum { MIN_VOCABULARY = 1000 };

static bool kind_has(const situ_graph *g, int32_t v, const char *word) {
  return strstr(g->kind_name[g->kind[v]], word) != NULL;
}

static bool is_product(const situ_graph *g, int32_t v) {
  static const char *const words[] = {"MatMul", "Gemm", "FullyConnected", "Linear", "Einsum"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (kind_has(g, v, words[i])) return true;
  return false;
}

/* The last dimension of the first output; 0 where it is not known. */
static int64_t width_of(const situ_graph *g, int32_t v) {
  int32_t t = g->out_start[v];
  if (t == g->out_start[v + 1] || g->rank[t] < 1) return 0;
  return g->dims[g->dims_start[t] + g->rank[t] - 1];
}

bool granularity_is_decoder(const situ_graph *g, arena *scratch) {
  arena_mark mark = arena_get_mark(scratch);
  layer_list l;
  bool embeds = false, predicts = false, *attends = NULL;
  bool is = layers_find(&l, g, scratch) && l.n >= 2 && (attends = ARENA_ZERO(scratch, bool, l.n));
  for (int32_t v = 0; is && v < g->n_operators; v++) {
    if (l.of[v] >= 0)
      attends[l.of[v]] |= kind_has(g, v, "Softmax") || kind_has(g, v, "Attention") || kind_has(g, v, "StateSpace");
    else if (l.before[v])
      embeds |= kind_has(g, v, "Gather") || kind_has(g, v, "Embed");
    else
      predicts |= is_product(g, v) && width_of(g, v) >= MIN_VOCABULARY;
  }
  for (int32_t k = 0; is && k < l.n; k++) is = attends[k];
  arena_release(scratch, mark);
  return is && embeds && predicts;
}

/* What stays with experts is placed with them: it does not tie them to their layer. `first` is the lowest key of
 * experts, `joined` sets of operators (base/disjoint.h). */
static bool follow_experts(int32_t *keys, int32_t n, int32_t first, int32_t *joined, arena *scratch) {
  int32_t *experts = ARENA_NEW(scratch, int32_t, n);
  if (!experts) return false;
  for (int32_t r = 0; r < n; r++) experts[r] = -1;
  for (int32_t v = 0; v < n; v++)
    if (keys[v] >= first) experts[disjoint_root(joined, v)] = keys[v];
  for (int32_t v = 0; v < n; v++) {
    int32_t key = experts[disjoint_root(joined, v)];
    if (key >= 0) keys[v] = key;
  }
  return true;
}

int32_t granularity_keys(int32_t *keys, const situ_graph *g, situ_granularity which, int32_t *joined, arena *scratch) {
  arena_mark mark = arena_get_mark(scratch);
  layer_list l = {0};
  bool layers = which == SITU_GRANULARITY_LAYER || which == SITU_GRANULARITY_BLOCK;
  int32_t n = 0;
  if (layers && !layers_find(&l, g, scratch)) return -1;
  bool experts = false;
  for (int32_t v = 0; v < g->n_operators; v++) {
    bool expert = l.n > 0 && l.of[v] >= 0 && strncmp(g->kind_name[g->kind[v]], "Experts", 7) == 0;
    keys[v] = l.n > 0 ? l.of[v] + (expert ? l.n : 0) : -1;
    experts |= expert;
  }
  if (l.n > 0) n = experts ? 2 * l.n : l.n;
  if (experts && !follow_experts(keys, g->n_operators, l.n, joined, scratch)) return -1;
  int32_t outside[2] = {-1, -1}; /* keys of what is before and after */
  for (int32_t v = 0; l.n > 0 && which == SITU_GRANULARITY_BLOCK && v < g->n_operators; v++) {
    int32_t *key = &outside[!l.before[v]];
    if (keys[v] >= 0 || g->phase[v] != SITU_PHASE_FORWARD) continue;
    if (*key < 0) *key = n++;
    keys[v] = *key;
  }
  arena_release(scratch, mark);
  return n;
}

const char *situ_granularity_name(situ_granularity g) {
  static const char *const names[] = {"fused", "operator", "layer", "block", "default"};
  return (unsigned)g < 5 ? names[g] : "unknown";
}
