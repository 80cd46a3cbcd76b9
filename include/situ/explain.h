/* situ/explain.h - why a plan takes as long as it does: the stages of a pipeline, the critical path of a stream.
 *
 * An explanation is frozen: any number of threads may read it. It borrows nothing once it is made. */
#ifndef SITU_EXPLAIN_H
#define SITU_EXPLAIN_H

#include "situ/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_explanation situ_explanation;

/* Works out what the accessors below tell. BAD_ARGUMENT when the plan has no placement or is of another problem.
 * O(V + E), and the sorting of transfers. */
SITU_API situ_status situ_explain(situ_explanation **out, const situ_plan *plan, const situ_problem *problem,
                                  situ_error *error);
SITU_API void situ_explanation_free(situ_explanation *explanation);

/* What one device runs: a stage. A replica of another device has no stage of its own. Closed: it never grows. */
typedef struct situ_stage {
  int32_t device;                        /* -1 past the end */
  int32_t n_devices;                     /* that share its inputs; 1 without replicas */
  int32_t n_operators;                   /* at least 1 */
  int32_t first_operator, last_operator; /* the lowest and the highest number */
  int64_t load_ns;                       /* as in situ_device_use */
} situ_stage;

/* Stages in the order in which data goes through them; where it goes to and fro between devices, which contiguous
 * pipelines do not do, in the order of their first operators. */
SITU_API int32_t situ_explanation_n_stages(const situ_explanation *explanation);
SITU_API situ_stage situ_explanation_stage(const situ_explanation *explanation, int32_t index);

/* A part of the critical path: an operator or a transfer. Closed: it never grows. */
typedef struct situ_path_step {
  int32_t op;       /* -1 for a transfer, and past the end */
  int32_t transfer; /* as in situ_plan_transfer; -1 for an operator */
  int64_t start_ns, finish_ns;
} situ_path_step;

/* stream: a chain of operators and transfers from time 0 to the end of the plan, each of which waits for the one
 * before: for its data, for its device or for its link. Where a step begins later than the one before ends, the plan
 * lets time pass. 0 steps for other execution models, and for plans without times. */
SITU_API int32_t situ_explanation_n_steps(const situ_explanation *explanation);
SITU_API situ_path_step situ_explanation_step(const situ_explanation *explanation, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
