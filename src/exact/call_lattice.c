#include "exact/call_lattice.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

enum { IDEALS_PER_STEP = 16, MAX_WORDS = 1 << 24, FEW_NODES = 16 };

/* Hash table with open addressing: bits of an ideal to its number. */
typedef struct table {
  call_lattice *l;
  int32_t *slot;
  uint64_t mask;
  int64_t n_steps, steps_capacity;
  int32_t limit;
} table;

/* The number of the ideal with these bits, new if unseen; -1 when there are too many. */
static int32_t number(table *t, const uint64_t *bits) {
  call_lattice *l = t->l;
  size_t bytes = (size_t)l->n_words * sizeof *bits;
  uint64_t at = hash_bytes(bits, bytes, 0) & t->mask;
  for (; t->slot[at] >= 0; at = (at + 1) & t->mask)
    if (memcmp(l->bits + (int64_t)t->slot[at] * l->n_words, bits, bytes) == 0) return t->slot[at];
  if (l->n == t->limit) return -1;
  t->slot[at] = l->n;
  memcpy(l->bits + (int64_t)l->n * l->n_words, bits, bytes);
  return l->n++;
}

/* Whether all producers of v are inside the ideal. */
static bool is_ready(const call_lattice *l, int32_t ideal, int32_t v) {
  const call_graph *g = l->graph;
  for (int32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (!call_lattice_has(l, ideal, g->producer[g->in[i]])) return false;
  return true;
}

/* Numbers the ideals as they are found, breadth first, hence by size. */
static call_lattice_result list(table *t, arena *a, budget *b) {
  call_lattice *l = t->l;
  const call_graph *g = l->graph;
  uint64_t *bits = ARENA_ZERO(a, uint64_t, l->n_words);
  if (!bits) return CALL_LATTICE_NO_MEMORY;
  number(t, bits);
  for (int32_t i = 0; i < l->n; i++) {
    l->step_start[i] = t->n_steps;
    if (i % IDEALS_PER_STEP == 0 && budget_spend(b, 1)) return CALL_LATTICE_TOO_LARGE;
    const uint64_t *now = l->bits + (int64_t)i * l->n_words;
    memcpy(bits, now, (size_t)l->n_words * sizeof *bits);
    for (int32_t v = 0; v < g->n; v++) {
      if (call_lattice_has(l, i, v) || !is_ready(l, i, v)) continue;
      if (t->n_steps == t->steps_capacity) return CALL_LATTICE_TOO_LARGE;
      bits[v / 64] ^= 1ull << (v % 64);
      int32_t to = number(t, bits);
      bits[v / 64] ^= 1ull << (v % 64);
      if (to < 0) return CALL_LATTICE_TOO_LARGE;
      l->step[t->n_steps++] = (call_step){v, to};
    }
  }
  l->step_start[l->n] = t->n_steps;
  return CALL_LATTICE_ALL;
}

static bool list_fronts(call_lattice *l, arena *a) {
  const call_graph *g = l->graph;
  int64_t n = 0;
  l->front_start = ARENA_NEW(a, int64_t, (int64_t)l->n + 1);
  if (!l->front_start) return false;
  for (int32_t fill = 0; fill < 2; fill++) {
    n = 0;
    for (int32_t i = 0; i < l->n; i++) {
      l->front_start[i] = n;
      for (int32_t v = 0; v < g->n; v++) {
        if (!call_lattice_has(l, i, v)) continue;
        bool used = false;
        for (int32_t k = g->use_start[g->out_start[v]]; k < g->use_start[g->out_start[v + 1]] && !used; k++)
          used = !call_lattice_has(l, i, g->use[k]);
        if (!used) continue;
        if (fill) l->front[n] = v;
        n++;
      }
    }
    l->front_start[l->n] = n;
    if (!fill && !(l->front = ARENA_NEW(a, int32_t, n))) return false;
  }
  return true;
}

static bool list_groups(call_lattice *l, arena *a) {
  const call_graph *g = l->graph;
  const situ_problem *p = g->problem;
  if (!ARENA_ARRAYS(a, ZEROS(l->groups, g->n), ZEROS(l->begun, l->n), ZEROS(l->cut, l->n))) return false;
  int32_t n = 0;
  for (int32_t k = 0; k < p->units.n && n < 64; k++) {
    unit_members u = unit_list_members(&p->units, k);
    bool several = false;
    for (int32_t i = 1; i < u.n; i++) several |= g->node_of[u.member[i]] != g->node_of[u.member[0]];
    for (int32_t i = 0; i < u.n && several; i++) l->groups[g->node_of[u.member[i]]] |= 1ull << n;
    n += several;
  }
  for (int32_t i = 0; i < l->n && n > 0; i++) {
    uint64_t outside = 0;
    for (int32_t v = 0; v < g->n; v++) *(call_lattice_has(l, i, v) ? &l->begun[i] : &outside) |= l->groups[v];
    l->cut[i] = l->begun[i] & outside;
  }
  return true;
}

uint64_t call_lattice_groups(const call_lattice *l, int32_t lower, int32_t upper) {
  REQUIRE(lower >= 0 && lower < l->n && upper >= 0 && upper < l->n);
  uint64_t found = 0;
  if (!l->begun[upper]) return 0;
  for (int32_t k = 0; k < l->n_words; k++)
    for (uint64_t members = l->bits[(int64_t)upper * l->n_words + k] & ~l->bits[(int64_t)lower * l->n_words + k];
         members; members &= members - 1)
      found |= l->groups[k * 64 + __builtin_ctzll(members)];
  return found;
}

call_lattice_result call_lattice_find(call_lattice *out, const call_graph *g, int32_t limit, arena *a, budget *b) {
  REQUIRE(limit > 0);
  *out = (call_lattice){.graph = g, .n_words = g->n / 64 + 1};
  limit = (int32_t)min64(limit, MAX_WORDS / out->n_words);
  if (g->n <= FEW_NODES) limit = (int32_t)min64(limit, (int64_t)1 << g->n); /* there are no more sets of nodes */
  table t = {.l = out, .limit = limit, .steps_capacity = (int64_t)limit * 8, .mask = 1};
  while (t.mask < 2 * (uint64_t)limit) t.mask *= 2;
  t.mask--;
  if (!ARENA_ARRAYS(a, ARRAY(t.slot, (int64_t)t.mask + 1), ARRAY(out->bits, (int64_t)limit * out->n_words),
                    ARRAY(out->step_start, (int64_t)limit + 1), ARRAY(out->step, t.steps_capacity)))
    return CALL_LATTICE_NO_MEMORY;
  memset(t.slot, -1, ((size_t)t.mask + 1) * sizeof *t.slot);
  call_lattice_result result = list(&t, a, b);
  if (result != CALL_LATTICE_ALL) return result;
  ENSURE(out->n >= 1 && out->n <= limit && contracts_long_lists(out->step_start, out->n, out->step_start[out->n]));
  return list_fronts(out, a) && list_groups(out, a) ? CALL_LATTICE_ALL : CALL_LATTICE_NO_MEMORY;
}

bool call_iterator_make(call_iterator *w, const call_lattice *l, const int64_t *flow_in, const int64_t *through,
                        arena *a) {
  const call_graph *g = l->graph;
  *w = (call_iterator){.lattice = l, .flow_in = flow_in, .through = through};
  return ARENA_ARRAYS(a, ARRAY(w->ideal, g->n + 1), ARRAY(w->node, g->n + 1), ARRAY(w->next, g->n + 1),
                      ZEROS(w->left, g->n_tensors), ZEROS(w->feeds, g->n));
}

/* Adds v to the call, or with sign -1 removes it; v must be the latest addition. */
static void change(call_iterator *w, int32_t v, int32_t sign) {
  const call_lattice *l = w->lattice;
  const call_graph *g = l->graph;
  w->compute_ns += sign * g->call_ns[v];
  w->weight_bytes += sign * g->weight_bytes[v];
  if (w->through) w->flow += sign * w->through[v];
  for (int32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t];
    bool outside = call_lattice_has(l, w->from, u);
    int32_t before = w->left[t];
    w->left[t] += outside ? sign : -sign;
    if (outside) {
      if (before == 0 || w->left[t] == 0) {
        w->in_ns += sign * g->in_ns[t];
        w->feeds[u] += sign;
      }
    } else {
      if (before == 0 || w->left[t] == 0) w->out_ns -= sign * g->out_ns[t];
      if (w->flow_in) w->flow -= sign * w->flow_in[g->in_use[i]];
    }
  }
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
    w->out_ns += sign * g->out_ns[t];
    w->left[t] = sign > 0 ? g->use_start[t + 1] - g->use_start[t] : 0;
  }
}

