/* solve/pipeline/repeats.h - units of a network that repeats itself, such as a stack of equal layers, merged along the
 * repetition: the same unit of consecutive layers becomes one.
 *
 * A plan of few layers, each stretched over many, is then a plan of few units, and it is a plan of the problem, with
 * its loads, transfers and memory. Which units are the same is found by colour refinement (view/repeated_units.h), not
 * from names. */
#ifndef SITU_SOLVE_PIPELINE_REPEATS_H
#define SITU_SOLVE_PIPELINE_REPEATS_H

#include "problem/problem.h"

typedef struct repeats {
  const situ_problem *problem;
  int32_t n;           /* how often the network repeats itself: the most common size of a class; 0 if it does not */
  int32_t *order;      /* [place] units in runs; a run is a class of alike units, along the network */
  bool *first;         /* [place] whether a run begins, or units whose pins are not those of the unit before */
  int32_t *at, *among; /* [place] the number of the unit in its run; the length of the run */
} repeats;

/* Finds what repeats among the units of a problem. A class with k times as many members (experts of a layer)
 * becomes k runs. O(V + E), sorting aside. False without memory. */
bool repeats_find(repeats *out, const situ_problem *p, arena *a);

/* Divides each run into n_ranges equal ranges, and merges the units of a range. With half as many ranges whole units of
 * the result are merged. O(V). False without memory. */
bool repeats_merge(unit_list *out, const repeats *r, int32_t n_ranges, arena *a);

#endif
