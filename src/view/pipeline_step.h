/* view/pipeline_step.h - how long a training step of several micro-batches takes in a pipeline, and how long its
 * busiest device waits (docs/model.md, "Steps of several micro-batches"). */
#ifndef SITU_VIEW_PIPELINE_STEP_H
#define SITU_VIEW_PIPELINE_STEP_H

#include "base/arena.h"
#include "problem/problem.h"

typedef struct pipeline_step {
  int64_t fill_ns;     /* one input, forward and back along the longest path from part to part */
  int64_t interval_ns; /* from one input to the next; the period, or more where a part waits for what it must keep. Of
                          schedules by chunks the period */
  int64_t step_ns;     /* all inputs: at most */
  double bubble;       /* the share of it in which the busiest device waits */
} pipeline_step;

/* Of a placement with a period and the greatest load of its devices; the problem has micro-batches.
 * replica_of: NULL for none. Where it is not contiguous, or an operator cannot run, step_ns is SITU_NEVER_NS. O(V + E +
 * micro-batches * parts^2). False without memory. */
bool pipeline_step_find(pipeline_step *out, const situ_problem *problem, const int32_t *device,
                        const int32_t *replica_of, int64_t period_ns, int64_t busiest_ns, arena *scratch);

#endif
