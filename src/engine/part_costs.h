/* engine/part_costs.h - the cost of cutting a model.
 *
 * Parts take longer than their operators do within the whole model: each starts with caches that other work has filled,
 * its device may have been idle, and at each cut the engine converts from and to its internal layouts. The excess time
 * of each part of several cuts is attributed to its start and to the bytes at its ends. */
#ifndef SITU_ENGINE_PART_COSTS_H
#define SITU_ENGINE_PART_COSTS_H

#include <stdint.h>

#include "situ/error.h"

typedef struct part_costs {
  int64_t start_ns;    /* of a part that reads from another device, in addition to its operators */
  double bytes_per_s;  /* rate of bytes handed to a part: half of the time is spent at the producer; 0: free */
  int64_t handover_ns; /* from the end of a part to the start of one on another device that waited for it */
  int64_t dispatch_ns; /* from the end of a part to the start of the next on its device, which was requested before that
                          end */
  int32_t n_cuts;      /* hand-overs that it was measured with; 0: the model cannot be cut */
} part_costs;

/* A part, or all parts of one cut: the number of parts that read from another device, half of the bytes at each
 * end of what parts hand to each other, and the excess time over the operators: the median of some rounds, or the
 * minimum in undisturbed rounds. */
typedef struct cut_cost {
  double n_more, bytes, more_ns, min_ns;
} cut_cost;

/* start_ns and bytes_per_s by least squares over parts, by their more_ns, both at least 0 (C. L. Lawson, R. J. Hanson,
 * "Solving Least Squares Problems", 1974, chapter 23; with two unknowns every set of bounds is tried). Then start_ns is
 * raised until no cut is predicted to take less than its min_ns: the first cut of a model of less than a millisecond
 * costs several times as much as a further one, since both devices then work with cold caches, and a plan of few parts
 * must not seem faster than the whole for that reason. */
void part_costs_fit(part_costs *out, const cut_cost *parts, int32_t n, const cut_cost *cuts, int32_t n_cuts);

/* The parts of one cut, and the bounds between which the times of their operators add up. */
typedef struct cut_times {
  const int32_t *part_of; /* [operator]; -1: in none of them */
  int32_t n_parts;
  double *min_ns, *max_ns; /* [part] */
} cut_times;

/* Changes times of operators so that those of each part are between its bounds, as far as all cuts are consistent:
 * repeatedly, the operators of a part outside its bounds are scaled towards them by a common factor. The sum of all
 * times is unchanged, and times of 0 stay 0. This is the multiplicative reconstruction of R. Gordon, R. Bender, G. T.
 * Herman, "Algebraic reconstruction techniques", J. Theor. Biol. 29, 1970, with relaxation, for bounds.
 * time_ns[n_operators]. */
situ_status part_costs_spread(int64_t *time_ns, int32_t n_operators, const cut_times *cuts, int32_t n_cuts,
                              situ_error *error);

#endif
