/* Brute force over all placements, and all orders where there are any, against bounds and solvers: no bound is above
 * the optimum, no plan is below it, and every plan keeps every rule. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/proved.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "bound/bound.h"
#include "sim/simulate.h"
#include "solve/common/solver.h"

static void hold_bounds(const situ_problem *p, int64_t optimum, arena *a, uint64_t seed) {
  for (int32_t i = 0; bounds[i]; i++) {
    const bound *row = bounds[i];
    if (!problem_is_of(p, row->models) || p->conflict) continue;
    arena_mark mark = arena_get_mark(a);
    int64_t lower = proved_bound(NULL, row, p, a);
    arena_release(a, mark);
    if (lower > optimum)
      fail_msg("%s, seed %d: bound %s says %lld, but %lld is possible", situ_execution_name(p->execution), (int)seed,
               row->name, (long long)lower, (long long)optimum);
  }
}

static void hold_solvers(const situ_problem *p, int64_t optimum, uint64_t seed) {
  int64_t single = SITU_NEVER_NS, portfolio = SITU_NEVER_NS;
  situ_solver_info info = SITU_SOLVER_INFO_INIT;
  for (int32_t i = 0; situ_solver_at(i, &info); i++) {
    const char *name = info.name;
    if (!situ_solver_serves(name, p)) continue;
    OWN(situ_plan) *plan = NULL;
    situ_error error;
    situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = name, .max_steps = 200, .seed = seed};
    if (situ_solve(&plan, p, &o, &error) != SITU_STATUS_OK)
      fail_msg("%s, seed %d, solver %s: %s", situ_execution_name(p->execution), (int)seed, name, error.text);
    int64_t value = plan->value_ns;
    if (value < optimum)
      fail_msg("seed %d: %s found %lld, below the optimum %lld", (int)seed, name, (long long)value, (long long)optimum);
    if (optimum == SITU_NEVER_NS) assert_false(plan_exists(plan));
    assert_true(plan->lower_bound_ns <= optimum);
    if (i == 0) portfolio = value;
    if (strcmp(name, "single") == 0) single = value;
  }
  assert_true(portfolio <= single);
}

static void compare(situ_problem_options options, int32_t seeds, int32_t n, int32_t devices) {
  seeds = rounds_of(in_check() ? seeds : seeds / 2);
  for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = n - (int32_t)(seed % 2),
                     .n_devices = devices - (int32_t)(seed % 3 == 0),
                     .density = 0.2 + 0.1 * (double)(seed % 5),
                     .n_colocations = (int32_t)(seed % 2),
                     .training = options.objective == SITU_OBJECTIVE_THROUGHPUT && seed % 4 == 0,
                     .equal = options.replicate,
                     .pinned = seed % 3 == 0,
                     .unsupported = seed % 5 == 0,
                     .memory = seed % 4 == 1 ? 0.3 + 0.1 * (double)(seed % 7) : 0,
                     .pools = true,
                     .options = options};
    if (o.n_devices < 2) o.n_devices = 2;
    OWN(lab) l = lab_random(&o);
    OWN(arena) *a = arena_new();
    int64_t optimum = brute_force(l.problem, NULL);
    hold_bounds(l.problem, optimum, a, seed);
    if (seed % 4 == 0 || seed < (uint64_t)rounds_of(40)) hold_solvers(l.problem, optimum, seed);
  }
}

TEST(nothing_is_better_than_the_optimum_of_streams) {
  compare((situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM}, 300, 5, 3);
  compare(
      (situ_problem_options){
          .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE},
      300, 5, 3);
  for (situ_overlap overlap = SITU_OVERLAP_HOST_BLOCKING; overlap <= SITU_OVERLAP_NONE; overlap++)
    compare(
        (situ_problem_options){
            .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .overlap = overlap},
        300, 5, 3);
}

TEST(nothing_is_better_than_the_optimum_of_calls) {
  compare((situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS}, 600, 5, 3);
  compare((situ_problem_options){.size = sizeof(situ_problem_options), .max_calls = 1}, 300, 5, 3);
  compare((situ_problem_options){.size = sizeof(situ_problem_options), .max_calls = 2}, 300, 5, 3);
}

TEST(nothing_is_better_than_the_optimum_of_pipelines) {
  situ_problem_options o = {.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT};
  for (int32_t variant = 0; variant < 8; variant++) {
    o.free = variant & 1;
    o.async_copies = variant & 2;
    o.communication = variant & 4 ? SITU_COMMUNICATION_HOST_STAGED : SITU_COMMUNICATION_LINK;
    compare(o, 150, 6, 3);
    o.schedule = SITU_SCHEDULE_GPIPE;
    o.replicate = variant % 3 > 0;
    compare(o, 60, 5, 4);
    o.schedule = SITU_SCHEDULE_1F1B;
    if (o.replicate) compare(o, 60, 5, 4);
    o.replicate = false;
  }
}

/* Contention, memory over time, colocation, pins, devices that cannot run everything: what it ends with is the optimum.
 */
