/* Whoever stops a search, at whatever look, gets what it has found: no solver takes half a schedule for a whole one. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "base/checked.h"
#include "solve/common/solver.h"
#include "solve/solve.h"

/* A callback of budgets: the looks that are left. */
static bool look(void *context) {
  int32_t *left = context;
  return (*left)-- <= 0;
}

static void stop_at(const lab *l, const solver *row, int32_t looks) {
  budget b = budget_new(20000, 0, look, &looks);
  incumbent best;
  solve_watch watch = {0};
  situ_error error = {0};
  OWN(arena) *a = arena_new();
  assert_true(incumbent_init(&best, l->problem, a));
  solve_run run = {.problem = l->problem,
                   .simulator = simulator_new(l->problem, a),
                   .budget = &b,
                   .incumbent = &best,
                   .watch = &watch,
                   .solver = row->name,
                   .seed = (uint64_t)looks,
                   .threads = 1,
                   .arena = a,
                   .error = &error};
  assert_non_null(run.simulator);
  if (solver_run(row, &run, 1, 0) != SITU_STATUS_OK) fail_msg("%s, %d looks: %s", row->name, (int)looks, error.text);
  assert_null(incumbent_check(&best, l->problem));
  incumbent_free(&best);
}

/* Long enough that list schedulers look in the middle of a schedule. */
TEST(every_solver_can_be_stopped_at_any_look) {
  static const situ_problem_options kinds[] = {
      {.size = sizeof *kinds, .execution = SITU_EXECUTION_STREAM},
      {.size = sizeof *kinds, .execution = SITU_EXECUTION_CALLS},
      {.size = sizeof *kinds, .objective = SITU_OBJECTIVE_THROUGHPUT, .execution = SITU_EXECUTION_PIPELINE},
      {.size = sizeof *kinds,
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .execution = SITU_EXECUTION_PIPELINE,
       .free = true}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    OWN(lab)
    l = lab_random(&(lab_options){
        .seed = 5 + k, .n_operators = 300, .n_devices = 3, .density = 0.008, .memory = 0.6, .options = kinds[k]});
    for (int32_t s = 0; solvers[s]; s++) {
      if (!solver_serves(solvers[s], l.problem)) continue;
      for (int32_t looks = 0, n = 0; n < rounds_of(12); n++, looks += 1 + looks / 2) stop_at(&l, solvers[s], looks);
    }
  }
}

/* Stops as soon as bounds are computed. */
static bool stop_at_bounds(void *context, const situ_progress *news) {
  *(bool *)context |= strcmp(news->solver, "bounds") == 0;
  return strcmp(news->solver, "bounds") == 0;
}

/* A caller who stops while bounds are computed gets what list schedulers find, not the best single device alone: with
 * no limit, and with one. On branches that keep four devices busy, three quarters of its time are to be saved. */
TEST(whoever_stops_the_bounds_has_a_plan) {
  for (int limited = 0; limited < 2; limited++) {
    OWN(lab) l = lab_mesh(4, SITU_UNLIMITED_BYTES);
    for (int32_t v = 0; v < 400; v++) {
      char name[16];
      snprintf(name, sizeof name, "v%d", (int)v);
      lab_operator(&l, name, 1000000, 0, 0);
    }
    lab_pose(&l, &(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM});
    bool seen = false;
    situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
    OWN(situ_plan) *plan = NULL;
    situ_error error = {0};
    o.time_limit_s = limited ? 600 : 0;
    o.progress = stop_at_bounds;
    o.context = &seen;
    must(situ_solve(&plan, l.problem, &o, &error), &error);
    situ_plan_summary s = SITU_PLAN_SUMMARY_INIT;
    assert_true(situ_plan_get_summary(plan, &s));
    assert_true(seen && s.exists);
    assert_int_equal(s.best_single_ns, 400 * 1000000);
    assert_true(s.value_ns < s.best_single_ns / 3);
  }
}

static situ_plan_summary solve_within(const lab *l, situ_solve_options *o) {
  situ_plan_summary s = SITU_PLAN_SUMMARY_INIT;
  OWN(situ_plan) *plan = NULL;
  situ_error error = {0};
  must(situ_solve(&plan, l->problem, o, &error), &error);
  assert_true(situ_plan_get_summary(plan, &s) && s.exists);
  return s;
}

/* The same of a large network with a limit, sixty times as long as the best single device takes to find. Only the
 * first operator takes memory, so that filling devices by memory does not spread the others. */
TEST(a_large_network_has_a_plan_soon) {
  enum { N = 20000 };
  OWN(lab) l = lab_mesh(4, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < N; v++) {
    char name[16];
    snprintf(name, sizeof name, "v%d", (int)v);
    lab_operator(&l, name, 1000, v == 0 ? 1000 : 0, 0);
  }
  lab_pose(&l, &(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM});
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  o.solvers = "single";
  o.no_bounds = true;
  double single_s = solve_within(&l, &o).seconds;
  bool seen = false;
  o = (situ_solve_options)SITU_SOLVE_OPTIONS_INIT;
  o.time_limit_s = 60 * single_s;
  o.progress = stop_at_bounds;
  o.context = &seen;
  situ_plan_summary s = solve_within(&l, &o);
  assert_int_equal(s.best_single_ns, N * 1000);
  assert_true(s.value_ns < s.best_single_ns / 3);
}

/* What reports name before bounds are computed. */
typedef struct first_reports {
  bool searched, bounded;
} first_reports;

static bool note_search(void *context, const situ_progress *news) {
  first_reports *seen = context;
  seen->bounded |= strcmp(news->solver, "bounds") == 0;
  seen->searched |= strcmp(news->solver, "regions") == 0;
  return seen->bounded;
}

/* Lists of operators give a poor plan where transfers are dear, so a local search runs before the bounds, too: 5 us for
 * each operator, which is long enough here to be reported. */
TEST(a_search_runs_before_the_bounds) {
  enum { N = 6000 };
  OWN(lab) l = lab_mesh(4, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < N; v++) {
    char name[16];
    snprintf(name, sizeof name, "v%d", (int)v);
    lab_operator(&l, name, 1000 + v % 7, 0, 0);
  }
  lab_pose(&l, &(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM});
  first_reports seen = {0};
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  o.progress = note_search;
  o.context = &seen;
  solve_within(&l, &o);
  assert_true(seen.bounded);
  assert_true(seen.searched);
}

/* Whoever stops at the bounds has what list schedulers find, each alone: on small random networks, where
 * each takes a fraction of the time that it may. Of three tries one counts, as another process may have had that time.
 */
TEST(quick_constructions_come_before_the_bounds) {
  static const char *const alone[] = {"heft", "lookahead", "m_etf", "dls"};
  for (uint64_t seed = 1; seed <= 20; seed++) {
    lab_options random = {.seed = seed, .n_operators = 60, .n_devices = 4, .density = 0.05};
    OWN(lab) l = lab_random(&random);
    int64_t best_ns = INT64_MAX, stopped_ns = INT64_MAX;
    for (size_t k = 0; k < sizeof alone / sizeof *alone; k++) {
      situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
      o.solvers = alone[k];
      o.no_bounds = true;
      best_ns = min64(best_ns, solve_within(&l, &o).value_ns);
    }
    for (int try = 0; try < 3 && stopped_ns > best_ns; try++) {
      bool seen = false;
      situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
      o.progress = stop_at_bounds;
      o.context = &seen;
      stopped_ns = min64(stopped_ns, solve_within(&l, &o).value_ns);
    }
    assert_true(stopped_ns <= best_ns);
  }
}

TEST_MAIN
