/* sim/stream_base.h - trials by comparison with a base run: docs/theory/models/trial_runs.md. */
#ifndef SITU_SIM_STREAM_BASE_H
#define SITU_SIM_STREAM_BASE_H

#include "sim/stream.h"

/* execution_model.base_new, .run_base and .run_below */
void *stream_base_new(void *model, arena *a);
void stream_run_base(void *model, void *base, const placement *where, bool memory, simulation *out);
void stream_run_below(void *model, void *base, const placement *where, bool memory, int64_t limit_ns, simulation *out);

#endif
