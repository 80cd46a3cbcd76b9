/* api/place_recompute.h - training steps whose recomputation is left to situ (--recompute auto). */
#ifndef SITU_API_PLACE_RECOMPUTE_H
#define SITU_API_PLACE_RECOMPUTE_H

#include "api/place_instance.h"

/* Whether the options leave it open. */
bool place_recompute_is_open(const instance_options *options);

/* Places without recomputation and with that of all layers; where the latter is better, or alone has a plan, searches
 * for fewer layers by bisection. Gives the plan of the minimum value with its instance, whose notes say what the others
 * take. Less is not always more memory, nor more always a slower plan, so other numbers of layers may be better still.
 * Limits of time are shared. */
situ_status place_best_recompute(situ_plan **out, situ_instance **instance, const instance_options *options,
                                 const situ_solve_options *solve, situ_error *error);

#endif
