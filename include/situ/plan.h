/* situ/plan.h - the answer: which device runs each operator, when, and how good that is.
 *
 * A plan knows its problem and keeps it alive: the program may free problem, costs, platform, graph and instance before
 * the plan.
 *
 * A plan is frozen: any number of threads may read it. Texts and arrays belong to the plan or the verdict. For a NULL
 * plan or an index out of range, accessors return -1 for a device or call, SITU_NEVER_NS for a value, "" for a text and
 * 0 otherwise. Indices are below the counts of situ_plan_summary, those of operators in the order of the graph. */
#ifndef SITU_PLAN_H
#define SITU_PLAN_H

#include "situ/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_plan situ_plan;

/* The form of the plans that a target can run: a sum of these conditions on where layers are placed. Layers are those
 * of src/graph/layers.h; a host is a device with is_host; "GPU" means any other device. */
typedef enum situ_form {
  SITU_FORM_LAYERS = 1,  /* each layer is on one device, except for its routed experts */
  SITU_FORM_EXPERTS = 2, /* routed experts are on the device of their layer */
  SITU_FORM_SPILL = 4,   /* all routed experts of a layer are on its device, or all on a host */
  SITU_FORM_BLOCKS = 8,  /* everything before the layers is on one device, everything after them on one device */
  SITU_FORM_RUNS = 16,   /* the layers of a device are consecutive */
  SITU_FORM_ENDS = 32,   /* everything before the layers is on the device of the first, everything after them on that of
                            the last */
  SITU_FORM_HEAD = 64,   /* everything after the layers counts as one more layer; everything before them is on a host,
                            or on a GPU that has layers */
  SITU_FORM_HOST_FIRST = 128,  /* a host has the first layers or none */
  SITU_FORM_NO_HOST = 256,     /* no host has layers */
  SITU_FORM_NAMES = 512,       /* layers have names */
  SITU_FORM_ONE_SERVER = 1024, /* all used devices are in one server */
  SITU_FORM_ONE_GROUP = 2048,  /* if a group of devices has a layer, the other layers and experts are on it or on the
                                  first host, whose server it is in, the head is on it, and everything before the
                                  layers on that host, if it is used */
  SITU_FORM_ALIKE = 4096       /* the devices that have layers are single ones, or groups of one size */
} situ_form;

/* What a solve established about the problem; independent of the status of the call. */
typedef enum situ_outcome {
  SITU_OUTCOME_OPTIMAL = 0, /* a plan whose value equals a proved lower bound */
  SITU_OUTCOME_FEASIBLE,    /* a plan, with a gap */
  SITU_OUTCOME_INFEASIBLE,  /* it is proved that there is no plan; the reason of the summary says why */
  SITU_OUTCOME_LIMIT,       /* no plan was found within the budget */
  SITU_OUTCOME_CANCELLED    /* a callback stopped the solve before a plan was found */
} situ_outcome;

/* One hop of the transfer of a tensor in a stream schedule. Closed: it never grows. */
typedef struct situ_transfer {
  int32_t tensor, link; /* link: the hop's link */
  int32_t to_memory;    /* the destination of the whole transfer (situ_platform_memory_name) */
  int64_t start_ns, finish_ns;
} situ_transfer;

typedef struct situ_device_use {
  size_t size;
  int32_t n_operators;
  int32_t replica_of;   /* pipeline: the device whose part this one replicates; -1: none, the usual case */
  int64_t load_ns;      /* stream, calls: computing time (calls: with transfers); pipeline: its load */
  int64_t memory_bytes; /* peak use of its memory, by all devices that share it */
  int64_t memory_limit_bytes;
} situ_device_use;
#define SITU_DEVICE_USE_INIT SITU_SIZED(situ_device_use)

SITU_API void situ_plan_free(situ_plan *plan);
/* The problem that it is a plan of, borrowed: it lives as long as the plan. NULL for NULL. */
SITU_API const situ_problem *situ_plan_problem(const situ_plan *plan);

