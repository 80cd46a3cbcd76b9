#include "stages/stage_sets.h"

#include <string.h>

/* Whether all that a layer leads to is in the set. */
static bool can_join(const stage_network *x, const uint64_t *set, int32_t v) {
  for (int32_t i = x->edge_start[v]; i < x->edge_start[v + 1]; i++)
    if (x->from[x->edge[i]] == v && !stage_set_has(set, x->to[x->edge[i]])) return false;
  return true;
}

/* Layers are added from the end on: to each set of those before that contains what the layer leads to. So each set is
 * made once, in the order of binary numbers whose highest digit is the layer that was added last. */
bool stage_sets_find(stage_sets *s, bool *whole, const stage_network *x, int32_t max_sets, arena *a) {
  *s = (stage_sets){.n = 1, .words = x->n_layers / 64 + 1};
  *whole = true;
  s->bits = ARENA_ZERO(a, uint64_t, (int64_t)max_sets * s->words);
  for (int32_t k = x->n_layers - 1; s->bits && k >= 0; k--) {
    int32_t v = x->order[k];
    for (int32_t i = 0, n_before = s->n; i < n_before; i++) {
      if (!can_join(x, stage_set(s, i), v)) continue;
      if (s->n == max_sets) {
        *whole = false;
        return true;
      }
      uint64_t *next = &s->bits[(int64_t)s->n++ * s->words];
      memcpy(next, stage_set(s, i), (size_t)s->words * sizeof *next);
      next[v / 64] |= (uint64_t)1 << (v % 64);
    }
  }
  return s->bits != NULL;
}
