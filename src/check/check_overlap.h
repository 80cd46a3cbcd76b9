/* check/check_overlap.h - the judge of streams in which not everything may overlap (docs/model.md, "Overlap"). */
#ifndef SITU_CHECK_CHECK_OVERLAP_H
#define SITU_CHECK_CHECK_OVERLAP_H

#include "check/judge.h"

/* A copy back that keeps the hosts of a memory busy. */
typedef struct check_back {
  int32_t memory, transfer;
  int64_t start_ns, finish_ns;
} check_back;

typedef struct check_segment {
  int32_t memory;
  int64_t start_ns, finish_ns;
} check_segment;

/* overlap host-blocking: what keeps hosts busy. */
typedef struct check_hosts {
  int32_t n_backs;
  int64_t n_segments;
  check_back *backs;       /* by memory, then start */
  check_segment *segments; /* times during which some host of a memory works or copies, joined; by memory, then start */
} check_hosts;

/* Finds them, and notes operators and copies that share a host at some time. NO_MEMORY or OK. */
situ_status check_hosts_find(check_hosts *out, judge *j, situ_error *error);
/* The memory whose hosts a transfer of the plan keeps busy, or -1. */
int32_t check_hosts_of(const judge *j, const situ_transfer *x);
/* The start of an operator on device d that is ready at ready_ns but may have to wait for a copy in progress. */
int64_t check_hosts_let_go(const check_hosts *h, const judge *j, int32_t d, int64_t ready_ns);
/* Whether some host of the memory is busy from one time to the other without a break. */
bool check_hosts_are_busy(const check_hosts *h, int32_t memory, int64_t from_ns, int64_t to_ns);
/* Of copies that could start at one instant the one on the lowest channel does: earliest_ns[transfer of the plan] says
 * when its channel would let it start. NO_MEMORY or OK. */
situ_status check_hosts_turns(const check_hosts *h, judge *j, const int64_t *earliest_ns, situ_error *error);

/* overlap none: operators in order (sequence[n_operators]), each followed by its transfers, without a break. NO_MEMORY
 * or OK. */
situ_status check_one_at_a_time(judge *j, const int32_t *sequence, situ_error *error);

#endif
