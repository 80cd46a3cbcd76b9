/* solve/stream/critical.h - why a stream schedule takes as long as it does: tails, neighbours on the devices, and one
 * critical path from its start to its end. */
#ifndef SITU_SOLVE_STREAM_CRITICAL_H
#define SITU_SOLVE_STREAM_CRITICAL_H

#include "plan/plan.h"

typedef struct critical {
  const situ_problem *problem;
  int32_t *position;       /* [operator] in the order */
  int32_t *before, *after; /* [operator] its neighbours on its device, -1: none */
  int32_t *last;           /* [device] scratch */
  int64_t *busy_ns;        /* [device] */
  int64_t *tail_ns;        /* [operator] minimum time from its start to the end of everything, in this sequence, without
                              contention */
  int32_t *path;           /* operators each of which waits for the one before (or for links only), first to last */
  int32_t n_path;
} critical;

bool critical_init(critical *c, const situ_problem *problem, arena *a);
/* O(V + E). start_ns and finish_ns are those of a simulation of the placement. */
void critical_find(critical *c, const placement *where, const int64_t *start_ns, const int64_t *finish_ns);

/* When the inputs of v could be on device d, without contention. */
int64_t critical_arrival(const situ_problem *p, const int32_t *device, const int64_t *finish_ns, int32_t v, int32_t d);
/* Minimum time from the end of v, if it were on device d, to the end of everything. */
int64_t critical_rest(const critical *c, const int32_t *device, int32_t v, int32_t d);

#endif
