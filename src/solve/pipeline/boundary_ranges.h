/* solve/pipeline/boundary_ranges.h - which ideals can be a boundary of a plan whose period is at most U, state by
 * state.
 *
 * A state is the number of devices of each type that have been used. Each class has a price, in nanoseconds, so that no
 * device of type t takes more than rate(t) * U of it; transfers that a device must pay reduce its room. An ideal can
 * be the boundary in a state if its contents fit into the devices used and the rest into the others: if the prices
 * before and after it are in the range of the state. */
#ifndef SITU_SOLVE_PIPELINE_BOUNDARY_RANGES_H
#define SITU_SOLVE_PIPELINE_BOUNDARY_RANGES_H

#include "solve/pipeline/stages.h"

enum { BOUNDARY_MAX_STATES = 1 << 14 };

/* Sums before and after a boundary: prices of classes, and of the edges that straddle it, as the devices on each side
 * pay for them; short edges also separately. */
typedef struct boundary {
  int64_t before, after;
  int64_t left, right, short_left, short_right;
} boundary;

/* Which straddling edges count on one side of a boundary: all, where no host can be there; the short ones, where the
 * device at the boundary is an accelerator; none, where it is a host. */
typedef enum counted { COUNT_ALL, COUNT_SHORT, COUNT_NONE, N_COUNTED } counted;

/* States that count the same edges, by falling room before and rising room after. */
typedef struct boundary_front {
  int32_t n;
  int64_t *max_before, *max_after;
} boundary_front;

typedef struct boundary_ranges {
  const stages *stages;
  int32_t n_states;              /* beyond BOUNDARY_MAX_STATES nothing else is filled */
  int32_t *weight;               /* [type] of its count in the number of a state */
  int64_t *price;                /* [class] */
  int64_t total;                 /* of all classes */
  int64_t *in_price, *out_price; /* [edge] the minimum that an accelerator pays */
  int64_t *loose; /* [edge] price of classes that were folded into it (coarse.h): on either side of a boundary */
  int64_t *span;  /* [edge] maximum price of a device between the pins of the edge that holds none of them */
  int64_t *rate;  /* [type] price that a device takes in a nanosecond, in units of 2^-30 */
  int64_t max_ns; /* the period that the ranges are set for */
  bool *is_short; /* [edge] straddles at most one boundary between accelerators: no device is that small */
  int64_t slack;  /* the slack of all rooms together */
  int64_t *min_left, *min_right; /* [state] the minimum cost of short edges at any boundary there */
  int64_t *max_before[N_COUNTED], *max_after[N_COUNTED]; /* [state] room by what is counted; -1: does not apply */
  boundary_front fronts[N_COUNTED * N_COUNTED];          /* [counted before * N_COUNTED + counted after] */
} boundary_ranges;

/* Numbers the states and chooses the prices: those of the balance of work, which maximise the sum of prices for the
 * rate of all devices together. False without memory. */
bool boundary_ranges_init(boundary_ranges *w, const stages *s, arena *a);
/* The ranges of a coarser problem with the rates of a fine one. Keeps the arrays. */
bool boundary_ranges_of(boundary_ranges *w, const stages *s, const boundary_ranges *fine, int64_t *price,
                        int64_t *in_price, int64_t *out_price, int64_t *loose, arena *a);
/* Sets the ranges for plans of period at most max_ns. */
void boundary_ranges_set(boundary_ranges *w, int64_t max_ns);
/* Narrows the ranges by the minimum cost of other boundaries (min_left, min_right). */
void boundary_ranges_tighten(boundary_ranges *w);
/* time * rate of a type, rounded down: the price that a device can take in that time. */
int64_t boundary_ranges_price(const boundary_ranges *w, int32_t type, int64_t time_ns);
/* The maximum price that r devices of a type take together. */
static inline int64_t boundary_ranges_room(const boundary_ranges *w, int32_t type, int32_t r) {
  return boundary_ranges_price(w, type, w->max_ns > INT64_MAX / 8 / r ? INT64_MAX / 8 : w->max_ns * r);
}
/* Whether the boundary is possible in that state; in any state. */
bool boundary_ranges_allow(const boundary_ranges *w, int32_t state, const boundary *b);
bool boundary_ranges_allow_some(const boundary_ranges *w, const boundary *b);
/* How many devices of a type a state uses. */
static inline int32_t boundary_ranges_used(const boundary_ranges *w, int32_t state, int32_t type) {
  return state / w->weight[type] % (w->stages->types[type].n_devices + 1);
}

#endif
