/* A chain of units, for streams: layers that follow one another, and memories too small for all of them.
 *
 * Take a chain of operators w_1, w_2, ..., each with a tensor for the next one. A run of it within one unit, from s to
 * t, is a segment: all operators of the unit that depend on s and that t depends on, these two included, run one after
 * the other on the unit's device between the start of s and the end of t. Segments follow one another, and between two
 * of them goes a tensor. So the latency is at least the sum over segments of these times on their devices, and of the
 * ways of the tensors between their memories. Where a segment lies between two of one unit, these two are on one device
 * and make one stop of the chain, the one between them a detour from it (experts, from their layer). With prices y >= 0
 * of a byte in each memory, whose weights are at most its capacity,
 *
 *     latency  >=  min over devices of stops of (times + ways + detours + y w of their units)
 *                  + sum over other units of min over d of y_m(d) w  -  sum over m of y_m cap_m.
 *
 * With overlap none the value is the sum of all operators and transfers, so units count with all their operators, those
 * off the chain too. The minimum is a dynamic program along the chain, O(stops * devices^2). The right side is concave
 * in y; prices move along its subgradient, what the plan of the program holds too much of each memory. Equal devices
 * have one price. docs/theory/bounds/unit_chain.md. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "bound/items.h"
#include "view/equal_devices.h"

enum { BYTE_BITS = 32, ROUNDS = 600 };
static const int64_t DEAREST = (int64_t)1 << 52;
static const double WORK_LIMIT = 3e8;

typedef struct stop {
  int32_t unit, before, first, last, next; /* chain operators; before: -1 at the start; next: after a detour */
  int32_t inside;                          /* the stop from which this is a detour, or -1; a lower number */
  bool counts;                             /* the first of its unit: it pays for the weights */
  const int64_t *way_in, *way_out;         /* [kind of route] of the tensor before it, and behind a detour */
} stop;

typedef struct chaining {
  const situ_problem *problem;
  arena *arena;
  equal_devices equal;
  bool sums;               /* the value is the sum of all operators */
  int32_t n_chain, *chain; /* operators */
  int32_t n, *from;        /* stops; [stop * devices + device] the device before it, or of the detour from there */
  stop *stops;
  int64_t *time_ns; /* [stop * devices + device] SITU_NEVER_NS where it cannot be */
  items all;        /* units, their times and weights */
  bool *on_chain;   /* [unit] */
  int32_t *type_of; /* [memory] of the first device that has it, for prices */
  double *price;    /* [type] ns a byte */
  int64_t *byte;    /* [memory] the same, of 2^-32 ns */
  double *held;     /* [memory] what the program's plan holds */
  __int128 *cost;   /* [stop * devices + device] -1 where it cannot be */
  int32_t *at;      /* [stop] its device in the program's plan */
  int64_t best_ns, *best_byte;
} chaining;

static int64_t least_time(const situ_problem *p, int32_t v) {
  int64_t least = SITU_NEVER_NS;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (problem_allows(p, v, d)) least = min64(least, problem_time_ns(p, v, d));
  return least;
}

/* The longest chain where each operator takes its least time. */
static bool find_chain(chaining *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int64_t *end = ARENA_NEW(s->arena, int64_t, p->n_operators);
  int32_t *before = ARENA_NEW(s->arena, int32_t, p->n_operators), last = 0;
  s->chain = ARENA_NEW(s->arena, int32_t, p->n_operators);
  if (!end || !before || !s->chain) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t start = 0;
    before[v] = -1;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (before[v] >= 0 && end[u] <= start) continue;
      start = end[u];
      before[v] = u;
    }
    end[v] = sat_add(start, least_time(p, v));
    if (end[v] > end[last]) last = v;
  }
  for (int32_t v = last; v >= 0; v = before[v]) s->n_chain++;
  for (int32_t v = last, i = s->n_chain; v >= 0; v = before[v]) s->chain[--i] = v;
  return true;
}

/* Time of a unit on a device; SITU_NEVER_NS where it may not be. */
static int64_t unit_time(const chaining *s, int32_t u, int32_t d) {
  int32_t k = s->all.column_of[d];
  return k < 0 ? SITU_NEVER_NS : s->all.time_ns[(int64_t)u * s->all.n_columns + k];
}

/* Marks what lies between s and t by 3. Operators are numbered so that only those between can. */
static void mark_between(uint8_t *reached, const situ_graph *g, int32_t first, int32_t last) {
  memset(reached + first, 0, (size_t)(last - first + 1));
  reached[first] = 1;
  for (int32_t v = first + 1; v <= last; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (u >= first && reached[u]) reached[v] = 1;
    }
  reached[last] |= 2;
  for (int32_t v = last; v >= first; v--)
    for (int64_t i = g->in_start[v]; reached[v] & 2 && i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (u >= first) reached[u] |= 2;
    }
}

