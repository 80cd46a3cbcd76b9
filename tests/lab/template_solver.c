/* template: a commented solver to copy to src/solve/ROOM/NAME.c; the tests build and run it. This first comment says
 * what the method does, for which problems, and where it comes from (authors, title, year), or that it is ours; the
 * page in docs/theory says the rest.
 *
 * template moves one unit at a time to a device drawn at random, and back where that is no gain; streams run in index
 * order. src/solve/README.md defines the terms. */
#include "base/fail.h"
#include "solve/common/solver.h" /* all that a solver needs; other rows are named through it, never included */
#include "view/unit.h"

/* Tunables stand here, with their unit and what a larger value does. */
enum { PATIENCE = 1000 /* moves in a row without a gain before the search ends */ };

/* All state of one run. No globals: several runs may go on side by side. */
typedef struct template {
  solve_run *run;
  const situ_problem *problem;
  rng random;
  int32_t *device; /* [operator] of the best plan */
}
template;

/* Memory comes from the arena of the run, which is emptied when the row returns. */
static bool template_init(template *s, solve_run *run) {
  *s = (template){.run = run, .problem = run->problem, .random = rng_new(run->seed)}; /* no other source of chance */
  s->device = ARENA_COPY(run->arena, run->incumbent->best.device, int32_t, run->problem->n_operators);
  return s->device;
}

/* Moves one unit. Returns whether that was a gain. */
static bool try_move(template *s) {
  int32_t v = (int32_t)rng_below(&s->random, s->problem->n_operators), from = s->device[v];
  int32_t to = (int32_t)rng_below(&s->random, s->problem->n_devices);
  int64_t before_ns = s->run->incumbent->value_ns;
  if (to == from || !unit_put(s->problem, s->device, v, to)) { /* support, pins, unused devices */
    budget_spend(s->run->budget, 1); /* a turn without a trial is a step too: else a search might never end */
    return false;
  }
  /* One step: simulates the placement; the incumbent keeps it if it is better and breaks no rule. */
  if (solve_offer(s->run, &(placement){.device = s->device}) < before_ns) return true;
  unit_put(s->problem, s->device, v, from);
  return false;
}

static situ_status template_solve(solve_run *run) {
  template s;
  /* Nothing to do: the gap is closed, the budget is spent, or no row of `starts` found a plan. */
  if (solve_done(run) || !run->incumbent->best.device) return SITU_STATUS_OK;
  if (!template_init(&s, run)) return fail_no_memory(run->error);
  for (int32_t idle = 0; idle < PATIENCE && !solve_done(run); idle++)
    if (try_move(&s)) idle = -1;
  return SITU_STATUS_OK; /* what was found stands in the incumbent */
}

/* NULL where every problem of `models` is served; else cheap, from the problem alone. */
static bool template_serves(const situ_problem *p) { return p->n_devices > 1; }

const solver template_solver = {
    .name = "template",            /* the literature's name: also of the file, the struct, and the page */
    .title = "one unit at a time", /* for `situ list`: short, no period */
    .source = "",                  /* "Authors, venue year", or empty */
    .models = MODEL_STREAM | MODEL_PIPELINE,
    .serves = template_serves,
    .starts = {{&single_solver, 1}}, /* rows that run first where there is no plan, each on a share of the budget */
    .solve = template_solve,
    /* Left out, so false or NULL: periods (it knows streams whose value is a period), exact (it proves what it ends
     * with), anytime (it ends only when told), multistart (several may run side by side), start, missing. */
};
