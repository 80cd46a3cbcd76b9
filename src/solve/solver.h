/* solve/solver.h - what a solver is and what it works with. Each solver is one file that exports one const struct;
 * solve/solvers.c lists them. README.md beside this file tells the whole story. */
#ifndef SITU_SOLVE_SOLVER_H
#define SITU_SOLVE_SOLVER_H

#include "base/budget.h"
#include "base/rng.h"
#include "sim/simulate.h"
#include "situ/solve.h"

/* The best plan so far and the best bound so far, shared by all solvers of one solve. */
typedef struct incumbent {
  placement best; /* device NULL while there is none */
  int64_t value_ns, lower_bound_ns;
  const char *solver, *bound;
} incumbent;

/* One running solver. */
typedef struct solve_run {
  const situ_problem *problem;
  simulator *simulator;
  budget *budget;
  incumbent *incumbent;
  const char *solver; /* its name */
  uint64_t seed;
  int32_t threads;
  arena *arena; /* scratch: released when the solver returns */
  situ_error *error;
} solve_run;

typedef struct solver {
  const char *name, *title, *source;
  bool stream, calls, pipeline;
  bool exact;
  bool anytime; /* goes on as long as it is let: gets a time limit when the user gives none */
  int32_t portfolio; /* its turn in `auto`; 0: not part of it */
  /* May be NULL: serves every problem of its execution models. */
  bool (*serves)(const situ_problem *problem);
  situ_status (*solve)(solve_run *run);
} solver;

/* The table, ended by NULL. */
extern const solver *const solvers[];

/* Simulates a placement, counts a step, and keeps it when it keeps every constraint and is better than the best so
 * far. Returns its value, SITU_NEVER_NS when infeasible. The arrays are copied. */
int64_t solve_offer(solve_run *run, const placement *where);
/* Says that no plan of the problem is better than this. `name` is the proof's (static storage). */
void solve_bound(solve_run *run, int64_t lower_bound_ns, const char *name);
/* Whether the gap is closed or the budget spent. */
bool solve_done(solve_run *run);

#endif
