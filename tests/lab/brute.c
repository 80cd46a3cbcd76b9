#include "brute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static bool kept_together(const situ_problem *p, const int32_t *device) {
  for (int32_t v = 0; v < p->n_operators; v++)
    for (int32_t w = 0; w < v; w++)
      if (p->graph->colocation[v] >= 0 && p->graph->colocation[v] == p->graph->colocation[w] && device[v] != device[w])
        return false;
  return true;
}

/* Counts up in base n_devices, skipping devices that an operator may not use. False after the last. */
static bool next_placement(const situ_problem *p, int32_t *device) {
  for (int32_t v = 0; v < p->n_operators; v++) {
    do device[v]++;
    while (device[v] < p->n_devices && !problem_allows(p, v, device[v]));
    if (device[v] < p->n_devices) return true;
    device[v] = 0;
    while (device[v] < p->n_devices && !problem_allows(p, v, device[v])) device[v]++;
  }
  return false;
}

int64_t brute_force(const situ_problem *p, int32_t *best) {
  arena *a = arena_new();
  simulator *s = simulator_new(p, a);
  int32_t *device = ARENA_ZERO(a, int32_t, p->n_operators);
  int64_t value = SITU_NEVER_NS;
  assert_non_null(s);
  for (int32_t v = 0; v < p->n_operators; v++) {
    while (device[v] < p->n_devices && !problem_allows(p, v, device[v])) device[v]++;
    if (device[v] == p->n_devices) goto done;
  }
  do {
    if (!kept_together(p, device)) continue;
    simulation found = simulator_run(s, &(placement){.device = device}, true);
    if (found.excess_bytes > 0 || found.value_ns >= value) continue;
    value = found.value_ns;
    if (best) memcpy(best, device, (size_t)p->n_operators * sizeof *best);
  } while (next_placement(p, device));
done:
  arena_free(a);
  return value;
}

enum { MOST_OPERATORS = 16 };

typedef struct brute_walk {
  const situ_problem *problem;
  brute_visitor *visit;
  void *context;
  int32_t device[MOST_OPERATORS], order[MOST_OPERATORS];
  bool placed[MOST_OPERATORS];
} brute_walk;

static void walk_orders(brute_walk *b, int32_t k) {
  const situ_graph *g = b->problem->graph;
  bool ordered = b->problem->execution == SITU_EXECUTION_STREAM;
  if (k == g->n_operators) {
    b->visit(b->context, &(placement){.device = b->device, .order = ordered ? b->order : NULL});
    return;
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    bool ready = !b->placed[v];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && ready; i++) ready = b->placed[g->producer[g->in[i]]];
    if (!ready) continue;
    b->placed[v] = true;
    b->order[k] = v;
    walk_orders(b, k + 1);
    b->placed[v] = false;
    if (!ordered) return; /* one order is enough */
  }
}

static void walk_devices(brute_walk *b, int32_t v) {
  const situ_problem *p = b->problem;
  if (v == p->n_operators) {
    if (kept_together(p, b->device)) walk_orders(b, 0);
    return;
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (!problem_allows(p, v, d)) continue;
    b->device[v] = d;
    walk_devices(b, v + 1);
  }
}

void brute_each(const situ_problem *problem, brute_visitor *visit, void *context) {
  assert_true(problem->n_operators <= MOST_OPERATORS);
  brute_walk b = {.problem = problem, .visit = visit, .context = context};
  walk_devices(&b, 0);
}

typedef struct brute_best {
  simulator *simulator;
  int64_t value_ns;
} brute_best;

static void keep_least(void *context, const placement *where) {
  brute_best *best = context;
  simulation found = simulator_run(best->simulator, where, true);
  if (found.excess_bytes == 0 && found.value_ns < best->value_ns) best->value_ns = found.value_ns;
}

int64_t brute_force_orders(const situ_problem *problem) {
  arena *a = arena_new();
  brute_best best = {.simulator = simulator_new(problem, a), .value_ns = SITU_NEVER_NS};
  assert_non_null(best.simulator);
  brute_each(problem, keep_least, &best);
  arena_free(a);
  return best.value_ns;
}
