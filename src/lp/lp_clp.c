/* Linear programs by Clp, which is loaded when the first is made: that takes longer than many a call of situ. */
#include <coin/Clp_C_Interface.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/library.h"
#include "base/os.h"
#include "lp/lp.h"

#define CALLS(CALL)                \
  CALL(Clp_, addColumns)           \
  CALL(Clp_, addRows)              \
  CALL(Clp_, deleteModel)          \
  CALL(Clp_, deleteRows)           \
  CALL(Clp_, dual)                 \
  CALL(Clp_, dualRowSolution)      \
  CALL(Clp_, getColSolution)       \
  CALL(Clp_, getRowActivity)       \
  CALL(Clp_, getRowLower)          \
  CALL(Clp_, getRowUpper)          \
  CALL(Clp_, loadProblem)          \
  CALL(Clp_, newModel)             \
  CALL(Clp_, numberRows)           \
  CALL(Clp_, objectiveValue)       \
  CALL(Clp_, primal)               \
  CALL(Clp_, resize)               \
  CALL(Clp_, setLogLevel)          \
  CALL(Clp_, setMaximumIterations) \
  CALL(Clp_, setMaximumSeconds)    \
  CALL(Clp_, status)

static struct { CALLS(LIBRARY_POINTER) } clp;
static const char *const names[] = {CALLS(LIBRARY_NAME)};
static lazy_library clp_library = LAZY_LIBRARY(OS_LIBRARY("Clp", ".1"), clp, names);

struct lp {
  Clp_Simplex *clp;
  bool dual_next; /* the next solve is by the dual simplex: always after the first */
};

const char *lp_missing(void) { return library_missing(&clp_library); }

static lp *new_model(void) {
  if (lp_missing()) return NULL;
  lp *model = calloc(1, sizeof *model);
  if (model) model->clp = clp.newModel();
  if (!model || !model->clp) {
    lp_free(model);
    return NULL;
  }
  clp.setLogLevel(model->clp, 0);
  return model;
}

lp *lp_new(int32_t n_columns, const double *cost, const double *lower, const double *upper) {
  lp *model = new_model();
  CoinBigIndex *start = calloc((size_t)n_columns + 1, sizeof *start);
  if (!model || !start) {
    free(start);
    lp_free(model);
    return NULL;
  }
  clp.resize(model->clp, 0, 0);
  clp.addColumns(model->clp, n_columns, lower, upper, cost, start, NULL, NULL);
  free(start);
  return model;
}

lp *lp_load(const program_table *t, int32_t n_columns, int32_t n_rows) {
  lp *model = new_model();
  if (model)
    clp.loadProblem(model->clp, n_columns, n_rows, t->start, t->row, t->value, t->lower, t->upper, t->cost,
                    t->row_lower, t->row_upper);
  return model;
}

void lp_free(lp *model) {
  if (!model) return;
  if (model->clp) clp.deleteModel(model->clp);
  free(model);
}

bool lp_add_row(lp *model, int32_t n, const int32_t *column, const double *coefficient, double lower, double upper) {
  return lp_add_rows(model, 1, (int32_t[]){0, n}, column, coefficient, &lower, &upper);
}

bool lp_add_rows(lp *model, int32_t n_rows, const int32_t *start, const int32_t *column, const double *coefficient,
                 const double *lower, const double *upper) {
  double *from = calloc((size_t)n_rows + 1, sizeof *from), *to = calloc((size_t)n_rows + 1, sizeof *to);
  bool room = from && to;
  for (int32_t i = 0; room && i < n_rows; i++) {
    from[i] = fmax(lower[i], -DBL_MAX); /* what Clp takes for no limit */
    to[i] = fmin(upper[i], DBL_MAX);
  }
  if (room) clp.addRows(model->clp, n_rows, from, to, start, column, coefficient);
  free(from);
  free(to);
  return room;
}

int32_t lp_n_rows(const lp *model) { return clp.numberRows(model->clp); }

void lp_drop_slack(lp *model, int32_t first, double slack) {
  int32_t n_rows = lp_n_rows(model), n = 0;
  const double *activity = clp.getRowActivity(model->clp), *lower = clp.getRowLower(model->clp);
  const double *upper = clp.getRowUpper(model->clp);
  int *slack_row = malloc((size_t)n_rows * sizeof *slack_row);
  if (!slack_row) return; /* they only cost time */
  for (int32_t i = first; i < n_rows; i++)
    if (activity[i] > lower[i] + slack && activity[i] < upper[i] - slack) slack_row[n++] = i;
  if (n > 0) clp.deleteRows(model->clp, n, slack_row);
  free(slack_row);
}

bool lp_solve(lp *model, double seconds) {
  clp.setMaximumSeconds(model->clp, seconds);
  if (model->dual_next)
    clp.dual(model->clp, 0);
  else
    clp.primal(model->clp, 0);
  model->dual_next = true;
  return clp.status(model->clp) == 0;
}

const double *lp_values(const lp *model) { return clp.getColSolution(model->clp); }
double lp_cost(const lp *model) { return clp.objectiveValue(model->clp); }
void lp_begin_dual(lp *model) { model->dual_next = true; }
void lp_limit_pivots(lp *model, int32_t max) { clp.setMaximumIterations(model->clp, max); }
const double *lp_prices(const lp *model) { return clp.dualRowSolution(model->clp); }
