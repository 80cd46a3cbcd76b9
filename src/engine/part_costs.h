/* engine/part_costs.h - what it costs to cut a model.
 *
 * Parts take longer than their operators do in the whole: each begins with caches that other work has filled, its
 * device may have been idle, and at each cut the engine undoes layouts of its own and makes them again. What
 * each part of several ways to cut takes beyond its operators is laid to its start and to the bytes at its ends. */
#ifndef SITU_ENGINE_PART_COSTS_H
#define SITU_ENGINE_PART_COSTS_H

#include <stdint.h>

#include "situ/error.h"

typedef struct part_costs {
  int64_t start_ns;    /* of a part that reads from another device, more than its operators */
  double bytes_per_s;  /* of what is handed to a part: half of the time at the end that makes it; 0: it costs nothing */
  int64_t handover_ns; /* from the end of a part to the start of one on another device that waited for it */
  int64_t dispatch_ns; /* from the end of a part to the start of the next on its device, which was asked for before */
  int32_t n_cuts;      /* hand-overs that it was measured with; 0: the model cannot be cut */
} part_costs;

/* A part, or all parts of one way to cut: parts that read from another device, half of the bytes at each end of what
 * parts hand to each other, and what was taken beyond the operators: the median of some rounds, or what undisturbed
 * rounds took at least. */
typedef struct cut_cost {
  double n_more, bytes, more_ns, least_ns;
} cut_cost;

/* start_ns and bytes_per_s of the least squares over parts, by their more_ns, both at least 0 (C. L. Lawson, R. J.
 * Hanson, "Solving Least Squares Problems", 1974, chapter 23; with two unknowns every set of bounds is tried). Then
 * start_ns is raised until no way is predicted to take less than its least_ns: the first cut of a model of less than a
 * millisecond takes several times what a further one does, for both devices then work with cold caches, and a plan of
 * few parts must not seem to be faster than the whole by that. */
void part_costs_fit(part_costs *out, const cut_cost *parts, int32_t n, const cut_cost *ways, int32_t n_ways);

/* Parts of one way to cut, and between what the times of their operators sum to. */
typedef struct cut_times {
  const int32_t *part_of; /* [operator]; -1: in none of them */
  int32_t n_parts;
  double *least_ns, *most_ns; /* [part] */
} cut_times;

/* Changes times of operators so that those of each part are between its bounds, as far as all ways agree: over and
 * over, a part outside comes nearer to them by one factor for all its operators. Their sum stays as it is, and times of
 * 0 stay 0. The multiplicative reconstruction of R. Gordon, R. Bender, G. T. Herman, "Algebraic reconstruction
 * techniques", J. Theor. Biol. 29, 1970, with relaxation, for bounds. time_ns[n_operators]. */
situ_status part_costs_spread(int64_t *time_ns, int32_t n_operators, const cut_times *ways, int32_t n_ways,
                              situ_error *error);

#endif
