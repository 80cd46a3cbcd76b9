/* learn/trial_window.h - new placements derived from the best one: a window of units is placed again, the rest is kept.
 *
 * Trials of whole placements carry little information about single units; a trial that differs from a good placement in
 * one window carries information about that window. Windows have all sizes, along the order or along edges; devices are
 * drawn by the policy's softened scores, and occasionally uniformly. */
#ifndef SITU_LEARN_TRIAL_WINDOW_H
#define SITU_LEARN_TRIAL_WINDOW_H

#include "nn/functions.h"
#include "solve/stream/environment.h"

typedef struct trial_window trial_window;

/* Of n units, numbered along the order, with the edges of each; lives in the arena, borrows the edges. NULL without
 * memory. */
trial_window *trial_window_new(int32_t n, const nn_segments *before, const nn_segments *after, arena *a);
/* Draws a window; its units, *n of them, are there until the next is drawn. */
const int32_t *trial_window_choose(trial_window *w, int32_t *n, rng *random);
/* A device that unit u may be on, by the softmax of half its scores ([unit * n_devices]), or one draw in four any; -1
 * when there is none. */
int32_t trial_window_device(const environment *env, int32_t u, const nn_real *score, rng *random);
/* env->best but for a window. score: [unit * n_devices]. */
void trial_window_draw(trial_window *window, int32_t *device, const environment *env, const nn_real *score,
                       rng *random);
/* All that may run on device d there, the rest as in env->best. */
void trial_window_single(int32_t *device, const environment *env, int32_t d);

#endif