TEST(branch_and_bound_finds_and_proves_the_optimum) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1500); seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 3 + (int32_t)(seed % 3),
                     .n_devices = 2 + (int32_t)(seed % 5 == 0),
                     .density = 0.1 + 0.1 * (double)(seed % 7),
                     .n_colocations = (int32_t)(seed % 2),
                     .pinned = seed % 3 == 0,
                     .unsupported = seed % 4 == 0,
                     .memory = seed % 3 == 1 ? 0.3 + 0.1 * (double)(seed % 7) : 0,
                     .options = {.execution = SITU_EXECUTION_STREAM,
                                 .contention = seed % 8 < 2 ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK,
                                 .overlap = seed % 8 < 2 ? SITU_OVERLAP_FULL : (situ_overlap)(seed / 8 % 4)}};
    if (o.memory > 0 && o.options.overlap == SITU_OVERLAP_NONE) continue; /* another order may need less memory */
    OWN(lab) l = lab_random(&o);
    int64_t optimum = brute_force(l.problem, NULL);
    OWN(situ_plan) *plan = NULL;
    situ_error error;
    situ_solve_options with = {.size = sizeof(situ_solve_options), .solvers = "branch_and_bound"};
    assert_int_equal(situ_solve(&plan, l.problem, &with, &error), SITU_STATUS_OK);
    if (!l.problem->conflict && (plan->value_ns != optimum || plan->lower_bound_ns != optimum))
      fail_msg("seed %d: the optimum is %lld; found %lld, bound %lld", (int)seed, (long long)optimum,
               (long long)plan->value_ns, (long long)plan->lower_bound_ns);
  }
}

/* Contention, memory and colocation are not in its layers, so it proves less where they matter, never more. */
TEST(decision_diagram_proves_the_optimum_of_free_links_and_never_more) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1500); seed++) {
    bool plain = seed % 2;
    lab_options o = {.seed = seed,
                     .n_operators = 3 + (int32_t)(seed % 4),
                     .n_devices = 2 + (int32_t)(seed % 5 == 0),
                     .density = 0.1 + 0.1 * (double)(seed % 7),
                     .n_colocations = plain ? 0 : (int32_t)(seed / 2 % 2),
                     .pinned = seed % 3 == 0,
                     .unsupported = seed % 4 == 0,
                     .memory = plain || seed % 3 ? 0 : 0.3 + 0.1 * (double)(seed % 7),
                     .options = {.execution = SITU_EXECUTION_STREAM,
                                 .contention = plain ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK,
                                 .overlap = SITU_OVERLAP_FULL}};
    OWN(lab) l = lab_random(&o);
    int64_t optimum = brute_force(l.problem, NULL);
    OWN(situ_plan) *plan = NULL;
    situ_error error;
    situ_solve_options with = {.size = sizeof(situ_solve_options), .solvers = "decision_diagram", .no_bounds = true};
    assert_int_equal(situ_solve(&plan, l.problem, &with, &error), SITU_STATUS_OK);
    if (!l.problem->conflict && (plan->lower_bound_ns > optimum || (plain && plan->lower_bound_ns < optimum)))
      fail_msg("seed %d: the optimum is %lld; the bound is %lld", (int)seed, (long long)optimum,
               (long long)plan->lower_bound_ns);
  }
}

TEST_MAIN
