#include "solve/baselines/parts.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "solve/pipeline/orders.h"
#include "solve/stream/list.h"
#include "view/footprint.h"
#include "view/nets.h"

/* ---- the graph ---- */

static bool class_allows(const parts *g, int32_t c, int32_t d) {
  return problem_allows_all(g->run->problem, contraction_members(&g->classes, c), d);
}

/* Time of a class on a device; 0 where it cannot run. Pins are ignored. */
static int64_t class_time_ns(const parts *g, int32_t c, int32_t d) {
  int64_t sum = 0;
  for (int32_t i = g->classes.member_start[c]; i < g->classes.member_start[c + 1]; i++)
    sum = sat_add(sum, problem_time_ns(g->run->problem, g->classes.member[i], d));
  return sum == SITU_NEVER_NS ? 0 : sum;
}

static bool choose_devices(parts *g, arena *a) {
  const situ_problem *p = g->run->problem;
  if (!ARENA_ARRAYS(a, ARRAY(g->device, p->n_devices), ARRAY(g->share, p->n_devices))) return false;
  for (int32_t hosts = 0; hosts < 2 && g->n_parts == 0; hosts++)
    for (int32_t d = 0; d < p->n_devices; d++)
      if (!p->unused[d] && (hosts || !problem_is_host(p, d))) g->device[g->n_parts++] = d;
  double speeds = 0;
  for (int32_t k = 0; k < g->n_parts; k++) {
    int64_t all_ns = 1;
    for (int32_t c = 0; c < g->classes.n_classes; c++) all_ns = sat_add(all_ns, class_time_ns(g, c, g->device[k]));
    g->share[k] = 1 / (double)all_ns;
    speeds += g->share[k];
  }
  for (int32_t k = 0; k < g->n_parts; k++) g->share[k] /= speeds;
  return true;
}

static bool weigh_classes(parts *g, arena *a) {
  const situ_problem *p = g->run->problem;
  if (!ARENA_ARRAYS(a, ZEROS(g->time_ns, g->classes.n_classes), ZEROS(g->bytes, g->classes.n_classes))) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t c = g->classes.class_of[v];
    g->bytes[c] = sat_add(g->bytes[c], footprint_held_bytes(p, v));
  }
  for (int32_t c = 0; c < g->classes.n_classes && g->n_parts > 0; c++)
    g->time_ns[c] = class_time_ns(g, c, g->device[0]);
  return true;
}

typedef struct arc {
  int32_t from, to;
  int64_t transfer_ns;
} arc;

COMPARATOR(by_ends, arc, UP(from) UP(to))

/* What tensor t costs between two parts: one of its two ways when staged through the host, else the way from the first
 * device to the next. */
static int64_t price_ns(const parts *g, int32_t t) {
  const situ_problem *p = g->run->problem;
  if (g->n_parts < 2) return 0;
  bool staged = p->execution == SITU_EXECUTION_PIPELINE && p->communication == SITU_COMMUNICATION_HOST_STAGED;
  return problem_transfer_ns(p, t, g->device[0], staged ? p->host : g->device[1]);
}

static bool join_classes(parts *g, arena *a) {
  const situ_graph *graph = g->run->problem->graph;
  int32_t n = g->classes.n_classes, *seen, *pins;
  int64_t n_arcs = 0, max = 2 * graph->n_uses;
  arc *arcs;
  if (!ARENA_ARRAYS(a, ZEROS(seen, n), ARRAY(pins, n), ARRAY(arcs, max), ZEROS(g->start, (int64_t)n + 1),
                    ARRAY(g->to, max), ARRAY(g->transfer_ns, max)))
    return false;
  for (int32_t t = 0; t < graph->n_tensors; t++) {
    int32_t n_pins = nets_pins(graph, t, g->classes.class_of, seen, pins);
    int64_t price = price_ns(g, t);
    for (int32_t i = 1; i < n_pins; i++) {
      arcs[n_arcs++] = (arc){pins[0], pins[i], price};
      arcs[n_arcs++] = (arc){pins[i], pins[0], price};
    }
  }
  if (n_arcs > 0) qsort(arcs, (size_t)n_arcs, sizeof *arcs, by_ends);
  for (int64_t i = 0; i < n_arcs; i++) {
    if (i > 0 && by_ends(&arcs[i], &arcs[i - 1]) == 0) {
      g->transfer_ns[g->n_edges - 1] = sat_add(g->transfer_ns[g->n_edges - 1], arcs[i].transfer_ns);
      continue;
    }
    g->to[g->n_edges] = arcs[i].to;
    g->transfer_ns[g->n_edges++] = arcs[i].transfer_ns;
    g->start[arcs[i].from + 1]++;
  }
  for (int32_t c = 0; c < n; c++) g->start[c + 1] += g->start[c];
  return true;
}

