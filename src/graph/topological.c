#include "graph/topological.h"

#include "base/contracts.h"

static void push_shuffled(int32_t *stack, int32_t *n, int32_t first, rng *r) {
  for (int32_t i = *n - 1; r && i > first; i--) {
    int32_t j = first + (int32_t)rng_below(r, i - first + 1), swap = stack[i];
    stack[i] = stack[j];
    stack[j] = swap;
  }
}

bool topological_deep(int32_t *order, const situ_graph *g, rng *r, arena *scratch) {
  arena_mark mark = arena_get_mark(scratch);
  int32_t n = 0, placed = 0, *waiting, *stack;
  if (!ARENA_ARRAYS(scratch, ARRAY(waiting, g->n_operators), ARRAY(stack, g->n_operators))) return false;
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    waiting[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
    if (waiting[v] == 0) stack[n++] = v;
  }
  push_shuffled(stack, &n, 0, r);
  while (n > 0) {
    int32_t v = stack[--n], first = n;
    order[placed++] = v;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        if (--waiting[g->use[i]] == 0) stack[n++] = g->use[i];
    push_shuffled(stack, &n, first, r);
  }
  ENSURE(contracts_permutation(order, g->n_operators));
  arena_release(scratch, mark);
  return true;
}

bool topological_late(int32_t *order, const situ_graph *g, arena *scratch) {
  arena_mark mark = arena_get_mark(scratch);
  int32_t n = g->n_operators, n_placed = 0, depth = 0, *stack;
  int64_t *next;
  bool *placed;
  if (!ARENA_ARRAYS(scratch, ARRAY(stack, n), ARRAY(next, n), ZEROS(placed, n))) return false;
  for (int32_t v = 0; v < n; v++) next[v] = g->in_start[v];
  for (int32_t sink = 0; sink < n; sink++) {
    if (g->use_start[g->out_start[sink]] < g->use_start[g->out_start[sink + 1]]) continue;
    stack[depth++] = sink;
    while (depth > 0) {
      int32_t v = stack[depth - 1];
      while (next[v] < g->in_start[v + 1] && placed[g->producer[g->in[next[v]]]]) next[v]++;
      if (next[v] < g->in_start[v + 1]) {
        stack[depth++] = g->producer[g->in[next[v]]];
        continue;
      }
      depth--;
      placed[v] = true;
      order[n_placed++] = v;
    }
  }
  ENSURE(contracts_permutation(order, n));
  arena_release(scratch, mark);
  return true;
}
