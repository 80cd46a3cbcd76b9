/* solve/common/repair.h - a placement that takes too much memory, made to fit. */
#ifndef SITU_SOLVE_COMMON_REPAIR_H
#define SITU_SOLVE_COMMON_REPAIR_H

#include "solve/common/solver.h"

/* Offers the placement. If its memory does not fit, moves operators (whole colocation groups) from the fullest memory
 * to one with room, first those that free the most bytes for the least time, and offers it again, a few times. Modifies
 * the device array, not the order. Returns the value, SITU_NEVER_NS if it never fitted. */
int64_t repair_offer(solve_run *run, placement *where);

#endif
