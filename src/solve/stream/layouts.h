/* solve/stream/layouts.h - layouts: consecutive parts of a network on successive devices, the fastest first. */
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

/* The value of the plan with each operator v at at[of[v]]: the number of a device in the sequence, or the next one that
 * may run it. A step, or more if memory must be repaired. A plan that takes `enough_ns` or longer even with unlimited
 * memory is not examined further. SITU_NEVER_NS if there is no such plan. */
int64_t layouts_offer(layouts *l, const int32_t *of, const int32_t *at, int64_t enough_ns);

#endif
