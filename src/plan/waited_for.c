/* The critical path of a stream plan, found from its end. */
#include <stdlib.h>

#include "plan/waited_for.h"

#include "base/compare.h"

typedef struct path_walk {
  const situ_problem *problem;
  const situ_plan *plan;
  int32_t *device_before; /* [operator] the one before it on its device, or -1 */
  int32_t *link_before;   /* [transfer] the one before it on its channel, or -1 */
  int32_t *sorted;        /* transfers by tensor and memory that they are bound for, then by time */
  int32_t *place;         /* [transfer] its place there */
  situ_path_step *ended;  /* what takes time, by ends; none with overlap full */
  int32_t n_ended;
} path_walk;

typedef struct sort_key {
  int64_t start_ns;
  int32_t tensor, to_memory, transfer;
} sort_key;

COMPARATOR(by_way, sort_key, UP(tensor) UP(to_memory) UP(start_ns) UP(transfer))

COMPARATOR(by_finish, situ_path_step, UP(finish_ns) UP(op) UP(transfer))

static situ_path_step step_of_op(const path_walk *w, int32_t v) {
  return (situ_path_step){v, -1, w->plan->start_ns[v], w->plan->finish_ns[v]};
}

static situ_path_step step_of_transfer(const path_walk *w, int32_t i) {
  return (situ_path_step){-1, i, w->plan->transfers[i].start_ns, w->plan->transfers[i].finish_ns};
}

/* Lists what others may have to wait for where not everything overlaps: with overlap none all steps, else what keeps
 * hosts busy. */
static bool list_ended(path_walk *w, arena *a) {
  const situ_problem *p = w->problem;
  if (p->overlap == SITU_OVERLAP_FULL) return true;
  w->ended = ARENA_NEW(a, situ_path_step, p->n_operators + w->plan->n_transfers);
  if (!w->ended) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    bool may = p->overlap == SITU_OVERLAP_NONE || problem_is_host(p, w->plan->device[v]);
    if (may && w->plan->finish_ns[v] > w->plan->start_ns[v]) w->ended[w->n_ended++] = step_of_op(w, v);
  }
  for (int32_t i = 0; i < w->plan->n_transfers; i++)
    if (w->plan->transfers[i].finish_ns > w->plan->transfers[i].start_ns)
      w->ended[w->n_ended++] = step_of_transfer(w, i);
  if (w->n_ended > 0) qsort(w->ended, (size_t)w->n_ended, sizeof *w->ended, by_finish);
  return true;
}

static bool walk_start(path_walk *w, const situ_plan *plan, arena *a) {
  const situ_problem *p = plan->problem;
  int32_t n = plan->n_transfers, *last = ARENA_NEW(a, int32_t, p->n_devices + p->platform->n_channels);
  sort_key *keys = ARENA_NEW(a, sort_key, n);
  *w = (path_walk){.problem = p, .plan = plan};
  if (!last || !keys ||
      !ARENA_ARRAYS(a, ARRAY(w->device_before, p->n_operators), ARRAY(w->link_before, n), ARRAY(w->sorted, n),
                    ARRAY(w->place, n)))
    return false;
  int32_t *on_device = last, *on_channel = last + p->n_devices;
  for (int32_t k = 0; k < p->n_devices + p->platform->n_channels; k++) last[k] = -1;
  for (int32_t k = 0; k < p->n_operators; k++) {
    int32_t v = plan->order[k];
    w->device_before[v] = on_device[plan->device[v]];
    on_device[plan->device[v]] = v;
  }
  for (int32_t i = 0; i < n; i++) {
    const situ_transfer *hop = &plan->transfers[i];
    int32_t channel = p->platform->links[hop->link].channel;
    w->link_before[i] = p->contention == SITU_CONTENTION_LINK ? on_channel[channel] : -1;
    if (hop->finish_ns > hop->start_ns) on_channel[channel] = i; /* one without duration holds nothing up */
    keys[i] = (sort_key){hop->start_ns, hop->tensor, hop->to_memory, i};
  }
  if (n > 0) qsort(keys, (size_t)n, sizeof *keys, by_way);
  for (int32_t k = 0; k < n; k++) {
    w->sorted[k] = keys[k].transfer;
    w->place[keys[k].transfer] = k;
  }
  return list_ended(w, a);
}

/* The last hop of a tensor on its way to a memory, or -1. */
static int32_t last_hop(const path_walk *w, int32_t tensor, int32_t memory) {
  int32_t low = 0, high = w->plan->n_transfers;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    const situ_transfer *hop = &w->plan->transfers[w->sorted[middle]];
    bool before = hop->tensor != tensor ? hop->tensor < tensor : hop->to_memory <= memory;
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return -1;
  const situ_transfer *hop = &w->plan->transfers[w->sorted[low - 1]];
  return hop->tensor == tensor && hop->to_memory == memory ? w->sorted[low - 1] : -1;
}

