#include "lp/mip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contracts.h"

/* The first that can be called serves. */
static const mip_engine *const engines[] = {&mip_highs,
#ifdef SITU_CBC
                                            &mip_cbc,
#endif
                                            NULL};

/* How long an engine may take to come to its end once it is asked to, before it is killed. */
static const int64_t GRACE_NS = 500000000;

/* The first that can be called, unless the user named another, which is not there. NULL: none, and why. */
static const mip_engine *find_engine(const char **why) {
  for (int i = 0; engines[i]; i++) {
    const char *missing = engines[i]->missing(), *named = engines[i]->variable ? getenv(engines[i]->variable) : NULL;
    if (!missing) return engines[i];
    *why = missing;
    if (named && *named && strcmp(named, "none") != 0) return NULL;
  }
  *why =
      "no engine for mixed-integer programs: HiGHS was not found (pip install highsbox, or set SITU_HIGHS), and Cbc "
      "is not there (coinor-libcbc-dev when situ is built)";
  return NULL;
}

const char *mip_missing(void) {
  const char *why = NULL;
  return find_engine(&why) ? NULL : why;
}

/* ---- in the child ---- */

typedef struct mip_call {
  mip_task task;
  const mip_engine *engine;
} mip_call;

static bool work(void *context, child_line *line) {
  mip_call *call = context;
  call->task.line = line;
  return call->engine->search(&call->task);
}

/* ---- in the parent ---- */

static void hear(void *context, const void *bytes, size_t size) {
  mip_task *task = &((mip_call *)context)->task;
  const mip_message *message = bytes;
  size_t n = (size_t)task->program->n_columns;
  if (size >= sizeof *message && message->is_outcome) {
    task->outcome->is_ended = message->outcome.is_ended;
    task->outcome->n_nodes = message->outcome.n_nodes;
    task->outcome->bound = message->outcome.bound;
  } else if (size == sizeof *message + n * sizeof(double)) {
    task->found(task->context, message->x);
  }
}

static bool stop(void *context) {
  const mip_task *task = &((mip_call *)context)->task;
  return task->limits->stop && task->limits->stop(task->limits->context);
}

static int64_t deadline_ns(double seconds) {
  return seconds < 1e9 ? clock_now_ns() + (int64_t)(fmax(seconds, 0) * 1e9) : INT64_MAX;
}

static bool list_start(mip_task *task, arena *a) {
  const program *p = task->program;
  const int64_t *start = task->limits->start;
  task->start_column = ARENA_NEW(a, int32_t, p->n_columns);
  task->start_value = ARENA_NEW(a, double, p->n_columns);
  if (!task->start_column || !task->start_value) return false;
  for (int32_t j = 0; start && j < p->n_columns; j++) {
    if (!p->is_whole[j]) continue;
    task->start_column[task->n_start] = j;
    task->start_value[task->n_start++] = (double)start[j];
  }
  return true;
}

bool mip_search(mip_outcome *out, const program *p, const mip_limits *limits, mip_found *found, void *context,
                arena *a) {
  REQUIRE(!p->out_of_memory && limits->max_nodes > 0);
  program_table t;
  const char *why;
  mip_call call = {.task = {.program = p,
                            .table = &t,
                            .limits = limits,
                            .found = found,
                            .context = context,
                            .outcome = out,
                            .preprocess = true},
                   .engine = find_engine(&why)};
  child_limits by = {.deadline_ns = deadline_ns(limits->seconds),
                     .grace_ns = GRACE_NS,
                     .max_bytes = sizeof(mip_message) + (size_t)p->n_columns * sizeof(double),
                     .stop = stop,
                     .receive = hear};
  *out = (mip_outcome){.engine = call.engine ? call.engine->name : NULL};
  if (!call.engine || !program_tabulate(&t, p, a) || !list_start(&call.task, a)) return false;
  child_end end = child_run(work, &by, &call);
  if (end == CHILD_CRASHED) {
    out->n_crashes++;
    call.task.preprocess = false;
    end = child_run(work, &by, &call);
    out->n_crashes += end == CHILD_CRASHED;
  }
  return end != CHILD_FAILED && end != CHILD_NO_PROCESS;
}
