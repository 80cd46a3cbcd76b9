#include "bound/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "view/contract.h"
#include "view/equal_devices.h"

enum { HUB = 8, HUB_FIRST = 1 << 20, MOST_GROUPS = 40 };

typedef struct finder {
  const situ_problem *problem;
  contraction classes;
  equal_devices equal;
  bool *pays;    /* [type] for communication */
  int32_t *rank; /* [class of the contraction] its place in the sweep */
} finder;

/* The device that stands for all of a type. */
static int32_t type_device(const finder *f, int32_t type) { return f->equal.types[type].devices[0]; }

bool shares_serve(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_PIPELINE && p->communication == SITU_COMMUNICATION_HOST_STAGED && !p->overlap &&
         !p->replicate;
}

/* Another device in the memory of d gets its tensors for nothing; which those are depends on more than d holds. So
 * such devices count as if they paid for nothing, which EQUAL_LOADS knows. */
static bool find_types(shares *s, finder *f, arena *a) {
  const situ_problem *p = f->problem;
  if (!equal_devices_find(&f->equal, p, EQUAL_LOADS, a)) return false;
  s->n_types = f->equal.n_types;
  if (!ARENA_ARRAYS(a, ARRAY(s->n_devices, s->n_types), ARRAY(f->pays, s->n_types))) return false;
  for (int32_t t = 0; t < s->n_types; t++) {
    int32_t d = type_device(f, t);
    s->n_devices[t] = f->equal.types[t].n_devices;
    f->pays[t] = !problem_is_host(p, d) && !equal_devices_share_memory(p, d);
  }
  return true;
}

/* Distinct classes that a tensor joins, the producer's first; `seen` and `mark` tell them apart. */
static int32_t pins_of(const finder *f, int32_t t, int32_t *seen, int32_t mark, int32_t *pins) {
  const situ_graph *g = f->problem->graph;
  int32_t n = 0;
  pins[n++] = f->classes.class_of[g->producer[t]];
  seen[pins[0]] = mark;
  for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
    int32_t c = f->classes.class_of[g->use[k]];
    if (seen[c] == mark) continue;
    seen[c] = mark;
    pins[n++] = c;
  }
  return n;
}

static bool costs_something(const finder *f, int32_t n_types, int32_t t) {
  const situ_problem *p = f->problem;
  for (int32_t k = 0; k < n_types; k++) {
    int32_t d = type_device(f, k);
    if (f->pays[k] && (problem_transfer_ns(p, t, p->host, d) > 0 || problem_transfer_ns(p, t, d, p->host) > 0))
      return true;
  }
  return false;
}

/* The edges in the numbers of the contraction, the producer's class first. */
static bool list_edges(shares *s, int32_t *tensor, const finder *f, arena *a) {
  const situ_graph *g = f->problem->graph;
  int32_t *seen = ARENA_ZERO(a, int32_t, s->n);
  s->pin_start = ARENA_ZERO(a, int32_t, (int64_t)g->n_tensors + 1);
  s->pin = ARENA_NEW(a, int32_t, g->n_uses + g->n_tensors);
  if (!seen || !s->pin_start || !s->pin) return false;
  s->n_edges = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t at = s->pin_start[s->n_edges], n_pins = pins_of(f, t, seen, t + 1, s->pin + at);
    if (n_pins < 2 || !costs_something(f, s->n_types, t)) continue;
    tensor[s->n_edges++] = t;
    s->pin_start[s->n_edges] = at + n_pins;
  }
  return true;
}

static bool list_touches(shares *s, arena *a) {
  s->touch_start = ARENA_ZERO(a, int32_t, (int64_t)s->n + 2);
  s->touch = ARENA_NEW(a, int32_t, s->pin_start[s->n_edges]);
  if (!s->touch_start || !s->touch) return false;
  for (int32_t i = 0; i < s->pin_start[s->n_edges]; i++) s->touch_start[s->pin[i] + 2]++;
  for (int32_t c = 0; c < s->n; c++) s->touch_start[c + 2] += s->touch_start[c + 1];
  for (int32_t e = 0; e < s->n_edges; e++)
    for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) s->touch[s->touch_start[s->pin[i] + 1]++] = e;
  return true;
}

/* Puts the class next that leaves the fewest edges open, ties by number: O(n * pins). First, however, come the hubs,
 * the classes that touch so many edges or more. */
static bool order_classes(int32_t *rank, const shares *s, int32_t hub, arena *a) {
  int32_t *left = ARENA_NEW(a, int32_t, s->n_edges + 1), *change = ARENA_NEW(a, int32_t, s->n);
  if (!left || !change) return false;
  for (int32_t e = 0; e < s->n_edges; e++) left[e] = s->pin_start[e + 1] - s->pin_start[e];
  for (int32_t c = 0; c < s->n; c++) {
    rank[c] = -1;
    change[c] = s->touch_start[c + 1] - s->touch_start[c];
    if (change[c] >= hub) change[c] -= HUB_FIRST;
  }
  for (int32_t at = 0; at < s->n; at++) {
    int32_t best = -1;
    for (int32_t c = 0; c < s->n; c++)
      if (rank[c] < 0 && (best < 0 || change[c] < change[best])) best = c;
    rank[best] = at;
    for (int32_t i = s->touch_start[best]; i < s->touch_start[best + 1]; i++) {
      int32_t e = s->touch[i], first = s->pin_start[e], n_pins = s->pin_start[e + 1] - first;
      bool opens = left[e]-- == n_pins;
      if (!opens && left[e] != 1) continue;
      int32_t by = opens + (left[e] == 1); /* no longer opens it; would close it */
      for (int32_t k = first; k < first + n_pins; k++) change[s->pin[k]] -= by;
    }
  }
  return true;
}

