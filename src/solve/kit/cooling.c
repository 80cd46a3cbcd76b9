#include "solve/kit/cooling.h"

#include <math.h>
#include <string.h>

static const double PAID_SLOPE = 0.3;                         /* of devices that pay for tensors */
static const double NO_ROOM = 0.01, WHOLE_MEMORY_TWICE = 4.0; /* energy of an excess: at all, and of a memory's size */

bool cooling_init(cooling *c, const hypergraph *h, arena *a) {
  c->slope = ARENA_NEW(a, double, h->n_devices);
  c->best = ARENA_ZERO(a, int32_t, h->n_units);
  if (!c->slope || !c->best || !partition_init(&c->now, h, a)) return false;
  for (int32_t d = 0; d < h->n_devices; d++) c->slope[d] = problem_is_host(h->problem, d) ? 0 : PAID_SLOPE;
  return true;
}

/* Takes note of a better partition. */
static void look(cooling *c) {
  const hypergraph *h = c->now.h;
  for (int32_t d = 0; d < h->n_devices; d++)
    if (partition_load(&c->now, &c->now.sums[d]) >= c->best_ns || partition_excess(&c->now, d, &c->now.sums[d]) > 0) return;
  c->best_ns = partition_period(&c->now);
  memcpy(c->best, c->now.device, (size_t)h->n_units * sizeof *c->best);
}

void cooling_start(cooling *c, const int32_t *device) {
  partition_set(&c->now, device);
  c->n_trail = 0;
  look(c);
}

/* ---- energy ---- */

static inline double energy_of(const cooling *c, int32_t d, const device_sums *sums) {
  double load = (double)partition_load(&c->now, sums), over = load - c->target_ns;
  double energy = c->slope[d] * load + (over > 0 ? over : 0);
  int64_t excess = partition_excess(&c->now, d, sums);
  if (excess == 0) return energy;
  double room = (double)c->now.h->limit_bytes[d] + 1;
  return energy + c->goal_ns * (NO_ROOM + WHOLE_MEMORY_TWICE * (double)excess / room);
}

/* Weighs a move: how much more energy there is after it. */
static inline double weigh(const cooling *c, int32_t unit, int32_t to, partition_change *change) {
  int32_t from = c->now.device[unit];
  partition_weigh(&c->now, unit, to, change);
  return energy_of(c, from, &change->from) + energy_of(c, to, &change->to) - energy_of(c, from, &c->now.sums[from]) -
         energy_of(c, to, &c->now.sums[to]);
}

/* The most that may be added to the energy by a move that is accepted (Metropolis), drawn anew. */
static inline double patience(cooling *c) { return -c->temperature_ns * log(1 - rng_unit(c->random)); }

static inline bool accepts(cooling *c, double more) {
  if (more <= 0) return true;
  return more < 40 * c->temperature_ns && more < patience(c);
}

/* ---- moves ---- */

static void make(cooling *c, int32_t unit, int32_t to, const partition_change *change) {
  c->trail[c->n_trail].unit = unit;
  c->trail[c->n_trail++].from = c->now.device[unit];
  partition_move(&c->now, unit, to, change);
}

/* Undoes all moves of the trail, which go between two devices that held `before`. */
static void take_back(cooling *c, const partition_change *before) {
  partition_change swapped = {.from = before->to, .to = before->from};
  while (c->n_trail > 0) {
    c->n_trail--;
    partition_move(&c->now, c->trail[c->n_trail].unit, c->trail[c->n_trail].from, &swapped);
  }
}

/* A unit that shares a tensor with this one, maybe itself; -1 where it has none. */
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

/* After the first move from `from` to `to`, which was not worth it alone: some unit comes back instead. */
static bool exchange(cooling *c, int32_t from, int32_t to, double more) {
  enum { TRIES = 4 };
  const hypergraph *h = c->now.h;
  for (int32_t k = 0; k < TRIES; k++) {
    int32_t w = (int32_t)rng_below(c->random, h->n_units);
    if (c->now.device[w] != to || w == c->trail[0].unit || !partition_allows(h, w, from)) continue;
    partition_change change;
    if (!accepts(c, more + weigh(c, w, from, &change))) continue;
    partition_move(&c->now, w, from, &change);
    return true;
  }
  return false;
}

/* Likewise: neighbours of what has moved follow it, until that pays. */
static bool extend(cooling *c, int32_t from, int32_t to, double more) {
  enum { MOST_MISSES = 4 };
  const hypergraph *h = c->now.h;
  double limit = patience(c);
  int32_t length = 2 << rng_below(c->random, 5), misses = 0;
  while (c->n_trail < length && misses < MOST_MISSES) {
    int32_t k = rng_below(c->random, 2) ? c->n_trail - 1 : (int32_t)rng_below(c->random, c->n_trail);
    int32_t w = draw_neighbour(c, c->trail[k].unit);
    if (w < 0 || c->now.device[w] != from || !partition_allows(h, w, to)) {
      misses++;
      continue;
    }
    partition_change change;
    misses = 0;
    more += weigh(c, w, to, &change);
    make(c, w, to, &change);
    if (more <= limit) return true;
  }
  return false;
}

/* Tries one move; says whether the partition is another one now. */
static bool try_move(cooling *c) {
  const hypergraph *h = c->now.h;
  int32_t unit = (int32_t)rng_below(c->random, h->n_units), from = c->now.device[unit], to = draw_device(c, unit);
  if (to == from || !partition_allows(h, unit, to)) return false;
  partition_change before = {c->now.sums[from], c->now.sums[to]}, change;
  double more = weigh(c, unit, to, &change);
  if (accepts(c, more)) {
    partition_move(&c->now, unit, to, &change);
    return true;
  }
  int64_t kind = rng_below(c->random, 10);
  if (kind >= 5) return false;
  c->n_trail = 0;
  make(c, unit, to, &change);
  if (kind < 2 ? exchange(c, from, to, more) : extend(c, from, to, more)) return true;
  take_back(c, &before);
  return false;
}

void cooling_run(cooling *c, double hot, double cold, int64_t n_moves) {
  if (c->now.h->n_units == 0) return;
  for (int64_t done = 0; done < n_moves; done += MOVES_OF_A_STEP) {
    c->temperature_ns = c->goal_ns * hot * pow(cold / hot, (double)done / (double)n_moves);
    c->target_ns = c->goal_ns - c->temperature_ns;
    for (int32_t k = 0; k < MOVES_OF_A_STEP; k++)
      if (try_move(c)) look(c);
    if (budget_spend(c->budget, 1)) return;
  }
}