/* Keeps the later of two that may have been waited for; the first one where they are equal. */
static void wait_for(situ_path_step *found, const situ_path_step *next, situ_path_step other) {
  bool none = found->op < 0 && found->transfer < 0;
  if (other.finish_ns <= next->start_ns && (none || other.finish_ns > found->finish_ns)) *found = other;
}

/* The first of what ended as the step began, if its data, device and channel were there before. */
static void wait_for_turn(const path_walk *w, situ_path_step *found, const situ_path_step *next) {
  int32_t low = 0, high = w->n_ended;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (w->ended[middle].finish_ns < next->start_ns)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < w->n_ended && w->ended[low].finish_ns == next->start_ns) wait_for(found, next, w->ended[low]);
}

/* What a step waited for: first its data, then its device or its channel, then its place in the sequence; nothing at
 * the beginning. */
static situ_path_step before(const path_walk *w, const situ_path_step *next) {
  const situ_graph *g = w->problem->graph;
  const int32_t *memory_of = w->problem->memory_of, *device = w->plan->device;
  situ_path_step found = {-1, -1, 0, 0};
  if (next->start_ns <= 0) return found;
  if (next->op >= 0) {
    int32_t v = next->op, memory = memory_of[device[v]];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]], hop = last_hop(w, g->in[i], memory);
      wait_for(&found, next, hop >= 0 ? step_of_transfer(w, hop) : step_of_op(w, u));
    }
    if (w->device_before[v] >= 0) wait_for(&found, next, step_of_op(w, w->device_before[v]));
    wait_for_turn(w, &found, next);
    return found;
  }
  const situ_transfer *hop = &w->plan->transfers[next->transfer];
  int32_t k = w->place[next->transfer], other = k > 0 ? w->sorted[k - 1] : -1;
  bool on_its_way = other >= 0 && w->plan->transfers[other].tensor == hop->tensor &&
                    w->plan->transfers[other].to_memory == hop->to_memory;
  wait_for(&found, next, on_its_way ? step_of_transfer(w, other) : step_of_op(w, g->producer[hop->tensor]));
  if (w->link_before[next->transfer] >= 0) wait_for(&found, next, step_of_transfer(w, w->link_before[next->transfer]));
  wait_for_turn(w, &found, next);
  return found;
}

static bool has_times(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  return p->execution == SITU_EXECUTION_STREAM && plan->order && plan->start_ns && plan->finish_ns;
}

bool path_find(path_steps *out, const situ_plan *plan, arena *a, arena *scratch) {
  const situ_problem *p = plan->problem;
  *out = (path_steps){0};
  if (!has_times(plan)) return true;
  path_walk w;
  if (!walk_start(&w, plan, scratch)) return false;
  int32_t last = 0, max = p->n_operators + plan->n_transfers, n = 0;
  for (int32_t v = 1; v < p->n_operators; v++)
    if (plan->finish_ns[v] > plan->finish_ns[last]) last = v;
  situ_path_step *steps = ARENA_NEW(scratch, situ_path_step, max), at = step_of_op(&w, last);
  if (!steps) return false;
  for (; n < max && (at.op >= 0 || at.transfer >= 0); at = before(&w, &at)) steps[n++] = at;
  out->step = ARENA_NEW(a, situ_path_step, n);
  if (!out->step) return false;
  for (int32_t k = 0; k < n; k++) out->step[k] = steps[n - 1 - k];
  out->n = n;
  return true;
}

static int32_t number_of(situ_path_step s) { return s.op >= 0 ? s.op : s.transfer >= 0 ? -2 - s.transfer : -1; }

bool path_find_waits(path_waits *out, const situ_plan *plan, arena *a, arena *scratch) {
  const situ_problem *p = plan->problem;
  *out = (path_waits){0};
  if (!has_times(plan)) return true;
  path_walk w;
  if (!walk_start(&w, plan, scratch) ||
      !ARENA_ARRAYS(a, ARRAY(out->of_op, p->n_operators), ARRAY(out->of_transfer, plan->n_transfers)))
    return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    situ_path_step at = step_of_op(&w, v);
    out->of_op[v] = number_of(before(&w, &at));
  }
  for (int32_t i = 0; i < plan->n_transfers; i++) {
    situ_path_step at = step_of_transfer(&w, i);
    out->of_transfer[i] = number_of(before(&w, &at));
  }
  return true;
}
