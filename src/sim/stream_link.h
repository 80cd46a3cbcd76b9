/* sim/stream_link.h - the run of the stream model with contention link. */
#ifndef SITU_SIM_STREAM_LINK_H
#define SITU_SIM_STREAM_LINK_H

#include "sim/stream.h"

/* Allocates for runs; false without memory. */
bool stream_link_make(stream *s, arena *a);

/* Runs the chains; returns whether the run completed. Fills start_ns, finish_ns. */
bool stream_run_link(stream *s);
/* The same from the end of an instant on. */
bool stream_continue(stream *s);

/* The same, but each device picks the ready operator of highest priority: see simulator_dispatch. */
int64_t stream_run_dispatch(void *model, const int32_t *device, const double *priority, int32_t *order,
                            int64_t limit_ns);

#endif
