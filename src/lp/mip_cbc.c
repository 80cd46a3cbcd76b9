/* Mixed-integer programs by Cbc. Version 2.10 dies in the preprocessing of some small programs (CglPreProcess).
 *
 * Cbc has no callback that stops it: a cut generator is asked at every node, and where it is to stop it adds a row that
 * nothing meets, so that all nodes left end at once. What Cbc then calls optimal is not. */
#include <coin/Cbc_C_Interface.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/library.h"
#include "base/os.h"
#include "lp/mip_engine.h"

/* Loaded when the first program is searched. */
#define CALLS(CALL)                   \
  CALL(Cbc_, addCutCallback)          \
  CALL(Cbc_, bestSolution)            \
  CALL(Cbc_, getBestPossibleObjValue) \
  CALL(Cbc_, getNodeCount)            \
  CALL(Cbc_, loadProblem)             \
  CALL(Cbc_, newModel)                \
  CALL(Cbc_, numberSavedSolutions)    \
  CALL(Cbc_, savedSolution)           \
  CALL(Cbc_, setAllowableFractionGap) \
  CALL(Cbc_, setAllowableGap)         \
  CALL(Cbc_, setInteger)              \
  CALL(Cbc_, setLogLevel)             \
  CALL(Cbc_, setMIPStartI)            \
  CALL(Cbc_, setMaximumNodes)         \
  CALL(Cbc_, setMaximumSeconds)       \
  CALL(Cbc_, setParameter)            \
  CALL(Cbc_, solve)                   \
  CALL(Cbc_, status)                  \
  CALL(OsiCuts_, addRowCut)

static struct { CALLS(LIBRARY_POINTER) } cbc;
static const char *const names[] = {CALLS(LIBRARY_NAME)};
static lazy_library cbc_library = LAZY_LIBRARY(OS_LIBRARY("CbcSolver", ".3"), cbc, names);

static const char *missing(void) { return library_missing(&cbc_library); }

/* Above all columns, which are counted in units, and below what Cbc takes for no limit. */
static const double OUT_OF_REACH = 1e9;
static void ask_to_stop(void *solver, void *cuts, void *context) {
  mip_task *task = context;
  (void)solver;
  if (!task->is_stopped && !child_must_stop(task->line)) return;
  const int column = 0;
  const double coefficient = 1;
  task->is_stopped = true;
  cbc.addRowCut(cuts, 1, &column, &coefficient, 'G', OUT_OF_REACH);
}

static void set_limits(Cbc_Model *model, mip_task *task) {
  const mip_limits *limits = task->limits;
  char seed[16];
  cbc.setLogLevel(model, 0);
  cbc.setParameter(model, "log", "0"); /* the first alone leaves the linear programs talking */
  cbc.setParameter(model, "timeMode", "elapsed");
  cbc.setParameter(model, "zeroHalfCuts", "off"); /* their generator takes 80 MB for each program, however small */
  if (!task->preprocess) cbc.setParameter(model, "preprocess", "off");
  snprintf(seed, sizeof seed, "%d", limits->seed);
  cbc.setParameter(model, "randomCbcSeed", seed);
  cbc.setAllowableGap(model, 0);
  cbc.setAllowableFractionGap(model, 0);
  if (isfinite(limits->seconds)) cbc.setMaximumSeconds(model, fmax(limits->seconds, 0.01));
  cbc.setMaximumNodes(model, limits->max_nodes < INT_MAX ? (int)limits->max_nodes : INT_MAX);
  cbc.addCutCallback(model, ask_to_stop, "stop", task);
}

static bool report_all(const mip_task *task, Cbc_Model *model) {
  mip_outcome end = {.is_ended = cbc.status(model) == 0 && !task->is_stopped,
                     .n_nodes = cbc.getNodeCount(model),
                     .bound = task->is_stopped ? 0 : mip_bound_of(task, cbc.getBestPossibleObjValue(model))};
  bool good = !cbc.bestSolution(model) || mip_report(task, cbc.bestSolution(model));
  for (int k = 0; good && k < cbc.numberSavedSolutions(model); k++)
    good = mip_report(task, cbc.savedSolution(model, k));
  return good && mip_report_end(task, end);
}

static bool search(mip_task *task) {
  const program *p = task->program;
  const program_table *t = task->table;
  Cbc_Model *model = cbc.newModel();
  if (!model) return false;
  cbc.loadProblem(model, p->n_columns, p->n_rows, t->start, t->row, t->value, t->lower, t->upper, t->cost, t->row_lower,
                  t->row_upper);
  for (int32_t j = 0; j < p->n_columns; j++)
    if (p->is_whole[j]) cbc.setInteger(model, j);
  set_limits(model, task);
  if (task->n_start > 0) cbc.setMIPStartI(model, task->n_start, task->start_column, task->start_value);
  cbc.solve(model);
  return report_all(task, model); /* the process ends: nothing need be freed */
}

const mip_engine mip_cbc = {.name = "Cbc", .missing = missing, .search = search};