/* Adds a segment to the times of stop k. */
static void time_segment(chaining *s, int32_t k, int32_t first, int32_t last, uint8_t *reached) {
  const situ_problem *p = s->problem;
  const stop *x = &s->stops[k];
  bool starts = x->first == first;
  unit_members of = unit_list_members(&p->units, x->unit);
  if (!s->sums) mark_between(reached, p->graph, first, last);
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t *sum = &s->time_ns[(int64_t)k * p->n_devices + d], whole = unit_time(s, x->unit, d);
    if (starts) *sum = whole == SITU_NEVER_NS ? whole : 0;
    if (s->sums && starts && x->counts) *sum = whole;
    for (int32_t i = 0; i < of.n && !s->sums && *sum != SITU_NEVER_NS; i++) {
      int32_t v = of.member[i];
      if (v >= first && v <= last && reached[v] == 3) *sum = sat_add(*sum, problem_time_ns(p, v, d));
    }
  }
}

/* The way by kind of route of what operator u makes for operator w; NULL without memory. */
static const int64_t *way_of(const chaining *s, int32_t u, int32_t w) {
  const situ_graph *g = s->problem->graph;
  int32_t n_kinds = s->problem->costs->n_kinds;
  const int64_t *only = NULL;
  int64_t *most = NULL;
  for (int64_t i = g->in_start[w]; i < g->in_start[w + 1]; i++) {
    const int64_t *row = s->problem->transfer_ns[g->in[i]];
    if (g->producer[g->in[i]] != u || row == only) continue;
    if (only && !most && !(most = ARENA_COPY(s->arena, only, int64_t, n_kinds))) return NULL;
    only = only ? only : row;
    for (int32_t k = 0; most && k < n_kinds; k++) most[k] = max64(most[k], row[k]);
  }
  return most ? most : only;
}

/* Stops of the chain: a segment between two of one unit becomes a detour. `open` is a stack of stops along the chain.
 */
static bool find_stops(chaining *s) {
  const situ_problem *p = s->problem;
  int32_t *open, depth = 0;
  uint8_t *reached;
  if (!ARENA_ARRAYS(
          s->arena, ZEROS(reached, p->n_operators), ZEROS(s->on_chain, p->units.n), ARRAY(s->stops, s->n_chain),
          ARRAY(open, s->n_chain), ARRAY(s->at, s->n_chain), ARRAY(s->time_ns, (int64_t)s->n_chain * p->n_devices),
          ARRAY(s->from, (int64_t)s->n_chain * p->n_devices), ARRAY(s->cost, (int64_t)s->n_chain * p->n_devices)))
    return false;
  for (int32_t i = 0, end; i < s->n_chain; i = end) {
    int32_t v = s->chain[i], u = p->units.of[v];
    for (end = i + 1; end < s->n_chain && p->units.of[s->chain[end]] == u;) end++;
    if (depth >= 2 && s->stops[open[depth - 2]].unit == u) {
      stop *detour = &s->stops[open[--depth]];
      detour->inside = open[depth - 1];
      detour->next = v;
      if (!(detour->way_out = way_of(s, detour->last, v))) return false;
    } else {
      stop *made = &s->stops[s->n];
      *made = (stop){.unit = u, .before = i > 0 ? s->chain[i - 1] : -1, .first = v, .inside = -1};
      made->counts = !s->on_chain[u];
      if (i > 0 && !(made->way_in = way_of(s, made->before, v))) return false;
      s->on_chain[u] = true;
      open[depth++] = s->n++;
    }
    int32_t k = open[depth - 1];
    s->stops[k].last = s->chain[end - 1];
    time_segment(s, k, v, s->chain[end - 1], reached);
  }
  return true;
}

static const int32_t *kinds_from(const situ_problem *p, int32_t d) {
  return p->costs->pair_kind + (int64_t)p->memory_of[d] * p->n_memories;
}

/* Adds the cheapest detour x to the costs of the stop around it. */
static void take_detour(chaining *s, int32_t x) {
  const situ_problem *p = s->problem;
  const stop *detour = &s->stops[x];
  const __int128 *there = s->cost + (int64_t)x * p->n_devices;
  __int128 *cost = s->cost + (int64_t)detour->inside * p->n_devices;
  for (int32_t d = 0; d < p->n_devices; d++) {
    __int128 least = -1;
    const int32_t *kinds = kinds_from(p, d);
    for (int32_t e = 0; cost[d] >= 0 && e < p->n_devices; e++) {
      if (there[e] < 0 || (least >= 0 && there[e] >= least)) continue;
      int64_t way = sat_add(detour->way_in[kinds[p->memory_of[e]]], detour->way_out[kinds_from(p, e)[p->memory_of[d]]]);
      __int128 sum = there[e] + ((__int128)way << BYTE_BITS);
      if (least >= 0 && sum >= least) continue;
      least = sum;
      s->from[(int64_t)x * p->n_devices + d] = e;
    }
    cost[d] = least < 0 ? -1 : cost[d] + least;
  }
}

