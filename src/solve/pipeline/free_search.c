/* free_search: non-contiguous pipelines, as partitions of a hypergraph.
 *
 * A multilevel search, as in hypergraph partitioning (Karypis, Kumar, 1999), with annealing at each level and a small
 * pool of good partitions. One cycle merges units level by level (pipeline/coarsen.h), anneals the coarsest partition
 * at a high temperature, and projects it to finer and finer levels while it cools: merged units
 * cross barriers that single units cannot. A cycle starts either from a random partition, or from one member of the
 * pool or two of them; then it merges only units that are on one device in each of them, so that what they agree on is
 * kept. docs/theory/search.md has the details. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/search.h"
#include "solve/common/walks.h"
#include "solve/pipeline/coarsen.h"
#include "solve/pipeline/partition.h"

enum { POOL = 8, MAX_LEVELS = 24, FIXED_CYCLES = 4, MAX_CYCLES = 64 };

enum {
  HOT,
  WARM,
  COLD,
  COLD_UNIT,
  MAX_PART,
  MIN_UNITS,
  FIRST_EFFORT,
  LAST_EFFORT,
  FEW_UNITS,
  FEW_MEMBERS,
  EXCHANGES,
  EXCHANGED,
  SLOPE,
  MAX_RISE,
  LOOK_AHEAD,
  ANY_EXCESS,
  MEMORY_EXCESS,
  MANY_UNITS,
  TRIED_PART,
  TRIES,
  N_PARAMETERS
};
static const solver_parameter FREE_SEARCH_PARAMETERS[N_PARAMETERS] = {
    [HOT] = {"hot", 0.1, 1e-9, 10, "temperature at the coarsest level of a cycle from scratch, in best periods"},
    [WARM] = {"warm", 0.005, 1e-9, 10, "the same in a cycle around members of the pool"},
    [COLD] = {"cold", 0.0001, 1e-9, 10, "last temperature at the finest level"},
    [COLD_UNIT] = {"cold_unit", 0.1, 1e-9, 10, "it is at most this much of a unit of mean size"},
    [MAX_PART] = {"max_part", 0.5, 0, 10, "maximum time of a merged unit, in best periods"},
    [MIN_UNITS] = {"min_units", 30, 1, 1e6, "units of the coarsest level"},
    [FIRST_EFFORT] = {"first_effort", 25, 0.01, 1e6, "moves of a level for each unit and device, in the first cycle"},
    [LAST_EFFORT] = {"last_effort", 100, 0.01, 1e6, "the same in later cycles: each has twice as many as the last"},
    [FEW_UNITS] = {"few_units", 16384, 1, 1e9, "with more units each has fewer moves in the first cycle"},
    [FEW_MEMBERS] = {"few_members", 2, 1, POOL, "and the pool is full with so many members"},
    [EXCHANGES] = {"exchanges", 2, 0, 1000, "tries of an exchange"},
    [EXCHANGED] = {"exchanged", 8, 0, 16, "sixteenths of the rejected moves that get them"},
    [SLOPE] = {"slope", 0.5, 0, 10, "energy for a nanosecond below the target, of devices that pay for tensors"},
    [MAX_RISE] = {"max_rise", 20, 1, 1000, "in temperatures: above it no move is accepted (at 20 one in 5e8 would be)"},
    [LOOK_AHEAD] = {"look_ahead", 2, 0, 100, "how far the target is below the period to beat, in temperatures"},
    [ANY_EXCESS] = {"any_excess", 0.01, 0, 100, "energy of any excess of memory, in periods to beat"},
    [MEMORY_EXCESS] = {"memory_excess", 4, 0, 1000, "energy added for an excess of a memory's size"},
    [MANY_UNITS] = {"many_units", 4096, 1, 1e9, "with more units a cycle from scratch has several starts"},
    [TRIED_PART] = {"tried_part", 32, 1, 1e6, "on levels with at most such a part of the units"},
    [TRIES] = {"tries", 6, 1, 100, "so many"},
};

/* ---- annealing of a partition ---- */

