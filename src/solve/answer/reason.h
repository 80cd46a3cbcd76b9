/* solve/answer/reason.h - why there is no plan, in words. */
#ifndef SITU_SOLVE_ANSWER_REASON_H
#define SITU_SOLVE_ANSWER_REASON_H

#include "base/arena.h"
#include "problem/problem.h"

/* "BEFORE plan that keeps ... AFTER": what is proved says of which plans. NULL without memory. */
const char *reason_of_plans(arena *a, const situ_problem *problem, const char *before, const char *after);

#endif
