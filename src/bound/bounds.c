/* The table of bounds, and how they run: each independently, on any thread. Results are joined in the order of the
 * table. */
#include <stdatomic.h>

#include "base/contracts.h"
#include "base/fail.h"
#include "base/parallel.h"
#include "bound/bound.h"

#define ADDRESS(NAME) &NAME##_bound,
const bound *const bounds[] = {BOUND_ROWS(ADDRESS) NULL};
_Static_assert(sizeof bounds / sizeof *bounds == BOUNDS + 1, "BOUNDS counts the rows");

typedef struct crew crew;

typedef struct task {
  crew *all;
  bool here; /* runs on the caller's thread */
  arena *proof_arena;
  bound_result found;
  budget part;
  situ_error error;
  situ_status status;
} task;

struct crew {
  const situ_problem *problem;
  const budget *whole;
  _Atomic bool stop; /* the user asked to stop */
  int32_t row[BOUNDS];
  task tasks[BOUNDS];
};

/* Asks the user's callback, on the caller's thread only. */
static void watch(void *context) {
  crew *all = context;
  const budget *b = all->whole;
  if (!atomic_load(&all->stop) && b->callback && b->callback(b->context)) atomic_store(&all->stop, true);
}

/* Callback of a bound's budget. */
static bool look(void *context) {
  task *t = context;
  if (t->here) watch(t->all);
  return atomic_load(&t->all->stop);
}

static situ_status compute(task *t, const bound *row, arena *scratch) {
  certificate proof = {0};
  TRY(row->compute(&t->found.lower_ns, &proof, t->all->problem, scratch, &t->part, &t->error));
  ENSURE(t->found.lower_ns >= 0);
  ENSURE(!proof.kind || proof.lower_ns <= t->found.lower_ns); /* a certificate proves at most the bound */
  if (!proof.kind) return SITU_STATUS_OK;
  t->proof_arena = arena_new();
  bool copied = t->proof_arena && certificate_copy(&t->found.proof, &proof, t->proof_arena);
  return copied ? SITU_STATUS_OK : fail_no_memory(&t->error);
}

/* Runs one bound with half of the remaining time, so that later ones get a turn. */
static void run_task(void *context, int32_t k, bool here) {
  crew *all = context;
  task *t = &all->tasks[k];
  int64_t time = budget_time_left(all->whole);
  t->all = all;
  t->here = here;
  t->found.known = true;
  if (time == 0 || all->whole->stop || look(t)) return;
  t->part = budget_part(all->whole, 0, time == INT64_MAX ? 0 : time / 2 + 1);
  t->part.callback = look;
  t->part.context = t;
  arena *scratch = arena_new();
  t->status = scratch ? compute(t, bounds[all->row[k]], scratch) : fail_no_memory(&t->error);
  arena_free(scratch);
}

/* Takes over what a task has found. */
static situ_status join(bound_result *to, task *t, const bound *row, arena *keep, budget *b, situ_error *error) {
  if (t->status != SITU_STATUS_OK && error) *error = t->error;
  TRY(t->status);
  budget_join(b, &t->part);
  *to = t->found;
  if (!to->proof.kind) return SITU_STATUS_OK;
  if (!certificate_copy(&to->proof, &t->found.proof, keep)) return fail_no_memory(error);
  to->proof.bound = row->name;
  return SITU_STATUS_OK;
}

situ_status bound_compute(bound_result results[BOUNDS], const bool *wanted, const situ_problem *problem,
                          int32_t n_threads, arena *keep, budget *b, situ_error *error) {
  REQUIRE(n_threads >= 1);
  int32_t n = 0;
  situ_status status = SITU_STATUS_OK;
  crew *all = ARENA_ZERO(keep, crew, 1);
  if (!all) return fail_no_memory(error);
  all->problem = problem;
  all->whole = b;
  for (int32_t i = 0; i < BOUNDS; i++) {
    if (wanted && !wanted[i]) continue;
    results[i] = (bound_result){.known = true};
    if (problem_is_of(problem, bounds[i]->models)) all->row[n++] = i;
  }
  parallel_run(n, n_threads, run_task, watch, all);
  for (int32_t k = 0; k < n; k++) {
    if (status == SITU_STATUS_OK)
      status = join(&results[all->row[k]], &all->tasks[k], bounds[all->row[k]], keep, b, error);
    arena_free(all->tasks[k].proof_arena);
  }
  if (atomic_load(&all->stop)) b->stop = BUDGET_CANCELLED;
  return status;
}

void bound_pick(bound_found *out, const bound_result results[BOUNDS], const situ_problem *problem) {
  *out = (bound_found){.of = problem, .name = ""};
  for (int32_t i = 0; i < BOUNDS; i++) {
    const bound_result *found = &results[i];
    if (found->proof.kind && found->proof.lower_ns > out->proof.lower_ns) out->proof = found->proof;
    if (found->lower_ns <= out->lower_ns) continue;
    out->lower_ns = found->lower_ns;
    out->name = bounds[i]->name;
  }
}

situ_status bound_best(bound_found *out, const situ_problem *problem, arena *keep, budget *b, situ_error *error) {
  bound_result results[BOUNDS];
  *out = (bound_found){.name = ""};
  TRY(bound_compute(results, NULL, problem, 1, keep, b, error));
  bound_pick(out, results, problem);
  return SITU_STATUS_OK;
}
