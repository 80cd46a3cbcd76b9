/* lp/lp.h - a narrow interface to linear programming engines. Their results are floating point and never a proof:
 * callers take prices or plans from them and prove them in integers themselves.
 *
 * One engine is built in, or a stub that reports why there is none; the library works without. */
#ifndef SITU_LP_LP_H
#define SITU_LP_LP_H

#include "lp/program.h"

typedef struct lp lp;

/* NULL, or why there is no engine. */
const char *lp_missing(void);

/* Minimise cost * x over lower <= x <= upper; rows come later. NULL without memory or engine. */
lp *lp_new(int32_t n_columns, const double *cost, const double *lower, const double *upper);
/* The same with rows, from the table of a program, which is not needed afterwards. */
lp *lp_load(const program_table *t, int32_t n_columns, int32_t n_rows);
void lp_free(lp *model);
/* The row lower <= sum of coefficient[i] * x[column[i]] <= upper; INFINITY means no limit. */
bool lp_add_row(lp *model, int32_t n, const int32_t *column, const double *coefficient, double lower, double upper);
/* Many rows at once, which is much faster: row i has entries start[i] .. start[i+1]-1. */
bool lp_add_rows(lp *model, int32_t n_rows, const int32_t *start, const int32_t *column, const double *coefficient,
                 const double *lower, const double *upper);
/* Drops the rows from number `first` on that the last solution is farther than `slack` from: it stays a solution. */
void lp_drop_slack(lp *model, int32_t first, double slack);
int32_t lp_n_rows(const lp *model);
/* Solves from the last solution on, for some `seconds` at most. True when the engine says that x is optimal. */
bool lp_solve(lp *model, double seconds);
/* Lets the first solve be by the dual simplex: better where no column is worth raising above its lower bound but for
 * the rows. */
void lp_begin_dual(lp *model);
/* From now on a solve ends after so many pivots, which is the same on every run. */
void lp_limit_pivots(lp *model, int32_t max);
/* x of the last solution, and its cost; valid until the next call. */
const double *lp_values(const lp *model);
double lp_cost(const lp *model);
/* The price of each row in the last solution: by how much the cost would rise with its side. */
const double *lp_prices(const lp *model);

#endif
