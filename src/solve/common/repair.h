/* solve/common/repair.h - a placement that takes too much memory, made to fit. */
#ifndef SITU_SOLVE_COMMON_REPAIR_H
#define SITU_SOLVE_COMMON_REPAIR_H

#include "solve/common/solver.h"

/* Offers the placement; as long as its memory does not fit, moves operators (colocation groups whole) from the fullest
 * memory to one with room, those first that free the most bytes for the least time, and offers it again, a few times.
 * The device array is changed; the order stays. Returns the value, SITU_NEVER_NS when it did not come to fit. */
int64_t repair_offer(solve_run *run, placement *where);

#endif