/* Whether devices must have an order that all edges follow. */
static bool is_contiguous(const situ_problem *p) { return p->execution == SITU_EXECUTION_PIPELINE && p->contiguous; }

bool parts_find(parts *g, solve_run *run) {
  *g = (parts){.run = run};
  if (!contract(&g->classes, run->problem, is_contiguous(run->problem), run->arena) || !choose_devices(g, run->arena) ||
      !weigh_classes(g, run->arena) || !join_classes(g, run->arena))
    return false;
  ENSURE(contracts_lists(g->start, g->classes.n_classes, g->n_edges));
  ENSURE(contracts_within(g->to, g->n_edges, 0, g->classes.n_classes) &&
         contracts_amounts(g->bytes, g->classes.n_classes));
  return true;
}

void parts_scale(int32_t *scaled, const int64_t *numbers, int64_t n) {
  REQUIRE(contracts_amounts(numbers, n));
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum = sat_add(sum, numbers[i]);
  int64_t unit = sum / ((int64_t)1 << 30) + 1;
  for (int64_t i = 0; i < n; i++) scaled[i] = (int32_t)max64(numbers[i] / unit, 1);
}

/* ---- the way back ---- */

typedef struct settling {
  const parts *g;
  int32_t *class_device;
  int64_t *load_ns;             /* [device] */
  int64_t *bytes, *footprint;   /* [memory] */
  int64_t *class_footprint;     /* [class] */
  int32_t *order;               /* topological, of the classes */
  int32_t *by_place, *place_of; /* devices in their order, and the inverse */
  int32_t *class_place, n_places;
  int32_t *device;
} settling;

static void clear(settling *s) {
  const situ_problem *p = s->g->run->problem;
  for (int32_t d = 0; d < p->n_devices; d++) s->load_ns[d] = 0;
  for (int32_t m = 0; m < p->n_memories; m++) s->bytes[m] = s->footprint[m] = 0;
}

/* Puts a class on a device if it may run there and fits. */
static bool take(settling *s, int32_t c, int32_t d) {
  const situ_problem *p = s->g->run->problem;
  int32_t m = p->memory_of[d];
  int64_t bytes = sat_add(s->bytes[m], s->g->bytes[c]), footprint = max64(s->footprint[m], s->class_footprint[c]);
  if (!class_allows(s->g, c, d) || sat_add(bytes, footprint) > p->platform->memory_bytes[m]) return false;
  s->bytes[m] = bytes;
  s->footprint[m] = footprint;
  s->load_ns[d] = sat_add(s->load_ns[d], class_time_ns(s->g, c, d));
  s->class_device[c] = d;
  return true;
}

static void offer(settling *s) {
  contraction_expand(&s->g->classes, s->class_device, s->device);
  solve_offer(s->g->run, &(placement){.device = s->device});
}

/* Puts a class on the least loaded device that can take it. */
static bool take_least_loaded(settling *s, int32_t c) {
  int32_t n = s->g->run->problem->n_devices, last = -1;
  for (int32_t tried = 0; tried < n; tried++) { /* devices by time, then by number */
    int32_t next = -1;
    for (int32_t d = 0; d < n; d++) {
      bool after = last < 0 || s->load_ns[d] > s->load_ns[last] || (s->load_ns[d] == s->load_ns[last] && d > last);
      if (after && (next < 0 || s->load_ns[d] < s->load_ns[next])) next = d;
    }
    if (take(s, c, next)) return true;
    last = next;
  }
  return false;
}

static void settle_free(settling *s, const int32_t *part) {
  int32_t n = s->g->classes.n_classes;
  clear(s);
  for (int32_t c = 0; c < n; c++)
    if (!take(s, c, s->g->device[part[c]])) s->class_device[c] = -1;
  for (int32_t c = 0; c < n; c++)
    if (s->class_device[c] < 0 && !take_least_loaded(s, c)) return;
  offer(s);
}

