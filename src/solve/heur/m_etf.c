/* m-ETF: always the ready operator and device of earliest start, among devices whose memory has room (Hwang et al. 1989;
 * with memory as in Baechi, SoCC 2020: groups are placed, and their weights counted, whole). */
#include "base/fail.h"
#include "solve/kit/list.h"
#include "solve/kit/rank.h"

static situ_status solve(solve_run *run) {
  const situ_problem *p = run->problem;
  double *level = ARENA_NEW(run->arena, double, p->n_operators);
  rank_costs costs;
  draft s;
  if (!level || !draft_init(&s, p, run->arena) || !rank_costs_find(&costs, run->arena, p, RANK_NO_TRANSFER))
    return fail_no_memory(run->error);
  rank_upward(level, p, &costs);
  if (list_pairs(&s, LIST_EARLIEST_START, level, costs.work, run->budget, run->arena)) list_offer(run, &s);
  return SITU_STATUS_OK;
}

const solver m_etf_solver = {
    .name = "m_etf",
    .title = "memory-aware earliest task first",
    .source = "Hwang, Chow, Anger, Lee, SICOMP 1989; Jeon et al. (Baechi), SoCC 2020",
    .stream = true,
    .portfolio = 7,
    .solve = solve,
};
