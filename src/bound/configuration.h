/* bound/configuration.h - the configuration bound for host-staged pipelines, contiguous or not: prices of the classes
 * that the devices cannot hold together with loads of at most U prove that no plan has a period of U or less.
 *
 * It counts communication, which balance and area price do not, and is often equal to the optimum. It takes seconds
 * instead of milliseconds and benefits from a known plan, so it is not a row of bound/bounds.c: the solver
 * `configuration` runs it. docs/theory/bounds/configuration.md has the proof. */
#ifndef SITU_BOUND_CONFIGURATION_H
#define SITU_BOUND_CONFIGURATION_H

#include "base/budget.h"
#include "problem/problem.h"

/* Whether the bound says anything about the problem. */
bool configuration_serves(const situ_problem *problem);

/* Raises *lower_ns, a bound known before (0 or more), as far as it can; ends early when that reaches enough_ns, the
 * value of a known plan (SITU_NEVER_NS: none). A step of the budget is one priced set. Memory: at most about 100 MB. */
situ_status configuration_raise(int64_t *lower_ns, const situ_problem *problem, int64_t enough_ns, arena *scratch,
                                budget *b, situ_error *error);

#endif
