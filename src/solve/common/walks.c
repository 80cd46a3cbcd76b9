#include "solve/common/walks.h"

#include <math.h>
#include <stdatomic.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/parallel.h"
#include "solve/common/exchange.h"

enum { FIXED_WALKS = 4, MAX_WALKS = 256, MIN_STEPS = 1 << 14 };
enum { GROWTH = 4, FIRST_STEPS = 1 << 10, FIRST_NS = 100000000 }; /* of rounds; the first is at least this long */
enum { FRESH_WALKS = 4 };
/* The minimum length of a turn when each search gets two per round: steps, and time in all or for each operator. */
enum { TURN_STEPS = 32, TURN_NS = 20000000, TURN_OPERATOR_NS = 2000 };
static const double FIRST_TURN = 0.5;               /* part of a round before gains decide */
static const double NO_GAIN = 0.0001;               /* fraction of the value that does not count as a gain */
static const double PROOFS = 1.0 / 3, STARTS = 0.2; /* shares of a round, and of all */
/* Proofs need fewer steps where steps are limited, and fewer still while value and bound are far apart. */
static const double PROOFS_BY_STEPS = 0.5, PROOFS_WHEN_FAR = 0.2, NEAR = 0.05;
static const double PROOFS_OF_MANY = 0.1, PROOFS_THAT_RAISE = 0.25; /* of more than MANY operators: they rarely end */
enum { MANY = 64 };

typedef struct team team;

typedef struct walker {
  team *all;
  int32_t number;
  bool here;  /* on the caller's thread */
  bool ended; /* here or on another rank: its result is available here */
  uint64_t seed;
  budget budget;
  incumbent incumbent;
  situ_error error;
  situ_status status;
  _Atomic int64_t n_steps, value_ns; /* as of its latest poll, for the caller's thread */
} walker;

struct team {
  solve_run *run;
  walk_function *walk;
  void *context;
  walker *walker;
  int32_t n;
  int32_t *mine, n_mine;        /* walks to run on this rank */
  int64_t steps_each, limit_ns; /* of each; 0: none */
  _Atomic bool stop;            /* the user asked to stop */
  _Atomic int32_t closed;       /* the lowest number of a walk that met the bound; n while there is none */
  incumbent shown;              /* what the progress callback gets */
  budget counted;
};

/* ---- one walk ---- */

/* Reports the progress of all walks. On the caller's thread. */
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

/* Callback of a walk's budget. */
static bool look(void *context) {
  walker *w = context;
  atomic_store(&w->n_steps, w->budget.steps);
  atomic_store(&w->value_ns, w->incumbent.value_ns);
  if (w->here) watch_all(w->all);
  return atomic_load(&w->all->stop) || atomic_load(&w->all->closed) < w->number;
}

/* Records that this walk has met the bound. */
static void close_behind(walker *w) {
  int32_t lowest = atomic_load(&w->all->closed);
  while (w->number < lowest && !atomic_compare_exchange_weak(&w->all->closed, &lowest, w->number)) continue;
}

static void run_walk(void *context, int32_t k, bool here) {
  team *all = context;
  int32_t number = all->mine[k];
  walker *w = &all->walker[number];
  w->here = here;
  w->ended = true;
  if (look(w)) return;
  w->budget = budget_new(all->steps_each, all->limit_ns, look, w);
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
  run.threads = run.at_once = 1;
  run.islands = NULL;
  run.rounds = NULL;
  run.error = &w->error;
  w->status = run.simulator ? all->walk(&run, all->context, number) : fail_no_memory(run.error);
  if (w->incumbent.value_ns <= w->incumbent.lower_bound_ns) close_behind(w);
  arena_free(a);
}

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

/* ---- among all ranks ---- */

/* Shares out the waiting walks, rank by rank in turn. False where there are none. */
static bool share_out(team *all) {
  int32_t n_waiting = 0, closed = atomic_load(&all->closed);
  islands *ranks = all->run->islands;
  all->n_mine = 0;
  for (int32_t i = 0; i < all->n && i <= closed; i++)
    if (!all->walker[i].ended && n_waiting++ % islands_alive(ranks) == islands_place(ranks))
      all->mine[all->n_mine++] = i;
  return n_waiting > 0;
}

/* Packs what this rank's walks found. */
static void pack_walks(text_buffer *to, const team *all) {
  pack_int(to, atomic_load(&all->stop));
  pack_int(to, all->n_mine);
  for (int32_t k = 0; k < all->n_mine; k++) {
    const walker *w = &all->walker[all->mine[k]];
    pack_int(to, w->number);
    pack_int(to, w->budget.steps);
    pack_int(to, w->budget.stop);
    exchange_pack(to, &w->incumbent, all->run->problem);
  }
}