/* The energy is a sum over devices: the excess of the load over a target, plus a small part of the load itself on
 * devices that pay for tensors, plus a penalty for missing memory. The target lies below the best known period, by an
 * amount that shrinks with the temperature: at high temperatures all nearly full devices count, at low ones only the
 * fullest. */
typedef struct cooling {
  search base; /* scale: the period to beat, in nanoseconds */
  partition now;
  int64_t best_ns; /* the minimum period of a partition that fits, so far; beaten in its turn */
  int32_t *best;   /* [unit] that partition, if there is one */
  double target_ns;
  double *slope;  /* [device] share of its load that counts below the target too */
  double *energy; /* [device] with its current units */
} cooling;

/* Keeps the current partition if it is the best that fits. */
static void keep_partition(cooling *c) {
  const hypergraph *h = c->now.h;
  for (int32_t d = 0; d < h->n_devices; d++)
    if (partition_load(&c->now, &c->now.sums[d]) >= c->best_ns || partition_excess(&c->now, d, &c->now.sums[d]) > 0)
      return;
  c->best_ns = partition_period(&c->now);
  memcpy(c->best, c->now.device, (size_t)h->n_units * sizeof *c->best);
}

static inline double over(const cooling *c, double load) { return load > c->target_ns ? load - c->target_ns : 0; }

/* Of a device whose load is the maximum of three sums. Each counts, since one that is below the maximum now limits how
 * far it can fall. Transfers count little where the link is idle, as much as work where it is full. */
static inline double energy_of_three(const cooling *c, int32_t d, const device_sums *sums) {
  double compute = (double)sums->compute_ns, in = (double)sums->in_ns, out = (double)sums->out_ns;
  double ways = (in * in + out * out) / (2 * c->target_ns);
  return c->slope[d] * (compute + ways) + over(c, compute) + over(c, in) + over(c, out);
}

static inline double energy_of_sum(const cooling *c, int32_t d, const device_sums *sums) {
  double load = (double)partition_load(&c->now, sums);
  return c->slope[d] * load + over(c, load);
}

static inline double energy_of(const cooling *c, int32_t d, const device_sums *sums) {
  double energy = c->now.h->overlaps ? energy_of_three(c, d, sums) : energy_of_sum(c, d, sums);
  int64_t excess = partition_excess(&c->now, d, sums);
  if (excess == 0) return energy;
  double room = (double)c->now.h->limit_bytes[d] + 1;
  return energy + c->base.scale * (c->base.set[ANY_EXCESS] + c->base.set[MEMORY_EXCESS] * (double)excess / room);
}

/* Prices are energies here. */
static inline void weigh(const cooling *c, int32_t unit, int32_t to, priced_move *m) {
  m->unit = unit;
  m->from = c->now.device[unit];
  m->to = to;
  partition_weigh(&c->now, unit, to, &m->change);
  m->from_price = energy_of(c, m->from, &m->change.from);
  m->to_price = energy_of(c, to, &m->change.to);
  m->more = m->from_price - c->energy[m->from] + m->to_price - c->energy[to];
}

static inline bool accepts(cooling *c, double rise) {
  search *s = &c->base;
  if (rise <= 0) return true;
  return rise < s->set[MAX_RISE] * s->temperature && rise < search_threshold(&s->random, s->temperature);
}

/* A unit that shares a tensor with this one, possibly itself; -1 if it has no tensor. */
static inline int32_t draw_neighbour(cooling *c, int32_t unit) {
  const hypergraph *h = c->now.h;
  int32_t first = h->touch_start[unit], n = h->touch_start[unit + 1] - first;
  if (n == 0) return -1;
  int32_t e = h->touch[first + rng_below(&c->base.random, n)].edge;
  return h->pin[h->pin_start[e] + rng_below(&c->base.random, h->pin_start[e + 1] - h->pin_start[e])];
}