/* Orders the devices with a part by its mean position. The others follow. */
static bool order_devices(settling *s, const int32_t *part, bool backward, arena *a) {
  const parts *g = s->g;
  const situ_problem *p = g->run->problem;
  double *sum = ARENA_ZERO(a, double, p->n_devices), *weight = ARENA_ZERO(a, double, p->n_devices);
  if (!sum || !weight) return false;
  for (int32_t i = 0; i < g->classes.n_classes; i++) {
    int32_t c = s->order[i], d = g->device[part[c]];
    double w = 1 + (double)g->time_ns[c];
    sum[d] += w * i;
    weight[d] += w;
  }
  s->n_places = 0;
  for (int32_t spare = 0; spare < 3; spare++) /* parts, then accelerators, then hosts */
    for (int32_t d = 0; d < p->n_devices; d++) {
      if (spare != (weight[d] > 0 ? 0 : problem_is_host(p, d) ? 2 : 1)) continue;
      int32_t k = s->n_places++;
      double mean = spare ? 0 : sum[d] / weight[d];
      for (; !spare && k > 0 && sum[s->by_place[k - 1]] / weight[s->by_place[k - 1]] > mean; k--)
        s->by_place[k] = s->by_place[k - 1];
      s->by_place[k] = d;
    }
  int32_t n_used = 0;
  while (n_used < s->n_places && weight[s->by_place[n_used]] > 0) n_used++;
  for (int32_t i = 0, j = n_used - 1; backward && i < j; i++, j--) {
    int32_t swap = s->by_place[i];
    s->by_place[i] = s->by_place[j];
    s->by_place[j] = swap;
  }
  for (int32_t k = 0; k < s->n_places; k++) s->place_of[s->by_place[k]] = k;
  return true;
}

/* One pass over the classes, from the start or from the end. `before` are the edges of F against the direction. */
static void settle_in_order(settling *s, const int32_t *part, const constraint_graph *before, bool backward) {
  const parts *g = s->g;
  int32_t n = g->classes.n_classes;
  clear(s);
  for (int32_t i = 0; i < n; i++) {
    int32_t c = s->order[backward ? n - 1 - i : i], own = s->place_of[g->device[part[c]]], first = 0;
    for (int32_t k = before->start[c]; k < before->start[c + 1]; k++)
      if (s->class_place[before->to[k]] > first) first = s->class_place[before->to[k]];
    if (own < first) own = first;
    int32_t place = own;
    while (place < s->n_places && !take(s, c, s->by_place[place])) place++;
    if (place == s->n_places) {
      place = own - 1;
      while (place >= first && !take(s, c, s->by_place[place])) place--;
      if (place < first) return;
    }
    s->class_place[c] = place;
  }
  offer(s);
}

static bool settling_init(settling *s, const parts *g, order_maker *maker, arena *a) {
  const situ_problem *p = g->run->problem;
  int32_t n = g->classes.n_classes;
  *s = (settling){.g = g};
  if (!ARENA_ARRAYS(a, ARRAY(s->class_device, n), ARRAY(s->load_ns, p->n_devices), ARRAY(s->bytes, p->n_memories),
                    ARRAY(s->footprint, p->n_memories), ZEROS(s->class_footprint, n), ARRAY(s->order, n),
                    ARRAY(s->by_place, p->n_devices), ARRAY(s->place_of, p->n_devices), ARRAY(s->class_place, n),
                    ARRAY(s->device, p->n_operators)) ||
      !order_maker_init(maker, &g->classes.forward, a))
    return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t *max = &s->class_footprint[g->classes.class_of[v]];
    *max = max64(*max, footprint_running_bytes(p, v));
  }
  for (int32_t c = 0; c < n; c++) s->order[c] = c;
  if (is_contiguous(p)) order_make(maker, s->order, &(order_style){.backward = false}); /* else F may have cycles */
  return true;
}

/* Streams: the list scheduler keeps an operator on the device of its part, where that may run it and has room. */
static situ_status schedule_parts(const parts *g, const int32_t *part) {
  const situ_problem *p = g->run->problem;
  int32_t *device = ARENA_NEW(g->run->arena, int32_t, p->n_operators);
  if (!device) return fail_no_memory(g->run->error);
  for (int32_t v = 0; v < p->n_operators; v++) device[v] = g->device[part[g->classes.class_of[v]]];
  return list_by_rank(g->run, device);
}

static situ_status settle_parts(const parts *g, const int32_t *part) {
  arena *a = g->run->arena;
  order_maker maker;
  settling s;
  if (!settling_init(&s, g, &maker, a)) return fail_no_memory(g->run->error);
  if (!is_contiguous(g->run->problem)) {
    settle_free(&s, part);
    return SITU_STATUS_OK;
  }
  for (int32_t backward = 0; backward < 2; backward++) {
    if (!order_devices(&s, part, backward, a)) return fail_no_memory(g->run->error);
    settle_in_order(&s, part, backward ? maker.forward : &maker.backward, backward);
  }
  return SITU_STATUS_OK;
}

situ_status parts_offer(const parts *g, const int32_t *part) {
  REQUIRE(contracts_within(part, g->classes.n_classes, 0, g->n_parts));
  return g->run->problem->execution == SITU_EXECUTION_STREAM ? schedule_parts(g, part) : settle_parts(g, part);
}
