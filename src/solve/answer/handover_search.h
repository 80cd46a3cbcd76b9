/* solve/answer/handover_search.h - of the plans that are nearly as good as the best found, the one that an engineer
 * would run: that with the fewest hand-overs. docs/theory/heuristics/handover_search.md. */
#ifndef SITU_SOLVE_ANSWER_HANDOVER_SEARCH_H
#define SITU_SOLVE_ANSWER_HANDOVER_SEARCH_H

#include "solve/common/best_single.h"
#include "solve/common/solver.h"
#include "view/handovers.h"

typedef struct handover_rules {
  double tolerance; /* shares: 0.02 */
  double min_gain;
  int32_t max_parts, min_units; /* 0: no limit */
} handover_rules;

typedef struct handover_plan {
  placement where;  /* arrays in the arena of the run; device NULL: none */
  int64_t value_ns; /* simulated */
  int64_t time_ns;  /* by parts where the costs know of parts (sim/engine_parts.h), else the value: what plans are
                       compared by */
  handovers cost;
  const char *solver; /* the solver that found it */
} handover_plan;

enum { HANDOVER_PLANS = 20 };

/* Plans of which none is better in time, hand-overs, parts and bytes than another; by hand-overs. */
typedef struct handover_pool {
  handover_plan plan[HANDOVER_PLANS + 1];
  int32_t n;
  int32_t single; /* the best single device, if it keeps all constraints; else -1 */
} handover_pool;

/* Looks for plans with fewer hand-overs than the incumbent has: single devices, contiguous plans, and the incumbent
 * with whole islands (view/handovers.h) moved. All are simulated, and better ones become the incumbent. Counts its
 * steps on the budget of the run. NO_MEMORY or OK. */
situ_status handover_search(handover_pool *out, solve_run *run, const best_single *single, const handover_rules *rules);

/* The time of a placement that runs, as in a pool. NO_MEMORY or OK. */
situ_status handover_time(int64_t *time_ns, solve_run *run, const placement *where);

/* The number of the plan to take, -1 where none keeps max_parts and min_units: the single device unless some plan
 * beats it by min_gain; else, of the plans within the tolerance of the best that do, the one with the fewest hand-overs
 * (then parts, bytes, time). Where the limits leave no such plan, the best that keeps them. */
int32_t handover_choose(const handover_pool *pool, const handover_rules *rules);

/* The maximum time of a plan that handover_choose may take where one beats the single device. */
double handover_limit_ns(const handover_pool *pool, const handover_rules *rules);

/* The maximum time of a plan that beats the single device by min_gain; HUGE_VAL if there is no such device. */
double handover_enough_ns(const handover_pool *pool, const handover_rules *rules);

/* Whether a plan keeps max_parts and min_units. */
bool handover_keeps(const handover_plan *plan, const handover_rules *rules);

/* Of language models that are nearly as fast, the one whose equal devices have equal memory left: moves the boundary
 * between two devices of one class that hold consecutive layers, so that weights and caches of both are as equal as can
 * be, in plans of at most limit_ns with as many hand-overs and parts. Does nothing for a model without caches or a plan
 * that cuts layers. The arrays of a new plan are in the arena of the run. At most as many simulations for each boundary
 * as there are layers at it; counts them as steps. NO_MEMORY or OK. */
situ_status even_memory(handover_plan *plan, solve_run *run, double limit_ns);

#endif
