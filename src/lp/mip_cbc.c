/* Mixed-integer programs by Cbc.
 *
 * Cbc has no callback that stops it: a cut generator is asked at every node, and where it is to stop it adds a row that
 * nothing meets, so that all nodes left end at once. What Cbc then calls optimal is not. */
#include <coin/Cbc_C_Interface.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/contracts.h"
#include "lp/lp.h"
#include "lp/mip.h"

/* Above all columns, which are counted in units, and below what Cbc takes for no limit. */
static const double OUT_OF_REACH = 1e9;

/* Cbc solves the root, the start and what comes of it before it looks at the clock for the first time: so often the
 * root must be solved within the time limit, or nothing begins. */
enum { ROOTS = 4 };

typedef struct watch {
  const mip_limits *limits;
  bool is_stopped;
} watch;

static void ask_to_stop(void *solver, void *cuts, void *context) {
  watch *w = context;
  (void)solver;
  if (!w->is_stopped && !w->limits->stop(w->limits->context)) return;
  const int column = 0;
  const double coefficient = 1;
  w->is_stopped = true;
  OsiCuts_addRowCut(cuts, 1, &column, &coefficient, 'G', OUT_OF_REACH);
}

/* Whether there is time for what Cbc does before it looks at the clock. *seconds becomes what is left. */
static bool has_time(double *seconds, const program *p, const program_table *t) {
  lp *root = isfinite(*seconds) && !lp_missing() ? lp_load(t, p->n_columns, p->n_rows) : NULL;
  if (!root) return true;
  int64_t begin_ns = clock_now_ns();
  lp_solve(root, *seconds / ROOTS); /* or finds that there is nothing: Cbc may say so */
  double passed = (double)(clock_now_ns() - begin_ns) / 1e9;
  lp_free(root);
  *seconds -= passed;
  return passed < (*seconds + passed) / ROOTS;
}

static void set_limits(Cbc_Model *model, const mip_limits *limits, double seconds, watch *w) {
  char seed[16];
  Cbc_setLogLevel(model, 0);
  Cbc_setParameter(model, "log", "0"); /* the first alone leaves the linear programs talking */
  Cbc_setParameter(model, "timeMode", "elapsed");
  Cbc_setParameter(model, "zeroHalfCuts", "off"); /* their generator takes 80 MB for each program, however small */
  snprintf(seed, sizeof seed, "%d", limits->seed);
  Cbc_setParameter(model, "randomCbcSeed", seed);
  Cbc_setAllowableGap(model, 0);
  Cbc_setAllowableFractionGap(model, 0);
  if (isfinite(seconds)) Cbc_setMaximumSeconds(model, fmax(seconds, 0.01));
  Cbc_setMaximumNodes(model, limits->most_nodes < INT_MAX ? (int)limits->most_nodes : INT_MAX);
  if (limits->stop) Cbc_addCutCallback(model, ask_to_stop, "stop", w);
}

/* Cbc works the other columns out by itself. */
static bool set_start(Cbc_Model *model, const program *p, const int64_t *start, arena *a) {
  int *column = ARENA_NEW(a, int, p->n_columns);
  double *value = ARENA_NEW(a, double, p->n_columns);
  int n = 0;
  if (!column || !value) return false;
  for (int32_t j = 0; j < p->n_columns; j++) {
    if (!p->is_whole[j]) continue;
    column[n] = j;
    value[n++] = (double)start[j];
  }
  Cbc_setMIPStartI(model, n, column, value);
  return true;
}

static bool tell_solutions(Cbc_Model *model, const program *p, mip_found *found, void *context, arena *a) {
  int n = Cbc_numberSavedSolutions(model);
  const double *best = Cbc_bestSolution(model);
  double *x = ARENA_NEW(a, double, p->n_columns);
  if (!x) return false;
  for (int k = -1; k < n; k++) {
    const double *from = k < 0 ? best : Cbc_savedSolution(model, k);
    if (!from) continue;
    for (int32_t j = 0; j < p->n_columns; j++) x[j] = from[j] * p->unit[j];
    found(context, x);
  }
  return true;
}

bool mip_search(mip_outcome *out, const program *p, const mip_limits *limits, mip_found *found, void *context,
                arena *a) {
  REQUIRE(!p->out_of_memory && limits->most_nodes > 0);
  program_table t;
  watch w = {.limits = limits};
  double seconds = limits->seconds;
  *out = (mip_outcome){.n_nodes = 0};
  if (!program_tabulate(&t, p, a)) return false;
  if (!has_time(&seconds, p, &t)) return true;
  Cbc_Model *model = Cbc_newModel();
  if (!model) return false;
  Cbc_loadProblem(model, p->n_columns, p->n_rows, t.start, t.row, t.value, t.lower, t.upper, t.cost, t.row_lower,
                  t.row_upper);
  for (int32_t j = 0; j < p->n_columns; j++)
    if (p->is_whole[j]) Cbc_setInteger(model, j);
  set_limits(model, limits, seconds, &w);
  bool good = !limits->start || set_start(model, p, limits->start, a);
  if (good) {
    Cbc_solve(model);
    *out = (mip_outcome){.is_ended = Cbc_status(model) == 0 && !w.is_stopped, .n_nodes = Cbc_getNodeCount(model)};
    good = tell_solutions(model, p, found, context, a);
  }
  Cbc_deleteModel(model);
  return good;
}
