/* check/check_memory.h - memory over time in a stream plan. */
#ifndef SITU_CHECK_CHECK_MEMORY_H
#define SITU_CHECK_CHECK_MEMORY_H

#include "check/judge.h"

/* A transfer of a tensor to a memory: when its first hop ends, its last starts, its last ends. */
typedef struct check_copy {
  int32_t tensor, to_memory;
  int64_t left_ns, came_ns, arrived_ns;
} check_copy;

/* Fills peak_bytes[memory]. NO_MEMORY or OK. */
situ_status check_stream_memory(judge *j, const check_copy *copies, int32_t n_copies, int64_t *peak_bytes,
                                situ_error *error);

#endif
