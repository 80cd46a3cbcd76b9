/* solve/select.h - which solvers and bounds take part, by their names. */
#ifndef SITU_SOLVE_SELECT_H
#define SITU_SOLVE_SELECT_H

#include "solve/common/solver.h"

enum { MAX_NAMED = 32 };

typedef struct selection {
  const solver *row[MAX_NAMED];
  int32_t n, n_anytime;
  const char *left_out[MAX_NAMED + 1]; /* names of solvers and bounds, ended by NULL */
  int32_t n_left_out;
} selection;

/* The row of that name in a table that NULL ends, or NULL. */
const solver *solver_find(const solver *const *rows, const char *name);

/* Reads a list of names of a table of rows: solvers to run, each of which must serve the problem, and solvers and
 * bounds that take no part, each after a '-'. BAD_ARGUMENT, UNSUPPORTED or OK. */
situ_status select_named(selection *chosen, const solver *const *rows, const char *names, const situ_problem *problem,
                         situ_error *error);
/* The same; without a name to run it is `auto`. */
situ_status select_solvers(selection *chosen, const solver *const *rows, const char *names, const situ_problem *problem,
                           situ_error *error);
/* Runs the rows of `auto` that find a plan at once (solve/portfolio.c). */
situ_status portfolio_begin(solve_run *run);
/* Warns of a policy that no chosen solver uses: most likely its solver was not named. */
void select_warn_of_policy(const selection *chosen, const solver *const *rows, const situ_solve_options *o);

#endif
