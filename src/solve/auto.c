/* The portfolio: every solver with a turn that serves the problem, in order, until the gap is closed or the budget
 * spent. Solvers that end by themselves come first; the anytime ones share what is left evenly, those that draw their way side
 * by side in the end. */
#include "solve/solver.h"
#include "solve/walks.h"

enum { MAX_TURN = 100, MAX_ROWS = 16 };

static situ_status solve(solve_run *run) {
  const situ_problem *p = run->problem;
  const solver *multistart[MAX_ROWS];
  int32_t n = 0, anytime = 0;
  bool started = false;
  for (int32_t turn = 1; turn <= MAX_TURN; turn++)
    for (int32_t i = 0; solvers[i]; i++) {
      const solver *s = solvers[i];
      if (s->portfolio != turn || !solver_serves(s, p)) continue;
      anytime += s->anytime;
      if (s->multistart && n < MAX_ROWS) multistart[n++] = s;
    }
  for (int32_t turn = 1; turn <= MAX_TURN; turn++)
    for (int32_t i = 0; solvers[i]; i++) {
      const solver *s = solvers[i];
      if (s->portfolio != turn || s->multistart || !solver_serves(s, p)) continue;
      if (solve_done(run) && (started || run->budget->stop == BUDGET_CANCELLED)) return SITU_STATUS_OK;
      started = true; /* some plan is found even where the bounds have used up the limits */
      double share = s->anytime ? 1.0 / anytime-- : s->exact ? 0.5 : 1.0; /* a proof may take for ever */
      situ_status status = solver_run(s, run, share, 0);
      if (status != SITU_STATUS_OK) return status;
    }
  return n > 0 && !solve_done(run) ? walks_rounds(run, multistart, n) : SITU_STATUS_OK;
}

const solver auto_solver = {
    .name = "auto",
    .title = "a portfolio of all that serve the problem",
    .source = "",
    .stream = true,
    .periods = true,
    .calls = true,
    .pipeline = true,
    .anytime = true,
    .solve = solve,
};