/* How many states a sweep in this order has, roughly: edges of which the same pins have passed are in, out or parted
 * together, and each such group may be either. */
static bool weigh_order(double *states, const int32_t *rank, const shares *s, arena *a) {
  int32_t *class_at = ARENA_NEW(a, int32_t, s->n), *left = ARENA_NEW(a, int32_t, s->n_edges + 1);
  uint64_t *passed = ARENA_ZERO(a, uint64_t, s->n_edges + 1);
  int32_t *open = ARENA_NEW(a, int32_t, s->n_edges + 1), n_open = 0;
  uint64_t *seen = ARENA_NEW(a, uint64_t, s->n_edges + 1);
  if (!class_at || !left || !passed || !open || !seen) return false;
  *states = 0;
  for (int32_t c = 0; c < s->n; c++) class_at[rank[c]] = c;
  for (int32_t e = 0; e < s->n_edges; e++) left[e] = s->pin_start[e + 1] - s->pin_start[e];
  for (int32_t at = 0; at < s->n; at++) {
    int32_t c = class_at[at], kept = 0, groups = 0;
    for (int32_t i = s->touch_start[c]; i < s->touch_start[c + 1]; i++) {
      int32_t e = s->touch[i];
      if (passed[e] == 0) open[n_open++] = e;
      passed[e] += ((uint64_t)c + 1) * 0x9e3779b97f4a7c15u; /* a sum that names the pins */
      left[e]--;
    }
    for (int32_t i = 0; i < n_open; i++) {
      int32_t e = open[i], k = 0;
      if (left[e] == 0) continue;
      open[kept++] = e;
      while (k < groups && seen[k] != passed[e]) k++;
      if (k == groups) seen[groups++] = passed[e];
    }
    n_open = kept;
    *states += exp2(groups < MOST_GROUPS ? groups : MOST_GROUPS);
  }
  return true;
}

/* The better of two orders: by open edges alone, or hubs first, which helps where branches leave one class and meet in
 * another. */
static bool choose_order(const shares *s, finder *f, arena *a) {
  int32_t *other = ARENA_NEW(a, int32_t, s->n);
  double states, other_states;
  f->rank = ARENA_NEW(a, int32_t, s->n);
  if (!other || !f->rank || !order_classes(f->rank, s, INT32_MAX, a) || !order_classes(other, s, HUB, a) ||
      !weigh_order(&states, f->rank, s, a) || !weigh_order(&other_states, other, s, a))
    return false;
  if (other_states < states) f->rank = other;
  return true;
}

static int by_number(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static bool price_edges(shares *s, const int32_t *tensor, const finder *f, arena *a) {
  const situ_problem *p = f->problem;
  s->producer = ARENA_NEW(a, int32_t, s->n_edges);
  s->in_ns = ARENA_ZERO(a, int64_t, (int64_t)s->n_types * s->n_edges);
  s->out_ns = ARENA_ZERO(a, int64_t, (int64_t)s->n_types * s->n_edges);
  if (!s->producer || !s->in_ns || !s->out_ns) return false;
  for (int32_t i = 0; i < s->pin_start[s->n_edges]; i++) s->pin[i] = f->rank[s->pin[i]];
  for (int32_t e = 0; e < s->n_edges; e++) {
    int32_t *pins = s->pin + s->pin_start[e];
    s->producer[e] = pins[0];
    qsort(pins, (size_t)(s->pin_start[e + 1] - s->pin_start[e]), sizeof *pins, by_number);
    for (int32_t k = 0; k < s->n_types; k++) {
      if (!f->pays[k]) continue;
      s->in_ns[(int64_t)k * s->n_edges + e] = problem_transfer_ns(p, tensor[e], p->host, type_device(f, k));
      s->out_ns[(int64_t)k * s->n_edges + e] = problem_transfer_ns(p, tensor[e], type_device(f, k), p->host);
    }
  }
  return list_touches(s, a);
}

static bool sum_times(shares *s, const finder *f, arena *a) {
  const situ_problem *p = f->problem;
  s->time_ns = ARENA_ZERO(a, int64_t, (int64_t)s->n_types * s->n);
  if (!s->time_ns) return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    for (int32_t k = 0; k < s->n_types; k++) {
      int32_t d = type_device(f, k);
      int64_t *sum = &s->time_ns[(int64_t)k * s->n + f->rank[f->classes.class_of[v]]];
      *sum = problem_allows(p, v, d) ? sat_add(*sum, problem_time_ns(p, v, d)) : SITU_NEVER_NS;
    }
  return true;
}

bool shares_find(shares *s, const situ_problem *problem, arena *a) {
  *s = (shares){0};
  finder f = {.problem = problem};
  int32_t *tensor = ARENA_NEW(a, int32_t, problem->graph->n_tensors);
  if (!tensor || !contract(&f.classes, problem, false, a)) return false;
  s->n = f.classes.n_classes;
  return find_types(s, &f, a) && list_edges(s, tensor, &f, a) && list_touches(s, a) && choose_order(s, &f, a) &&
         price_edges(s, tensor, &f, a) && sum_times(s, &f, a);
}

bool shares_fit(const shares *s) {
  for (int32_t t = 0; t < s->n_types; t++) {
    int64_t sum = 0;
    for (int32_t c = 0; c < s->n; c++)
      if (s->time_ns[(int64_t)t * s->n + c] != SITU_NEVER_NS) sum = sat_add(sum, s->time_ns[(int64_t)t * s->n + c]);
    for (int32_t e = 0; e < s->n_edges; e++)
      sum = sat_add(sum, sat_add(s->in_ns[(int64_t)t * s->n_edges + e], s->out_ns[(int64_t)t * s->n_edges + e]));
    if (sum > INT64_MAX / 8) return false;
  }
  return true;
}