/* A device for a unit: mostly that of a neighbour. */
static inline int32_t draw_device(cooling *c, int32_t unit) {
  int32_t from = c->now.device[unit];
  if (rng_below(&c->base.random, 4) != 0) {
    int32_t w = draw_neighbour(c, unit);
    if (w >= 0 && c->now.device[w] != from) return c->now.device[w];
  }
  return (int32_t)rng_below(&c->base.random, c->now.h->n_devices);
}

/* Makes a move that was rejected alone, if moving another unit back makes it acceptable. */
static bool exchange(cooling *c, const priced_move *there) {
  priced_move undo = partition_inverse(&c->now, c->energy, there), back;
  partition_make(&c->now, c->energy, there);
  for (int32_t k = 0; k < search_get(&c->base, EXCHANGES); k++) {
    int32_t other =
        partition_unit(&c->now, there->to, rng_below(&c->base.random, partition_n_units(&c->now, there->to)));
    if (other == there->unit || !partition_allows(c->now.h, other, there->from)) continue;
    weigh(c, other, there->from, &back);
    if (!accepts(c, there->more + back.more)) continue;
    partition_make(&c->now, c->energy, &back);
    return true;
  }
  partition_make(&c->now, c->energy, &undo);
  return false;
}

/* Tries one move. Returns whether the partition has changed. */
static bool try_move(cooling *c) {
  const hypergraph *h = c->now.h;
  int32_t unit = (int32_t)rng_below(&c->base.random, h->n_units), to = draw_device(c, unit);
  if (to == c->now.device[unit] || !partition_allows(h, unit, to)) return false;
  priced_move m;
  weigh(c, unit, to, &m);
  if (!accepts(c, m.more)) return rng_below(&c->base.random, 16) < search_get(&c->base, EXCHANGED) && exchange(c, &m);
  partition_make(&c->now, c->energy, &m);
  return true;
}

static void cooling_sweep(search *s) {
  cooling *c = (cooling *)s;
  c->target_ns = fmin(s->scale, (double)c->best_ns) - s->set[LOOK_AHEAD] * s->temperature;
  for (int32_t d = 0; d < c->now.h->n_devices; d++) c->energy[d] = energy_of(c, d, &c->now.sums[d]);
  for (int32_t k = 0; k < SEARCH_SWEEP; k++)
    if (try_move(c)) keep_partition(c);
  budget_spend(s->run->budget, 1);
}

static situ_status cooling_prepare(search *s) {
  cooling *c = (cooling *)s;
  const hypergraph *h = c->now.h;
  arena *a = s->run->arena;
  if (!ARENA_ARRAYS(a, ARRAY(c->slope, h->n_devices), ARRAY(c->energy, h->n_devices), ZEROS(c->best, h->n_units)) ||
      !partition_init(&c->now, h, a))
    return fail_no_memory(s->run->error);
  for (int32_t d = 0; d < h->n_devices; d++) c->slope[d] = problem_is_host(h->problem, d) ? 0 : s->set[SLOPE];
  s->ended = h->n_units == 0;
  return SITU_STATUS_OK;
}

static const search_row COOLING = {
    .size = sizeof(cooling),
    .rule = SEARCH_THRESHOLD,
    .parameters = FREE_SEARCH_PARAMETERS,
    .n_parameters = N_PARAMETERS,
    .init = cooling_prepare,
    .sweep = cooling_sweep,
};

/* A search of partitions of h, which has none yet, for a period below scale. */
static situ_status cooling_init(cooling *c, const hypergraph *h, solve_run *run, rng random, double scale) {
  *c = (cooling){.now = {.h = h}, .best_ns = SITU_NEVER_NS};
  TRY(search_init(&c->base, &COOLING, run, random));
  c->base.scale = scale;
  return SITU_STATUS_OK;
}