/* Adds the cheapest way to stop k from stop `last` before it on the chain. */
static void take_way(chaining *s, int32_t k, int32_t last) {
  const situ_problem *p = s->problem;
  const __int128 *before = s->cost + (int64_t)last * p->n_devices;
  __int128 *cost = s->cost + (int64_t)k * p->n_devices;
  for (int32_t d = 0; d < p->n_devices; d++) {
    __int128 least = -1;
    for (int32_t e = 0; cost[d] >= 0 && e < p->n_devices; e++) {
      if (before[e] < 0 || (least >= 0 && before[e] >= least)) continue;
      int64_t way = s->stops[k].way_in[kinds_from(p, e)[p->memory_of[d]]];
      __int128 sum = before[e] + ((__int128)way << BYTE_BITS);
      if (least >= 0 && sum >= least) continue;
      least = sum;
      s->from[(int64_t)k * p->n_devices + d] = e;
    }
    cost[d] = least < 0 ? -1 : cost[d] + least;
  }
}

/* The dynamic program at the prices `byte`: detours first, then along the chain. Fills `at`; the least cost, or -1. */
static __int128 run_program(chaining *s) {
  const situ_problem *p = s->problem;
  int32_t n_devices = p->n_devices, last = -1;
  for (int32_t k = 0; k < s->n; k++)
    for (int32_t d = 0; d < n_devices; d++) {
      int64_t time = s->time_ns[(int64_t)k * n_devices + d];
      __int128 *cost = &s->cost[(int64_t)k * n_devices + d];
      *cost = time == SITU_NEVER_NS ? -1 : (__int128)time << BYTE_BITS;
      if (*cost >= 0 && s->stops[k].counts)
        *cost += (__int128)s->byte[p->memory_of[d]] * s->all.weight_bytes[s->stops[k].unit];
    }
  for (int32_t k = s->n - 1; k >= 0; k--)
    if (s->stops[k].inside >= 0) take_detour(s, k);
  for (int32_t k = 0; k < s->n; k++) {
    if (s->stops[k].inside >= 0) continue;
    if (last >= 0) take_way(s, k, last);
    s->at[k] = last;
    last = k;
  }
  const __int128 *end = s->cost + (int64_t)last * n_devices;
  int32_t best = -1;
  for (int32_t d = 0; d < n_devices; d++)
    if (end[d] >= 0 && (best < 0 || end[d] < end[best])) best = d;
  if (best < 0) return -1;
  __int128 least = end[best];
  for (int32_t k = last, d = best; k >= 0;) { /* `at` of stops along the chain held the stop before */
    int32_t before = s->at[k];
    s->at[k] = d;
    d = before >= 0 ? s->from[(int64_t)k * n_devices + d] : d;
    k = before;
  }
  for (int32_t k = 0; k < s->n; k++)
    if (s->stops[k].inside >= 0) s->at[k] = s->from[(int64_t)k * n_devices + s->at[s->stops[k].inside]];
  return least;
}

/* What a unit off the chain costs at least, where; -1: it can be nowhere. */
static __int128 cost_off_chain(const chaining *s, int32_t u, int32_t *where) {
  const situ_problem *p = s->problem;
  __int128 least = -1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t time = unit_time(s, u, d);
    if (time == SITU_NEVER_NS) continue;
    __int128 cost = (__int128)s->byte[p->memory_of[d]] * s->all.weight_bytes[u];
    if (s->sums) cost += (__int128)time << BYTE_BITS;
    if (least >= 0 && cost >= least) continue;
    least = cost;
    *where = d;
  }
  return least;
}

/* What the present prices prove; fills held. */
static int64_t evaluate(chaining *s) {
  const situ_problem *p = s->problem;
  __int128 sum = run_program(s);
  if (sum < 0) return 0;
  for (int32_t m = 0; m < p->n_memories; m++) s->held[m] = 0;
  for (int32_t k = 0; k < s->n; k++)
    if (s->stops[k].counts) s->held[p->memory_of[s->at[k]]] += (double)s->all.weight_bytes[s->stops[k].unit];
  for (int32_t u = 0; u < p->units.n; u++) {
    int32_t d = -1;
    if (s->on_chain[u] || (s->all.weight_bytes[u] == 0 && !s->sums)) continue;
    __int128 cost = cost_off_chain(s, u, &d);
    if (cost < 0) continue;
    sum += cost;
    s->held[p->memory_of[d]] += (double)s->all.weight_bytes[u];
  }
  for (int32_t m = 0; m < p->n_memories; m++)
    if (s->byte[m] > 0) sum -= (__int128)s->byte[m] * p->platform->memory_bytes[m];
  return sum <= 0 ? 0 : (int64_t)(sum >> BYTE_BITS);
}

