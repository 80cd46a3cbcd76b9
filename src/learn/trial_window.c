#include "learn/trial_window.h"

#include <math.h>
#include <string.h>

#include "base/contracts.h"

struct trial_window {
  int32_t n_units;
  const nn_segments *before, *after;
  int32_t *unit, n;   /* the units in it */
  int32_t *in, drawn; /* [unit] the last window that held it; the number of windows so far */
};

trial_window *trial_window_new(int32_t n, const nn_segments *before, const nn_segments *after, arena *a) {
  trial_window *w = ARENA_ZERO(a, trial_window, 1);
  if (!w) return NULL;
  w->n_units = n;
  w->before = before;
  w->after = after;
  w->unit = ARENA_NEW(a, int32_t, n);
  w->in = ARENA_ZERO(a, int32_t, n);
  return w->unit && w->in ? w : NULL;
}

static void add(trial_window *w, int32_t u) {
  if (w->in[u] == w->drawn) return;
  w->in[u] = w->drawn;
  w->unit[w->n++] = u;
}

/* Chooses about `most` units: consecutive ones in the order, or a region grown from one unit along edges. */
static void choose_units(trial_window *w, int32_t max, rng *random) {
  int32_t first = (int32_t)rng_below(random, w->n_units);
  w->drawn++;
  w->n = 0;
  add(w, first);
  if (rng_below(random, 2) == 0) {
    for (int32_t u = first + 1; u < w->n_units && w->n < max; u++) add(w, u);
    return;
  }
  for (int32_t tries = 0; w->n < max && tries < 4 * max; tries++) {
    int32_t u = w->unit[rng_below(random, w->n)];
    const nn_segments *side = rng_below(random, 2) ? w->before : w->after;
    int64_t n = side->start[u + 1] - side->start[u];
    if (n > 0) add(w, side->item[side->start[u] + rng_below(random, n)]);
  }
}

int32_t trial_window_device(const environment *env, int32_t u, const nn_real *score, rng *random) {
  int64_t row = (int64_t)u * env->n_devices;
  double min = HUGE_VAL, by = rng_below(random, 4) == 0 ? 0 : 0.5;
  int32_t chosen = -1;
  for (int32_t d = 0; d < env->n_devices; d++) {
    if (!env->allowed[row + d]) continue;
    /* the minimum of exponential times is a draw in proportion to their rates */
    double time = log(-log(1 - rng_unit(random)) + 1e-300) - by * (double)score[row + d];
    if (time >= min) continue;
    min = time;
    chosen = d;
  }
  return chosen;
}

const int32_t *trial_window_choose(trial_window *w, int32_t *n, rng *random) {
  int32_t max = 1;
  while (max < w->n_units / 3 && rng_below(random, 4) != 0) max *= 2;
  choose_units(w, max, random);
  *n = w->n;
  return w->unit;
}

void trial_window_draw(trial_window *window, int32_t *device, const environment *env, const nn_real *score,
                       rng *random) {
  int32_t n;
  const int32_t *unit = trial_window_choose(window, &n, random);
  bool together = rng_below(random, 4) != 0;
  int32_t to = trial_window_device(env, unit[0], score, random);
  memcpy(device, env->best, (size_t)env->n_units * sizeof *device);
  for (int32_t i = 0; i < n; i++) {
    int32_t u = unit[i];
    if (!together) to = trial_window_device(env, u, score, random);
    if (to >= 0 && env->allowed[(int64_t)u * env->n_devices + to]) device[u] = to;
  }
}

void trial_window_single(int32_t *device, const environment *env, int32_t d) {
  REQUIRE(d >= 0 && d < env->n_devices);
  for (int32_t u = 0; u < env->n_units; u++)
    device[u] = env->allowed[(int64_t)u * env->n_devices + d] ? d : env->best[u];
}