/* ---- cycles ---- */

typedef struct coarse_level {
  hypergraph h;
  int32_t *into;           /* [unit of the finer level] its unit here */
  int32_t *label, *device; /* [unit]; label may be NULL */
} coarse_level;

typedef struct member {
  int64_t value_ns;
  int32_t *device; /* [unit] */
} member;

/* The pool, and the cycles of a generation, which only read the pool. */
typedef struct free_search {
  solve_run *run;
  hypergraph whole;
  rng random;
  double set[N_PARAMETERS];
  member pool[POOL], *found; /* found[number]: the result of that cycle */
  int32_t n_pool, n_found;
  int64_t n_cycles, n_generations; /* before this one */
  double goal_ns;
} free_search;

/* One cycle. */
typedef struct cycle {
  solve_run *run;
  const free_search *all;
  rng random;
  coarse_level *levels;
  member *found;
  int32_t *label; /* [unit] */
  int32_t *operator_device;
  double effort;
} cycle;

static bool free_search_init(free_search *s) {
  arena *a = s->run->arena;
  for (int32_t i = 0; i < POOL; i++)
    if (!(s->pool[i].device = ARENA_NEW(a, int32_t, s->whole.n_units))) return false;
  s->n_found = walks_wanted(s->run, FIXED_CYCLES);
  if (s->n_found > MAX_CYCLES) s->n_found = MAX_CYCLES;
  s->found = ARENA_ZERO(a, member, s->n_found);
  for (int32_t i = 0; s->found && i < s->n_found; i++)
    if (!(s->found[i].device = ARENA_ZERO(a, int32_t, s->whole.n_units))) return false;
  return s->found;
}

/* ---- one cycle ---- */

static void draw_devices(cycle *s, const hypergraph *h, int32_t *device) {
  for (int32_t u = 0; u < h->n_units; u++) {
    device[u] = (int32_t)rng_below(&s->random, h->n_devices);
    for (int32_t k = 0; k < h->n_devices && !partition_allows(h, u, device[u]); k++)
      device[u] = (device[u] + 1) % h->n_devices;
  }
}

/* The next coarser level. *shrunk: whether it has at most 9/10 of the units; otherwise it is not used. False without
 * memory. */
static bool add_level(cycle *s, const coarse_level *fine, coarse_level *out, bool *shrunk) {
  arena *a = s->run->arena;
  int32_t n = fine->h.n_units;
  coarsen_rules rules = {.label = fine->label,
                         .n_wanted = (int32_t)max64(n / 2, (int64_t)s->all->set[MIN_UNITS]),
                         .max_time_ns = s->all->set[MAX_PART] * s->all->goal_ns};
  *out = (coarse_level){.into = ARENA_NEW(a, int32_t, n)};
  int32_t n_left = out->into ? coarsen_units(out->into, &fine->h, &rules, &s->random, a) : -1;
  *shrunk = n_left < n - n / 10;
  if (n_left < 0 || !hypergraph_merge(&out->h, &fine->h, out->into, n_left, a)) return false;
  out->device = ARENA_NEW(a, int32_t, n_left);
  if (fine->label) out->label = ARENA_NEW(a, int32_t, n_left);
  if (!out->device || (fine->label && !out->label)) return false;
  for (int32_t u = 0; u < n; u++) {
    out->device[out->into[u]] = fine->device[u];
    if (fine->label) out->label[out->into[u]] = fine->label[u];
  }
  return true;
}