void call_iterator_start(call_iterator *w, int32_t from) {
  REQUIRE(from >= 0 && from < w->lattice->n);
  while (w->depth > 0) change(w, w->node[w->depth--], -1);
  w->from = from;
  w->ideal[0] = from;
  w->node[0] = -1;
  w->next[0] = w->lattice->step_start[from];
}

int32_t call_iterator_next(call_iterator *w, bool deeper) {
  const call_lattice *l = w->lattice;
  const call_graph *g = l->graph;
  if (!deeper && w->depth > 0) change(w, w->node[w->depth--], -1);
  while (true) {
    int32_t top = w->ideal[w->depth];
    int64_t at = w->next[w->depth], end = l->step_start[top + 1];
    /* Each upper ideal is visited once, because its nodes are added in ascending order. */
    while (at < end && (l->step[at].node < w->node[w->depth] || g->call_ns[l->step[at].node] == SITU_NEVER_NS ||
                        g->weight_bytes[l->step[at].node] > g->call_bytes - w->weight_bytes))
      at++;
    if (at == end) {
      if (w->depth == 0) return -1;
      change(w, w->node[w->depth--], -1);
      continue;
    }
    w->next[w->depth] = at + 1;
    w->depth++;
    w->node[w->depth] = l->step[at].node;
    w->ideal[w->depth] = l->step[at].ideal;
    w->next[w->depth] = l->step_start[l->step[at].ideal];
    change(w, l->step[at].node, 1);
    return l->step[at].ideal;
  }
}
