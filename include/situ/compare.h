/* situ/compare.h - several solvers on one problem.
 *
 * A comparison is frozen: any number of threads may read it. Its texts and plans belong to it. */
#ifndef SITU_COMPARE_H
#define SITU_COMPARE_H

#include "situ/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_comparison situ_comparison;

/* Runs each solver that supports the problem, or those that options->solvers names, one after another with the same
 * seed and limits: 3 s each unless options limit time or steps. A solver or bound after a minus sign takes no part in
 * any of them. A solver that fails has a row that says why. If the progress callback returns true, the comparison ends
 * with the solver that was running.
 *
 * BAD_ARGUMENT, UNSUPPORTED and INTERNAL as for situ_solve; INTERNAL also if a plan of one solver is better than the
 * bound of another. options may be NULL. */
SITU_API situ_status situ_compare(situ_comparison **out, const situ_problem *problem, const situ_solve_options *options,
                                  situ_error *error);
SITU_API void situ_comparison_free(situ_comparison *comparison);
/* Borrowed: it lives as long as the comparison. */
SITU_API const situ_problem *situ_comparison_problem(const situ_comparison *comparison);
/* Whether every solver ran; false for one that was stopped before. */
SITU_API bool situ_comparison_is_complete(const situ_comparison *comparison);

/* The result of one solver. Closed: it never grows. */
typedef struct situ_compare_row {
  const char *solver;    /* "" past the end */
  const situ_plan *plan; /* NULL if the solver failed */
  const char *failure;   /* why; "" otherwise */
} situ_compare_row;
/* Rows in the order in which the solvers ran. */
SITU_API int32_t situ_comparison_count(const situ_comparison *comparison);
SITU_API situ_compare_row situ_comparison_at(const situ_comparison *comparison, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