/* Levels from fine to coarse; 0 without memory. `label` and `start` may be NULL. */
static int32_t make_levels(cycle *s, int32_t *label, const int32_t *start) {
  int32_t n_levels = 1, n = s->all->whole.n_units;
  coarse_level *finest = &s->levels[0];
  *finest = (coarse_level){.h = s->all->whole, .label = label, .device = ARENA_NEW(s->run->arena, int32_t, n)};
  if (!finest->device) return 0;
  if (start)
    memcpy(finest->device, start, (size_t)n * sizeof *start);
  else
    draw_devices(s, &s->all->whole, finest->device);
  for (bool shrunk = true; n_levels < MAX_LEVELS && s->levels[n_levels - 1].h.n_units > s->all->set[MIN_UNITS];) {
    if (!add_level(s, &s->levels[n_levels - 1], &s->levels[n_levels], &shrunk)) return 0;
    if (!shrunk) break;
    n_levels++;
  }
  if (!start) draw_devices(s, &s->levels[n_levels - 1].h, s->levels[n_levels - 1].device);
  return n_levels;
}

/* Keeps the best partition of the cycle, and offers it if it is better than the incumbent. */
static void keep(cycle *s, const coarse_level *l, const cooling *c) {
  if (c->best_ns >= s->found->value_ns) return;
  const situ_problem *p = s->run->problem;
  s->found->value_ns = c->best_ns;
  for (int32_t v = 0; v < p->n_operators; v++) {
    s->operator_device[v] = c->best[l->h.unit_of[v]];
    s->found->device[s->all->whole.unit_of[v]] = s->operator_device[v];
  }
  if (c->best_ns < s->run->incumbent->value_ns)
    s->found->value_ns = solve_offer(s->run, &(placement){.device = s->operator_device});
}

/* The temperatures of a cycle: that of level k begins at hot * part^(levels - 1 - k). */
typedef struct schedule {
  int32_t n_levels;
  double hot, part;
} schedule;

/* Anneals levels first .. last, the coarsest, first the latter. Each passes its best partition to the next, or its last
 * one if none fits. *value_ns: of the finest of these. */
static bool cool_levels(cycle *s, int32_t first, int32_t last, const schedule *by, int64_t *value_ns) {
  *value_ns = SITU_NEVER_NS;
  for (int32_t k = last; k >= first; k--) {
    coarse_level *l = &s->levels[k];
    arena_mark mark = arena_get_mark(s->run->arena);
    cooling c;
    double scale = fmin(s->all->goal_ns, (double)s->found->value_ns);
    if (cooling_init(&c, &l->h, s->run, s->random, scale) != SITU_STATUS_OK) return false;
    c.base.hot = by->hot * pow(by->part, by->n_levels - 1 - k);
    c.base.cold = c.base.hot * by->part;
    partition_set(&c.now, l->device);
    keep_partition(&c);
    search_cycle(&c.base, (int64_t)(s->effort * l->h.n_units * l->h.n_devices));
    s->random = c.base.random;
    keep(s, l, &c);
    const int32_t *device = c.best_ns < SITU_NEVER_NS ? c.best : c.now.device;
    for (int32_t u = 0; k > 0 && u < l[-1].h.n_units; u++) l[-1].device[u] = device[l->into[u]];
    *value_ns = c.best_ns;
    arena_release(s->run->arena, mark);
    if (solve_done(s->run)) break;
  }
  return true;
}

/* The coarsest level of those that are annealed once; n_levels if all are. The coarser ones take little, and decide
 * much: where the network is large, they are annealed several times from random partitions. */
static int32_t first_tried(const cycle *s, const schedule *by) {
  int32_t k = by->n_levels, n = s->all->whole.n_units;
  if (n <= s->all->set[MANY_UNITS]) return k;
  while (k > 1 && s->levels[k - 1].h.n_units <= n / s->all->set[TRIED_PART]) k--;
  return k;
}

