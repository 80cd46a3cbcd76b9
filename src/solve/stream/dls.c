/* DLS: always takes the ready operator and device with the maximum dynamic level: static level - earliest start + (mean
 * time - time there) (Sih, Lee, TPDS 1993, eq. 5). */
#include "base/fail.h"
#include "solve/stream/list.h"
#include "solve/stream/rank.h"

static situ_status dls_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  double *level = ARENA_NEW(run->arena, double, p->n_operators);
  rank_costs costs;
  partial_schedule s;
  if (!level || !partial_init(&s, p, run->arena) || !rank_costs_find(&costs, run->arena, p, RANK_NO_TRANSFER))
    return fail_no_memory(run->error);
  rank_upward(level, p, &costs);
  list_pair_policy policy = {.rule = LIST_DYNAMIC_LEVEL, .level = level, .mean = costs.work};
  if (list_pairs(&s, &policy, run->budget, run->arena)) list_offer(run, &s);
  return SITU_STATUS_OK;
}

const solver dls_solver = {
    .name = "dls",
    .title = "dynamic level scheduling",
    .source = "Sih, Lee, TPDS 1993",
    .models = MODEL_STREAM,
    .solve = dls_solve,
};
