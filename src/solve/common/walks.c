#include "solve/common/walks.h"

#include <math.h>
#include <stdatomic.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/parallel.h"

enum { FIXED_WALKS = 4, MOST_WALKS = 256, LEAST_STEPS = 1 << 14 };
enum { GROWTH = 4, FIRST_STEPS = 1 << 10, FIRST_NS = 100000000 }; /* of rounds: the first is at least so long */
enum { FRESH_WALKS = 4 };
static const double NO_GAIN = 0.0001;               /* a part of the value that does not count */
static const double PROOFS = 1.0 / 3, STARTS = 0.2; /* shares of a round, and of all */
static const double PROOFS_BY_STEPS = 0.5;          /* the steps of proofs are the shorter ones */

typedef struct team team;

typedef struct walker {
  team *all;
  int32_t number;
  bool here; /* on the thread that called */
  uint64_t seed;
  budget budget;
  incumbent incumbent;
  situ_error error;
  situ_status status;
  _Atomic int64_t n_steps, value_ns; /* as of its last look, for the thread that called */
} walker;

struct team {
  solve_run *run;
  walk_function *walk;
  void *context;
  walker *walker;
  int32_t n;
  int64_t most_steps, limit_ns; /* of each; 0: none */
  _Atomic bool stop;            /* the user asks for it */
  _Atomic int32_t closed;       /* the least number of a walk that has met the bound; n while there is none */
  incumbent shown;              /* what the progress callback is told */
  budget counted;
};

/* ---- one walk ---- */

/* Tells the progress callback of all walks. On the thread that called. */
static void watch_all(void *context) {
  team *all = context;
  solve_run *run = all->run;
  all->shown.value_ns = run->incumbent->value_ns;
  all->counted.steps = run->budget->steps;
  for (int32_t i = 0; i < all->n; i++) {
    all->shown.value_ns = min64(all->shown.value_ns, atomic_load(&all->walker[i].value_ns));
    all->counted.steps = sat_add(all->counted.steps, atomic_load(&all->walker[i].n_steps));
  }
  if (run->budget->callback && run->budget->callback(run->budget->context)) atomic_store(&all->stop, true);
}

/* The callback of a walk's budget. */
static bool look(void *context) {
  walker *w = context;
  atomic_store(&w->n_steps, w->budget.steps);
  atomic_store(&w->value_ns, w->incumbent.value_ns);
  if (w->here) watch_all(w->all);
  return atomic_load(&w->all->stop) || atomic_load(&w->all->closed) < w->number;
}

/* Notes that this walk has met the bound. */
static void close_behind(walker *w) {
  int32_t least = atomic_load(&w->all->closed);
  while (w->number < least && !atomic_compare_exchange_weak(&w->all->closed, &least, w->number)) continue;
}

static void run_walk(void *context, int32_t number, bool here) {
  team *all = context;
  walker *w = &all->walker[number];
  w->here = here;
  if (look(w)) return;
  w->budget = budget_new(all->most_steps, all->limit_ns, look, w);
  w->budget.deadline_ns = min64(w->budget.deadline_ns, all->run->budget->deadline_ns);
  arena *a = arena_new();
  solve_watch watch = *all->run->watch;
  watch.running = &w->budget;
  solve_run run = *all->run;
  run.arena = a;
  run.simulator = a ? simulator_new(run.problem, a) : NULL;
  run.budget = &w->budget;
  run.incumbent = &w->incumbent;
  run.watch = &watch;
  run.seed = w->seed;
  run.threads = 1;
  run.rounds = NULL;
  run.error = &w->error;
  w->status = run.simulator ? all->walk(&run, all->context, number) : fail_no_memory(run.error);
  if (w->incumbent.value_ns <= w->incumbent.lower_bound_ns) close_behind(w);
  arena_free(a);
}

/* ---- all of them ---- */

static situ_status join(solve_run *run, const walker *w) {
  const incumbent *found = &w->incumbent;
  if (w->status != SITU_STATUS_OK && run->error) *run->error = w->error;
  TRY(w->status);
  budget_join(run->budget, &w->budget);
  incumbent_take(run->incumbent, found, run->problem);
  for (int32_t k = 0; k < found->n_statistics; k++)
    solve_count(run, found->statistics[k].name, found->statistics[k].value);
  if (found->proof.kind) TRY(solve_prove(run, &found->proof));
  solve_bound(run, found->lower_bound_ns, found->bound);
  return SITU_STATUS_OK;
}

