/* solve/pipeline/ideals.h - ideals (downward closed sets of classes) that can be the boundary between two devices.
 *
 * Each class in rising order is decided to be in or out; successors of a class that is out are out. So every ideal is
 * visited exactly once, no table of visited ideals is needed, and a branch of the enumeration ends as soon as the
 * decided classes fit into no range (boundary_ranges.h). Only ideals inside a range are kept, each with the sums and
 * the straddling hyperedges from which the cost of a device between two ideals I' and I follows in O(straddling edges):
 *
 *     comm(I \ I') = upper(I) + lower(I') + a correction for each edge that straddles both
 */
#ifndef SITU_SOLVE_PIPELINE_IDEALS_H
#define SITU_SOLVE_PIPELINE_IDEALS_H

#include "base/budget.h"
#include "solve/pipeline/boundary_ranges.h"

/* A hyperedge with pins inside and outside an ideal: how many are inside, and whether its producer is. */
typedef struct straddle {
  int32_t edge;
  int32_t inside : 31;
  uint32_t producer_inside : 1;
} straddle;

/* The sums of one ideal for one row of costs. Upper: the ideal is the end of a device that begins at the empty ideal;
 * lower: it is the beginning of a device that ends at the full one. */
typedef struct ideal_sums {
  int64_t time_ns;
  int64_t upper_in_ns, upper_out_ns, lower_in_ns, lower_out_ns;
  int32_t n_refused; /* classes inside that cannot run on this type */
} ideal_sums;

typedef struct ideal_set {
  const stages *stages;
  const boundary_ranges *ranges;
  int64_t n, capacity, n_straddles, straddles_capacity;
  uint64_t *bits;       /* [ideal * n_words] */
  ideal_sums *sums;     /* [ideal * n_rows] */
  boundary *boundaries; /* in the terms of the ranges */
  int64_t *weight_bytes;
  int64_t *straddle_start; /* [n + 1] */
  straddle *straddles;
  int64_t full;   /* the ideal of all classes, -1: no range allows it. The empty one is ideal 0 */
  int64_t n_seen; /* ideals enumerated */
} ideal_set;

typedef enum ideals_result { IDEALS_ALL, IDEALS_STOPPED, IDEALS_NO_MEMORY } ideals_result;

/* Finds the ideals that some range allows; always the empty one. Spends a step for every 1024 ideals visited; stops
 * after max_work classes examined, or if the ideals take more than max_bytes. */
ideals_result ideals_find(ideal_set *out, const boundary_ranges *open, int64_t max_work, int64_t max_bytes, budget *b);
/* Finds the minimum costs of boundaries, for growing shares of the slack as long as each takes at most max_work, and
 * narrows the ranges by them. False without memory. */
bool ideals_narrow(boundary_ranges *open, int64_t max_work, budget *b);
void ideals_free(ideal_set *set);
/* Whether ideal i may be the boundary after the devices of a state. */
bool ideals_in_state(const ideal_set *set, int64_t i, int32_t state);
/* Whether ideal i is a subset of ideal j. */
bool ideals_within(const ideal_set *set, int64_t i, int64_t j);
/* The ideals by rising price before them; the caller frees the list. NULL without memory. */
int32_t *ideals_by_price(const ideal_set *set);
/* Whether a device of the type of a row can hold what lies between ideals `from` (a subset) and `to`. */
bool ideals_may_hold(const ideal_set *set, int64_t from, int64_t to, int32_t row);
/* The same of one of r that share it and keep stages_kept(k) inputs each. */
bool ideals_may_keep(const ideal_set *set, int64_t from, int64_t to, int32_t row, int32_t k, int32_t r);
/* The cost of that, in that row. */
stage_cost ideals_cost(const ideal_set *set, int64_t from, int64_t to, int32_t row);

#endif
