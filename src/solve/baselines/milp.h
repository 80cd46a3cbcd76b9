/* solve/baselines/milp.h - the interface of the programs of the solver milp: one row for each kind of problem, each in
 * its own file that exports one const struct; baselines/milp.c lists them. */
#ifndef SITU_SOLVE_BASELINES_MILP_H
#define SITU_SOLVE_BASELINES_MILP_H

#include "lp/program.h"
#include "solve/common/solver.h"

typedef struct milp_program {
  bool (*serves)(const situ_problem *problem);
  /* Writes the program, whose value is at most that of the placement, and its own data, in run->arena; NULL without
   * memory. An empty *out means that there is nothing to do. */
  void *(*write)(program *out, solve_run *run);
  /* The best plan so far as a solution: x[n_columns], integer columns only. False if it cannot be expressed. */
  bool (*start)(void *state, int64_t *x);
  /* NULL, or how many units of cost are a nanosecond; else 1. */
  int64_t (*ticks)(const void *state);
  /* Offers the placement of a solution. */
  void (*offer)(void *state, const double *x);
  /* NULL, or proves what it can before the engine searches. */
  situ_status (*prove)(solve_run *run);
} milp_program;

/* The table of programs: one file that exports milp_NAME, and one line here. */
#define MILP_ROWS(ROW) \
  ROW(stream)          \
  ROW(calls)           \
  ROW(pipeline)
#define MILP_DECLARE(NAME) extern const milp_program milp_##NAME;
MILP_ROWS(MILP_DECLARE)

#endif
