#include "solve/pipeline/cooling.h"

#include <string.h>

#include "base/fail.h"

enum { EXCHANGES, EXCHANGED, SLOPE, MAX_RISE, LOOK_AHEAD, ANY_EXCESS, MEMORY_EXCESS, N_PARAMETERS };
static const solver_parameter COOLING_PARAMETERS[N_PARAMETERS] = {
    [EXCHANGES] = {"exchanges", 2, 0, 1000, "tries of an exchange"},
    [EXCHANGED] = {"exchanged", 8, 0, 16, "sixteenths of the rejected moves that get them"},
    [SLOPE] = {"slope", 0.5, 0, 10, "energy for a nanosecond below the target, of devices that pay for tensors"},
    [MAX_RISE] = {"max_rise", 20, 1, 1000,
                  "in temperatures: what adds more is not drawn for (once in 5e8 times at 20)"},
    [LOOK_AHEAD] = {"look_ahead", 2, 0, 100, "how far the target is below the period to beat, in temperatures"},
    [ANY_EXCESS] = {"any_excess", 0.01, 0, 100, "energy of any excess of memory, in periods to beat"},
    [MEMORY_EXCESS] = {"memory_excess", 4, 0, 1000, "energy added for an excess of a memory's size"},
};

/* Keeps the current partition if it is the best that fits. */
static void keep_best(cooling *c) {
  const hypergraph *h = c->now.h;
  for (int32_t d = 0; d < h->n_devices; d++)
    if (partition_load(&c->now, &c->now.sums[d]) >= c->best_ns || partition_excess(&c->now, d, &c->now.sums[d]) > 0)
      return;
  c->best_ns = partition_period(&c->now);
  memcpy(c->best, c->now.device, (size_t)h->n_units * sizeof *c->best);
}

void cooling_start(cooling *c, const int32_t *device) {
  partition_set(&c->now, device);
  keep_best(c);
}

/* ---- energy ---- */

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

/* ---- moves ---- */

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
  c->target_ns = s->scale - s->set[LOOK_AHEAD] * s->temperature;
  for (int32_t d = 0; d < c->now.h->n_devices; d++) c->energy[d] = energy_of(c, d, &c->now.sums[d]);
  for (int32_t k = 0; k < SEARCH_SWEEP; k++)
    if (try_move(c)) keep_best(c);
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
    .parameters = COOLING_PARAMETERS,
    .n_parameters = N_PARAMETERS,
    .init = cooling_prepare,
    .sweep = cooling_sweep,
};

situ_status cooling_init(cooling *c, const hypergraph *h, solve_run *run, rng random, double scale) {
  *c = (cooling){.now = {.h = h}, .best_ns = SITU_NEVER_NS};
  TRY(search_init(&c->base, &COOLING, run, random));
  c->base.scale = scale;
  return SITU_STATUS_OK;
}