/* Each walk gets an equal part of the steps, and of the time as much as `threads` at once leave it. */
static void set_parts(team *all, double share) {
  int64_t steps = budget_steps_left(all->run->budget), time_ns = budget_time_left(all->run->budget);
  int32_t turns = (all->n + all->run->threads - 1) / all->run->threads;
  if (steps != INT64_MAX) all->most_steps = max64(1, (int64_t)((double)steps * share) / all->n);
  if (time_ns != INT64_MAX) all->limit_ns = max64(1, (int64_t)((double)time_ns * share) / turns);
}

static bool walks_init(team *all, rng *seeds) {
  solve_run *run = all->run;
  for (int32_t i = 0; i < all->n; i++) {
    walker *w = &all->walker[i];
    w->all = all;
    w->number = i;
    w->seed = rng_next(seeds);
    if (!incumbent_init(&w->incumbent, run->problem, run->arena)) return false;
    w->incumbent.lower_bound_ns = run->incumbent->lower_bound_ns;
    incumbent_take(&w->incumbent, run->incumbent, run->problem);
    atomic_store(&w->value_ns, w->incumbent.value_ns);
  }
  return true;
}

static situ_status run_team(team *all, int32_t *n_counted) {
  solve_run *run = all->run;
  solve_watch before = *run->watch;
  all->shown = *run->incumbent;
  run->watch->incumbent = &all->shown;
  run->watch->running = &all->counted;
  atomic_store(&all->closed, all->n);
  parallel_run(all->n, run->threads, run_walk, watch_all, all);
  *run->watch = before;
  situ_status status = SITU_STATUS_OK;
  int32_t closed = atomic_load(&all->closed);
  for (int32_t i = 0; i < all->n; i++) {
    if (status == SITU_STATUS_OK && i <= closed) status = join(run, &all->walker[i]);
    incumbent_free(&all->walker[i].incumbent);
  }
  if (atomic_load(&all->stop)) run->budget->stop = BUDGET_CANCELLED;
  *n_counted = closed < all->n ? closed + 1 : all->n;
  return status;
}

situ_status walks_run(solve_run *run, walk_function *walk, void *context, int32_t n, double share, rng *seeds,
                      int32_t *n_counted) {
  REQUIRE(n >= 1 && share >= 0 && share < 1 + 1e-9); /* sums of shares are rounded */
  arena_mark mark = arena_get_mark(run->arena);
  team all = {.run = run, .walk = walk, .context = context, .n = n, .walker = ARENA_ZERO(run->arena, walker, n)};
  *n_counted = 0;
  situ_status status = SITU_STATUS_OK;
  set_parts(&all, share);
  if (!all.walker || !walks_init(&all, seeds))
    status = fail_no_memory(run->error);
  else
    status = run_team(&all, n_counted);
  arena_release(run->arena, mark);
  return status;
}

int32_t walks_wanted(const solve_run *run, int32_t fixed) {
  REQUIRE(fixed >= 1);
  if (run->budget->max_steps != INT64_MAX) return fixed;
  return run->threads < MOST_WALKS ? run->threads : MOST_WALKS;
}

/* ---- rounds ---- */

typedef struct portfolio {
  const solver *const *rows;
  int32_t n_rows;
} portfolio;

static situ_status run_row(solve_run *run, void *context, int32_t number) {
  const portfolio *p = context;
  const solver *s = p->rows[number % p->n_rows];
  run->solver = run->watch->solver = s->name;
  return s->solve(run);
}

static bool is_stream(const solve_run *run) { return run->problem->execution == SITU_EXECUTION_STREAM; }

/* One after the other, each from what those before it left. */
static situ_status run_in_turn(const solve_run *run, const solver *const *rows, int32_t n_rows, double share,
                               rng *seeds) {
  solve_run alone = *run;
  alone.rounds = NULL;
  for (int32_t i = 0; i < n_rows && !solve_done(&alone); i++) {
    alone.seed = rng_next(seeds);
    TRY(solver_search(rows[i], &alone, share / (n_rows - i * share)));
  }
  return SITU_STATUS_OK;
}

/* How many walks on `share` of what is left: as many as its steps pay for, or one for each thread. */
static int32_t side_by_side(const solve_run *run, double share) {
  double steps = share * (double)budget_steps_left(run->budget);
  return walks_wanted(run, steps < 2 * LEAST_STEPS ? 1 : (int32_t)fmin(FIXED_WALKS, steps / LEAST_STEPS));
}

