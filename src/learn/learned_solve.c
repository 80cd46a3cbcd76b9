/* The solver of a learner. It starts from plans that need no policy, then uses the policy on groups, which get smaller
 * level by level as long as the budget lasts. docs/theory/learned/gdp.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "learn/learner.h"
#include "solve/common/best_single.h"

enum {
  DRAWS = 16,
  STEPS_FROM_NOTHING = 100,
  LAYOUTS = 16,      /* trials of human layouts when a policy was loaded */
  SERVED_LEVELS = 3, /* levels for a loaded policy; one above SERVED_ONCE operators */
  SERVED_ONCE = 1 << 15,
  REFINED = 1024,         /* trials near the best placement on each level, fewer for large graphs: */
  REFINED_WORK = 1 << 20, /* at most this many operators simulated */
  FINER = 4,              /* factor in the number of units from one level to the next */
  PATIENCE = 20           /* training steps without a better placement that end a level */
};

/* The number of training steps: as requested, else none for a loaded policy. From scratch as many as the limits allow,
 * or STEPS_FROM_NOTHING without limits. */
static int64_t steps_of(const solve_run *run, bool taken) {
  bool limited = run->budget->max_steps != INT64_MAX || run->budget->deadline_ns != INT64_MAX;
  if (run->tune_steps > 0) return run->tune_steps;
  return taken ? 0 : limited ? INT64_MAX : STEPS_FROM_NOTHING;
}

/* Offers the best single device. It is the first trial, so that every budget has a plan. */
static situ_status offer_single(solve_run *run) {
  best_single single;
  TRY(best_single_find(&single, run->simulator, run->problem, run->arena, run->error));
  if (single.device < 0) return SITU_STATUS_OK;
  arena_mark mark = arena_get_mark(run->arena);
  placement all = {.device = ARENA_NEW(run->arena, int32_t, run->problem->n_operators)};
  for (int32_t v = 0; all.device && v < run->problem->n_operators; v++) all.device[v] = single.device;
  if (all.device) solve_offer(run, &all);
  arena_release(run->arena, mark);
  return all.device ? SITU_STATUS_OK : fail_no_memory(run->error);
}

/* Offers the plans of HEFT and the first layouts that the solvers families and layers try. */
static situ_status offer_starts(solve_run *run) {
  if (solver_serves(&heft_solver, run->problem) && !solve_done(run)) TRY(solver_run(&heft_solver, run, 1, 0));
  if (!solver_serves(&layers_solver, run->problem) || solve_done(run)) return SITU_STATUS_OK;
  budget few = budget_part(run->budget, LAYOUTS, 0);
  solve_run part = *run;
  part.budget = &few;
  run->watch->steps_before += run->budget->steps;
  situ_status status = SITU_STATUS_OK;
  if (solver_serves(&families_solver, run->problem)) status = solver_run(&families_solver, &part, 1, 0);
  if (status == SITU_STATUS_OK && !solve_done(&part)) status = solver_run(&layers_solver, &part, 1, 0);
  run->watch->steps_before -= run->budget->steps;
  budget_join(run->budget, &few);
  return status;
}

/* Trains up to a number of steps, or until the run is over. All levels but the last also end when nothing improves.
 * False without memory. */
static bool train_level(solve_run *run, trainer *tr, train_case *s, int64_t steps, bool last) {
  int64_t best_ns = s->env.best_ns, since = tr->n_steps;
  train_step step;
  while (tr->n_steps < steps && !solve_done(run) && (last || tr->n_steps - since < PATIENCE)) {
    if (!trainer_step(tr, &step)) return false;
    if (s->env.best_ns < best_ns) since = tr->n_steps;
    best_ns = s->env.best_ns;
  }
  return true;
}

/* The number of trials near the best placement on one level. */
static int32_t refined(const solve_run *run) {
  return (int32_t)min64(REFINED, REFINED_WORK / run->problem->n_operators);
}

/* A loaded policy: tries its placements on a level, then trials near the best by its scores. */
static bool serve_level(solve_run *run, trainer *tr, train_case *s, rng *random) {
  return tr->learner->serve(tr, s, DRAWS, random) &&
         (!tr->learner->refine || tr->learner->refine(tr, s, refined(run), random));
}

/* Solves level by level. The incumbent is the first trial of each level. On the first level this needs a loaded policy
 * or an earlier plan: a policy from scratch that is first shown a single device would copy it. */
static situ_status solve_levels(solve_run *run, trainer *tr, bool taken, bool led) {
  rng random = rng_new(run->seed);
  int64_t steps = steps_of(run, taken);
  int32_t served = run->problem->n_operators > SERVED_ONCE ? 1 : SERVED_LEVELS;
  for (int32_t max = tr->learner->max_units;; max = max <= INT32_MAX / FINER ? FINER * max : INT32_MAX) {
    train_case *s = trainer_set_run(tr, run, max);
    if (!s) return fail_no_memory(run->error);
    solve_count(run, "learn.levels", 1);
    bool last = s->env.n_units == run->problem->units.n || (taken && --served <= 0 && tr->n_steps >= steps);
    led &= run->incumbent->best.device != NULL;
    if (led && !solve_done(run) && !train_case_follow(s, run->incumbent->best.device, tr->arena))
      return fail_no_memory(run->error);
    led = true;
    int64_t before = tr->n_steps;
    if ((taken || before > 0) && steps > 0 && !tr->learner->serve(tr, s, DRAWS, &random))
      return fail_no_memory(run->error);
    if (!train_level(run, tr, s, steps, last)) return fail_no_memory(run->error);
    if (taken ? !serve_level(run, tr, s, &random)
              : tr->n_steps > before && !solve_done(run) && !tr->learner->serve(tr, s, DRAWS, &random))
      return fail_no_memory(run->error);
    if (last || (!taken && tr->n_steps >= steps) || solve_done(run)) return SITU_STATUS_OK;
  }
}

static situ_status solve_with(solve_run *run, trainer *tr) {
  bool taken = false;
  TRY(trainer_load(tr, run->policy, &taken, run->error));
  if (run->problem->n_operators == 0) return SITU_STATUS_OK;
  bool led = taken || run->incumbent->best.device;
  TRY(offer_single(run));
  if (taken) TRY(offer_starts(run));
  return solve_levels(run, tr, taken, led);
}

situ_status learned_solve(solve_run *run, const learner *row) {
  trainer *tr = trainer_new(row, run->seed, false, run->arena, 1);
  if (!tr) return fail_no_memory(run->error);
  situ_status status = solve_with(run, tr);
  trainer_free(tr);
  return status;
}
