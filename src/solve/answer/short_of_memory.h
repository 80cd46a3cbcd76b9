/* solve/answer/short_of_memory.h - what the memories of a problem without a plan lack, in words. */
#ifndef SITU_SOLVE_ANSWER_SHORT_OF_MEMORY_H
#define SITU_SOLVE_ANSWER_SHORT_OF_MEMORY_H

#include "problem/problem.h"

/* What all units need at one instant, and the units that need most, where that is more than half of what
 * memories hold; then the claim. Every figure is a lower bound. NULL without memory. */
const char *short_of_memory(arena *a, const situ_problem *p, const char *claim);

#endif
