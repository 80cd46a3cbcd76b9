/* solve/pipeline/maximal_load.h - which boundaries are dominated: a plan with such a boundary becomes no worse by
 * moving a class forward, to the device before the boundary.
 *
 * Class v can be moved forward at ideal I if all its predecessors are in I, and no device that holds it later gets a
 * higher load without it. A plan with a device from I' to I then has a counterpart with a device from I' to I + v, if
 * the load of that device permits. docs/theory/exact/ideal_dp.md has the argument; it is the maximal load rule of
 * assembly line balancing (Jackson, Management Science 2, 1956), with transfers. */
#ifndef SITU_SOLVE_PIPELINE_MAXIMAL_LOAD_H
#define SITU_SOLVE_PIPELINE_MAXIMAL_LOAD_H

#include "solve/pipeline/ideals.h"

/* Ideals I + v, v moved forward at I: to[start[I] .. start[I+1]). */
typedef struct maximal_load {
  int64_t *start;
  int32_t *to;
} maximal_load;

/* False without memory. Finds none unless wanted, nor where that would take too long. */
bool maximal_load_find(maximal_load *out, const ideal_set *set, bool wanted);
void maximal_load_free(maximal_load *p);

#endif
