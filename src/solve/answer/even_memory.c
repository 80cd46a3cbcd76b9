#include "solve/answer/handover_search.h"

#include <string.h>

#include "base/fail.h"
#include "plan/layer_plan.h"
#include "solve/stream/sequence.h"

typedef struct evening {
  solve_run *run;
  const situ_problem *problem;
  layer_plan layers;
  handover_plan *plan;
  double limit_ns;
  int32_t *trial, *order; /* [operator] */
} evening;

/* Bytes of weights and caches on a device. */
static int64_t held_bytes(const situ_problem *p, const int32_t *device, int32_t d) {
  int64_t bytes = 0;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (device[v] == d) bytes += p->graph->weight_bytes[v];
  return bytes;
}

/* Moves the operators of a layer that are on device `from`: experts may be on a host. */
static void move_layer(const evening *e, int32_t layer, int32_t from, int32_t to) {
  for (int32_t v = 0; v < e->problem->n_operators; v++)
    if (e->layers.layers.of[v] == layer && e->trial[v] == from) e->trial[v] = to;
}

/* Adopts the trial if it is fast enough and no more cut. False without memory. */
static bool try_it(evening *e, bool *adopted) {
  arena *scratch = arena_new();
  handover_plan next = *e->plan;
  next.where = (placement){.device = e->trial, .order = e->order};
  next.solver = "even_memory";
  next.time_ns = SITU_NEVER_NS;
  *adopted = false;
  bool ok = scratch && sequence_find(e->order, e->run->simulator, e->problem, e->trial, scratch);
  e->run->solver = next.solver;
  if (ok) next.value_ns = solve_offer(e->run, &next.where);
  bool runs = ok && next.value_ns != SITU_NEVER_NS && solve_has_form(e->run, e->trial);
  if (runs) ok = handover_time(&next.time_ns, e->run, &next.where) == SITU_STATUS_OK;
  if (ok && runs && (double)next.time_ns <= e->limit_ns) {
    ok = handovers_find(&next.cost, e->problem, e->trial, scratch);
    next.cost.island = NULL;
    *adopted = ok && next.cost.n <= e->plan->cost.n && next.cost.n_parts <= e->plan->cost.n_parts;
  }
  if (*adopted) {
    next.where.device = ARENA_COPY(e->run->arena, e->trial, int32_t, e->problem->n_operators);
    next.where.order = ARENA_COPY(e->run->arena, e->order, int32_t, e->problem->n_operators);
    ok = next.where.device && next.where.order;
    if (ok) *e->plan = next;
  }
  arena_free(scratch);
  return ok;
}

/* The number of layers from `at` on, in steps of +1 or -1, that are on the device of the first. */
static int32_t run_length(const layer_plan *l, int32_t at, int32_t step) {
  int32_t n = 1;
  while (at + n * step >= 0 && at + n * step < l->n && l->device[at + n * step] == l->device[at]) n++;
  return n;
}

/* The boundary before layer `at`: layer by layer from the fuller device to the other while that makes the fuller one
 * of the two less full; then back to the last place that is allowed. */
static bool move_boundary(evening *e, int32_t at, bool *moved) {
  const layer_plan *l = &e->layers;
  int32_t a = l->device[at - 1], b = l->device[at], n_moved = 0;
  int64_t in_a = held_bytes(e->problem, e->plan->where.device, a);
  int64_t in_b = held_bytes(e->problem, e->plan->where.device, b);
  bool back = in_a > in_b; /* the layers to move are before the boundary */
  int32_t from = back ? a : b, to = back ? b : a, first = back ? at - 1 : at, step = back ? -1 : 1;
  int64_t fuller = back ? in_a : in_b, other = back ? in_b : in_a;
  memcpy(e->trial, e->plan->where.device, (size_t)e->problem->n_operators * sizeof *e->trial);
  for (int32_t k = 0, n = run_length(l, first, step) - 1; k < n; k++) {
    move_layer(e, first + k * step, from, to);
    int64_t bytes = held_bytes(e->problem, e->trial, to) - other;
    if (other + bytes >= fuller) { /* no longer less full than the fuller one was */
      move_layer(e, first + k * step, to, from);
      break;
    }
    fuller -= bytes;
    other += bytes;
    n_moved++;
  }
  *moved = false;
  for (int32_t k = n_moved - 1; k >= 0 && !*moved && !budget_over(e->run->budget); k--) {
    if (!try_it(e, moved)) return false;
    if (!*moved) move_layer(e, first + k * step, to, from);
  }
  return true;
}

static bool are_alike(const situ_problem *p, int32_t a, int32_t b) {
  const situ_platform *machine = p->platform;
  return machine->class_of[a] == machine->class_of[b] &&
         machine->devices[a].memory_bytes == machine->devices[b].memory_bytes;
}

situ_status even_memory(handover_plan *plan, solve_run *run, double limit_ns) {
  const situ_problem *p = run->problem;
  evening e = {.run = run, .problem = p, .plan = plan, .limit_ns = limit_ns};
  if (p->graph->cache_tokens == 0 || plan->cost.n == 0) return SITU_STATUS_OK;
  situ_error why; /* a plan without such layers stays as it is */
  situ_status status = layer_plan_open(&e.layers, p, SITU_FORM_LAYERS, NULL, &why);
  bool ok = status != SITU_STATUS_NO_MEMORY;
  if (status == SITU_STATUS_OK)
    ok = ARENA_ARRAYS(e.layers.arena, ARRAY(e.trial, p->n_operators), ARRAY(e.order, p->n_operators));
  bool moved = ok && status == SITU_STATUS_OK;
  for (int32_t sweep = 0; moved && sweep < e.layers.n; sweep++) {
    moved = false;
    for (int32_t at = 1; ok && at < e.layers.n; at++) {
      bool here = false;
      const int32_t *device = e.layers.device;
      if (layer_plan_take(&e.layers, p, plan->where.device, NULL, &why) != SITU_STATUS_OK) break;
      if (device[at - 1] != device[at] && are_alike(p, device[at - 1], device[at])) ok = move_boundary(&e, at, &here);
      moved |= here;
    }
  }
  layer_plan_free(&e.layers);
  return ok ? SITU_STATUS_OK : fail_no_memory(run->error);
}