static situ_status unpack_walks(team *all, unpack *from) {
  if (unpack_int(from)) atomic_store(&all->stop, true);
  for (int64_t left = unpack_from_to(from, 0, all->n); left > 0 && !from->failed; left--) {
    walker *w = &all->walker[unpack_from_to(from, 0, all->n - 1)];
    budget used = {.steps = unpack_from_to(from, 0, INT64_MAX / 2)};
    used.stop = (budget_stop)unpack_from_to(from, BUDGET_GOING, BUDGET_CANCELLED);
    if (from->failed) break;
    w->budget = used;
    TRY(exchange_unpack(&w->incumbent, from, all->run->problem, all->run->islands, all->run->error));
    w->ended = true;
    if (w->incumbent.value_ns <= w->incumbent.lower_bound_ns) close_behind(w);
  }
  if (!from->failed) return SITU_STATUS_OK;
  return fail_with(all->run->error, SITU_STATUS_INTERNAL, NULL, "a rank sent walks that are out of range");
}

/* Exchanges among all ranks what their walks found. */
static situ_status tell_walks(team *all) {
  islands *ranks = all->run->islands;
  islands_given given[ISLANDS_MAX];
  text_buffer mine = {0};
  if (!ranks) return SITU_STATUS_OK;
  for (int32_t k = 0; k < all->n_mine; k++) {
    const walker *w = &all->walker[all->mine[k]];
    if (w->status != SITU_STATUS_OK && all->run->error) *all->run->error = w->error;
    TRY(w->status);
  }
  pack_walks(&mine, all);
  situ_status status = exchange_gather(all->run, given, EXCHANGE_WALKS, &mine);
  for (int32_t r = 0; r < islands_count(ranks) && status == SITU_STATUS_OK; r++)
    if (given[r].bytes && r != islands_own(ranks))
      status = unpack_walks(all, &(unpack){.at = given[r].bytes, .n_left = given[r].n});
  text_free(&mine);
  return status;
}

/* Runs each walk on one rank. If a rank is lost and nothing depends on the clock, others rerun the walks that it did
 * not report, so that the answer stays the same. */
static situ_status run_shared(team *all) {
  bool repeats = all->run->budget->deadline_ns == INT64_MAX;
  while (share_out(all)) {
    parallel_run(all->n_mine, all->run->threads, run_walk, watch_all, all);
    TRY(tell_walks(all));
    if (!repeats || atomic_load(&all->stop)) break;
  }
  return SITU_STATUS_OK;
}

/* ---- all of them ---- */

/* Gives each walk an equal part of the steps, and of the time its part when all threads run at once. */
static void set_parts(team *all, double share) {
  int64_t steps = budget_steps_left(all->run->budget), time_ns = budget_time_left(all->run->budget);
  int32_t turns = (all->n + all->run->at_once - 1) / all->run->at_once;
  if (steps != INT64_MAX) all->steps_each = max64(1, (int64_t)((double)steps * share) / all->n);
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
  situ_status status = run_shared(all);
  before.last_report_ns = run->watch->last_report_ns;
  *run->watch = before;
  int32_t closed = atomic_load(&all->closed);
  for (int32_t i = 0; i < all->n; i++) {
    if (status == SITU_STATUS_OK && i <= closed && all->walker[i].ended) status = join(run, &all->walker[i]);
    incumbent_free(&all->walker[i].incumbent);
  }
  if (atomic_load(&all->stop)) run->budget->stop = BUDGET_CANCELLED;
  *n_counted = closed < all->n ? closed + 1 : all->n;
  return status;
}

situ_status walks_run(solve_run *run, walk_function *walk, void *context, int32_t n, double share, rng *seeds,
                      int32_t *n_counted) {
  REQUIRE(n >= 1 && share >= 0 && share < 1 + 1e-9); /* sums of shares may be rounded up */
  arena_mark mark = arena_get_mark(run->arena);
  team all = {.run = run, .walk = walk, .context = context, .n = n, .walker = ARENA_ZERO(run->arena, walker, n)};
  all.mine = ARENA_NEW(run->arena, int32_t, n);
  *n_counted = 0;
  situ_status status = SITU_STATUS_OK;
  set_parts(&all, share);
  if (!all.walker || !all.mine || !walks_init(&all, seeds))
    status = fail_no_memory(run->error);
  else
    status = run_team(&all, n_counted);
  arena_release(run->arena, mark);
  return status;
}

int32_t walks_wanted(const solve_run *run, int32_t fixed) {
  REQUIRE(fixed >= 1);
  if (run->budget->max_steps != INT64_MAX) return fixed;
  return run->at_once < MAX_WALKS ? run->at_once : MAX_WALKS;
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
  return solver_solve(s, run);
}

static bool is_stream(const solve_run *run) { return run->problem->execution == SITU_EXECUTION_STREAM; }

