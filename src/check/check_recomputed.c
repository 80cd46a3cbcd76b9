/* What a training step that recomputes activations holds beside an operator, by flooding: docs/model.md, "pipeline". */
#include "base/checked.h"
#include "check/judge.h"

static bool is_copy(const situ_graph *g, int32_t v) { return g->phase[v] == SITU_PHASE_RECOMPUTE; }

/* The copies joined to the last one on the stack, marked with a number and left on the stack; returns how many. */
static int32_t flood(const situ_graph *g, int32_t *number, int32_t *stack, int32_t segment) {
  int32_t n = 1;
  number[stack[0]] = segment;
  for (int32_t done = 0; done < n; done++) {
    int32_t v = stack[done];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (!is_copy(g, u) || number[u] >= 0) continue;
      number[u] = segment;
      stack[n++] = u;
    }
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t w = g->use[i];
        if (!is_copy(g, w) || number[w] >= 0) continue;
        number[w] = segment;
        stack[n++] = w;
      }
  }
  return n;
}

bool judge_is_handed_on(const situ_graph *g, int32_t t) {
  bool others = false;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) others |= !is_copy(g, g->use[i]);
  return others && is_copy(g, g->producer[t]);
}

/* The bytes that operators of a segment make for others. */
static int64_t handed_on(const situ_graph *g, const int32_t *member, int32_t n) {
  int64_t sum = 0;
  for (int32_t k = 0; k < n; k++)
    for (int32_t t = g->out_start[member[k]]; t < g->out_start[member[k] + 1]; t++)
      if (judge_is_handed_on(g, t)) sum = sat_add(sum, g->size_bytes[t]);
  return sum;
}

bool judge_find_recomputed(judge *j) {
  const situ_graph *g = j->graph;
  int32_t n = g->n_operators, n_segments = 0, *number, *stack;
  int64_t *bytes = ARENA_ZERO(j->scratch, int64_t, n);
  if (!bytes || !ARENA_ARRAYS(j->scratch, ARRAY(number, n), ARRAY(stack, n))) return false;
  for (int32_t v = 0; v < n; v++) number[v] = -1;
  for (int32_t v = 0; v < n; v++) {
    if (!is_copy(g, v) || number[v] >= 0) continue;
    stack[0] = v;
    int32_t members = flood(g, number, stack, n_segments++);
    int64_t held = handed_on(g, stack, members);
    for (int32_t k = 0; k < members; k++) {
      bytes[stack[k]] = held;
      for (int32_t t = g->out_start[stack[k]]; t < g->out_start[stack[k] + 1]; t++)
        for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
          if (!is_copy(g, g->use[i])) bytes[g->use[i]] = max64(bytes[g->use[i]], held);
    }
  }
  j->recomputed_bytes = bytes;
  return true;
}
