#include "solve/pipeline/cooling.h"

#include <math.h>
#include <string.h>

#include "base/contracts.h"

enum { EXCHANGES = 2, EXCHANGED = 8 }; /* tries of an exchange; sixteenths of the rejected moves that get them */
static const double PAID_SLOPE = 0.5;  /* of devices that pay for tensors */
static const double MAX_RISE = 20;     /* in temperatures: a move that adds more would be accepted once in 5e8 times */
static const double LOOK_AHEAD = 2;    /* of the target, in temperatures below the goal */
static const double ANY_EXCESS = 0.01, MEMORY_EXCESS = 4; /* energy of any excess; added for one of a memory's size */

bool cooling_init(cooling *c, const hypergraph *h, arena *a) {
  if (!ARENA_ARRAYS(a, ARRAY(c->slope, h->n_devices), ARRAY(c->energy, h->n_devices), ZEROS(c->best, h->n_units)) ||
      !partition_init(&c->now, h, a))
    return false;
  for (int32_t d = 0; d < h->n_devices; d++) c->slope[d] = problem_is_host(h->problem, d) ? 0 : PAID_SLOPE;
  return true;
}

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
  return energy + c->goal_ns * (ANY_EXCESS + MEMORY_EXCESS * (double)excess / room);
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

/* The maximum rise of the energy that is accepted (Metropolis), drawn for each move. */
static inline double draw_threshold(cooling *c) { return -c->temperature_ns * log(1 - rng_unit(c->random)); }

static inline bool accepts(cooling *c, double more) {
  if (more <= 0) return true;
  return more < MAX_RISE * c->temperature_ns && more < draw_threshold(c);
}

/* ---- moves ---- */

/* A unit that shares a tensor with this one, possibly itself; -1 if it has no tensor. */
static inline int32_t draw_neighbour(cooling *c, int32_t unit) {
  const hypergraph *h = c->now.h;
  int32_t first = h->touch_start[unit], n = h->touch_start[unit + 1] - first;
  if (n == 0) return -1;
  int32_t e = h->touch[first + rng_below(c->random, n)].edge;
  return h->pin[h->pin_start[e] + rng_below(c->random, h->pin_start[e + 1] - h->pin_start[e])];
}

/* A device for a unit: mostly that of a neighbour. */
static inline int32_t draw_device(cooling *c, int32_t unit) {
  int32_t from = c->now.device[unit];
  if (rng_below(c->random, 4) != 0) {
    int32_t w = draw_neighbour(c, unit);
    if (w >= 0 && c->now.device[w] != from) return c->now.device[w];
  }
  return (int32_t)rng_below(c->random, c->now.h->n_devices);
}

/* Makes a move that was rejected alone, if moving another unit back makes it acceptable. */
static bool exchange(cooling *c, const priced_move *there) {
  priced_move undo = partition_inverse(&c->now, c->energy, there), back;
  partition_make(&c->now, c->energy, there);
  for (int32_t k = 0; k < EXCHANGES; k++) {
    int32_t other = partition_unit(&c->now, there->to, rng_below(c->random, partition_n_units(&c->now, there->to)));
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
  int32_t unit = (int32_t)rng_below(c->random, h->n_units), to = draw_device(c, unit);
  if (to == c->now.device[unit] || !partition_allows(h, unit, to)) return false;
  priced_move m;
  weigh(c, unit, to, &m);
  if (!accepts(c, m.more)) return rng_below(c->random, 16) < EXCHANGED && exchange(c, &m);
  partition_make(&c->now, c->energy, &m);
  return true;
}

static void set_temperature(cooling *c, double part) {
  c->temperature_ns = c->goal_ns * part;
  c->target_ns = c->goal_ns - LOOK_AHEAD * c->temperature_ns;
  for (int32_t d = 0; d < c->now.h->n_devices; d++) c->energy[d] = energy_of(c, d, &c->now.sums[d]);
}

void cooling_run(cooling *c, double hot, double cold, int64_t n_moves) {
  REQUIRE(hot > 0 && cold > 0 && n_moves >= 0);
  if (c->now.h->n_units == 0) return;
  for (int64_t done = 0; done < n_moves; done += MOVES_OF_A_STEP) {
    set_temperature(c, hot * pow(cold / hot, (double)done / (double)n_moves));
    for (int32_t k = 0; k < MOVES_OF_A_STEP; k++)
      if (try_move(c)) keep_best(c);
    if (budget_spend(c->budget, 1)) return;
  }
}
