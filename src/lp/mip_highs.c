/* Mixed-integer programs by HiGHS (Huangfu and Hall, Mathematical Programming Computation 2018), by its C interface.
 * Distributions have it late or not at all, but a Python package brings the library. Nothing of it is needed to build:
 * the functions below are declared as its documentation describes them, for the usual 32-bit integers. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/os.h"
#include "lp/mip_engine.h"

/* What a callback is given to stop the search; HiGHS promises its first field alone. */
typedef struct highs_answer {
  int user_interrupt;
} highs_answer;
typedef void highs_callback(int kind, const char *text, const void *data, highs_answer *answer, void *context);

void *Highs_create(void);
int Highs_getSizeofHighsInt(const void *highs);
int Highs_passMip(void *highs, int n_columns, int n_rows, int n_entries, int by, int sense, double offset,
                  const double *cost, const double *lower, const double *upper, const double *row_lower,
                  const double *row_upper, const int *start, const int *row, const double *value, const int *is_whole);
int Highs_setBoolOptionValue(void *highs, const char *option, int value);
int Highs_setIntOptionValue(void *highs, const char *option, int value);
int Highs_setDoubleOptionValue(void *highs, const char *option, double value);
int Highs_setStringOptionValue(void *highs, const char *option, const char *value);
int Highs_setSparseSolution(void *highs, int n, const int *column, const double *value);
int Highs_setCallback(void *highs, highs_callback *callback, void *context);
int Highs_startCallback(void *highs, int kind);
const void *Highs_getCallbackDataOutItem(const void *data, const char *name);
int Highs_run(void *highs);
int Highs_getModelStatus(const void *highs);
int Highs_getSolution(const void *highs, double *x, double *reduced_cost, double *activity, double *price);
int Highs_getInt64InfoValue(const void *highs, const char *name, int64_t *value);
int Highs_getDoubleInfoValue(const void *highs, const char *name, double *value);

#define CALLS(CALL)                    \
  CALL(Highs_, create)                 \
  CALL(Highs_, getSizeofHighsInt)      \
  CALL(Highs_, passMip)                \
  CALL(Highs_, setBoolOptionValue)     \
  CALL(Highs_, setIntOptionValue)      \
  CALL(Highs_, setDoubleOptionValue)   \
  CALL(Highs_, setStringOptionValue)   \
  CALL(Highs_, setSparseSolution)      \
  CALL(Highs_, setCallback)            \
  CALL(Highs_, startCallback)          \
  CALL(Highs_, getCallbackDataOutItem) \
  CALL(Highs_, run)                    \
  CALL(Highs_, getModelStatus)         \
  CALL(Highs_, getSolution)            \
  CALL(Highs_, getInt64InfoValue)      \
  CALL(Highs_, getDoubleInfoValue)

static struct { CALLS(LIBRARY_POINTER) } highs;
static const char *const names[] = {CALLS(LIBRARY_NAME)};
static const library_place place = {.variable = "SITU_HIGHS",
                                    .package = "highsbox/highs_dist/lib",
                                    .file = OS_LIBRARY("highs", ""),
                                    .system = OS_LIBRARY("highs", ".1")};
static lazy_library highs_library = LAZY_LIBRARY_AT(place, "libhighs.so", highs, names);

enum { BY_COLUMNS = 1, MINIMIZE = 1, CONTINUOUS = 0, INTEGER = 1 };
enum { SOLUTION = 4, INTERRUPT = 6 }; /* callbacks: a better solution; whether to stop */
enum { OPTIMAL = 7, INFEASIBLE = 8 }; /* of its status */

static const char *missing(void) {
  const char *variable = getenv("SITU_HIGHS");
  if (variable && strcmp(variable, "none") == 0) return "SITU_HIGHS excludes it";
  return library_missing(&highs_library);
}

static void answer(int kind, const char *text, const void *data, highs_answer *answer, void *context) {
  mip_task *task = context;
  (void)text;
  const double *x = kind == SOLUTION ? highs.getCallbackDataOutItem(data, "mip_solution") : NULL;
  bool heard = !x || mip_report(task, x);
  task->is_stopped |= !heard || child_must_stop(task->line);
  answer->user_interrupt = task->is_stopped;
}

static void set_limits(void *h, mip_task *task) {
  const mip_limits *limits = task->limits;
  highs.setBoolOptionValue(h, "output_flag", 0);
  highs.setIntOptionValue(h, "threads", 1);
  highs.setIntOptionValue(h, "random_seed", limits->seed);
  highs.setDoubleOptionValue(h, "mip_rel_gap", 0);
  highs.setDoubleOptionValue(h, "mip_abs_gap", 1e-9);
  if (!task->preprocess) highs.setStringOptionValue(h, "presolve", "off");
  if (isfinite(limits->seconds)) highs.setDoubleOptionValue(h, "time_limit", fmax(limits->seconds, 0.01));
  if (limits->max_nodes < INT_MAX) highs.setIntOptionValue(h, "mip_max_nodes", (int)limits->max_nodes);
  highs.setCallback(h, answer, task);
  highs.startCallback(h, SOLUTION);
  highs.startCallback(h, INTERRUPT);
}

/* What presolve alone finds goes through no callback. */
static bool report_last(const mip_task *task, const void *h) {
  double *x = malloc((size_t)task->program->n_columns * sizeof *x);
  bool good = x && highs.getSolution(h, x, NULL, NULL, NULL) >= 0 && mip_report(task, x);
  free(x);
  return good;
}

/* The process ends after it: nothing need be freed. */
static bool search(mip_task *task) {
  const program *p = task->program;
  const program_table *t = task->table;
  void *h = highs.create();
  int *is_whole = calloc((size_t)p->n_columns + 1, sizeof *is_whole);
  if (!h || !is_whole || highs.getSizeofHighsInt(h) != sizeof(int)) return false;
  for (int32_t j = 0; j < p->n_columns; j++) is_whole[j] = p->is_whole[j] ? INTEGER : CONTINUOUS;
  set_limits(h, task);
  if (highs.passMip(h, p->n_columns, p->n_rows, (int)p->n_entries, BY_COLUMNS, MINIMIZE, 0, t->cost, t->lower, t->upper,
                    t->row_lower, t->row_upper, t->start, t->row, t->value, is_whole) < 0)
    return false;
  if (task->n_start > 0) highs.setSparseSolution(h, task->n_start, task->start_column, task->start_value);
  highs.run(h);
  int status = highs.getModelStatus(h);
  mip_outcome end = {.is_ended = status == OPTIMAL || status == INFEASIBLE};
  double bound = 0;
  highs.getInt64InfoValue(h, "mip_node_count", &end.n_nodes);
  highs.getDoubleInfoValue(h, "mip_dual_bound", &bound);
  end.bound = mip_bound_of(task, bound);
  end.n_nodes = end.n_nodes > 0 ? end.n_nodes : 0;
  return (status != OPTIMAL || report_last(task, h)) && mip_report_end(task, end);
}

const mip_engine mip_highs = {.name = "HiGHS", .variable = "SITU_HIGHS", .missing = missing, .search = search};
