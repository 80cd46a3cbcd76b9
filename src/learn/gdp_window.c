#include "learn/gdp_window.h"

#include <math.h>
#include <string.h>

#include "base/contracts.h"

struct gdp_window {
  const gdp_view *view;
  int32_t *unit, n;   /* the units in it */
  int32_t *in, drawn; /* [unit] the number of the last window that it was in; of windows so far */
};

gdp_window *gdp_window_new(const gdp_view *view, arena *a) {
  gdp_window *w = ARENA_ZERO(a, gdp_window, 1);
  if (!w) return NULL;
  w->view = view;
  w->unit = ARENA_NEW(a, int32_t, view->n_units);
  w->in = ARENA_ZERO(a, int32_t, view->n_units);
  return w->unit && w->in ? w : NULL;
}

static void add(gdp_window *w, int32_t u) {
  if (w->in[u] == w->drawn) return;
  w->in[u] = w->drawn;
  w->unit[w->n++] = u;
}

/* About `most` units: a stretch of the order, or what grows from one unit along edges. */
static void choose_units(gdp_window *w, int32_t most, rng *random) {
  const gdp_view *v = w->view;
  int32_t first = (int32_t)rng_below(random, v->n_units);
  w->drawn++;
  w->n = 0;
  add(w, first);
  if (rng_below(random, 2) == 0) {
    for (int32_t u = first + 1; u < v->n_units && w->n < most; u++) add(w, u);
    return;
  }
  for (int32_t tries = 0; w->n < most && tries < 4 * most; tries++) {
    int32_t u = w->unit[rng_below(random, w->n)];
    const nn_segments *side = rng_below(random, 2) ? &v->before : &v->after;
    int64_t n = side->start[u + 1] - side->start[u];
    if (n > 0) add(w, side->item[side->start[u] + rng_below(random, n)]);
  }
}

/* A device that unit u may be on, by the softmax of half its scores, or one draw in four any; -1 when there is none. */
static int32_t choose_device(const environment *env, int32_t u, const nn_real *score, rng *random) {
  int64_t row = (int64_t)u * env->n_devices;
  double least = HUGE_VAL, by = rng_below(random, 4) == 0 ? 0 : 0.5;
  int32_t chosen = -1;
  for (int32_t d = 0; d < env->n_devices; d++) {
    if (!env->allowed[row + d]) continue;
    /* of exponential times the least: a draw in proportion to their rates */
    double time = log(-log(1 - rng_unit(random)) + 1e-300) - by * (double)score[row + d];
    if (time >= least) continue;
    least = time;
    chosen = d;
  }
  return chosen;
}

void gdp_window_draw(gdp_window *window, int32_t *device, const environment *env, const nn_real *score, rng *random) {
  int32_t most = 1;
  while (most < env->n_units / 3 && rng_below(random, 4) != 0) most *= 2;
  choose_units(window, most, random);
  bool together = rng_below(random, 4) != 0;
  int32_t to = choose_device(env, window->unit[0], score, random);
  memcpy(device, env->best, (size_t)env->n_units * sizeof *device);
  for (int32_t i = 0; i < window->n; i++) {
    int32_t u = window->unit[i];
    if (!together) to = choose_device(env, u, score, random);
    if (to >= 0 && env->allowed[(int64_t)u * env->n_devices + to]) device[u] = to;
  }
}

void gdp_window_single(int32_t *device, const environment *env, int32_t d) {
  REQUIRE(d >= 0 && d < env->n_devices);
  for (int32_t u = 0; u < env->n_units; u++)
    device[u] = env->allowed[(int64_t)u * env->n_devices + d] ? d : env->best[u];
}
