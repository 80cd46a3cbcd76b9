/* view/repeated_units.h - similar units merged into larger units: the same operator of all steps of an unrolled
 * network, or of all layers of a repetitive one.
 *
 * Source: colour refinement (Weisfeiler, Leman, "A reduction of a graph to a canonical form", 1968), stopped after a
 * few rounds: units are then similar if their neighbourhoods are equal up to that many tensors away, wherever they are
 * in the network. */
#ifndef SITU_VIEW_REPEATED_UNITS_H
#define SITU_VIEW_REPEATED_UNITS_H

#include "problem/problem.h"

/* Levels after 1, 2, 4 and 8 rounds, coarsest first, of unions of units of the problem; levels that join no more than
 * the previous one, or less than half of the units, are omitted. None if the network does not repeat itself. */
enum { REPEATED_LEVELS = 4 };
typedef struct repeated_levels {
  unit_list of[REPEATED_LEVELS];
  int32_t n;
} repeated_levels;

/* O(rounds (V + E) + V log V). False without memory. */
bool repeated_levels_find(repeated_levels *out, const situ_problem *p, arena *a);

#endif
