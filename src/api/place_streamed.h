/* api/place_streamed.h - plans for engines whose weights on a host stream to an accelerator (cost/streamed.h). */
#ifndef SITU_API_PLACE_STREAMED_H
#define SITU_API_PLACE_STREAMED_H

#include "api/instance.h"
#include "situ/solve.h"

/* Looks at a plan that was found, with its instance. Where the accelerator does not hold what streams to it as well, a
 * rule reserves that and the search is repeated; where the host alone is faster, which computes if nothing is on an
 * accelerator, that becomes the plan. So does one on hosts that hide an accelerator which would compute prompts for
 * them (cost/offloaded.h). Notes in the instance say what the engine does. Plans of other engines, and none, stay. A
 * plan whose operators are pinned is only described. */
situ_status place_streamed(situ_plan **plan, situ_instance **instance, const instance_options *options,
                           const situ_solve_options *solve, situ_error *error);

#endif
