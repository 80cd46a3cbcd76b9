/* solve/common/solver.h - solvers, and the state of a run. Each solver is one file that exports one const struct;
 * solve/common/rows.h lists them. src/solve/README.md is the introduction. */
#ifndef SITU_SOLVE_COMMON_SOLVER_H
#define SITU_SOLVE_COMMON_SOLVER_H

#include "base/budget.h"
#include "base/log.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "plan/layer_plan.h"
#include "problem/certificate.h"
#include "ranks/islands.h"
#include "sim/simulate.h"
#include "situ/solve.h"
#include "solve/common/rows.h"

/* The best plan so far and the best bound so far, shared by all solvers of one solve. */
typedef struct incumbent {
  placement best; /* device NULL while there is no plan */
  int64_t value_ns, lower_bound_ns;
  const char *solver, *bound;
  const char *reason; /* why there can be no plan, or NULL: in words better than that of the bound alone */
  certificate proof;  /* the strongest, of at most lower_bound_ns, in its own arena */
  arena *proof_arena; /* NULL before the first */
  situ_statistic statistics[MAX_STATISTICS];
  int32_t n_statistics;
  placement store; /* the arrays that `best` points into */
} incumbent;

/* Data for the progress callback. */
typedef struct solve_watch {
  situ_progress_callback *callback;
  void *context;
  log_to log;
  const incumbent *incumbent;
  const char *solver;
  const budget *running; /* of the solver that runs now */
  int64_t steps_before, start_ns;
  int64_t last_report_ns; /* when the callback was last called; 0: not yet */
} solve_watch;

/* What searches pay for a nanosecond over a maximum period or latency. */
enum { OVER_PRICE = 4 };

/* Problems of more operators than this are large: a simulation takes so long that rows which need many of them come to
 * nothing, and constructions take care of what repair and search do elsewhere. */
enum { SOLVE_SMALL = 10000 };
static inline bool solve_is_large(const situ_problem *p) { return p->n_operators > SOLVE_SMALL; }

/* Up to so many operators exact programs of free pipelines may end, and searches of single operators get everywhere. */
enum { SOLVE_FEW = 2048 };

/* A number that a solver depends on. Everything that is a matter of judgement is one, so that tests and benchmarks can
 * change it. */
typedef struct solver_parameter {
  const char *name;
  double default_value, min, max;
  const char *text; /* what it is, with its unit */
} solver_parameter;

/* A value other than the default. */
typedef struct solver_setting {
  const char *solver, *parameter;
  double value; /* within the limits of the parameter (a contract) */
} solver_setting;

/* One running solver. */
typedef struct solve_run {
  const situ_problem *problem;
  const unit_list *units; /* NULL: those of the problem; else unions of them, which searches move as one */
  simulator *simulator;
  budget *budget;
  incumbent *incumbent;
  solve_watch *watch;
  const char *solver;          /* its name */
  const char *const *left_out; /* names of solvers and bounds that take no part, ended by NULL; NULL: none */
  uint64_t seed;
  int32_t threads;  /* at least 1 */
  int32_t at_once;  /* the threads of all ranks together */
  islands *islands; /* the ranks that solve together; NULL: alone, as in each of several searches side by side */
  /* How rows that are multistart are run (solve/common/walks.h); NULL in one of several searches side by side, which is
   * not to be split again. */
  situ_status (*rounds)(struct solve_run *run, const solver *s);
  bool brief;         /* before the bounds: a row of many constructions makes the first ones */
  bool *brief_is_all; /* set by a row that is brief and has made all that it makes otherwise; NULL: nobody asks */
  bool *ended;        /* [row of the portfolio] whether it ran to its end before the bounds; NULL: none did */
  const char *policy; /* of learned solvers, as in situ_solve_options */
  int64_t tune_steps;
  layer_plan *form; /* the required form of plans, in addition to the constraints of the problem; every examined plan
                       modifies it, so only one thread may use it. NULL: any */
  const solver_setting *settings; /* ended by a NULL solver; NULL: all defaults */
  bool memory_is_free;            /* stream: no plan can exceed a memory, so none is followed */
  arena *arena;                   /* scratch: released when the solver returns */
  situ_error *error;
} solve_run;

/* The units of a run. */
static inline const unit_list *solve_units(const solve_run *run) {
  return run->units ? run->units : &run->problem->units;
}

/* A row that runs before another, with `share` (0 .. 1) of the budget that is then left. */
typedef struct solver_start {
  const solver *solver;
  double share;
} solver_start;

enum { SOLVER_STARTS = 4 };

