/* solve/answer/robust.h - the effect of uncertain costs on a plan. The number of draws is an upper limit: if the budget
 * ends there are fewer, but at least ROBUST_DRAWS. */
#ifndef SITU_SOLVE_ANSWER_ROBUST_H
#define SITU_SOLVE_ANSWER_ROBUST_H

#include "base/budget.h"
#include "plan/plan.h"

enum { ROBUST_DRAWS = 4 };

/* Compares a placement with another in `draws` samples of the costs (cost_sample.h) of a seed; out->size is left. The
 * flip is the factor nearest to 1, from 1/16 to 16, on one class of devices or one kind of link at which the other is
 * as good; it is found by bisection; 0 if the budget ends before all are looked at. False without memory. */
bool robust_compare(situ_robustness *out, const situ_problem *problem, const placement *plan, const placement *other,
                    double uncertainty, int32_t draws, uint64_t seed, budget *b, arena *scratch);

/* Fills quantile ([n]) with the 10 % quantile of the speed-up of each placement over `other`: of the speed-ups in
 * order, the first that at least a tenth of the draws do not exceed. False without memory. */
bool robust_quantiles(double *quantile, const situ_problem *problem, const placement *plans, int32_t n,
                      const placement *other, double uncertainty, int32_t draws, uint64_t seed, budget *b,
                      arena *scratch);

/* Sets *chosen to the placement of the highest such quantile among those that may be chosen; of equals *chosen as it
 * was, else the first. False without memory. */
bool robust_best(int32_t *chosen, const situ_problem *problem, const placement *plans, const bool *may, int32_t n,
                 const placement *other, double uncertainty, int32_t draws, uint64_t seed, budget *b, arena *scratch);

#endif
