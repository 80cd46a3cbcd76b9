/* Multilevel search of large streams: units that exchange much are joined, level by level, until few are left. A search
 * moves the coarsest units first, then those of each finer level, starting from the result of the level before
 * (Hendrickson, Leland, "A multilevel algorithm for partitioning graphs", 1995; Karypis, Kumar, 1998). Only units are
 * coarse, not the graph: every trial is a run of the problem itself, with its memory, links and order, so a plan of any
 * level is a plan of the problem. docs/theory/level.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/stream/current.h"
#include "solve/stream/rank.h"
#include "solve/stream/sequence.h"
#include "view/level.h"

typedef struct multilevel {
  solve_run *run;
  rank_costs costs;
  level_list levels;
  double *scratch;
} multilevel;

/* Searches among the units of one level, from the best plan with each unit on the device of most of its members. */
static situ_status search_level(multilevel *x, const unit_list *units, double share) {
  solve_run *parent = x->run;
  const situ_problem *p = parent->problem;
  solve_run run = *parent;
  incumbent found;
  placement start;
  run.units = units;
  run.incumbent = &found;
  run.rounds = NULL;
  if (!incumbent_init(&found, p, parent->arena) || !current_new_placement(&start, parent))
    return fail_no_memory(parent->error);
  situ_status status = SITU_STATUS_OK;
  found.lower_bound_ns = parent->incumbent->lower_bound_ns;
  if (parent->incumbent->best.device) {
    current_copy(&start, &parent->incumbent->best, p->n_operators);
    level_gather(start.device, p, units, x->costs.work, x->scratch);
    solve_offer(&run, &start);
    if (!sequence_find(start.order, run.simulator, p, start.device, parent->arena))
      status = fail_no_memory(parent->error);
    else
      solve_offer(&run, &start);
  }
  if (status == SITU_STATUS_OK) status = solver_run(&iterated_greedy_solver, &run, share, 0);
  if (found.value_ns < parent->incumbent->value_ns) solve_offer(parent, &found.best);
  incumbent_free(&found);
  return status;
}

static situ_status multilevel_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  multilevel x = {.run = run, .scratch = ARENA_NEW(run->arena, double, p->n_devices)};
  if (!x.scratch || !rank_costs_find(&x.costs, run->arena, p, RANK_MEAN)) return fail_no_memory(run->error);
  level_request request = {.work_ns = x.costs.work, .transfer_ns = x.costs.transfer};
  if (!level_traffic.find(&x.levels, p, &request, run->arena)) return fail_no_memory(run->error);
  TRY(sequence_offer(run));
  for (int32_t k = x.levels.n - 1; k >= 0 && !solve_done(run); k--) {
    arena_mark mark = arena_get_mark(run->arena);
    situ_status status = search_level(&x, &x.levels.of[k], 1.0 / (k + 1));
    arena_release(run->arena, mark);
    TRY(status);
  }
  return SITU_STATUS_OK;
}

static bool multilevel_serves(const situ_problem *p) { return solve_is_large(p) && p->n_devices > 1; }

const solver multilevel_solver = {
    .name = "multilevel",
    .title = "coarse units first, then finer ones, each level by iterated greedy",
    .source = "Hendrickson, Leland, 1995; Karypis, Kumar, 1998",
    .models = MODEL_STREAM,
    .anytime = true,
    .serves = multilevel_serves,
    .starts = {{&heft_solver, 0.3}, {&single_solver, 1}},
    .solve = multilevel_solve,
};
