/* solve/baselines/milp.h - what the solver milp asks of each of its programs: one row for each kind of problem, each in
 * its own file that exports one const struct; baselines/milp.c lists them. */
#ifndef SITU_SOLVE_BASELINES_MILP_H
#define SITU_SOLVE_BASELINES_MILP_H

#include "lp/program.h"
#include "solve/common/solver.h"

typedef struct milp_program {
  bool (*serves)(const situ_problem *problem);
  /* Writes the program, whose value is that of a placement or less, and what it needs itself, in run->arena; NULL
   * without memory. Where *out stays empty there is nothing to do. */
  void *(*write)(program *out, solve_run *run);
  /* The best plan so far as a solution: x[n_columns], whole columns only. False where it cannot be written so. */
  bool (*start)(void *state, int64_t *x);
  /* Offers the placement that a solution stands for. */
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
