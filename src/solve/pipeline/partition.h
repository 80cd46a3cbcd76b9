/* solve/pipeline/partition.h - a partition of a hypergraph under moves of single units. The number of pins of each
 * hyperedge on each device is kept, so that a move is evaluated and made in O(degree); it changes the loads of its two
 * devices only. Loads are those of the hypergraph, in whole nanoseconds, which equal the simulator's where the
 * hypergraph is exact. */
#ifndef SITU_SOLVE_PIPELINE_PARTITION_H
#define SITU_SOLVE_PIPELINE_PARTITION_H

#include "view/hypergraph.h"

typedef struct device_sums {
  int64_t compute_ns, in_ns, out_ns, bytes;
  int32_t max_footprint; /* as an index; -1 on an empty device */
} device_sums;

typedef struct partition {
  const hypergraph *h;
  int32_t *device;     /* [unit] */
  int32_t *count;      /* [edge * n_devices + device] pins */
  device_sums *sums;   /* [device] */
  int32_t *unit;       /* [device * n_units + place] units of each device */
  int32_t *place;      /* [unit] */
  int32_t *n_units;    /* [device] */
  int32_t *footprints; /* [device * n_footprints + footprint] units; NULL where memory is free */
} partition;

/* The sums of the two devices of a move after it. */
typedef struct partition_change {
  device_sums from, to;
} partition_change;

/* Allocates for any partition of a hypergraph. False without memory. */
bool partition_init(partition *s, const hypergraph *h, arena *a);
/* Sets the device of each unit, which must be allowed there. O(pins). */
void partition_set(partition *s, const int32_t *device);
/* Evaluates the move of a unit to another device; makes it. */
void partition_weigh(const partition *s, int32_t unit, int32_t to, partition_change *out);
void partition_move(partition *s, int32_t unit, int32_t to, const partition_change *change);

static inline bool partition_allows(const hypergraph *h, int32_t unit, int32_t d) {
  return h->time_ns[(int64_t)h->row_of[d] * h->n_units + unit] != SITU_NEVER_NS;
}

static inline int64_t partition_load(const partition *s, const device_sums *sums) {
  if (!s->h->overlaps) return sums->compute_ns + sums->in_ns + sums->out_ns;
  int64_t max = sums->compute_ns > sums->in_ns ? sums->compute_ns : sums->in_ns;
  return max > sums->out_ns ? max : sums->out_ns;
}

/* Bytes over the limit of device d. */
static inline int64_t partition_excess(const partition *s, int32_t d, const device_sums *sums) {
  if (s->h->memory_is_free) return 0;
  int64_t max = sums->max_footprint < 0 ? 0 : s->h->footprint_bytes[sums->max_footprint];
  int64_t excess = sums->bytes + max - s->h->limit_bytes[d];
  return excess > 0 ? excess : 0;
}

/* The units of device d, in arbitrary order. */
static inline int32_t partition_n_units(const partition *s, int32_t d) { return s->n_units[d]; }
static inline int32_t partition_unit(const partition *s, int32_t d, int64_t place) {
  return s->unit[(int64_t)d * s->h->n_units + place];
}

/* A weighed move in a search that prices what each device holds: the prices of its two devices after it, and what it
 * adds to the sum of all prices. */
typedef struct priced_move {
  int32_t unit, from, to;
  partition_change change;
  double from_price, to_price, more;
} priced_move;

/* `price` is that of each device now. */
static inline void partition_make(partition *s, double *price, const priced_move *m) {
  partition_move(s, m->unit, m->to, &m->change);
  price[m->from] = m->from_price;
  price[m->to] = m->to_price;
}

/* The inverse of a move that is about to be made. */
static inline priced_move partition_inverse(const partition *s, const double *price, const priced_move *m) {
  return (priced_move){.unit = m->unit,
                       .from = m->to,
                       .to = m->from,
                       .change = {.from = s->sums[m->to], .to = s->sums[m->from]},
                       .from_price = price[m->to],
                       .to_price = price[m->from]};
}

/* The maximum load. */
int64_t partition_period(const partition *s);

#endif
