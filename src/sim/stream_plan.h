/* sim/stream_plan.h - the full plan of a stream placement. */
#ifndef SITU_SIM_STREAM_PLAN_H
#define SITU_SIM_STREAM_PLAN_H

#include "sim/stream.h"

/* execution_model.plan and .memory */
situ_status stream_fill_plan(void *model, const placement *where, situ_plan *plan, situ_error *error);
situ_status stream_report_memory(void *model, const placement *where, memory_change **out, int64_t *n, arena *a,
                                 situ_error *error);

#endif
