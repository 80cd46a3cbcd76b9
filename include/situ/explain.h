/* situ/explain.h - why a plan takes as long as it does: its parts, what limits it, the stages of a pipeline, the
 * critical path of a stream.
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
 * O(used devices * (V + E)), and the sorting of transfers. */
SITU_API situ_status situ_explain(situ_explanation **out, const situ_plan *plan, const situ_problem *problem,
                                  situ_error *error);
SITU_API void situ_explanation_free(situ_explanation *explanation);

/* What an engine can run in one piece: operators of one device that no path leaves and enters again. Each time a path
 * leaves a device and comes back, another part of that device begins (the rule for calls of docs/model.md). Closed: it
 * never grows. */
typedef struct situ_part {
  int32_t device;                        /* -1 past the end */
  int32_t n_operators, n_working;        /* all; those that take time there */
  int32_t first_operator, last_operator; /* the lowest and the highest number */
  int64_t work_ns;                       /* their times on the device */
} situ_part;

/* Parts in order of their starts; of their first operators where the plan has no times. */
SITU_API int32_t situ_explanation_n_parts(const situ_explanation *explanation);
SITU_API situ_part situ_explanation_part(const situ_explanation *explanation, int32_t index);
/* The part that an operator is in; -1 for an operator that is none. */
SITU_API int32_t situ_explanation_part_of(const situ_explanation *explanation, int32_t op);
/* What a part holds, in words ("layers 0-23, lm_head"); "" past the end. */
SITU_API const char *situ_explanation_part_name(const situ_explanation *explanation, int32_t index);
/* Bytes that go to another memory, once for each tensor and receiving memory. */
SITU_API int64_t situ_explanation_transfer_bytes(const situ_explanation *explanation);

/* What the value of a plan is bounded by, as the plan stands. */
typedef enum situ_limit_kind {
  SITU_LIMIT_CHAIN = 0, /* operators and transfers that wait for each other, on several devices in turn */
  SITU_LIMIT_DEVICE,    /* a device that works for nearly all of the value */
  SITU_LIMIT_LINK       /* a link that carries data for most of the value */
} situ_limit_kind;
/* Closed: it never grows. */
typedef struct situ_limit {
  situ_limit_kind kind;
  int32_t index; /* the device, or a link of the channel; -1 for a chain */
  double share;  /* of the value during which it works; for a chain that of the busiest device */
} situ_limit;
SITU_API situ_limit situ_explanation_limit(const situ_explanation *explanation);
/* "chain", "device", "link". */
SITU_API const char *situ_limit_name(situ_limit_kind kind);

/* stream: where the time of the critical path goes, the longest first. Closed: it never grows. */
typedef struct situ_path_share {
  int32_t device; /* whose work it is; -1 for transfers, for waiting, and past the end */
  int32_t link;   /* that carries them; -1 for work and waiting */
  int64_t time_ns;
} situ_path_share;
SITU_API int32_t situ_explanation_n_shares(const situ_explanation *explanation);
SITU_API situ_path_share situ_explanation_share(const situ_explanation *explanation, int32_t index);

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
