/* learn/gdp_window.h - new placements from the best one: a window of units is placed anew, the rest stays.
 *
 * Trials of whole placements tell little of single units; a trial that differs from a good placement in one window
 * tells of that window. Windows are drawn at all sizes, along the order or along edges; devices by the policy's scores,
 * softened, and now and then any. */
#ifndef SITU_LEARN_GDP_WINDOW_H
#define SITU_LEARN_GDP_WINDOW_H

#include "learn/gdp_view.h"

typedef struct gdp_window gdp_window;

/* Lives in the arena, borrows the view; NULL without memory. */
gdp_window *gdp_window_new(const gdp_view *view, arena *a);
/* env->best but for a window. score: [unit * n_devices]. */
void gdp_window_draw(gdp_window *window, int32_t *device, const environment *env, const nn_real *score, rng *random);
/* All that may run on device d there, the rest as in env->best. */
void gdp_window_single(int32_t *device, const environment *env, int32_t d);

#endif