static void keep(chaining *s) {
  const situ_problem *p = s->problem;
  for (int32_t m = 0; m < p->n_memories; m++) {
    double y = s->price[s->type_of[m]] * (double)((int64_t)1 << BYTE_BITS);
    bool limited = p->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES;
    s->byte[m] = !limited ? 0 : y < (double)DEAREST ? (int64_t)y : DEAREST;
  }
  int64_t lower_ns = evaluate(s);
  if (lower_ns <= s->best_ns) return;
  s->best_ns = lower_ns;
  memcpy(s->best_byte, s->byte, (size_t)p->n_memories * sizeof *s->byte);
}

/* By how many bytes the plan of the program exceeds the memories of a type; less than 0 where there is room. */
static double excess_of(const chaining *s, int32_t type) {
  double sum = 0;
  for (int32_t m = 0; m < s->problem->n_memories; m++)
    if (s->type_of[m] == type && s->problem->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES)
      sum += s->held[m] - (double)s->problem->platform->memory_bytes[m];
  return sum;
}

/* Subgradient steps that shrink, from no prices. The first length is such that a price may move what a unit takes from
 * the fastest device to the slowest. */
static void find_prices(chaining *s, budget *b) {
  double weights = 0, slowest = 0;
  const situ_problem *p = s->problem;
  for (int32_t u = 0; u < p->units.n; u++) weights += (double)s->all.weight_bytes[u];
  for (int32_t k = 0; k < s->n; k++) {
    int64_t most = 0;
    for (int32_t d = 0; d < p->n_devices; d++) {
      int64_t time = s->time_ns[(int64_t)k * p->n_devices + d];
      if (time != SITU_NEVER_NS) most = max64(most, time);
    }
    slowest += (double)most;
  }
  keep(s);
  double work = (double)s->n * p->n_devices * p->n_devices + p->units.n, step = weights > 0 ? slowest / weights : 0;
  for (int round = 0; round < ROUNDS && round * work < WORK_LIMIT && step > 0 && !budget_over(b); round++) {
    double norm = 0;
    for (int32_t k = 0; k < s->equal.n_types; k++) {
      double g = excess_of(s, k);
      if (g > 0 || s->price[k] > 0) norm += g * g;
    }
    if (norm <= 0) return;
    double length = step * pow(0.985, round) / sqrt(norm);
    for (int32_t k = 0; k < s->equal.n_types; k++) s->price[k] = fmax(0, s->price[k] + length * excess_of(s, k));
    keep(s);
  }
}

static bool certify(const chaining *s, certificate *proof) {
  certificate_start(proof, "unit_chain", s->best_ns);
  int64_t *chain = certificate_add_operators(proof, "chain", s->n_chain, s->arena);
  int64_t *byte = certificate_add(proof, "byte_prices", s->problem->n_memories, s->arena);
  if (!chain || !byte) return false;
  for (int32_t i = 0; i < s->n_chain; i++) chain[i] = s->chain[i];
  memcpy(byte, s->best_byte, (size_t)s->problem->n_memories * sizeof *byte);
  return true;
}

static situ_status unit_chain_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                      budget *b, situ_error *error) {
  *lower_ns = 0;
  double work = (double)p->n_operators * p->n_devices * p->n_devices;
  if (p->objective != SITU_OBJECTIVE_LATENCY || p->n_copies > 1 || work > WORK_LIMIT) return SITU_STATUS_OK;
  chaining s = {.problem = p, .arena = scratch, .sums = p->overlap == SITU_OVERLAP_NONE};
  s.best_byte = ARENA_ZERO(scratch, int64_t, p->n_memories);
  s.price = ARENA_ZERO(scratch, double, p->n_devices);
  TRY(items_list(&s.all, p, scratch, error));
  if (!s.best_byte || !s.price ||
      !ARENA_ARRAYS(scratch, ARRAY(s.type_of, p->n_memories), ARRAY(s.byte, p->n_memories),
                    ARRAY(s.held, p->n_memories)) ||
      !equal_devices_find(&s.equal, p, EQUAL_LINKED, scratch) || !find_chain(&s) || !find_stops(&s))
    return fail_no_memory(error);
  for (int32_t d = p->n_devices - 1; d >= 0; d--) s.type_of[p->memory_of[d]] = s.equal.type_of[d];
  find_prices(&s, b);
  *lower_ns = s.best_ns;
  return s.best_ns == 0 || certify(&s, proof) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound unit_chain_bound = {
    .name = "unit_chain",
    .title = "units along a chain, one after the other, with prices of memory",
    .source = "",
    .models = MODEL_STREAM,
    .compute = unit_chain_compute,
};
