/* plan/plan.h - the frozen plan, and the bare placement that solvers and simulators hand around. */
#ifndef SITU_PLAN_PLAN_H
#define SITU_PLAN_PLAN_H

#include "base/arena.h"
#include "problem/certificate.h"
#include "problem/problem.h"
#include "situ/plan.h"

/* A placement: the decisions of a solver. Arrays belong to its maker. */
typedef struct placement {
  int32_t *device; /* [operator] */
  int32_t *order;  /* stream: a topological order of the operators, the sequence of each device; NULL: index order */
  int32_t *call;   /* calls: number of the call, -1 on hosts; NULL: pieces are found by the rule of docs/model.md */
  int32_t *replica_of; /* pipeline: [device] whose part it runs too, -1 for none; NULL: no part has replicas */
} placement;

enum { MAX_STATISTICS = 32 };

struct situ_plan {
  arena *arena; /* holds that of the problem */
  const situ_problem *problem;
  int32_t n_operators, n_devices;
  situ_outcome outcome;
  bool claimed; /* it comes from a file, whose word outcome and bound are */

  int32_t *device;               /* NULL without a placement, like the next four */
  int32_t *order;                /* stream: operators by start time; else NULL */
  int64_t *start_ns, *finish_ns; /* stream, calls; else NULL */
  int32_t *call;                 /* calls; else NULL */
  int32_t *replica_of;           /* pipeline: [device], as in a placement; NULL: no part has replicas */
  int32_t n_transfers;
  situ_transfer *transfers; /* stream: every hop of every transfer, by start time, then tensor */
  situ_device_use *uses;    /* [device]; NULL when there is no placement */

  int64_t value_ns, lower_bound_ns, best_single_ns;
  int64_t latency_ns, period_ns; /* stream where the period matters; else SITU_NEVER_NS */
  int64_t secondary_ns;          /* by the secondary costs, where they limit plans; else SITU_NEVER_NS */
  int32_t best_single_device;
  int32_t n_handovers;          /* -1 without a placement */
  int64_t best_found_ns;        /* of the best plan found, where that is another; else SITU_NEVER_NS */
  int32_t best_found_handovers; /* likewise; else -1 */
  int64_t unrestricted_ns;      /* the answer without the form, where that is better; else SITU_NEVER_NS */
  int32_t form;                 /* that was required of it: situ_form */
  situ_robustness robustness;   /* size 0: not known */
  /* Plans that the claims above are of, so that they can be checked: of this problem, with a placement, set by
   * plan_show. NULL: it is this plan, there is none, or a file does not show it. */
  situ_plan *best_found, *unrestricted, *compared; /* compared: the split to which the single device was preferred */
  const char *solver, *bound, *reason;             /* never NULL */
  certificate proof;                               /* of the lower bound or of a lower one; no kind: none */
  int64_t verified_ns;                       /* what situ_check saw proved after the solve; 0 for a plan from a file */
  situ_statistic statistics[MAX_STATISTICS]; /* names have static storage */
  int32_t n_statistics;
  int64_t steps;
  uint64_t seed;
  double seconds;
};

/* NULL, or what is wrong with the shape of a placement or a plan of a problem (base/contracts.h): numbers in range,
 * permutations, arrays that belong together. Whether a plan is correct is decided by check/. O(V + devices +
 * transfers). */
const char *placement_check(const placement *where, const situ_problem *problem);
const char *plan_check_shape(const situ_plan *plan);

/* The device whose part device d runs: d itself unless it is a replica. */
static inline int32_t plan_leader(const situ_plan *plan, int32_t d) {
  return plan->replica_of && plan->replica_of[d] >= 0 ? plan->replica_of[d] : d;
}

/* Whether there is a plan with a placement. */
static inline bool plan_exists(const situ_plan *plan) { return plan && plan->device; }
/* What situ_plan_summary says of a plan. */
double plan_gap(const situ_plan *plan);
static inline int64_t plan_best_found_ns(const situ_plan *plan) {
  return plan->best_found_ns < SITU_NEVER_NS ? plan->best_found_ns : plan->value_ns;
}
static inline int32_t plan_best_found_handovers(const situ_plan *plan) {
  return plan->best_found_handovers >= 0 ? plan->best_found_handovers : plan->n_handovers;
}
static inline int64_t plan_unrestricted_ns(const situ_plan *plan) {
  return plan->unrestricted_ns < SITU_NEVER_NS ? plan->unrestricted_ns : plan->value_ns;
}
static inline const char *plan_certificate(const situ_plan *plan) { return plan->proof.kind ? plan->proof.kind : ""; }

/* How many devices run the part of device d: 1 without replicas. O(devices) with them. */
int32_t plan_n_sharing(const situ_plan *plan, int32_t d);

/* Fills n_handovers from the placement. False without memory. */
bool plan_count_handovers(situ_plan *plan);

/* The use of a device; all 0, and replica_of -1, without a placement. */
situ_device_use plan_use(const situ_plan *plan, int32_t device);

/* Where a proved bound meets the value of a plan of the same problem. A bound above it is a defect of situ, and neither
 * is shown: INTERNAL. `bound` and `solver` are the names of who made them. */
situ_status plan_meet_bound(int64_t value_ns, const char *solver, int64_t lower_ns, const char *bound,
                            situ_error *error);
/* Sets lower bound, its name, its proof and, where there is a placement, the outcome; INTERNAL as above. */
situ_status plan_set_bound(situ_plan *plan, int64_t lower_ns, const char *name, const certificate *proof,
                           situ_error *error);

/* BAD_ARGUMENT unless the plan has the operators of the problem, which is that of an instance, and as many devices.
 * O(V) where the graphs are two. */
situ_status plan_belongs(const situ_plan *plan, const situ_problem *problem, situ_error *error);

/* A plan with nothing in it yet: no placement, value SITU_NEVER_NS, bound 0, empty strings. It keeps the problem alive.
 * A plan of a view keeps the problem behind the view, but must be freed before the view goes. NULL without memory. */
situ_plan *plan_new(const situ_problem *problem);
/* Sets one of the plans that a plan shows. The reference of the caller to it passes to the plan, or is dropped without
 * memory: NO_MEMORY. */
situ_status plan_show(situ_plan *plan, situ_plan **slot, situ_plan *shown, situ_error *error);

/* Plan files (docs/formats/plan.md): the content of a plan without the origin of its problem, which the caller adds as
 * the member "instance". Operators are stored by name, so that a plan survives renumbering. */
struct json_value;
struct json_value *plan_to_json(const situ_plan *plan);
situ_status plan_from_json(situ_plan **out, const situ_problem *problem, const struct json_value *root,
                           const char *where, situ_error *error);

/* Pins of a --fix file (a plan of ours, a split in the published form, an object from operator name to device):
 * pins[n_operators], -1 where the file says nothing. Split form: members by source_id; the k-th entry of "fpgas" is
 * the k-th accelerator (non-host device), the k-th of "cpus" the k-th host; for a training graph a missing operator
 * takes the device of its colocation group. */
situ_status plan_read_pins(int32_t *pins, const situ_graph *graph, const situ_platform *platform, const char *path,
                           situ_error *error);

#endif