/* What a plan says as a whole. Times are SITU_NEVER_NS where nothing is known. */
typedef struct situ_plan_summary {
  size_t size;
  situ_outcome outcome;
  bool exists;  /* there is a placement (outcome OPTIMAL or FEASIBLE): functions of devices and times need one */
  bool claimed; /* outcome and bound are claims from a plan file that have not been checked */
  int32_t n_operators, n_devices, n_transfers;
  int32_t n_statistics;          /* 0 for a plan read from a file */
  int64_t value_ns;              /* the makespan or the period */
  int64_t latency_ns, period_ns; /* stream with a limit on period or latency: both, one of which is the value */
  int64_t secondary_ns;          /* with a limit by secondary costs: the latency by those */
  int64_t lower_bound_ns;        /* proved for the value of every plan of the problem; >= 0 */
  int64_t verified_ns; /* what situ_check verified of that bound from a certificate after the solve; 0 for a plan read
                          from a file */
  double gap;          /* (value - bound) / value; 0 when both are 0; 1 without a placement */
  int64_t best_single_ns;     /* the best value that a single device reaches alone */
  int32_t best_single_device; /* that device; -1 if no device can run everything */
  int32_t n_handovers;        /* how often data changes devices, counted once for each tensor and receiving device; -1
                                 without a placement */
  /* The best plan found, if one with fewer hand-overs was chosen instead (situ_solve_options.tolerance, min_gain,
   * max_parts); else this plan. */
  int64_t best_found_ns;
  int32_t best_found_handovers; /* -1 without a placement */
  /* If a form was required (situ_solve_options.form): the value of the answer without that form, if it is better.
   * Otherwise the value of this plan. */
  int64_t unrestricted_ns;
  const char *solver;      /* that found it */
  const char *bound;       /* the name of the bound behind the lower bound; "" for none */
  const char *reason;      /* why there is no placement; "" otherwise */
  const char *certificate; /* the kind of the one that the plan carries ("area_price",
                              docs/theory/bounds/certificates.md), or "" */
  int64_t steps;           /* of the solve that found the plan, like the next two */
  uint64_t seed;
  double seconds;
} situ_plan_summary;
#define SITU_PLAN_SUMMARY_INIT SITU_SIZED(situ_plan_summary)
/* False, and nothing is written, if the plan or `out` is NULL or `out` has no size. */
SITU_API bool situ_plan_get_summary(const situ_plan *plan, situ_plan_summary *out);

/* The latency of one input by the parts that an engine cuts the model into, where the costs come from a profile that
 * knows what a part takes (docs/model.md, "Parts"): what auto compares plans by. Otherwise the value of the plan.
 * SITU_NEVER_NS without a placement or memory. */
SITU_API int64_t situ_plan_by_parts_ns(const situ_plan *plan);
/* The effect of uncertain costs (docs/theory/models/uncertainty.md). It compares this plan with the best single device
 * or, if that device is the answer, the split that was rejected in its favour. */
typedef struct situ_robustness {
  size_t size;
  double uncertainty;                           /* the uncertainty given, such as 0.2 */
  int32_t draws;                                /* number of random draws of the costs */
  bool preferred;                               /* the single device is the answer */
  double beats_single;                          /* the share of draws in which the plan is faster */
  double speedup_5, speedup_median, speedup_95; /* percentiles of its speed-up over the single device */
  int64_t regret_ns;                            /* mean loss against the better of the two */
  double flip_factor;  /* the factor nearest to 1, within 1/16 .. 16, on all times of flip_what at which the single
                          device becomes as good; 0: none, or none was searched for in time */
  char flip_what[128]; /* a class of devices, or "link A to B" for all equal links; "" for none */
} situ_robustness;
#define SITU_ROBUSTNESS_INIT SITU_SIZED(situ_robustness)
/* False if it was not requested, or if there is no split or no single device to compare. */
SITU_API bool situ_plan_robustness(const situ_plan *plan, situ_robustness *out);
/* A counter that a solver kept, such as the number of ideals enumerated. Closed: it never grows. */
typedef struct situ_statistic {
  const char *name; /* "ideal_dp.pairs": solver and counter; "" past the end */
  int64_t value;
} situ_statistic;
SITU_API situ_statistic situ_plan_statistic(const situ_plan *plan, int32_t index);

