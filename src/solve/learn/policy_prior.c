/* A prior for searches from the distribution of a policy. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "solve/learn/learner.h"

enum { DRAWS = 4 };

static situ_status find_in(prior *out, solve_run *run, lesson *l, const char *policy) {
  TRY(lesson_take(l, strcmp(policy, "gdp") == 0 ? NULL : policy, NULL, run->error));
  study *s = lesson_add_run(l, run);
  if (!s) return fail_no_memory(run->error);
  const world *w = &s->world;
  lesson_step told;
  rng random = rng_new(run->seed);
  while (l->n_steps < run->tune_steps && !solve_done(run))
    if (!lesson_train(l, &told)) return fail_no_memory(run->error);
  nn_real *score = ARENA_NEW(run->arena, nn_real, (int64_t)w->n_units * w->n_devices);
  if (!score || !l->learner->serve(l, s, DRAWS, &random) || !l->learner->scores(l, s, score))
    return fail_no_memory(run->error);
  for (int32_t v = 0; v < run->problem->n_operators; v++) {
    const nn_real *row = score + (int64_t)w->unit_of[v] * w->n_devices;
    for (int32_t d = 0; d < w->n_devices; d++) out->chance[(int64_t)v * w->n_devices + d] = (float)exp((double)row[d]);
  }
  return SITU_STATUS_OK;
}

situ_status learned_prior(prior *out, solve_run *run, const char *policy) {
  *out = (prior){.n_devices = run->problem->n_devices};
  out->chance = ARENA_NEW(run->arena, float, (int64_t)run->problem->n_operators * run->problem->n_devices);
  arena_mark mark = arena_get_mark(run->arena);
  lesson *l = lesson_new(learner_find("gdp"), run->seed, false, run->arena, 1);
  situ_status status = out->chance && l ? SITU_STATUS_OK : fail_no_memory(run->error);
  if (status == SITU_STATUS_OK && run->problem->n_operators > 0) status = find_in(out, run, l, policy);
  lesson_free(l);
  arena_release(run->arena, mark);
  return status;
}
