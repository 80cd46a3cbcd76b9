/* sim/stream_run.h - one run of the stream model. */
#ifndef SITU_SIM_STREAM_RUN_H
#define SITU_SIM_STREAM_RUN_H

#include "sim/stream.h"

/* execution_model.make and .run */
void *stream_make(const situ_problem *problem, arena *a);
void stream_run(void *model, const placement *where, bool memory, simulation *out);

/* The results of a complete run. */
void stream_report(stream *s, const placement *where, bool memory, simulation *out);

#endif
