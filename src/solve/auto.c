/* The portfolio: every solver with a turn that serves the problem, until the gap is closed or the budget spent. Those
 * that end by themselves come first, one after the other; then rounds, each longer than the one before, of those that
 * draw their way (solve/walks.h) and, in streams, of proofs. docs/theory/auto.md. */
#include "solve/solver.h"
#include "solve/walks.h"

enum { MAX_TURN = 100 };
static const double FIRST_TRY = 0.15; /* share of a row that comes again */

/* A proof in a stream may take for ever, and what is known without it is poor: it comes in rounds. In pipelines and
 * calls it finds the plans too. */
static bool in_rounds(const solver *s, const situ_problem *p) {
  return s->multistart || (s->exact && p->execution == SITU_EXECUTION_STREAM);
}

static situ_status solve(solve_run *run) {
  const situ_problem *p = run->problem;
  walks_cast rounds = {.n_searches = 0};
  int32_t anytime = 0;
  bool started = false;
  for (int32_t turn = 1; turn <= MAX_TURN; turn++)
    for (int32_t i = 0; solvers[i]; i++) {
      const solver *s = solvers[i];
      if (s->portfolio != turn || !solver_serves(s, p)) continue;
      anytime += s->anytime;
      if (s->multistart && rounds.n_searches < WALKS_ROWS)
        rounds.search[rounds.n_searches++] = s;
      else if (in_rounds(s, p) && rounds.n_proofs < WALKS_ROWS)
        rounds.proof[rounds.n_proofs++] = s;
    }
  for (int32_t turn = 1; turn <= MAX_TURN; turn++)
    for (int32_t i = 0; solvers[i]; i++) {
      const solver *s = solvers[i];
      bool twice = s->again > 0 && p->contiguous; /* else its bounds hold for nothing */
      if ((s->portfolio != turn && (!twice || s->again != turn)) || in_rounds(s, p) || !solver_serves(s, p)) continue;
      if (solve_done(run) && (started || run->budget->stop == BUDGET_CANCELLED)) return SITU_STATUS_OK;
      started = true; /* some plan is found even where the bounds have used up the limits */
      double proof = twice && turn < s->again ? FIRST_TRY : 0.5; /* a proof may take for ever */
      double share = s->anytime ? 1.0 / anytime-- : s->exact ? proof : 1.0;
      situ_status status = solver_run(s, run, share, 0);
      if (status != SITU_STATUS_OK) return status;
    }
  return rounds.n_searches > 0 && !solve_done(run) ? walks_rounds(run, &rounds) : SITU_STATUS_OK;
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
