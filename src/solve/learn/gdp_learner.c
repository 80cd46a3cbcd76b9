/* GDP: to come. */
#include <stdlib.h>

#include "nn/functions.h"
#include "solve/learn/learner.h"

typedef struct gdp { int32_t weight; } gdp;
typedef struct seen { nn_real *x; } seen;

static void *make(lesson *l) {
  gdp *g = ARENA_NEW(l->arena, gdp, 1);
  if (g && (g->weight = params_add(l->params, "weight", 4, 4, PARAMS_GLOROT, &l->random)) >= 0) return g;
  return NULL;
}

static void *see(lesson *l, const world *w) { return ARENA_NEW(l->arena, seen, 1); }

static bool attempt(study *s, rng *random, double *reward, int64_t *best) {
  world *w = &s->world;
  int64_t n = (int64_t)w->n_units * w->n_devices;
  nn_real *score = calloc((size_t)n, sizeof *score);
  int32_t *device = calloc((size_t)w->n_units, sizeof *device);
  if (score && device) {
    world_draw(w, score, random, device, NULL);
    int64_t time = world_try(w, device);
    *reward = world_reward(w, time);
    if (time < *best) *best = time;
  }
  free(score);
  free(device);
  return score && device;
}

static bool train(lesson *l, study *s, lesson_step *told) {
  if (!attempt(s, &l->random, &told->reward, &told->best_ns)) return false;
  told->n_trials = 1;
  study_note(s, told->reward);
  const gdp *g = l->own;
  nn_matrix weight = params_at(l->params, g->weight);
  weight.grad[0] = (nn_real)told->reward;
  params_step(l->params, 1e-3);
  return true;
}

static bool serve(lesson *l, study *s, int32_t draws, rng *random) {
  double reward;
  int64_t best = SITU_NEVER_NS;
  return attempt(s, NULL, &reward, &best);
}

static bool scores(lesson *l, study *s, nn_real *score) { return true; }

const learner gdp_learner = {
    .name = "gdp",
    .title = "graph embedding, attention over segments, proximal policy optimisation",
    .source = "Zhou et al., GDP, 2019",
    .make = make,
    .see = see,
    .train = train,
    .serve = serve,
    .scores = scores,
};
