/* Random placements, of which the best is kept: what any method must beat. Each is one step. It ends after 64
 * placements, or where steps are limited, with the last step. Streams draw from the environment of learned policies, so
 * that both choose from the same trials. */
#include "base/fail.h"
#include "solve/common/repair.h"
#include "solve/stream/environment.h"
#include "view/unit.h"

enum { DRAWS = 64 };

/* A device for the unit of v, uniform among those that every member may use; -1 when there is none. */
static int32_t draw(const situ_problem *p, unit_members u, rng *r) {
  int32_t chosen = -1, seen = 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (problem_allows_all(p, u, d) && rng_below(r, ++seen) == 0) chosen = d;
  return chosen;
}

/* Whether to draw again after `draws`. */
static bool goes_on(solve_run *run, int64_t draws) {
  return (draws < DRAWS || run->budget->max_steps < INT64_MAX) && !solve_done(run);
}

/* Draws a device for each unit, uniform among those open to it. */
static void draw_open(environment *env, rng *r, int32_t *device) {
  int32_t open_device[SITU_MAX_DEVICES];
  bool open[SITU_MAX_DEVICES];
  environment_empty(env);
  for (int32_t u = 0; u < env->n_units; u++) {
    int32_t n = 0;
    environment_open(env, u, open);
    for (int32_t d = 0; d < env->n_devices; d++)
      if (open[d]) open_device[n++] = d;
    device[u] = open_device[(int32_t)(rng_unit(r) * n)];
    environment_put(env, u, device[u]);
  }
}

static situ_status solve_stream(solve_run *run) {
  environment *env = ARENA_NEW(run->arena, environment, 1);
  if (!env || !environment_init_run(env, run)) return fail_no_memory(run->error);
  rng r = rng_new(run->seed);
  int32_t *device = ARENA_NEW(run->arena, int32_t, env->n_units);
  if (!device) return fail_no_memory(run->error);
  while (goes_on(run, env->n_trials)) {
    draw_open(env, &r, device);
    environment_try(env, device);
  }
  environment_report(env);
  return SITU_STATUS_OK;
}

static situ_status random_solve(solve_run *run) {
  if (run->problem->execution == SITU_EXECUTION_STREAM) return solve_stream(run);
  const situ_problem *p = run->problem;
  rng r = rng_new(run->seed);
  placement where = {.device = ARENA_NEW(run->arena, int32_t, p->n_operators)};
  if (!where.device) return fail_no_memory(run->error);
  for (int32_t draws = 0; goes_on(run, draws); draws++) {
    for (int32_t v = 0; v < p->n_operators; v++) {
      unit_members u = unit_of(p, v);
      where.device[v] = u.member[0] == v ? draw(p, u, &r) : where.device[u.member[0]];
      if (where.device[v] < 0) return SITU_STATUS_OK;
    }
    repair_offer(run, &where);
  }
  return SITU_STATUS_OK;
}

const solver random_solver = {
    .name = "random",
    .title = "the best of many random placements",
    .source = "",
    .models = MODEL_STREAM | MODEL_CALLS | MODEL_PIPELINE,
    .periods = true,
    .solve = random_solve,
};
