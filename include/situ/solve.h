/* situ/solve.h - from a problem to a plan: one solver, several, or the portfolio `auto`.
 *
 * Any number of threads may solve at once, the same problem too; with the solver metis one at a time, since its library
 * draws by rand. Callbacks run on the thread of the call. What options
 * point to is used during the call only; texts of infos are static. */
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

/* Called at most every 10 ms or so, on the thread that called. Returns true to stop: the best plan so far is then
 * returned. */
typedef bool situ_progress_callback(void *context, const situ_progress *progress);

typedef struct situ_solve_options {
  size_t size;
  const char *solvers; /* "auto" (NULL), or names joined by commas, run in that order on one budget */
  double time_limit_s; /* 0: auto and the other anytime solvers take at most about 10 s; others run to their end */
  int64_t max_steps;   /* 0: no limit. With a step limit and no time limit the result is repeatable. */
  const situ_plan *const *starts; /* [n_starts] plans of the same graph and platform to start from; those that break a
                                     constraint of the problem are ignored. May be NULL */
  int32_t n_starts;
  bool no_bounds; /* skip the bounds before the search: the plan then has only what solvers prove */
  uint64_t seed;
  int32_t threads; /* 0 means 1. With a step limit and no time limit the result is the same with any number */
  situ_progress_callback *progress; /* may be NULL */
  void *context;
  const char *policy; /* learned solvers: a policy file (situ/learn.h), NULL for the one shipped with situ if there is
                         one, "none" to learn from scratch */
  int64_t tune_steps; /* learned solvers: training steps on this problem; 0: none for a policy that was read; from
                         scratch as many as the limits allow, 100 without limits */
  situ_log_callback *log; /* is told what bounds and solvers found, each once it ends; may be NULL */
  void *log_context;
  /* stream, latency: which of the plans found is the answer (docs/theory/heuristics/fewer.md). Shares, as 0.02; with 0,
   * the default of the library, the answer is the best plan found. SITU_BY_PURPOSE stands for the defaults of `situ
   * place`: where `auto` minimises latency by estimated costs, 0.02 and 0.05; 0 elsewhere. */
  double
      tolerance;   /* of the plans no worse than the best found by more than this, the one with the fewest hand-overs */
  double min_gain; /* everything on the best single device, unless some plan is better by this */
  int32_t max_parts; /* hard limits: on the number of parts; 0: none */
  int32_t min_part;  /* and on the units (operators, or groups that stay together) of each of several parts; 0: none */
  /* How uncertain costs are, as a share; SITU_BY_PURPOSE: 0.2 where tolerance or min_gain count, else 0: not asked. The
   * answer is then the best single device unless a plan beats it in 9 of 10 draws of costs. */
  double uncertainty;
  bool robust;      /* of up to 20 plans that were found take that of the highest 10 % quantile of speed-up */
  bool reserved[3]; /* false */
  /* What the plan must look like for its target: a sum of situ_form (situ/plan.h), as situ_writer_info says for each
   * format; 0: anything. A hard limit like max_parts: the bound stays that of all plans, and situ_plan_without_form_ns
   * says what the form costs. UNSUPPORTED where the graph lacks what the form is about. */
  int32_t form;
  /* The processes that solve together, each of which makes the same call; NULL: this one is alone. The searches are
   * shared out among them. With a step limit and no time limit the plan is the same with any number of them; otherwise
   * that of number 0 is the answer. A process that is lost costs its share only; without number 0, or where the problem
   * or the options differ, ENGINE. */
  situ_ranks *ranks;
} situ_solve_options;
#define SITU_BY_PURPOSE (-1.0)
#define SITU_SOLVE_OPTIONS_INIT SITU_SIZED(situ_solve_options)

/* Solves. options may be NULL. The plan always carries the best single device, and has passed situ_check; a plan that
 * fails it is INTERNAL. BAD_ARGUMENT for a solver that does not exist or cannot serve this execution model; UNSUPPORTED
 * for one whose library this build lacks. */
SITU_API situ_status situ_solve(situ_plan **out, const situ_problem *problem, const situ_solve_options *options,
                                situ_error *error);

/* Evaluates one given placement: device[n_operators]; order (a permutation of the operators that is a topological
 * order; NULL: index order) decides the sequence on each device. Constraints are not enforced: situ_check names what
 * is broken. The bound is 0 and the outcome FEASIBLE. */
SITU_API situ_status situ_simulate(situ_plan **out, const situ_problem *problem, const int32_t *device,
                                   const int32_t *order, situ_error *error);

/* The table of solvers, for lists and for choosing. */
typedef struct situ_solver_info {
  size_t size;
  const char *name, *title, *source;
  bool stream, calls, pipeline; /* the execution models it serves */
  bool exact;                   /* proves what it finds when it runs to its end */
  const char *missing;          /* NULL, or what this build lacks for it: then it serves none */
} situ_solver_info;
#define SITU_SOLVER_INFO_INIT SITU_SIZED(situ_solver_info)
SITU_API int32_t situ_solver_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_solver_at(int32_t index, situ_solver_info *out);

/* The table of lower bounds that are proved beside each plan. */
typedef struct situ_bound_info {
  size_t size;
  const char *name, *title, *source;
  bool stream, calls, pipeline; /* the execution models that it holds for */
  bool reserved[5];             /* false */
} situ_bound_info;
#define SITU_BOUND_INFO_INIT SITU_SIZED(situ_bound_info)
SITU_API int32_t situ_bound_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_bound_at(int32_t index, situ_bound_info *out);

/* Whether the solver of that name can serve this problem. */
SITU_API bool situ_solver_serves(const char *name, const situ_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