/* Searches in sequence, each from the results of those before it, on `share` of what was left at first. */
typedef struct turns {
  solve_run run;
  const portfolio *of;
  double share, used; /* used: the part of it already spent */
  rng *seeds;
  double gain_ns[WALKS_ROWS]; /* of each search so far */
} turns;

static situ_status take_turn(turns *t, int32_t i, double part) {
  int64_t before_ns = t->run.incumbent->value_ns;
  if (part <= 0 || solve_done(&t->run)) return SITU_STATUS_OK;
  t->run.seed = rng_next(t->seeds);
  TRY(solver_search(t->of->rows[i], &t->run, fmin(1, t->share * part / (1 - t->share * t->used))));
  t->used += part;
  if (before_ns < SITU_NEVER_NS) t->gain_ns[i] += (double)(before_ns - t->run.incumbent->value_ns);
  return SITU_STATUS_OK;
}

/* The time that n turns need at least: each costs some simulations at its start. */
static double turns_ns(const solve_run *run, int32_t n) {
  return (double)n * TURN_OPERATOR_NS * run->problem->n_operators;
}

/* Whether the budget is large enough for each search to have two turns. */
static bool twice_pays(const solve_run *run, const portfolio *of, double share) {
  int32_t n = 2 * of->n_rows;
  return n > 2 && is_stream(run) && share * (double)budget_steps_left(run->budget) >= (double)n * TURN_STEPS &&
         share * (double)budget_time_left(run->budget) >= fmax((double)n * TURN_NS, turns_ns(run, n));
}

/* Runs one turn of each search, or if twice_pays, two: the first half of the round is divided equally, and the second
 * by how much each search gained in the first. */
static situ_status run_in_turn(const solve_run *run, const portfolio *of, double share, rng *seeds) {
  turns t = {.run = *run, .of = of, .share = share, .seeds = seeds};
  double first = twice_pays(run, of, share) ? FIRST_TURN : 1, all_ns = 0;
  t.run.rounds = NULL;
  for (int32_t i = 0; i < of->n_rows; i++) TRY(take_turn(&t, i, first / of->n_rows));
  double weight[WALKS_ROWS];
  for (int32_t i = 0; i < of->n_rows; i++) all_ns += weight[i] = t.gain_ns[i];
  for (int32_t i = 0; i < of->n_rows && first < 1; i++)
    TRY(take_turn(&t, i, (1 - first) * (all_ns > 0 ? weight[i] / all_ns : 1.0 / of->n_rows)));
  return SITU_STATUS_OK;
}

/* The number of walks on `share` of what is left: as many as its steps allow, or one for each thread. */
static int32_t side_by_side(const solve_run *run, double share) {
  double steps = share * (double)budget_steps_left(run->budget);
  return walks_wanted(run, steps < 2 * MIN_STEPS ? 1 : (int32_t)fmin(FIXED_WALKS, steps / MIN_STEPS));
}

/* The length of all rounds together, where the first has length 1. For streams 1, 1 + 4, 1 + 4 + 16, ...: as many
 * rounds as the budget allows if the first has time for two turns of each search. Otherwise there is one round, since
 * annealing needs its steps in one piece; side by side there are three, 1 + 2 + 4. */
static int64_t parts_paid(const solve_run *run, const walks_cast *all) {
  const budget *b = run->budget;
  int64_t first_ns = max64(FIRST_NS, (int64_t)turns_ns(run, 2 * all->n_searches));
  int64_t max_parts = min64(budget_time_left(b) / first_ns, budget_steps_left(b) / FIRST_STEPS), parts = 1;
  if (!is_stream(run)) return side_by_side(run, 1) > 1 ? 1 + 2 + 4 : 1;
  while (parts < max_parts / GROWTH) parts = parts * GROWTH + 1;
  return parts;
}

static int64_t parts_left(const solve_run *run, int64_t parts) { return parts / (is_stream(run) ? GROWTH : 2); }

/* ---- fresh starts ---- */

typedef struct fresh {
  const walks_cast *all;
  incumbent first; /* the plan before the rounds */
  bool wanted;     /* the latest round found nothing */
  bool raised;     /* its proofs raised the bound */
} fresh;

/* A walk that starts from the first plan only, with rounds of its own. */
static situ_status run_fresh(solve_run *run, void *context, int32_t number) {
  (void)number;
  const fresh *f = context;
  portfolio searches = {f->all->search, f->all->n_searches};
  rng seeds = rng_new(run->seed);
  run->incumbent->value_ns = SITU_NEVER_NS;
  incumbent_take(run->incumbent, &f->first, run->problem);
  for (int64_t parts = parts_paid(run, f->all); parts > 0 && !solve_done(run); parts = parts_left(run, parts))
    TRY(run_in_turn(run, &searches, 1.0 / (double)parts, &seeds));
  return SITU_STATUS_OK;
}

