/* api/place_recompute.h - training steps whose recomputation is left to situ (--recompute auto). */
#ifndef SITU_API_PLACE_RECOMPUTE_H
#define SITU_API_PLACE_RECOMPUTE_H

#include "api/place_instance.h"

/* Whether the options leave it open. */
bool place_recompute_is_open(const instance_options *options);

/* Places without recomputation, and in pipelines with the layers that exact/recompute_chain.h chooses one by one. Where
 * that does not serve: with all layers; where this is better, or alone has a plan, fewer by bisection. Gives the plan
 * of the minimum value with its instance, whose notes say what the others take, and what no choice of layers can beat
 * if that was proved; else other choices may be better still. Limits of time are shared. */
situ_status place_best_recompute(situ_plan **out, situ_instance **instance, const instance_options *options,
                                 const situ_solve_options *solve, situ_error *error);

#endif