SITU_API int32_t situ_plan_device(const situ_plan *plan, int32_t op);
/* stream: the operators in order of their start times; *operators is borrowed. Returns their number; 0 and NULL for
 * other execution models. */
SITU_API int32_t situ_plan_order(const situ_plan *plan, const int32_t **operators);
/* Times in a stream or calls schedule; 0 in a pipeline. */
SITU_API int64_t situ_plan_start_ns(const situ_plan *plan, int32_t op);
SITU_API int64_t situ_plan_finish_ns(const situ_plan *plan, int32_t op);
/* calls: the number of the call that runs the operator, or -1 on a host. */
SITU_API int32_t situ_plan_call(const situ_plan *plan, int32_t op);
SITU_API situ_transfer situ_plan_transfer(const situ_plan *plan, int32_t index);
/* The use of a device; false if there is no such device or no placement. */
SITU_API bool situ_plan_device_use(const situ_plan *plan, int32_t device, situ_device_use *out);

/* "optimal", "feasible", ... */
SITU_API const char *situ_outcome_name(situ_outcome outcome);

/* ---- judging ---- */

/* Closed: it never grows. Texts are "" past the end. */
typedef struct situ_violation {
  const char *rule; /* "memory", "precedence", "overlap", "support", "colocation", "pin", "contiguity", "value", ... */
  const char *text; /* one line: which operator or device, what was found, what was expected */
} situ_violation;

typedef struct situ_verdict situ_verdict;

/* Checks a plan against its problem, independently of solvers and simulator. It checks every rule of docs/model.md and
 * keeps at most 100 violations. A plan without a placement breaks the rule "placement", unless its certificate, or a
 * conflict of the problem, proves that no plan exists. The bound that the certificate proves is
 * recomputed in integers; a certificate that does not prove its claim breaks the rule "certificate". The verdict keeps
 * the plan alive. */
SITU_API situ_status situ_check(situ_verdict **out, const situ_plan *plan, situ_error *error);
SITU_API void situ_verdict_free(situ_verdict *verdict);
/* Repeats by simulation, for the verdict on a plan, what situ_check cannot recompute: what drawn costs say of it
 * (situ_robustness). A claim that they do not confirm breaks the rule "claim". Does nothing for a plan with violations.
 */
SITU_API situ_status situ_verdict_recompute(situ_verdict *verdict, situ_error *error);
/* Turns a lower bound that its certificate does not prove into a violation, of the rule "proof", and likewise claims
 * that could not be recomputed: call situ_verdict_recompute before. Without this call a plan may claim any bound up to
 * its value, and only `unverified` of the summary reports it. */
SITU_API void situ_verdict_require_proof(situ_verdict *verdict);

typedef struct situ_verdict_summary {
  size_t size;
  int32_t n_violations; /* those kept */
  int64_t n_found;      /* all violations */
  /* The lower bound that the plan's certificate proves; 0 for none, SITU_NEVER_NS if it proves that there is no plan.
   */
  int64_t verified_ns;
  /* The kind of the certificate that was checked ("area_price", docs/theory/bounds/certificates.md); "conflict" if a
   * conflict of the problem rules out every plan; or "". */
  const char *certificate;
  /* "" if the plan's lower bound is verified; otherwise the reason why it is not, in words. Not a violation by itself.
   */
  const char *unverified;
  /* Which optional claims of the plan were recomputed, and which could not be, since the file does not show the plan
   * that they are of: members of a plan file with commas between, such as "best_found, robustness"; "" for none. */
  const char *recomputed, *unchecked;
} situ_verdict_summary;
#define SITU_VERDICT_SUMMARY_INIT SITU_SIZED(situ_verdict_summary)
/* False, and nothing is written, if the verdict or `out` is NULL or `out` has no size. */
SITU_API bool situ_verdict_get_summary(const situ_verdict *verdict, situ_verdict_summary *out);
SITU_API situ_violation situ_verdict_violation(const situ_verdict *verdict, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
