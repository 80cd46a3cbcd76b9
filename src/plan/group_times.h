/* plan/group_times.h - what a group of devices gains and pays in a plan. */
#ifndef SITU_PLAN_GROUP_TIMES_H
#define SITU_PLAN_GROUP_TIMES_H

#include "plan/plan.h"

/* Sums over the operators that a group runs, of one input. */
typedef struct group_times {
  int32_t n_operators;   /* 0: the device is no group, or runs none */
  int32_t n_collectives; /* operators that end with one */
  int64_t one_member_ns; /* on one member alone: SITU_NEVER_NS where it cannot run one of them */
  int64_t split_ns;      /* on the group, without collectives */
  int64_t collective_ns;
  bool one_step; /* of a language model: of one step, not of all steps of a request */
} group_times;

/* Of a plan with a placement. O(V). */
group_times group_times_of(const situ_plan *plan, int32_t device);

#endif
