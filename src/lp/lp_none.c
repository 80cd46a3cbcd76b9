/* No engine: says so. */
#include <stddef.h>

#include "lp/lp.h"

const char *lp_missing(void) { return "situ was built without Clp (package coinor-libcbc-dev)"; }

lp *lp_new(int32_t n_columns, const double *cost, const double *lower, const double *upper) { return NULL; }
lp *lp_load(const program_table *t, int32_t n_columns, int32_t n_rows) { return NULL; }
void lp_free(lp *model) {}
bool lp_add_row(lp *model, int32_t n, const int32_t *column, const double *coefficient, double lower, double upper) {
  return false;
}
bool lp_add_rows(lp *model, int32_t n_rows, const int32_t *start, const int32_t *column, const double *coefficient,
                 const double *lower, const double *upper) {
  return false;
}
void lp_drop_slack(lp *model, int32_t first, double slack) {}
int32_t lp_n_rows(const lp *model) { return 0; }
bool lp_solve(lp *model, double seconds) { return false; }
const double *lp_values(const lp *model) { return NULL; }
double lp_cost(const lp *model) { return 0; }
void lp_begin_dual(lp *model) {}
void lp_limit_pivots(lp *model, int32_t max) {}
const double *lp_prices(const lp *model) { return NULL; }