struct solver {
  const char *name, *title, *source;
  unsigned models; /* the execution models it serves: MODEL_... (problem/problem.h) */
  bool chunks;     /* problems with several chunks on each device */
  bool periods;    /* stream problems whose value is the period too */
  bool exact;
  bool anytime;        /* goes on until it is stopped: gets a time limit when the user gives none */
  bool multistart;     /* anytime, and depends on nothing before it but the best plan: several can run in parallel */
  bool leads;          /* runs others in rounds, among all ranks */
  bool takes_policy;   /* reads policy and tune_steps of situ_solve_options */
  const char *missing; /* NULL, or what this build lacks for it: then it serves nothing */
  /* May be NULL: serves every problem of its execution models. */
  bool (*serves)(const situ_problem *problem);
  /* Rows that run first if there is no plan yet: those that support the problem, in order, until the gap is closed or
   * the budget is spent. Ended by a NULL solver. */
  solver_start starts[SOLVER_STARTS + 1];
  /* May be NULL: runs once after them and before `solve`, to find a plan to start from; uses no random numbers. */
  situ_status (*start)(solve_run *run);
  /* One of the two. */
  situ_status (*solve)(solve_run *run);
  const struct search_row *search; /* solve/common/search.h */
  /* Parameters other than those of `search`. */
  const solver_parameter *parameters;
  int32_t n_parameters;
};

/* ---- one row ---- */

/* Calls solve, or runs the search. */
situ_status solver_solve(const solver *s, solve_run *run);

bool solver_serves(const solver *s, const situ_problem *problem);
/* Whether the solver or bound of this name takes part. One that does not finds nothing wherever a row runs it. */
bool solve_includes(const solve_run *run, const char *name);
/* Runs one solver on a part of the parent's budget: `share` (0 .. 1) of the remaining steps and time, and at most
 * limit_ns (0: no limit of its own). Deadline and cancellation are the parent's. Its scratch is released. */
situ_status solver_run(const solver *s, const solve_run *parent, double share, int64_t limit_ns);
/* Runs only the part before its search; runs only the search. */
situ_status solver_prepare(const solver *s, const solve_run *parent, double share);
situ_status solver_search(const solver *s, const solve_run *parent, double share);
/* Runs a row on another problem than the parent's, on a part of the parent's budget as in solver_run. *found is an
 * incumbent of its own, in the parent's arena, to be freed with incumbent_free whatever the result. A row that does not
 * support the problem finds nothing. */
situ_status solver_borrow(incumbent *found, const solver *s, const situ_problem *other, const solve_run *parent,
                          double share, int64_t limit_ns);

/* ---- the incumbent ---- */

/* An incumbent without a plan; its arrays are made here, once. False without memory. incumbent_free
 * frees the proof. */
bool incumbent_init(incumbent *i, const situ_problem *problem, arena *a);
void incumbent_free(incumbent *i);
/* NULL, or which invariant does not hold (base/contracts.h). O(V). */
const char *incumbent_check(const incumbent *i, const situ_problem *problem);

/* Adopts the plan of another incumbent if it is better. */
void incumbent_take(incumbent *i, const incumbent *other, const situ_problem *problem);

/* Simulates a placement, counts a step, and keeps it when it keeps every constraint, has the form, and is better than
 * the best so far. Returns its value, SITU_NEVER_NS when infeasible; that of one without the form too. The arrays are
 * copied. */
int64_t solve_offer(solve_run *run, const placement *where);
/* The same, for searches that need more: the simulation, without constraints. */
simulation solve_try(solve_run *run, const placement *where);
/* The same, for searches that reject placements of `cost` nanoseconds or more: the simulation reuses what it shares
 * with the base, and ends as soon as the value is certain to be at least the cost and the best so far
 * (simulation.stopped). Still a step. */
simulation solve_try_below(solve_run *run, simulator_base *base, const placement *where, double cost);
/* Whether the placement has the form that the run asks for, if any. */
static inline bool solve_has_form(const solve_run *run, const int32_t *device) {
  return !run->form || layer_plan_take(run->form, run->problem, device, NULL, NULL) == SITU_STATUS_OK;
}
/* Whether the placement keeps support, pins, unused devices and colocation. */
bool solve_allows(const situ_problem *problem, const int32_t *device);
/* Reports that no plan of the problem is better than this. `name` is that of the proof (static storage). SITU_NEVER_NS:
 * there is no plan at all. */
void solve_bound(solve_run *run, int64_t lower_bound_ns, const char *name);
/* Adopts the bounds that were computed for the problem of the run, or for a relaxation of it (a contract). NO_MEMORY or
 * OK. */
situ_status solve_adopt(solve_run *run, const bound_found *found);
/* The same as solve_bound with a certificate, which is copied; its `bound` (static storage) names the bound that found
 * it. NO_MEMORY or OK. */
situ_status solve_prove(solve_run *run, const certificate *proof);
/* Adds to a counter of the solve; `name` has static storage. Counters beyond MAX_STATISTICS are not kept. */
void solve_count(solve_run *run, const char *name, int64_t n);
/* Whether the gap is closed or the budget spent. */
bool solve_done(solve_run *run);

#endif
