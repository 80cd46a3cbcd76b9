/* solve/exact/ideals.h - ideals (downward closed sets of classes) that can be the boundary between two devices.
 *
 * Every ideal is reached exactly once by adding classes in rising order, so that no table of those seen is needed; only
 * the ideals inside a window are kept. Each kept ideal carries the sums and the straddling hyperedges from which the cost
 * of a device between two ideals I' and I follows in O(straddling edges):
 *
 *     comm(I \ I') = upper(I) + lower(I') + a correction for each edge that straddles both
 */
#ifndef SITU_SOLVE_EXACT_IDEALS_H
#define SITU_SOLVE_EXACT_IDEALS_H

#include "base/budget.h"
#include "solve/exact/stages.h"

/* A hyperedge with pins on both sides: how many of its pins are inside, and whether its producer is. */
typedef struct straddle {
  int32_t edge;
  int32_t inside : 31;
  uint32_t producer_inside : 1;
} straddle;

/* The sums of one ideal for one row of costs. Upper: the ideal is the end of a device that starts at the empty set;
 * lower: it is the start of a device that goes on to the end. */
typedef struct ideal_sums {
  int64_t time_ns;
  int64_t upper_in_ns, upper_out_ns, lower_in_ns, lower_out_ns;
  int32_t n_refused; /* classes inside that cannot run on this type */
} ideal_sums;

typedef struct ideal_set {
  const stages *stages;
  int64_t n, capacity, n_straddles, straddles_capacity;
  uint64_t *bits;     /* [ideal * n_words] */
  ideal_sums *sums;   /* [ideal * n_rows] */
  int64_t *price;     /* sum of the window's price of its classes */
  int64_t *weight_bytes;
  int64_t *straddle_start; /* [n + 1] */
  straddle *straddles;
  int64_t full;   /* the ideal of all classes; the empty one is ideal 0 */
  int64_t n_seen; /* ideals enumerated */
} ideal_set;

/* Which ideals to keep. price[class] >= 0 is what a class weighs; an ideal of price P is kept when for some state
 * P + left <= most_before[state] and total - P + right <= most_after[state], where left and right are what the
 * straddling edges cost the accelerators (of type `reference`) at least, counted where no host can be the one that
 * holds the pins. */
typedef struct ideal_window {
  const int64_t *price;
  int64_t total;
  int32_t n_states, reference;
  bool count_edges;
  const int64_t *most_before, *most_after;
  const bool *hosts_before, *hosts_after;
} ideal_window;

typedef enum ideals_result { IDEALS_ALL, IDEALS_STOPPED, IDEALS_NO_MEMORY } ideals_result;

/* Enumerates all ideals and keeps those inside the window (the empty and the full one always); with chain = true only
 * the prefixes of the class order, all kept. Spends a step for every 1024 ideals seen. */
ideals_result ideals_find(ideal_set *out, const stages *s, const ideal_window *window, bool chain, budget *b);
void ideals_free(ideal_set *set);
/* Whether ideal i may be the boundary after the devices of a state. */
bool ideals_in_state(const ideal_set *set, int64_t i, const ideal_window *window, int32_t state);
/* Whether a device of the type of a row can hold what lies between ideals `from` (a subset) and `to`. */
bool ideals_may_hold(const ideal_set *set, int64_t from, int64_t to, int32_t row);
/* What that costs it, in that row. */
stage_cost ideals_cost(const ideal_set *set, int64_t from, int64_t to, int32_t row);

#endif
