/* HEFT: operators by upward rank, each to the device where it ends first, gaps included (Topcuoglu, Hariri, Wu, TPDS
 * 2002). Run once for each way of making ranks out of unlike devices; the best by simulation stays. */
#include "base/fail.h"
#include "solve/kit/list.h"
#include "solve/kit/rank.h"

enum { ALL_WAYS_UP_TO = 200000 };

static situ_status solve(solve_run *run) {
  const situ_problem *p = run->problem;
  double *rank = ARENA_NEW(run->arena, double, p->n_operators);
  draft s;
  if (!rank || !draft_init(&s, p, run->arena)) return fail_no_memory(run->error);
  int32_t ways = p->n_operators <= ALL_WAYS_UP_TO ? N_RANK_WEIGHTS : 1;
  for (int32_t way = 0; way < ways && (way == 0 || !solve_done(run)); way++) {
    arena_mark mark = arena_get_mark(run->arena);
    rank_costs costs;
    if (!rank_costs_find(&costs, run->arena, p, (rank_weight)way)) return fail_no_memory(run->error);
    rank_upward(rank, p, &costs);
    arena_release(run->arena, mark);
    draft_clear(&s);
    if (!list_schedule(&s, &(list_policy){.priority = rank}, run->budget, run->arena)) break;
    list_offer(run, &s);
  }
  return SITU_STATUS_OK;
}

const solver heft_solver = {
    .name = "heft",
    .title = "heterogeneous earliest finish time",
    .source = "Topcuoglu, Hariri, Wu, TPDS 2002",
    .stream = true,
    .portfolio = 3,
    .solve = solve,
};
