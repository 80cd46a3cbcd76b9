/* solve/solve.h - from a problem to a checked plan, by rows of a table: the basis of the public interface and of
 * learning, which has its own rows. */
#ifndef SITU_SOLVE_SOLVE_H
#define SITU_SOLVE_SOLVE_H

#include "solve/common/solver.h"

/* The solvers of this folder, ended by NULL. */
extern const solver *const solvers[];

/* As situ_solve, which documents the options; o->solvers names rows of the table `rows`. */
situ_status solve_problem(situ_plan **out, const solver *const *rows, const situ_problem *problem,
                          const situ_solve_options *o, situ_error *error);
/* The same with parameters of solvers other than their defaults, ended by a NULL solver; for tests and bench/. */
situ_status solve_with_settings(situ_plan **out, const solver *const *rows, const situ_problem *problem,
                                const situ_solve_options *o, const solver_setting *settings, situ_error *error);

#endif
