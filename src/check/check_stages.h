/* check/check_stages.h - the judge of plans of stages: what a plan takes and holds, and that none has a shorter period,
 * with code of its own. */
#ifndef SITU_CHECK_CHECK_STAGES_H
#define SITU_CHECK_CHECK_STAGES_H

#include "stages/stage_plan.h"

/* What is wrong with a plan, or NULL: it keeps the rules and has the period that it states. "" without memory. */
const char *check_stages_plan(const stage_network *x, const stage_rules *rules, const stage_plan *plan);

typedef enum check_stages_finding { STAGES_PROVED, STAGES_REFUTED, STAGES_TOO_MANY } check_stages_finding;

/* Whether no plan has a period below lower_ns. TOO_MANY: more than so many steps, or no memory. */
check_stages_finding check_stages_bound(const stage_network *x, const stage_rules *rules, int64_t lower_ns,
                                        int64_t max_steps);

#endif
