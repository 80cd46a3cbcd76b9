/* Runs a row of the table on a part of its parent's budget. */
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "solve/common/search.h"
#include "view/footprint.h"

bool solver_serves(const solver *s, const situ_problem *problem) {
  if (s->missing || !problem_is_of(problem, s->models)) return false;
  /* These solvers count memories one by one. Where pools bind, their proofs could be wrong. */
  if (s->exact && problem->execution != SITU_EXECUTION_STREAM && footprint_pools_bind(problem)) return false;
  if (problem->chunks > 0 && !s->chunks) return false;
  bool period = problem->execution == SITU_EXECUTION_STREAM && problem->objective == SITU_OBJECTIVE_THROUGHPUT;
  return (!period || s->periods) && (!s->serves || s->serves(problem));
}

bool solve_includes(const solve_run *run, const char *name) {
  for (const char *const *out = run->left_out; out && *out; out++)
    if (strcmp(*out, name) == 0) return false;
  return true;
}

static int64_t part_of(int64_t rest, double share) {
  if (rest == INT64_MAX || rest <= 0) return 0;
  int64_t part = share >= 1 ? rest : (int64_t)((double)rest * share);
  return part > 0 ? part : 1;
}

static situ_status prepare_and_search(solve_run *run, const solver *s);

/* Runs `what` of a solver on a part of the parent's budget. Other ranks take part only where all ranks do the same: in
 * rounds, and in what leads to them. */
static situ_status run_part(situ_status (*what)(solve_run *run, const solver *s), const solver *s,
                            const solve_run *parent, double share, int64_t limit_ns) {
  REQUIRE(share >= 0 && share < 1 + 1e-9 && limit_ns >= 0 && !s->missing); /* sums of shares may be rounded up */
  if (!solve_includes(parent, s->name)) return SITU_STATUS_OK;
  budget *whole = parent->budget;
  int64_t steps = whole->max_steps == INT64_MAX ? 0 : part_of(whole->max_steps - whole->steps, share);
  int64_t time = whole->deadline_ns == INT64_MAX ? 0 : part_of(whole->deadline_ns - clock_now_ns(), share);
  if (limit_ns > 0) time = time > 0 ? min64(time, limit_ns) : limit_ns;
  budget part = budget_part(whole, steps, time);
  solve_run run = *parent;
  run.budget = &part;
  run.solver = s->name;
  if (what != prepare_and_search || !(s->leads || (s->multistart && run.rounds))) {
    run.islands = NULL;
    run.at_once = run.threads;
  }
  solve_watch before = *parent->watch;
  parent->watch->steps_before += whole->steps;
  parent->watch->running = &part;
  parent->watch->solver = s->name;
  arena_mark mark = arena_get_mark(parent->arena);
  situ_status status = what(&run, s);
  arena_release(parent->arena, mark);
  before.last_report_ns = parent->watch->last_report_ns;
  *parent->watch = before;
  budget_join(whole, &part);
  return status;
}

situ_status solver_solve(const solver *s, solve_run *run) {
  REQUIRE(!s->solve != !s->search);
  return s->search ? search_run(run, s->search) : s->solve(run);
}

static situ_status run_search(solve_run *run, const solver *s) { return solver_solve(s, run); }

static situ_status run_starts(solve_run *run, const solver *s) {
  if (run->incumbent->best.device) return SITU_STATUS_OK;
  for (const solver_start *first = s->starts; first->solver; first++) {
    if (solve_done(run) && (first > s->starts || run->budget->stop == BUDGET_CANCELLED)) break;
    if (solver_serves(first->solver, run->problem)) TRY(solver_run(first->solver, run, first->share, 0));
  }
  return SITU_STATUS_OK;
}

static situ_status prepare(solve_run *run, const solver *s) {
  TRY(run_starts(run, s));
  return s->start ? s->start(run) : SITU_STATUS_OK;
}

static situ_status prepare_and_search(solve_run *run, const solver *s) {
  if (s->multistart && run->rounds) return run->rounds(run, s);
  TRY(prepare(run, s));
  return solver_solve(s, run);
}

situ_status solver_run(const solver *s, const solve_run *parent, double share, int64_t limit_ns) {
  return run_part(prepare_and_search, s, parent, share, limit_ns);
}

situ_status solver_prepare(const solver *s, const solve_run *parent, double share) {
  return run_part(prepare, s, parent, share, 0);
}

situ_status solver_search(const solver *s, const solve_run *parent, double share) {
  return run_part(run_search, s, parent, share, 0);
}

situ_status solver_borrow(incumbent *found, const solver *s, const situ_problem *other, const solve_run *parent,
                          double share, int64_t limit_ns) {
  solve_run run = *parent;
  run.problem = other;
  run.units = NULL;
  run.ended = NULL;
  run.incumbent = found;
  run.simulator = simulator_new(other, parent->arena);
  if (!incumbent_init(found, other, parent->arena) || !run.simulator) return fail_no_memory(parent->error);
  return solver_serves(s, other) ? solver_run(s, &run, share, limit_ns) : SITU_STATUS_OK;
}
