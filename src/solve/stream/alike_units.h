/* solve/stream/alike_units.h - units that look alike, as larger units: the same operator of all steps of an unrolled
 * network, of all layers of one that repeats them.
 *
 * Source: colour refinement (Weisfeiler, Leman, "A reduction of a graph to a canonical form", 1968), ended after few
 * rounds: then units are alike whose surroundings are the same up to so many tensors away, wherever in the network they
 * stand. */
#ifndef SITU_SOLVE_STREAM_ALIKE_UNITS_H
#define SITU_SOLVE_STREAM_ALIKE_UNITS_H

#include "problem/problem.h"

/* Levels after 1, 2, 4 and 8 rounds, coarsest first, of unions of units of the problem; those that join nothing more
 * than the one before, or less than half of the units, are left out. None at all where the network does not repeat
 * itself. */
enum { ALIKE_LEVELS = 4 };
typedef struct alike_levels {
  unit_list of[ALIKE_LEVELS];
  int32_t n;
} alike_levels;

/* O(rounds (V + E) + V log V). False without memory. */
bool alike_levels_find(alike_levels *out, const situ_problem *p, arena *a);

#endif
