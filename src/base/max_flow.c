#include "base/max_flow.h"

#include "base/checked.h"
#include "base/contracts.h"

bool max_flow_new(max_flow *f, int32_t n_nodes, int32_t n_arcs, arena *a) {
  int64_t arcs = 2 * (int64_t)n_arcs;
  *f = (max_flow){.max_arcs = 2 * n_arcs};
  if (arcs > INT32_MAX || !ARENA_ARRAYS(a, ARRAY(f->first, n_nodes), ARRAY(f->next, arcs), ARRAY(f->to, arcs),
                                        ARRAY(f->room, arcs), ARRAY(f->capacity, arcs), ARRAY(f->level, n_nodes),
                                        ARRAY(f->at, n_nodes), ARRAY(f->queue, n_nodes)))
    return false;
  max_flow_clear(f, n_nodes);
  return true;
}

void max_flow_clear(max_flow *f, int32_t n_nodes) {
  f->n_nodes = n_nodes;
  f->n_arcs = 0;
  for (int32_t u = 0; u < n_nodes; u++) f->first[u] = -1;
}

static void add_half(max_flow *f, int32_t from, int32_t to, int64_t capacity) {
  int32_t arc = f->n_arcs++;
  f->to[arc] = to;
  f->room[arc] = f->capacity[arc] = capacity;
  f->next[arc] = f->first[from];
  f->first[from] = arc;
}

int32_t max_flow_add(max_flow *f, int32_t from, int32_t to, int64_t capacity) {
  REQUIRE(f->n_arcs + 2 <= f->max_arcs && capacity >= 0 && capacity <= MAX_FLOW_ENDLESS && from != to);
  add_half(f, from, to, capacity);
  add_half(f, to, from, 0);
  return f->n_arcs - 2;
}

/* Levels by distance from the source; whether the sink is reached. */
static bool find_levels(max_flow *f, int32_t source, int32_t sink) {
  int32_t n = 0;
  for (int32_t u = 0; u < f->n_nodes; u++) f->level[u] = -1;
  f->level[source] = 0;
  f->queue[n++] = source;
  for (int32_t i = 0; i < n; i++)
    for (int32_t arc = f->first[f->queue[i]]; arc >= 0; arc = f->next[arc]) {
      int32_t w = f->to[arc];
      if (f->room[arc] <= 0 || f->level[w] >= 0) continue;
      f->level[w] = f->level[f->queue[i]] + 1;
      f->queue[n++] = w;
    }
  return f->level[sink] >= 0;
}

/* Sends along the way of n arcs what fits, and returns how many of them stay passable. */
static int32_t send(max_flow *f, const int32_t *way, int32_t n, int64_t *total) {
  int64_t max = INT64_MAX;
  int32_t kept = n;
  for (int32_t i = 0; i < n; i++) max = min64(max, f->room[way[i]]);
  for (int32_t i = n - 1; i >= 0; i--) {
    f->room[way[i]] -= max;
    f->room[way[i] ^ 1] += max;
    if (f->room[way[i]] == 0) kept = i;
  }
  *total = sat_add(*total, max);
  return kept;
}

/* A flow that fills every shortest way: depth first, the way in `queue`. */
static int64_t fill_ways(max_flow *f, int32_t source, int32_t sink) {
  int64_t total = 0;
  int32_t n = 0, u = source, *way = f->queue;
  for (int32_t v = 0; v < f->n_nodes; v++) f->at[v] = f->first[v];
  for (;;) {
    if (u == sink) {
      n = send(f, way, n, &total);
      u = f->to[way[n] ^ 1];
      continue;
    }
    int32_t arc = f->at[u];
    while (arc >= 0 && (f->room[arc] <= 0 || f->level[f->to[arc]] != f->level[u] + 1)) arc = f->next[arc];
    f->at[u] = arc;
    if (arc >= 0) {
      way[n++] = arc;
      u = f->to[arc];
    } else if (n > 0) { /* a dead end: no way goes through u any more */
      u = f->to[way[--n] ^ 1];
      f->at[u] = f->next[f->at[u]];
    } else {
      return total;
    }
  }
}

int64_t max_flow_run(max_flow *f, int32_t source, int32_t sink, budget *b) {
  REQUIRE(source != sink);
  int64_t total = 0;
  while (find_levels(f, source, sink) && !budget_over(b)) total = sat_add(total, fill_ways(f, source, sink));
  return total;
}