/* Anneals levels first, ... from several random partitions, and leaves the best for the level before. */
static bool try_starts(cycle *s, int32_t first, const schedule *by) {
  coarse_level *coarsest = &s->levels[by->n_levels - 1], *next = &s->levels[first - 1];
  int64_t best_ns = SITU_NEVER_NS, value_ns;
  int32_t *best = ARENA_COPY(s->run->arena, next->device, int32_t, next->h.n_units);
  if (!best) return false;
  for (int32_t k = 0; k < s->all->set[TRIES] && (k == 0 || !solve_done(s->run)); k++) {
    if (k > 0) draw_devices(s, &coarsest->h, coarsest->device);
    if (!cool_levels(s, first, by->n_levels - 1, by, &value_ns)) return false;
    if (k > 0 && value_ns >= best_ns) continue;
    best_ns = value_ns;
    memcpy(best, next->device, (size_t)next->h.n_units * sizeof *best);
  }
  memcpy(next->device, best, (size_t)next->h.n_units * sizeof *best);
  return true;
}

static bool run_cycle(cycle *s, int32_t *label, const int32_t *start, double hot) {
  arena_mark mark = arena_get_mark(s->run->arena);
  s->found->value_ns = SITU_NEVER_NS;
  double unit = (double)s->all->whole.n_devices / fmax(1, s->all->whole.n_units);
  schedule by = {.n_levels = make_levels(s, label, start), .hot = hot};
  bool good = by.n_levels > 0;
  if (good) by.part = pow(fmin(s->all->set[COLD], s->all->set[COLD_UNIT] * unit) / hot, 1.0 / by.n_levels);
  int32_t first = good && !start ? first_tried(s, &by) : by.n_levels;
  int64_t value_ns;
  if (first < by.n_levels) good = try_starts(s, first, &by);
  if (good && (first == by.n_levels || !solve_done(s->run))) good = cool_levels(s, 0, first - 1, &by, &value_ns);
  arena_release(s->run->arena, mark);
  return good;
}

/* ---- the pool ---- */

/* Puts a partition into the pool: in place of one of equal value, else into a free place, else in place of the worst.
 */
static void join_pool(free_search *s, const member *found) {
  int32_t at = -1, worst = 0;
  if (found->value_ns == SITU_NEVER_NS) return;
  for (int32_t i = 0; i < s->n_pool; i++) {
    if (s->pool[i].value_ns == found->value_ns) at = i;
    if (s->pool[i].value_ns > s->pool[worst].value_ns) worst = i;
  }
  if (at < 0 && s->n_pool < POOL) at = s->n_pool++;
  if (at < 0 && found->value_ns < s->pool[worst].value_ns) at = worst;
  if (at < 0) return;
  s->pool[at].value_ns = found->value_ns;
  memcpy(s->pool[at].device, found->device, (size_t)s->whole.n_units * sizeof *found->device);
}

/* Tried moves for each unit and device in cycle n. */
static double effort_of(const free_search *s, int64_t n) {
  double first = s->set[FIRST_EFFORT] * fmin(1, s->set[FEW_UNITS] / fmax(1, s->whole.n_units));
  return n < 16 ? fmin(first * (double)(1 << n), s->set[LAST_EFFORT]) : s->set[LAST_EFFORT];
}

/* The place of a cycle in the sequence of rising efforts. Where time counts, those of a generation run side by side,
 * and take equally long: more threads try more, not later. */
static int64_t place_of(const free_search *s, int32_t number) {
  return s->run->budget->max_steps == INT64_MAX ? s->n_generations : s->n_cycles + number;
}

