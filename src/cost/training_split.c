/* How a training step splits over the members of a group: each backward operator as its forward one, with the
 * collectives that are conjugate to those of the forward pass (Shoeybi et al., 2019, section 3). */
#include "cost/training_split.h"

#include <string.h>

#include "base/checked.h"

int32_t training_split_forward(const situ_graph *g, int32_t v) {
  char name[512];
  const char *open = strchr(g->name[v], '(');
  size_t n = open ? strlen(open + 1) : 0;
  if (g->phase[v] == SITU_PHASE_FORWARD) return v;
  if (n < 2 || n > sizeof name) return -1;
  memcpy(name, open + 1, n - 1); /* without the ')' at its end */
  name[n - 1] = '\0';
  return situ_graph_find(g, name);
}

/* What members have of the gradient that x makes of what u made. Where x computes a part of its work of all that u
 * made, each has what its part adds. The gradient of a term is that of the sum. */
static tensor_holding gradient_of(const tensor_split *s, int32_t x, int32_t u) {
  bool whole = s->ways[x] == 1 && s->made[x] != HOLDS_TERM;
  if (whole || s->given[u] == HOLDS_TERM) return HOLDS_ALL;
  bool gathered = s->gathered_bytes[u] > 0;
  return s->given[u] == HOLDS_PART && !gathered ? HOLDS_PART : HOLDS_TERM;
}

/* summed: [operator] the gradients of what it made are added up somewhere: once, however many users make terms. */
static void split_backward(tensor_split *s, int32_t v, int32_t x, bool *summed) {
  const situ_graph *g = s->graph;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      if (g->phase[g->use[i]] != SITU_PHASE_BACKWARD) continue;
      int32_t u = training_split_forward(g, g->use[i]);
      tensor_holding has = u < 0 ? HOLDS_ALL : gradient_of(s, x, u);
      if (has == HOLDS_ALL) continue;
      s->scattered[v] = true;
      s->made[v] = (uint8_t)has;
      if (has == HOLDS_TERM && !summed[u]) s->reduced_bytes[v] = sat_add(s->reduced_bytes[v], g->size_bytes[t]);
      summed[u] |= has == HOLDS_TERM;
    }
}

bool training_split_find(tensor_split *s, const situ_graph *g, arena *a) {
  bool *summed = ARENA_ZERO(a, bool, g->n_operators);
  if (!tensor_split_find(s, g, a)) return false;
  if (!g->made_training) return true;
  for (int32_t v = 0; summed && v < g->n_operators; v++) {
    int32_t x = training_split_forward(g, v);
    if (x < 0 || x == v) continue;
    s->ways[v] = s->ways[x];
    if (g->phase[v] == SITU_PHASE_BACKWARD) split_backward(s, v, x, summed);
    if (g->phase[v] != SITU_PHASE_RECOMPUTE) continue;
    s->made[v] = s->made[x];
    s->given[v] = s->given[x];
    s->scattered[v] = s->scattered[x];
    s->reduced_bytes[v] = s->reduced_bytes[x];
    s->gathered_bytes[v] = s->gathered_bytes[x];
  }
  return summed != NULL;
}

int64_t training_split_held_bytes(const tensor_split *s, int32_t t, int32_t k) {
  int32_t v = s->graph->producer[t];
  double times = s->made[v] == HOLDS_PART && s->gathered_bytes[v] == 0 ? tensor_split_share(s, v, k) : 1;
  return sat_round(times * k * (double)s->graph->size_bytes[t]);
}
