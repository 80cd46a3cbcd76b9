#include "brute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/checked.h"
#include "problem/replicas.h"

enum { MOST_OPERATORS = 8 }; /* of calls problems */

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

/* Counts up over the devices: -1 or a leader, in every way that keeps the rules. False after the last. */
static bool next_replicas(const situ_problem *p, const int32_t *device, int32_t *replica_of) {
  if (!p->replicate) return false;
  do {
    int32_t d = 0;
    while (d < p->n_devices && ++replica_of[d] == p->n_devices) replica_of[d++] = -1;
    if (d == p->n_devices) return false;
  } while (!replicas_keep_rules(p, device, replica_of));
  return true;
}

typedef struct orders {
  const situ_problem *problem;
  simulator *simulator;
  int32_t *device;
  int32_t *order;
  bool *placed;
  int64_t best_ns;
} orders;

static int64_t value_of(simulator *s, const placement *where) {
  simulation found = simulator_run(s, where, true);
  return found.excess_bytes > 0 ? SITU_NEVER_NS : found.value_ns;
}

static void try_orders(orders *o, int32_t k) {
  const situ_graph *g = o->problem->graph;
  if (k == g->n_operators) {
    int64_t value = value_of(o->simulator, &(placement){.device = o->device, .order = o->order});
    if (value < o->best_ns) o->best_ns = value;
    return;
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    bool ready = !o->placed[v];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && ready; i++) ready = o->placed[g->producer[g->in[i]]];
    if (!ready) continue;
    o->placed[v] = true;
    o->order[k] = v;
    try_orders(o, k + 1);
    o->placed[v] = false;
  }
}

typedef struct calls {
  const situ_problem *problem;
  simulator *simulator;
  int32_t *device;
  int32_t piece[MOST_OPERATORS], call[MOST_OPERATORS]; /* piece: of the device of the operator */
  int64_t best_ns;
} calls;

/* Numbers the pieces of each device in turn; false when one is left out. */
static bool number_calls(calls *c) {
  const situ_problem *p = c->problem;
  int32_t n = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool ended = false;
    for (int32_t piece = 0; piece < p->n_operators; piece++) {
      bool used = false;
      for (int32_t v = 0; v < p->n_operators; v++)
        if (c->device[v] == d && c->piece[v] == piece) {
          c->call[v] = n;
          used = true;
        }
      if (used && ended) return false;
      ended |= !used;
      n += used;
    }
  }
  return true;
}

/* Every way to part the operators of each accelerator into calls, in every order. */
static void try_calls(calls *c, int32_t v) {
  const situ_problem *p = c->problem;
  if (v == p->n_operators) {
    if (!number_calls(c)) return;
    simulation found = simulator_run(c->simulator, &(placement){.device = c->device, .call = c->call}, true);
    if (found.excess_bytes == 0 && found.value_ns < c->best_ns) c->best_ns = found.value_ns;
    return;
  }
  int32_t most = 0;
  for (int32_t w = 0; w < p->n_operators; w++) most += c->device[w] == c->device[v];
  c->call[v] = -1;
  c->piece[v] = -1;
  if (problem_is_host(p, c->device[v]))
    try_calls(c, v + 1);
  else
    for (c->piece[v] = 0; c->piece[v] < most; c->piece[v]++) try_calls(c, v + 1);
}

static int64_t best_calls(calls *c) {
  assert_true(c->problem->n_operators <= MOST_OPERATORS);
  try_calls(c, 0);
  return c->best_ns;
}

int64_t brute_force(const situ_problem *p, int32_t *best) {
  arena *a = arena_new();
  simulator *s = simulator_new(p, a);
  int32_t *device = ARENA_ZERO(a, int32_t, p->n_operators), *order = ARENA_NEW(a, int32_t, p->n_operators);
  bool *placed = ARENA_ZERO(a, bool, p->n_operators);
  int64_t value = SITU_NEVER_NS;
  int32_t *replica_of = ARENA_NEW(a, int32_t, p->n_devices);
  assert_non_null(s);
  assert_non_null(replica_of);
  for (int32_t d = 0; d < p->n_devices; d++) replica_of[d] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    while (device[v] < p->n_devices && !problem_allows(p, v, device[v])) device[v]++;
    if (device[v] == p->n_devices) goto done;
  }
  do {
    if (!kept_together(p, device)) continue;
    orders o = {p, s, device, order, placed, SITU_NEVER_NS};
    calls c = {.problem = p, .simulator = s, .device = device, .best_ns = SITU_NEVER_NS};
    if (p->execution == SITU_EXECUTION_STREAM) try_orders(&o, 0);
    if (p->execution == SITU_EXECUTION_CALLS) o.best_ns = best_calls(&c);
    for (bool more = p->execution == SITU_EXECUTION_PIPELINE; more; more = next_replicas(p, device, replica_of))
      o.best_ns = min64(o.best_ns, value_of(s, &(placement){.device = device, .replica_of = replica_of}));
    if (o.best_ns >= value) continue;
    value = o.best_ns;
    if (best) memcpy(best, device, (size_t)p->n_operators * sizeof *best);
  } while (next_placement(p, device));
done:
  arena_free(a);
  return value;
}
