/* solve/stream/layouts.h - layouts: parts of a network on devices in turn, the fastest first. */
#ifndef SITU_SOLVE_STREAM_LAYOUTS_H
#define SITU_SOLVE_STREAM_LAYOUTS_H

#include "solve/common/solver.h"

typedef struct layouts {
  solve_run *run;
  int32_t n_sequence, *sequence; /* devices that may be used, the fastest first; hosts after others as fast */
  double *speed;                 /* [device] 1 / its time for everything */
  int32_t *device, *order;       /* [operator] the plan in the making */
} layouts;

/* False without memory; arrays live in the arena of the run. */
bool layouts_init(layouts *l, solve_run *run);

/* How many devices are tried after n: one fewer, or half of many. */
int32_t layouts_fewer(int32_t n);

/* The value of the plan with each operator v where at[of[v]] says: the number of a device in the sequence, or the next
 * in turn that may run it. A step, or more where memory has to be repaired. What takes `enough_ns` or longer even where
 * every memory has room is worth no other look. SITU_NEVER_NS where there is no such plan. */
int64_t layouts_offer(layouts *l, const int32_t *of, const int32_t *at, int64_t enough_ns);

#endif