/* Each search goes on from the best plan, in turn or side by side. */
static situ_status search_round(solve_run *run, const walks_cast *all, double share, rng *seeds) {
  int32_t wanted = side_by_side(run, share), rows = all->n_searches, n = (wanted + rows - 1) / rows * rows, n_counted;
  if (wanted == 1) return run_in_turn(run, all->search, rows, share, seeds);
  portfolio searches = {all->search, rows};
  return walks_run(run, run_row, &searches, (int32_t)min64(n, budget_steps_left(run->budget)), share, seeds,
                   &n_counted);
}

/* The parts of all rounds together, the first being 1. Streams: 1, 1 + 4, 1 + 4 + 16, ... of as many rounds as the
 * budget pays. Else annealing needs its steps in one piece: one round; side by side 1 + 2 + 4. */
static int64_t parts_paid(const solve_run *run) {
  const budget *b = run->budget;
  int64_t most = min64(budget_time_left(b) / FIRST_NS, budget_steps_left(b) / FIRST_STEPS), parts = 1;
  if (!is_stream(run)) return side_by_side(run, 1) > 1 ? 1 + 2 + 4 : 1;
  while (parts < most / GROWTH) parts = parts * GROWTH + 1;
  return parts;
}

static int64_t parts_left(const solve_run *run, int64_t parts) { return parts / (is_stream(run) ? GROWTH : 2); }

/* ---- afresh ---- */

typedef struct fresh {
  const walks_cast *all;
  incumbent first; /* the plan before the rounds */
  bool wanted;     /* the last round has brought nothing */
} fresh;

/* A walk that knows the first plan only: rounds of its own. */
static situ_status run_afresh(solve_run *run, void *context, int32_t number) {
  (void)number;
  const fresh *f = context;
  rng seeds = rng_new(run->seed);
  run->incumbent->value_ns = SITU_NEVER_NS;
  incumbent_take(run->incumbent, &f->first, run->problem);
  for (int64_t parts = parts_paid(run); parts > 0 && !solve_done(run); parts = parts_left(run, parts))
    TRY(run_in_turn(run, f->all->search, f->all->n_searches, 1.0 / (double)parts, &seeds));
  return SITU_STATUS_OK;
}

/* Searches on `share` of what is left: from the best plan or, where a round has brought nothing, afresh. */
static situ_status search_on(solve_run *run, fresh *f, double share, rng *seeds) {
  int64_t before_ns = run->incumbent->value_ns;
  int32_t n = walks_wanted(run, FRESH_WALKS), n_counted;
  if (!f->wanted)
    TRY(search_round(run, f->all, share, seeds));
  else if (budget_steps_left(run->budget) >= FRESH_WALKS)
    TRY(walks_run(run, run_afresh, f, n < FRESH_WALKS ? FRESH_WALKS : n, share, seeds, &n_counted));
  double gain = (double)(before_ns - run->incumbent->value_ns);
  f->wanted = is_stream(run) && gain <= NO_GAIN * (double)before_ns;
  return SITU_STATUS_OK;
}

static situ_status run_rounds(solve_run *run, fresh *f, rng *seeds) {
  const walks_cast *all = f->all;
  double proofs = budget_steps_left(run->budget) == INT64_MAX ? PROOFS : PROOFS_BY_STEPS;
  if (all->n_proofs == 0) proofs = 0;
  for (int64_t parts = parts_paid(run); parts > 0 && !solve_done(run); parts = parts_left(run, parts)) {
    double share = 1.0 / (double)parts, searched = share * (1 - proofs);
    TRY(search_on(run, f, searched, seeds));
    TRY(run_in_turn(run, all->proof, all->n_proofs, share * proofs / (1 - searched), seeds));
  }
  return SITU_STATUS_OK;
}

situ_status walks_rounds_of(solve_run *run, const solver *s) {
  return walks_rounds(run, &(walks_cast){.search = {s}, .n_searches = 1});
}

situ_status walks_rounds(solve_run *run, const walks_cast *all) {
  REQUIRE(all->n_searches >= 1 && all->n_searches <= WALKS_ROWS && all->n_proofs >= 0 && all->n_proofs <= WALKS_ROWS);
  rng seeds = rng_new(run->seed);
  fresh f = {.all = all};
  for (int32_t i = 0; i < all->n_searches; i++) TRY(solver_prepare(all->search[i], run, STARTS / all->n_searches));
  if (!incumbent_init(&f.first, run->problem, run->arena)) return fail_no_memory(run->error);
  incumbent_take(&f.first, run->incumbent, run->problem);
  return run_rounds(run, &f, &seeds);
}
