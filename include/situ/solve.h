/* situ/solve.h - from a problem to a plan: one solver, several, or the portfolio `auto`.
 *
 * Any number of threads may solve at once, even the same problem; but only one at a time with the solver metis, whose
 * library uses rand(). Callbacks run on the calling thread. Everything that options point to is used during the call
 * only; texts in info structs are static. */
#ifndef SITU_SOLVE_H
#define SITU_SOLVE_H

#include "situ/plan.h"
#include "situ/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The progress of a long solve. */
typedef struct situ_progress {
  size_t size; /* bytes that the library filled */
  const char *solver;
  double seconds;
  int64_t steps, value_ns, lower_bound_ns; /* value: SITU_NEVER_NS while there is no plan */
} situ_progress;

/* Called on the calling thread, at most about every 10 ms. Return true to stop: the best plan so far is then
 * returned. */
typedef bool situ_progress_callback(void *context, const situ_progress *progress);

typedef struct situ_solve_options {
  size_t size;
  const char *solvers; /* "auto" (NULL), or names separated by commas, which run in that order within one budget.
                          A solver or bound after a minus sign takes no part, wherever it is run: "auto,-tabu,-join".
                          "milp" runs HiGHS where it is found, in a Python environment or by the loader, else Cbc; the
                          environment variable SITU_HIGHS names its library or folder, or is "none" */
  double time_limit_s; /* 0: auto and the other anytime solvers stop after about 10 s; others run to completion */
  int64_t max_steps;   /* 0: no limit. With a step limit and no time limit the result is reproducible. */
  const situ_plan *const *starts; /* [n_starts] plans of the same graph and platform to start from; those that break a
                                     constraint are ignored. May be NULL */
  int32_t n_starts;
  bool no_bounds; /* skip the bounds before the search: the lower bound is then only what solvers prove */
  uint64_t seed;
  int32_t threads; /* 0 means 1. With a step limit and no time limit the result does not depend on the number of
                      threads */
  situ_progress_callback *progress; /* may be NULL */
  void *context;
  const char *policy; /* learned solvers: a policy file (situ/learn.h); NULL: the one shipped with situ, if any; "none":
                         learn from scratch */
  int64_t tune_steps; /* learned solvers: training steps on this problem; 0: none with a policy; from scratch, as many
                         as the limits allow, or 100 without limits */
  situ_log_callback *log; /* receives the result of each bound and solver when it ends; may be NULL */
  void *log_context;
  /* stream, latency: which of the plans found is the answer (docs/theory/heuristics/handover_search.md). Fractions,
   * such as 0.02. With 0, the default of the library, the answer is the best plan found. SITU_AUTO selects the defaults
   * of `situ place`: 0.02 and 0.05 if `auto` minimises latency with estimated costs, else 0. */
  double tolerance;  /* prefer fewest hand-overs among plans within this fraction of the best plan found */
  double min_gain;   /* use the best single device, unless some plan is faster by at least this fraction */
  int32_t max_parts; /* hard limit on the number of parts; 0: none */
  int32_t min_part;  /* hard limit: minimum number of units (operators, or groups that stay together) in each part if
                        there are several; 0: none */
  /* The relative uncertainty of costs; 0: not considered. SITU_AUTO: 0.2 if tolerance or min_gain apply, else 0.
   * With uncertainty the answer is the best single device unless a plan beats it in 9 of 10 random draws of the
   * costs. */
  double uncertainty;
  bool robust; /* of up to 20 plans found, choose the one whose speed-up has the highest 10th percentile */
  /* The form that the target requires: a sum of situ_form values (situ/plan.h); situ_writer_info has that of each
   * format. 0: any plan. A hard limit like max_parts: the lower bound remains that of all plans, and
   * situ_plan_summary.unrestricted_ns shows the cost of the form. UNSUPPORTED if the graph lacks the layers that the
   * form refers to. */
  int32_t form;
  /* Processes that solve together; each must make the same call. NULL: this process alone. The searches are distributed
   * among them. With a step limit and no time limit the plan does not depend on their number; otherwise the plan of
   * rank 0 is the answer. If a process is lost, only its share of the work is lost. ENGINE if rank 0 is lost, or if the
   * problem or the options differ. */
  situ_ranks *ranks;
} situ_solve_options;
#define SITU_AUTO (-1.0)
#define SITU_SOLVE_OPTIONS_INIT SITU_SIZED(situ_solve_options)

/* Solves the problem. options may be NULL. The plan always carries the best single device and has passed situ_check; a
 * plan that fails the check is INTERNAL. BAD_ARGUMENT for a solver that does not exist or does not support this
 * execution model; UNSUPPORTED for one whose library is missing from this build. */
SITU_API situ_status situ_solve(situ_plan **out, const situ_problem *problem, const situ_solve_options *options,
                                situ_error *error);

/* Evaluates one given placement, device[n_operators]. `order` (a permutation of the operators in topological order;
 * NULL: index order) determines the sequence on each device. Constraints are not enforced: situ_check names those that
 * are broken. The bound is 0 and the outcome FEASIBLE. */
SITU_API situ_status situ_simulate(situ_plan **out, const situ_problem *problem, const int32_t *device,
                                   const int32_t *order, situ_error *error);

/* A plan of a changed graph from one of the graph before, to start a search from (situ_solve_options.starts): of
 * `problem`, whatever graph and platform `plan` has. Operators are matched by name and by structure, devices by name
 * and class; what is new goes where its inputs are made. As of situ_simulate, constraints other than pins, support and
 * colocation are not enforced. BAD_ARGUMENT if `plan` has no placement. */
SITU_API situ_status situ_plan_carry(situ_plan **out, const situ_plan *plan, const situ_problem *problem,
                                     situ_error *error);

/* The table of solvers. */
typedef struct situ_solver_info {
  size_t size;
  const char *name, *title, *source;
  bool stream, calls, pipeline; /* the execution models that it supports */
  bool exact;                   /* proves its result optimal if it runs to completion */
  const char *missing;          /* NULL, or what this build lacks for it: it then supports no execution model */
} situ_solver_info;
#define SITU_SOLVER_INFO_INIT SITU_SIZED(situ_solver_info)
SITU_API int32_t situ_solver_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_solver_at(int32_t index, situ_solver_info *out);

/* The table of lower bounds that situ can prove. */
typedef struct situ_bound_info {
  size_t size;
  bool stream, calls, pipeline; /* the execution models that it is valid for */
  const char *name, *title, *source;
} situ_bound_info;
#define SITU_BOUND_INFO_INIT SITU_SIZED(situ_bound_info)
SITU_API int32_t situ_bound_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_bound_at(int32_t index, situ_bound_info *out);

/* Whether the solver of that name supports this problem. */
SITU_API bool situ_solver_serves(const char *name, const situ_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