/* A cycle from a random partition, around one member, or around two. */
static situ_status one_cycle(solve_run *run, void *context, int32_t number) {
  const free_search *all = context;
  int32_t n = all->whole.n_units;
  cycle s = {.run = run,
             .all = all,
             .random = rng_new(run->seed),
             .found = &all->found[number],
             .effort = effort_of(all, place_of(all, number))};
  if (!ARENA_ARRAYS(run->arena, ARRAY(s.levels, MAX_LEVELS), ARRAY(s.label, n),
                    ARRAY(s.operator_device, run->problem->n_operators)))
    return fail_no_memory(run->error);
  int64_t kind = all->n_pool < (n > all->set[FEW_UNITS] ? all->set[FEW_MEMBERS] : POOL) ? 0 : rng_below(&s.random, 10);
  bool good;
  if (kind < 1) {
    good = run_cycle(&s, NULL, NULL, all->set[HOT]);
  } else {
    int32_t x = (int32_t)rng_below(&s.random, all->n_pool), y = (int32_t)rng_below(&s.random, all->n_pool);
    const member *one = &all->pool[x], *other = &all->pool[kind < 3 ? x : y];
    for (int32_t u = 0; u < n; u++) s.label[u] = one->device[u] * all->whole.n_devices + other->device[u];
    good = run_cycle(&s, s.label, one->value_ns <= other->value_ns ? one->device : other->device, all->set[WARM]);
  }
  solve_count(run, "free_search.cycles", 1);
  return good ? SITU_STATUS_OK : fail_no_memory(run->error);
}

/* As many parallel cycles as the remaining steps allow. Levels halve, so a cycle has about twice the moves of its
 * finest level. */
static int32_t generation_size(const free_search *s) {
  const budget *b = s->run->budget;
  if (b->max_steps == INT64_MAX) return s->n_found;
  double moves = 2 * effort_of(s, s->n_cycles + s->n_found) * s->whole.n_units * s->whole.n_devices;
  double paid = (double)budget_steps_left(b) * SEARCH_SWEEP / fmax(moves, 1);
  return paid >= s->n_found ? s->n_found : paid > 1 ? (int32_t)paid : 1;
}

static situ_status next_generation(free_search *s) {
  solve_run *run = s->run;
  int32_t n = generation_size(s), n_counted;
  bool known = run->incumbent->value_ns != SITU_NEVER_NS;
  s->goal_ns = (double)(known ? run->incumbent->value_ns : max64(run->incumbent->lower_bound_ns, 1));
  for (int32_t i = 0; i < n; i++) s->found[i].value_ns = SITU_NEVER_NS;
  TRY(walks_run(run, one_cycle, s, n, 1, &s->random, &n_counted));
  for (int32_t i = 0; i < n_counted; i++) join_pool(s, &s->found[i]);
  s->n_cycles += n;
  s->n_generations++;
  return SITU_STATUS_OK;
}

static situ_status free_search_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  if (p->n_operators == 0 || solve_done(run)) return SITU_STATUS_OK;
  free_search s = {.run = run, .random = rng_new(run->seed)};
  search_parameters_get(s.set, run, FREE_SEARCH_PARAMETERS, N_PARAMETERS);
  if (!hypergraph_find(&s.whole, p, true, run->arena)) return fail_no_memory(run->error);
  if (!hypergraph_fits(&s.whole)) return SITU_STATUS_OK;
  if (!free_search_init(&s)) return fail_no_memory(run->error);
  if (run->incumbent->best.device) {
    for (int32_t v = 0; v < p->n_operators; v++) s.found->device[s.whole.unit_of[v]] = run->incumbent->best.device[v];
    s.found->value_ns = run->incumbent->value_ns;
    join_pool(&s, s.found);
  }
  while (!solve_done(run)) TRY(next_generation(&s));
  return SITU_STATUS_OK;
}

static bool free_search_serves(const situ_problem *p) { return hypergraph_serves(p) || hypergraph_serves_links(p); }

const solver free_search_solver = {
    .name = "free_search",
    .title = "multilevel annealing of the hypergraph, for non-contiguous pipelines",
    .source = "Karypis, Kumar, DAC 1999; Kirkpatrick, Gelatt, Vecchi, 1983",
    .models = MODEL_PIPELINE,
    .anytime = true,
    .serves = free_search_serves,
    .starts = {{&single_solver, 1}, {&m_topo_solver, 1}, {&ideal_dp_solver, 0.5}},
    .solve = free_search_solve,
    .parameters = FREE_SEARCH_PARAMETERS,
    .n_parameters = N_PARAMETERS,
};
