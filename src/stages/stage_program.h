/* stages/stage_program.h - the plan of stages with the shortest period, and a proof:
 * docs/theory/exact/stage_program.md.
 */
#ifndef SITU_STAGES_STAGE_PROGRAM_H
#define SITU_STAGES_STAGE_PROGRAM_H

#include "base/budget.h"
#include "stages/stage_plan.h"

/* UNSUPPORTED for a network with more sets of layers than fit. The plan is in `a`. */
situ_status stage_program_solve(stage_plan *out, const stage_network *x, const stage_rules *rules, budget *budget,
                                arena *a, arena *scratch, situ_error *error);

#endif
