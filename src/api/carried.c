/* A plan of an earlier version of a graph, or of another machine, as a plan of this problem. */
#include <string.h>

#include "base/arguments.h"
#include "base/heap.h"
#include "graph/match.h"
#include "plan/plan.h"
#include "situ/solve.h"

typedef struct carrying {
  const situ_plan *old;
  const situ_problem *p;
  arena *a;
  int32_t *other;     /* [operator] which it was, or -1 */
  int32_t *device_of; /* [old device] or -1 */
  int32_t *device;    /* [operator] or -1 */
  int32_t *order;
} carrying;

/* Devices of one name and class are the same; of the others, the k-th of a class is the k-th. */
static void match_devices(carrying *c) {
  const situ_platform *old = c->old->problem->platform, *m = c->p->platform;
  for (int32_t d = 0; d < old->n_devices; d++) {
    const char *class_name = old->class_name[old->class_of[d]];
    int32_t rank = 0, same = -1, named = -1;
    for (int32_t e = 0; e < d; e++) rank += old->class_of[e] == old->class_of[d];
    for (int32_t e = 0; e < m->n_devices; e++) {
      if (strcmp(m->class_name[m->class_of[e]], class_name) != 0) continue;
      if (strcmp(m->devices[e].name, old->devices[d].name) == 0) named = e;
      if (rank-- == 0) same = e;
    }
    c->device_of[d] = named >= 0 ? named : same;
  }
}

static void give_unit(carrying *c, int32_t v, int32_t d) {
  unit_members u = unit_list_members(&c->p->units, c->p->units.of[v]);
  if (d < 0 || c->device[v] >= 0 || !problem_allows_all(c->p, u, d)) return;
  for (int32_t i = 0; i < u.n; i++) c->device[u.member[i]] = d;
}

/* The device on which a unit is fastest, of those that may run it; 0 if none may. */
static int32_t fastest(const situ_problem *p, int32_t v) {
  unit_members u = unit_list_members(&p->units, p->units.of[v]);
  int32_t best = 0;
  int64_t best_ns = SITU_NEVER_NS;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t sum = 0;
    if (!problem_allows_all(p, u, d)) continue;
    for (int32_t i = 0; i < u.n; i++) sum += problem_time_ns(p, u.member[i], d);
    if (sum < best_ns) best = d, best_ns = sum;
  }
  return best;
}

/* What was there keeps its device; what is new goes where its inputs are made, else where its results are used, else
 * where it is fastest. */
static void choose_devices(carrying *c) {
  const situ_graph *g = c->p->graph;
  for (int32_t v = 0; v < g->n_operators; v++) c->device[v] = -1;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (c->other[v] >= 0) give_unit(c, v, c->device_of[c->old->device[c->other[v]]]);
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) give_unit(c, v, c->device[g->producer[g->in[i]]]);
  for (int32_t v = g->n_operators - 1; v >= 0; v--)
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) give_unit(c, v, c->device[g->use[i]]);
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (c->device[v] >= 0) continue;
    int32_t d = fastest(c->p, v);
    give_unit(c, v, d);
    if (c->device[v] < 0) c->device[v] = d; /* no device may run it: the judge says so */
  }
}

/* The old sequence, in which what is new comes right after what it needs. */
static bool choose_order(carrying *c) {
  const situ_graph *g = c->p->graph;
  int32_t n = g->n_operators, n_old = c->old->n_operators, n_done = 0, *rank, *waits;
  double *key;
  ready_heap heap = {0};
  if (!ARENA_ARRAYS(c->a, ARRAY(rank, n_old), ARRAY(waits, n), ARRAY(key, n), ARRAY(heap.at, n), ARRAY(c->order, n)))
    return false;
  heap.key = key;
  for (int32_t i = 0; i < n_old; i++) rank[c->old->order[i]] = i;
  for (int32_t v = 0; v < n; v++) {
    key[v] = c->other[v] >= 0 ? -(double)rank[c->other[v]] : 0;
    waits[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && c->other[v] < 0; i++)
      if (key[g->producer[g->in[i]]] < key[v]) key[v] = key[g->producer[g->in[i]]];
    if (waits[v] == 0) heap_push(&heap, v);
  }
  while (heap.n > 0) {
    int32_t v = heap_pop(&heap);
    c->order[n_done++] = v;
    for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++)
      if (--waits[g->use[i]] == 0) heap_push(&heap, g->use[i]);
  }
  return true;
}

static situ_status carry(situ_plan **out, carrying *c, situ_error *error) {
  const situ_problem *p = c->p;
  int32_t n = p->n_operators;
  situ_plan *by_order = NULL;
  if (!ARENA_ARRAYS(c->a, ARRAY(c->other, n), ARRAY(c->device, n), ARRAY(c->device_of, c->old->problem->n_devices)) ||
      !graph_match(c->other, p->graph, c->old->problem->graph, c->a))
    return fail_no_memory(error);
  match_devices(c);
  choose_devices(c);
  if (p->execution == SITU_EXECUTION_STREAM && c->old->order) {
    if (!choose_order(c)) return fail_no_memory(error);
    TRY(situ_simulate(&by_order, p, c->device, c->order, error));
  }
  situ_status status = situ_simulate(out, p, c->device, NULL, error);
  if (status == SITU_STATUS_OK && by_order && by_order->value_ns <= (*out)->value_ns) {
    situ_plan_free(*out);
    *out = by_order;
  } else {
    situ_plan_free(by_order);
  }
  return status;
}

situ_status situ_plan_carry(situ_plan **out, const situ_plan *plan, const situ_problem *problem, situ_error *error) {
  TRY(GIVEN(error, out));
  *out = NULL;
  TRY(GIVEN(error, plan, problem));
  if (!plan->device) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the plan has no placement to carry over");
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  carrying c = {.old = plan, .p = problem, .a = a};
  situ_status status = carry(out, &c, error);
  arena_free(a);
  return status;
}
