/* Mixed-integer programs by Cbc, in a process of its own: Cbc 2.10 dies in the preprocessing of some small programs
 * (CglPreProcess). Where it does, the search is done once more without.
 *
 * Cbc has no callback that stops it: a cut generator is asked at every node, and where it is to stop it adds a row that
 * nothing meets, so that all nodes left end at once. What Cbc then calls optimal is not. */
#include <coin/Cbc_C_Interface.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/library.h"
#include "lp/mip.h"

/* Loaded when the first program is searched. */
#define CALLS(CALL)                   \
  CALL(Cbc_, addCutCallback)          \
  CALL(Cbc_, bestSolution)            \
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
static lazy_library cbc_library = LAZY_LIBRARY("libCbcSolver.so.3", cbc, names);

const char *mip_missing(void) { return library_missing(&cbc_library); }

/* Above all columns, which are counted in units, and below what Cbc takes for no limit. */
static const double OUT_OF_REACH = 1e9;
/* How long Cbc may take to come to its end once it is asked to, before it is killed. */
static const int64_t GRACE_NS = 500000000;

typedef struct mip_task {
  const program *program;
  const program_table *table;
  const mip_limits *limits;
  mip_found *found;
  void *context;
  mip_outcome *outcome;
  bool preprocess, is_stopped;
  child_line *line; /* in the child */
} mip_task;

/* Messages: a solution, [n_columns] numbers, or the outcome. */
typedef struct mip_message {
  bool is_outcome;
  mip_outcome outcome;
  double x[];
} mip_message;

/* ---- in the child ---- */

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

/* Cbc works the other columns out by itself. */
static bool set_start(Cbc_Model *model, const program *p, const int64_t *start) {
  int *column = calloc((size_t)p->n_columns, sizeof *column);
  double *value = calloc((size_t)p->n_columns, sizeof *value);
  int n = 0;
  for (int32_t j = 0; column && value && j < p->n_columns; j++) {
    if (!p->is_whole[j]) continue;
    column[n] = j;
    value[n++] = (double)start[j];
  }
  if (column && value) cbc.setMIPStartI(model, n, column, value);
  bool good = column && value;
  free(column);
  free(value);
  return good;
}

static bool send_solution(const mip_task *task, const double *from) {
  const program *p = task->program;
  size_t size = sizeof(mip_message) + (size_t)p->n_columns * sizeof(double);
  mip_message *message = from ? calloc(1, size) : NULL;
  if (!message) return !from;
  for (int32_t j = 0; j < p->n_columns; j++) message->x[j] = from[j] * p->unit[j];
  bool sent = child_send(task->line, message, size);
  free(message);
  return sent;
}

static bool send_all(const mip_task *task, Cbc_Model *model) {
  mip_message last = {
      .is_outcome = true,
      .outcome = {.is_ended = cbc.status(model) == 0 && !task->is_stopped, .n_nodes = cbc.getNodeCount(model)}};
  bool good = send_solution(task, cbc.bestSolution(model));
  for (int k = 0; good && k < cbc.numberSavedSolutions(model); k++)
    good = send_solution(task, cbc.savedSolution(model, k));
  return good && child_send(task->line, &last, sizeof last);
}

static bool search(void *context, child_line *line) {
  mip_task *task = context;
  const program *p = task->program;
  const program_table *t = task->table;
  task->line = line;
  Cbc_Model *model = cbc.newModel();
  if (!model) return false;
  cbc.loadProblem(model, p->n_columns, p->n_rows, t->start, t->row, t->value, t->lower, t->upper, t->cost, t->row_lower,
                  t->row_upper);
  for (int32_t j = 0; j < p->n_columns; j++)
    if (p->is_whole[j]) cbc.setInteger(model, j);
  set_limits(model, task);
  if (task->limits->start && !set_start(model, p, task->limits->start)) return false;
  cbc.solve(model);
  return send_all(task, model); /* the process ends: nothing need be freed */
}

/* ---- in the parent ---- */

static void hear(void *context, const void *bytes, size_t size) {
  mip_task *task = context;
  const mip_message *message = bytes;
  size_t n = (size_t)task->program->n_columns;
  if (size >= sizeof *message && message->is_outcome) {
    task->outcome->is_ended = message->outcome.is_ended;
    task->outcome->n_nodes = message->outcome.n_nodes;
  } else if (size == sizeof *message + n * sizeof(double)) {
    task->found(task->context, message->x);
  }
}

static bool stop(void *context) {
  const mip_task *task = context;
  return task->limits->stop && task->limits->stop(task->limits->context);
}

static int64_t deadline_ns(double seconds) {
  return seconds < 1e9 ? clock_now_ns() + (int64_t)(fmax(seconds, 0) * 1e9) : INT64_MAX;
}

bool mip_search(mip_outcome *out, const program *p, const mip_limits *limits, mip_found *found, void *context,
                arena *a) {
  REQUIRE(!p->out_of_memory && limits->max_nodes > 0);
  program_table t;
  mip_task task = {.program = p,
                   .table = &t,
                   .limits = limits,
                   .found = found,
                   .context = context,
                   .outcome = out,
                   .preprocess = true};
  child_limits by = {.deadline_ns = deadline_ns(limits->seconds),
                     .grace_ns = GRACE_NS,
                     .max_bytes = sizeof(mip_message) + (size_t)p->n_columns * sizeof(double),
                     .stop = stop,
                     .receive = hear};
  *out = (mip_outcome){.n_nodes = 0};
  if (mip_missing() || !program_tabulate(&t, p, a)) return false;
  child_end end = child_run(search, &by, &task);
  if (end == CHILD_CRASHED) {
    out->n_crashes++;
    task.preprocess = false;
    end = child_run(search, &by, &task);
    out->n_crashes += end == CHILD_CRASHED;
  }
  return end != CHILD_FAILED && end != CHILD_NO_PROCESS;
}
