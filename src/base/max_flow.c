#include "base/max_flow.h"

#include "base/checked.h"
#include "base/contracts.h"

bool max_flow_new(max_flow *f, int32_t n_nodes, int32_t n_arcs, arena *a) {
  int64_t arcs = 2 * (int64_t)n_arcs;
  *f = (max_flow){.max_arcs = 2 * n_arcs};
  if (arcs > INT32_MAX || !ARENA_ARRAYS(a, ARRAY(f->first, n_nodes), ARRAY(f->arcs, arcs), ARRAY(f->capacity, arcs),
                                        ARRAY(f->excess, n_nodes), ARRAY(f->level, n_nodes), ARRAY(f->at, n_nodes),
                                        ARRAY(f->queue, n_nodes)))
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
  f->arcs[arc] = (max_flow_arc){capacity, to, f->first[from]};
  f->capacity[arc] = capacity;
  f->first[from] = arc;
}

int32_t max_flow_add(max_flow *f, int32_t from, int32_t to, int64_t capacity) {
  REQUIRE(f->n_arcs + 2 <= f->max_arcs && capacity >= 0 && capacity <= MAX_FLOW_ENDLESS && from != to);
  add_half(f, from, to, capacity);
  add_half(f, to, from, 0);
  return f->n_arcs - 2;
}

/* Excess is pushed towards a target. Levels are distances to it, or less; nodes with excess that may reach it wait. */
typedef struct pushing {
  max_flow *f;
  int32_t target, apart;    /* nothing is pushed through `apart` */
  int32_t first, n_waiting; /* in f->queue, a ring */
  int64_t work;             /* since levels were found */
} pushing;

static void add_waiting(pushing *x, int32_t u) {
  int32_t at = x->first + x->n_waiting++;
  x->f->queue[at < x->f->n_nodes ? at : at - x->f->n_nodes] = u;
}

/* Finds the levels, n_nodes where the target is out of reach, and who waits, the nearest first. */
static void find_levels(pushing *x) {
  max_flow *f = x->f;
  int32_t n = 0;
  for (int32_t u = 0; u < f->n_nodes; u++) f->level[u] = f->n_nodes;
  f->level[x->target] = 0;
  f->queue[n++] = x->target;
  for (int32_t i = 0; i < n; i++)
    for (int32_t arc = f->first[f->queue[i]]; arc >= 0; arc = f->arcs[arc].next) {
      int32_t w = f->arcs[arc].to;
      if (f->level[w] < f->n_nodes || f->arcs[arc ^ 1].residual <= 0 || w == x->apart) continue;
      f->level[w] = f->level[f->queue[i]] + 1;
      f->queue[n++] = w;
    }
  x->first = x->n_waiting = 0;
  x->work = 0;
  for (int32_t i = 1; i < n; i++) { /* in place: those that wait are among those seen */
    int32_t u = f->queue[i];
    f->at[u] = f->first[u];
    if (f->excess[u] > 0) f->queue[x->n_waiting++] = u;
  }
}

static void push(pushing *x, int32_t u, int32_t arc) {
  max_flow *f = x->f;
  int32_t w = f->arcs[arc].to;
  int64_t residual = f->arcs[arc].residual, amount = f->excess[u] < residual ? (int64_t)f->excess[u] : residual;
  f->arcs[arc].residual -= amount;
  f->arcs[arc ^ 1].residual += amount;
  f->excess[u] -= amount;
  f->excess[w] += amount;
  if (f->excess[w] == amount && w != x->target) add_waiting(x, w);
}

/* Pushes the excess of u to nodes one level lower. If some remains, u gets the level above its lowest neighbour, and
 * waits again unless the target is out of reach. */
static void discharge(pushing *x, int32_t u) {
  max_flow *f = x->f;
  int32_t arc = f->at[u], level = f->n_nodes;
  for (; arc >= 0; arc = f->arcs[arc].next, x->work++) {
    if (f->arcs[arc].residual <= 0 || f->level[f->arcs[arc].to] + 1 != f->level[u]) continue;
    push(x, u, arc);
    if (f->excess[u] == 0) break;
  }
  f->at[u] = arc;
  if (arc >= 0) return;
  for (arc = f->first[u]; arc >= 0; arc = f->arcs[arc].next, x->work++)
    if (f->arcs[arc].residual > 0 && f->level[f->arcs[arc].to] + 1 < level) level = f->level[f->arcs[arc].to] + 1;
  f->level[u] = level;
  f->at[u] = f->first[u];
  if (level < f->n_nodes) add_waiting(x, u);
}

/* Until no excess reaches the target or the budget ends. */
static void push_towards(max_flow *f, int32_t target, int32_t apart, budget *b) {
  pushing x = {.f = f, .target = target, .apart = apart};
  find_levels(&x);
  while (x.n_waiting > 0) {
    int32_t u = f->queue[x.first];
    x.first = x.first + 1 < f->n_nodes ? x.first + 1 : 0;
    x.n_waiting--;
    discharge(&x, u);
    if (x.work <= (int64_t)f->n_nodes + f->n_arcs) continue;
    if (b && budget_over(b)) return;
    find_levels(&x);
  }
}

/* Sets the level of what the source reaches to 0, of others to -1. */
static void find_side(max_flow *f, int32_t source) {
  int32_t n = 0;
  for (int32_t u = 0; u < f->n_nodes; u++) f->level[u] = -1;
  f->level[source] = 0;
  f->queue[n++] = source;
  for (int32_t i = 0; i < n; i++)
    for (int32_t arc = f->first[f->queue[i]]; arc >= 0; arc = f->arcs[arc].next) {
      int32_t w = f->arcs[arc].to;
      if (f->arcs[arc].residual <= 0 || f->level[w] >= 0) continue;
      f->level[w] = 0;
      f->queue[n++] = w;
    }
}

int64_t max_flow_run(max_flow *f, int32_t source, int32_t sink, budget *b) {
  REQUIRE(source != sink);
  for (int32_t u = 0; u < f->n_nodes; u++) f->excess[u] = 0;
  for (int32_t arc = f->first[source]; arc >= 0; arc = f->arcs[arc].next) {
    int64_t amount = f->arcs[arc].residual;
    f->arcs[arc].residual = 0;
    f->arcs[arc ^ 1].residual += amount;
    f->excess[f->arcs[arc].to] += amount;
  }
  if (!budget_over(b)) push_towards(f, sink, source, b);
  __int128 total = f->excess[sink];
  push_towards(f, source, sink, NULL); /* what does not reach the sink goes back */
  find_side(f, source);
  return total < INT64_MAX ? (int64_t)total : INT64_MAX;
}
