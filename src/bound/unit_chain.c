/* A chain of units, for streams: layers that follow one another, and memories too small for all of them.
 *
 * Take a chain of operators w_1, w_2, ..., each with a tensor for the next one. A run of it within one unit, from s to
 * t, is a segment: all operators of the unit that depend on s and that t depends on, these two included, run one after
 * the other on the unit's device between the start of s and the end of t. Segments follow one another, and between two
 * of them goes a tensor. So the latency is at least the sum over segments of these times on their devices, and of the
 * ways of the tensors between their memories. With prices y >= 0 of a byte in each memory, whose weights are at most
 * its capacity,
 *
 *     latency  >=  min over devices of segments of (times + ways + y w of their units)
 *                  + sum over other units of min over d of y_m(d) w  -  sum over m of y_m cap_m.
 *
 * The minimum is a dynamic program along the chain, O(segments * devices^2). The right side is concave in y; prices
 * move along its subgradient, what the plan of the program holds too much of each memory. Equal devices have one price.
 * docs/theory/bounds/unit_chain.md. */
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

typedef struct segment {
  int32_t first, last, unit; /* operators s and t */
  bool counts;               /* the first of its unit: it pays for the weights */
} segment;

typedef struct chaining {
  const situ_problem *problem;
  arena *arena;
  equal_devices equal;
  int32_t n_chain, *chain; /* operators */
  int32_t n, *from;        /* segments; [segment * devices + device] the device before it */
  segment *segments;
  int64_t *time_ns; /* [segment * devices + device] SITU_NEVER_NS where it cannot be */
  items all;        /* units and their weights */
  bool *on_chain;   /* [unit] */
  int32_t *type_of; /* [memory] of the first device that has it, for prices */
  double *price;    /* [type] ns a byte */
  int64_t *byte;    /* [memory] the same, of 2^-32 ns */
  double *held;     /* [memory] what the program's plan holds */
  __int128 *now, *before;
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

/* Times of a segment: of what lies between its ends. Operators are numbered so that only those between can. */
static void time_segment(chaining *s, int32_t k, uint8_t *reached) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  const segment *x = &s->segments[k];
  memset(reached + x->first, 0, (size_t)(x->last - x->first + 1));
  reached[x->first] = 1;
  for (int32_t v = x->first + 1; v <= x->last; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (u >= x->first && reached[u]) reached[v] = 1;
    }
  reached[x->last] |= 2;
  for (int32_t v = x->last; v >= x->first; v--)
    for (int64_t i = g->in_start[v]; reached[v] & 2 && i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (u >= x->first) reached[u] |= 2;
    }
  unit_members of = unit_list_members(&p->units, x->unit);
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t sum = problem_allows_all(p, of, d) ? 0 : SITU_NEVER_NS;
    for (int32_t i = 0; i < of.n && sum != SITU_NEVER_NS; i++) {
      int32_t v = of.member[i];
      if (v >= x->first && v <= x->last && reached[v] == 3) sum = sat_add(sum, problem_time_ns(p, v, d));
    }
    s->time_ns[(int64_t)k * p->n_devices + d] = sum;
  }
}

static bool find_segments(chaining *s) {
  const situ_problem *p = s->problem;
  uint8_t *reached = ARENA_ZERO(s->arena, uint8_t, p->n_operators);
  s->on_chain = ARENA_ZERO(s->arena, bool, p->units.n);
  s->segments = ARENA_NEW(s->arena, segment, s->n_chain);
  if (!reached || !s->on_chain || !s->segments) return false;
  for (int32_t i = 0; i < s->n_chain; i++) {
    int32_t v = s->chain[i], u = p->units.of[v];
    if (s->n > 0 && s->segments[s->n - 1].unit == u) {
      s->segments[s->n - 1].last = v;
      continue;
    }
    s->segments[s->n++] = (segment){v, v, u, !s->on_chain[u]};
    s->on_chain[u] = true;
  }
  s->time_ns = ARENA_NEW(s->arena, int64_t, (int64_t)s->n * p->n_devices);
  s->from = ARENA_NEW(s->arena, int32_t, (int64_t)s->n * p->n_devices);
  for (int32_t k = 0; s->time_ns && s->from && k < s->n; k++) time_segment(s, k, reached);
  return s->time_ns && s->from;
}

