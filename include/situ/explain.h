/* situ/explain.h - why a plan takes as long as it does: its parts, its bottleneck, the stages of a pipeline, the
 * critical path of a stream.
 *
 * An explanation is frozen: any number of threads may read it. It does not refer to the plan. */
#ifndef SITU_EXPLAIN_H
#define SITU_EXPLAIN_H

#include "situ/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_explanation situ_explanation;

/* Computes everything that the accessors below return. BAD_ARGUMENT if the plan has no placement.
 * O(used devices * (V + E)), plus sorting the transfers. */
SITU_API situ_status situ_explain(situ_explanation **out, const situ_plan *plan, situ_error *error);
SITU_API void situ_explanation_free(situ_explanation *explanation);

/* A part: operators of one device that an engine can run as one piece, because no path leaves them and enters them
 * again. Each time a path leaves a device and comes back, a new part of that device begins (the rule for calls in
 * docs/model.md). Closed: it never grows. */
typedef struct situ_part {
  int32_t device;                        /* -1 past the end */
  int32_t n_operators, n_working;        /* all; those with a time above 0 there */
  int32_t first_operator, last_operator; /* the lowest and the highest number */
  int64_t work_ns;                       /* their times on the device */
} situ_part;

/* Parts in order of their start times; if the plan has no times, in order of their first operators. */
SITU_API situ_part situ_explanation_part(const situ_explanation *explanation, int32_t index);
/* The part that an operator belongs to; -1 if there is no such operator. */
SITU_API int32_t situ_explanation_part_of(const situ_explanation *explanation, int32_t op);
/* The contents of a part in words ("layers 0-23, lm_head"); "" past the end. */
SITU_API const char *situ_explanation_part_name(const situ_explanation *explanation, int32_t index);

/* The bottleneck of a plan. */
typedef enum situ_limit_kind {
  SITU_LIMIT_CHAIN = 0, /* a chain of dependent operators and transfers across several devices */
  SITU_LIMIT_DEVICE,    /* a device whose load is nearly the whole value */
  SITU_LIMIT_LINK       /* a link whose load is most of the value */
} situ_limit_kind;
/* Closed: it never grows. */
typedef struct situ_limit {
  situ_limit_kind kind;
  int32_t index; /* the device, or a link of the channel; -1 for a chain */
  double share;  /* load as a share of the plan's value; for a chain, the maximum load of a device */
} situ_limit;
/* "chain", "device", "link". */
SITU_API const char *situ_limit_name(situ_limit_kind kind);

/* stream: how the time of the critical path divides, the largest share first. Closed: it never grows. */
typedef struct situ_path_share {
  int32_t device; /* the device that computes; -1 for transfers, for waiting, and past the end */
  int32_t link;   /* the link that transfers; -1 for computing and waiting */
  int64_t time_ns;
} situ_path_share;
SITU_API situ_path_share situ_explanation_share(const situ_explanation *explanation, int32_t index);

/* A stage: all operators of one device. A replica of another device has no stage of its own. Closed: it never grows. */
typedef struct situ_stage {
  int32_t device;                        /* -1 past the end */
  int32_t n_devices;                     /* that share its inputs; 1 without replicas */
  int32_t n_operators;                   /* at least 1 */
  int32_t first_operator, last_operator; /* the lowest and the highest number */
  int64_t load_ns;                       /* as in situ_device_use */
} situ_stage;

/* Stages in the order of the data flow. If data goes back and forth between devices, which cannot happen in contiguous
 * pipelines, in order of their first operators. */
SITU_API situ_stage situ_explanation_stage(const situ_explanation *explanation, int32_t index);

/* A step of the critical path: an operator or a transfer. Closed: it never grows. */
typedef struct situ_path_step {
  int32_t op;       /* -1 for a transfer, and past the end */
  int32_t transfer; /* as in situ_plan_transfer; -1 for an operator */
  int64_t start_ns, finish_ns;
} situ_path_step;

/* stream: a chain of operators and transfers from time 0 to the end of the plan. Each waits for the one before it: for
 * its data, its device or its link. Where a step starts after the previous one ends, the plan is idle in between. 0
 * steps for other execution models and for plans without times. */
SITU_API situ_path_step situ_explanation_step(const situ_explanation *explanation, int32_t index);

typedef struct situ_explanation_summary {
  size_t size;
  int32_t n_parts, n_shares, n_stages, n_steps;
  int64_t transfer_bytes; /* sent to another memory, counted once for each tensor and receiving memory */
  situ_limit limit;
} situ_explanation_summary;
#define SITU_EXPLANATION_SUMMARY_INIT SITU_SIZED(situ_explanation_summary)
/* False, and nothing is written, if the explanation or `out` is NULL or `out` has no size. */
SITU_API bool situ_explanation_get_summary(const situ_explanation *explanation, situ_explanation_summary *out);

#ifdef __cplusplus
}
#endif
#endif
