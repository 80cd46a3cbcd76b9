/* stages/stage_plan.h - a network cut into stages, each on a group of devices and its replicas. */
#ifndef SITU_STAGES_STAGE_PLAN_H
#define SITU_STAGES_STAGE_PLAN_H

#include "stages/stage_network.h"

/* Which plans there are. */
typedef struct stage_rules {
  stage_machine machine;
  bool no_splits, no_replicas, no_recompute;
} stage_rules;

/* One stage, on n_replicas * degree devices. */
typedef struct stage_part {
  int32_t degree, n_replicas;
} stage_part;

typedef struct stage_plan {
  int32_t n_stages;  /* 0: there is none, or none was found */
  stage_part *part;  /* [stage] in the order of the network */
  int32_t *stage;    /* [layer] */
  int32_t *variant;  /* [layer] its index in the network */
  int64_t *time_ns;  /* [stage] of one input on all replicas */
  int64_t period_ns; /* the longest of these, at least 1 */
  int64_t lower_ns;  /* no plan has a shorter period; STAGE_NEVER_NS: there is none below that */
} stage_plan;

#endif