/* The way of what operator u makes for operator w between two devices. */
static int64_t way_ns(const situ_problem *p, int32_t u, int32_t w, int32_t a, int32_t b) {
  const situ_graph *g = p->graph;
  int64_t most = 0;
  for (int64_t i = g->in_start[w]; i < g->in_start[w + 1]; i++)
    if (g->producer[g->in[i]] == u) most = max64(most, problem_transfer_ns(p, g->in[i], a, b));
  return most;
}

/* The dynamic program at the prices `byte`; infinite costs are -1. Returns the device of the last segment. */
static int32_t run_program(chaining *s) {
  const situ_problem *p = s->problem;
  int32_t n_devices = p->n_devices, best = -1;
  for (int32_t k = 0; k < s->n; k++) {
    const segment *x = &s->segments[k];
    for (int32_t d = 0; d < n_devices; d++) {
      int64_t time = s->time_ns[(int64_t)k * n_devices + d];
      s->now[d] = -1;
      if (time == SITU_NEVER_NS) continue;
      __int128 least = k == 0 ? 0 : -1;
      for (int32_t e = 0; k > 0 && e < n_devices; e++) {
        if (s->before[e] < 0) continue;
        __int128 cost = s->before[e] + ((__int128)way_ns(p, x[-1].last, x->first, e, d) << BYTE_BITS);
        if (least >= 0 && cost >= least) continue;
        least = cost;
        s->from[(int64_t)k * n_devices + d] = e;
      }
      if (least < 0) continue;
      s->now[d] = least + ((__int128)time << BYTE_BITS);
      if (x->counts) s->now[d] += (__int128)s->byte[p->memory_of[d]] * s->all.weight_bytes[x->unit];
    }
    memcpy(s->before, s->now, (size_t)n_devices * sizeof *s->now);
  }
  for (int32_t d = 0; d < n_devices; d++)
    if (s->before[d] >= 0 && (best < 0 || s->before[d] < s->before[best])) best = d;
  return best;
}

/* Where a unit off the chain is cheapest to hold, or -1. */
static int32_t cheapest_device(const chaining *s, int32_t u) {
  const situ_problem *p = s->problem;
  int32_t best = -1;
  for (int32_t d = 0; d < p->n_devices; d++)
    if ((best < 0 || s->byte[p->memory_of[d]] < s->byte[p->memory_of[best]]) &&
        problem_allows_all(p, unit_list_members(&p->units, u), d))
      best = d;
  return best;
}

/* What the present prices prove; fills held. */
static int64_t evaluate(chaining *s) {
  const situ_problem *p = s->problem;
  int32_t at = run_program(s);
  if (at < 0) return 0;
  __int128 sum = s->before[at];
  for (int32_t m = 0; m < p->n_memories; m++) s->held[m] = 0;
  for (int32_t k = s->n - 1; k >= 0; k--) {
    if (s->segments[k].counts) s->held[p->memory_of[at]] += (double)s->all.weight_bytes[s->segments[k].unit];
    at = s->from[(int64_t)k * p->n_devices + at];
  }
  for (int32_t u = 0; u < p->units.n; u++) {
    int32_t d = s->on_chain[u] || s->all.weight_bytes[u] == 0 ? -1 : cheapest_device(s, u);
    if (d < 0) continue;
    sum += (__int128)s->byte[p->memory_of[d]] * s->all.weight_bytes[u];
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
  chaining s = {.problem = p, .arena = scratch};
  s.best_byte = ARENA_ZERO(scratch, int64_t, p->n_memories);
  s.price = ARENA_ZERO(scratch, double, p->n_devices);
  TRY(items_list(&s.all, p, scratch, error));
  if (!s.best_byte || !s.price ||
      !ARENA_ARRAYS(scratch, ARRAY(s.type_of, p->n_memories), ARRAY(s.byte, p->n_memories),
                    ARRAY(s.held, p->n_memories), ARRAY(s.now, p->n_devices), ARRAY(s.before, p->n_devices)) ||
      !equal_devices_find(&s.equal, p, EQUAL_LINKED, scratch) || !find_chain(&s) || !find_segments(&s))
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
