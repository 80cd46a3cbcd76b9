/* sim/stream_memory.h - memory over time in the stream model. */
#ifndef SITU_SIM_STREAM_MEMORY_H
#define SITU_SIM_STREAM_MEMORY_H

#include "sim/stream.h"

/* Allocates for the memory of runs; NULL without memory. */
stream_memory *stream_memory_new(const stream *s, arena *a);

/* After a complete run: finds the peaks, and returns the bytes over the limits, summed over memories. */
int64_t stream_follow_memory(stream *s, const placement *where);
/* [memory] the result, borrowed until the next call. */
const int64_t *stream_peak_bytes(const stream *s);

/* The complete history in the form of simulator_memory; the array lives in the arena. NO_MEMORY or OK. */
situ_status stream_log_memory(stream *s, const placement *where, memory_change **out, int64_t *n, arena *a,
                              situ_error *error);

#endif
