/* Linear programs by Clp. */
#include <coin/Clp_C_Interface.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "lp/lp.h"

struct lp {
  Clp_Simplex *clp;
  bool dual_next; /* the next solve is by the dual simplex: always after the first */
};

const char *lp_missing(void) { return NULL; }

static lp *new_model(void) {
  lp *model = calloc(1, sizeof *model);
  if (model) model->clp = Clp_newModel();
  if (!model || !model->clp) {
    lp_free(model);
    return NULL;
  }
  Clp_setLogLevel(model->clp, 0);
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
  Clp_resize(model->clp, 0, 0);
  Clp_addColumns(model->clp, n_columns, lower, upper, cost, start, NULL, NULL);
  free(start);
  return model;
}

lp *lp_load(const program_table *t, int32_t n_columns, int32_t n_rows) {
  lp *model = new_model();
  if (model)
    Clp_loadProblem(model->clp, n_columns, n_rows, t->start, t->row, t->value, t->lower, t->upper, t->cost,
                    t->row_lower, t->row_upper);
  return model;
}

void lp_free(lp *model) {
  if (!model) return;
  if (model->clp) Clp_deleteModel(model->clp);
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
  if (room) Clp_addRows(model->clp, n_rows, from, to, start, column, coefficient);
  free(from);
  free(to);
  return room;
}

int32_t lp_n_rows(const lp *model) { return Clp_numberRows(model->clp); }

void lp_drop_slack(lp *model, int32_t first, double slack) {
  int32_t n_rows = lp_n_rows(model), n = 0;
  const double *activity = Clp_getRowActivity(model->clp), *lower = Clp_getRowLower(model->clp);
  const double *upper = Clp_getRowUpper(model->clp);
  int *slack_row = malloc((size_t)n_rows * sizeof *slack_row);
  if (!slack_row) return; /* they only cost time */
  for (int32_t i = first; i < n_rows; i++)
    if (activity[i] > lower[i] + slack && activity[i] < upper[i] - slack) slack_row[n++] = i;
  if (n > 0) Clp_deleteRows(model->clp, n, slack_row);
  free(slack_row);
}

bool lp_solve(lp *model, double seconds) {
  Clp_setMaximumSeconds(model->clp, seconds);
  if (model->dual_next)
    Clp_dual(model->clp, 0);
  else
    Clp_primal(model->clp, 0);
  model->dual_next = true;
  return Clp_status(model->clp) == 0;
}

const double *lp_values(const lp *model) { return Clp_getColSolution(model->clp); }
double lp_cost(const lp *model) { return Clp_objectiveValue(model->clp); }
void lp_begin_dual(lp *model) { model->dual_next = true; }
void lp_limit_pivots(lp *model, int32_t most) { Clp_setMaximumIterations(model->clp, most); }
const double *lp_prices(const lp *model) { return Clp_dualRowSolution(model->clp); }
