/* engine/handover.h - what it costs to hand a tensor from one worker to another on this host: the message that tells of
 * it, and the reading of what lies in the caches of another core. */
#ifndef SITU_ENGINE_HANDOVER_H
#define SITU_ENGINE_HANDOVER_H

#include "engine/worker.h"

typedef struct handover {
  int64_t latency_ns;
  double bytes_per_s;
} handover;

/* Medians of a tensor of 64 bytes and one of 4 MiB, between workers on cores of their own where there are `threads` for
 * each. Takes some 100 ms, and no engine. */
situ_status handover_measure(handover *out, int32_t threads, const patience *wait, situ_error *error);

#endif
