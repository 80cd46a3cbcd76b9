/* solve/first_bounds.h - the bounds that run before the solvers. */
#ifndef SITU_SOLVE_FIRST_BOUNDS_H
#define SITU_SOLVE_FIRST_BOUNDS_H

#include "solve/common/solver.h"

/* Bounds the value on all threads and ranks, in at most a third of a time limit; where both period and latency matter,
 * or a second set of costs, also what has a limit, so that an impossible one is reported at once. */
situ_status first_bounds(solve_run *run);

#endif