/* How the searches of a round run. Rank 0 decides for all. */
typedef struct round_form {
  int64_t fresh, n_walks; /* 0: none; 1: in turn */
} round_form;

static situ_status find_form(round_form *out, solve_run *run, const fresh *f, double share) {
  int64_t steps = budget_steps_left(run->budget), wanted, rows = f->all->n_searches;
  *out = (round_form){.fresh = f->wanted};
  if (f->wanted) {
    out->n_walks = steps >= FRESH_WALKS ? max64(walks_wanted(run, FRESH_WALKS), FRESH_WALKS) : 0;
  } else {
    wanted = side_by_side(run, share);
    out->n_walks = wanted > 1 ? min64((wanted + rows - 1) / rows * rows, max64(steps, 2)) : 1;
  }
  TRY(exchange_int(run, &out->fresh));
  return exchange_int(run, &out->n_walks);
}

/* Searches on `share` of what is left: from the best plan, in turn or side by side, or from a fresh start after a round
 * that found nothing. */
static situ_status search_on(solve_run *run, fresh *f, double share, rng *seeds) {
  int64_t before_ns = run->incumbent->value_ns;
  portfolio searches = {f->all->search, f->all->n_searches};
  round_form form;
  int32_t n_counted;
  TRY(find_form(&form, run, f, share));
  if (form.fresh && form.n_walks > 0)
    TRY(walks_run(run, run_fresh, f, (int32_t)form.n_walks, share, seeds, &n_counted));
  if (!form.fresh && form.n_walks == 1) TRY(run_in_turn(run, &searches, share, seeds));
  if (!form.fresh && form.n_walks > 1)
    TRY(walks_run(run, run_row, &searches, (int32_t)form.n_walks, share, seeds, &n_counted));
  double gain = (double)(before_ns - run->incumbent->value_ns);
  double starts_ns = turns_ns(run, FRESH_WALKS * f->all->n_searches);
  f->wanted =
      is_stream(run) && gain <= NO_GAIN * (double)before_ns && (double)budget_time_left(run->budget) > starts_ns;
  return SITU_STATUS_OK;
}

/* The proofs, side by side: each on an equal part of `share`. */
static situ_status prove_on(solve_run *run, const walks_cast *all, double share, rng *seeds) {
  portfolio proofs = {all->proof, all->n_proofs};
  int64_t n = solve_done(run) || budget_steps_left(run->budget) < all->n_proofs ? 0 : all->n_proofs;
  int32_t n_counted;
  if (all->n_proofs == 0) return SITU_STATUS_OK;
  TRY(exchange_int(run, &n));
  return n > 0 ? walks_run(run, run_row, &proofs, (int32_t)n, share, seeds, &n_counted) : SITU_STATUS_OK;
}

/* The part of a round for proofs. Where steps are limited it is small while value and bound are far apart and the
 * latest proofs did not raise the bound. */
static double proofs_part(const solve_run *run, const fresh *f) {
  const incumbent *best = run->incumbent;
  if (f->all->n_proofs == 0) return 0;
  if (run->problem->n_operators > MANY) return f->raised ? PROOFS_THAT_RAISE : PROOFS_OF_MANY;
  if (budget_steps_left(run->budget) == INT64_MAX) return PROOFS;
  bool near = (double)best->lower_bound_ns >= (1 - NEAR) * (double)best->value_ns;
  return near || f->raised ? PROOFS_BY_STEPS : PROOFS_WHEN_FAR;
}

/* Proofs may end before their time is over. Searches use what is left. */
static situ_status search_to_the_end(solve_run *run, fresh *f, rng *seeds) {
  int64_t spent = 1;
  for (bool done; is_stream(run) && spent > 0;) {
    TRY(exchange_best(run, &done));
    if (done) break;
    int64_t before = run->budget->steps;
    TRY(search_on(run, f, 1, seeds));
    spent = run->budget->steps - before;
    TRY(exchange_int(run, &spent));
  }
  return SITU_STATUS_OK;
}

static situ_status run_rounds(solve_run *run, fresh *f, rng *seeds) {
  int64_t parts = parts_paid(run, f->all);
  TRY(exchange_int(run, &parts));
  for (bool done; parts > 0; parts = parts_left(run, parts)) {
    TRY(exchange_best(run, &done));
    if (done) break;
    double proofs = proofs_part(run, f), share = 1.0 / (double)parts, searched = share * (1 - proofs);
    int64_t bound_ns = run->incumbent->lower_bound_ns;
    TRY(search_on(run, f, searched, seeds));
    TRY(prove_on(run, f->all, share * proofs / (1 - searched), seeds));
    f->raised = run->incumbent->lower_bound_ns > bound_ns;
  }
  return search_to_the_end(run, f, seeds);
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
