/* The programs of milp against brute force: on small problems, run to its end, the engine must find the optimum. What
 * it says of its end is not believed in earnest; here it shows that the programs say what the models say. */
#define _GNU_SOURCE
#include <glob.h>

#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "check/judge.h"
#include "lp/mip.h"
#include "situ/plan.h"
#include "solve/common/solver.h"

static int n_crashed; /* problems on which the engine died */

static int64_t statistic(const situ_plan *plan, const char *name) {
  for (int32_t i = 0; i < plan->n_statistics; i++)
    if (strcmp(situ_plan_statistic(plan, i).name, name) == 0) return situ_plan_statistic(plan, i).value;
  return 0;
}

static void expect_no_violation(const situ_plan *plan, uint64_t seed) {
  OWN(situ_verdict) *verdict = NULL;
  situ_error error = {0};
  assert_int_equal(situ_check(&verdict, plan, &error), SITU_STATUS_OK);
  if (verdict->n_found > 0)
    fail_msg("seed %llu: %s", (unsigned long long)seed, situ_verdict_violation(verdict, 0).text);
}

/* No plan is better than `least`. Whether the engine ended by itself: then its plan is no worse than `expected`. */
static bool expect_between(const situ_problem *p, int64_t least, int64_t expected, uint64_t seed) {
  OWN(situ_plan) *plan = NULL;
  situ_error error = {0};
  situ_solve_options effort = {.size = sizeof(situ_solve_options), .solvers = "milp", .time_limit_s = 20, .seed = seed};
  if (situ_solve(&plan, p, &effort, &error) != SITU_STATUS_OK)
    fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
  int64_t value = plan_exists(plan) ? plan->value_ns : SITU_NEVER_NS;
  if (plan_exists(plan)) expect_no_violation(plan, seed);
  if (plan->lower_bound_ns > least || value < least)
    fail_msg("seed %llu: %lld, bound %lld, and the optimum is %lld", (unsigned long long)seed, (long long)value,
             (long long)plan->lower_bound_ns, (long long)least);
  bool ended = statistic(plan, "milp.ended") > 0;
  n_crashed += statistic(plan, "milp.crashes") > 0;
  if (ended && value > expected)
    fail_msg("seed %llu: ended with %lld, but %lld is possible", (unsigned long long)seed, (long long)value,
             (long long)expected);
  bool solved = ended || value == plan->lower_bound_ns;
  return solved;
}

static bool expect_optimum(const situ_problem *p, uint64_t seed) {
  int64_t optimum = brute_force(p, NULL);
  return expect_between(p, optimum, optimum, seed);
}

static lab draw_pipeline(uint64_t seed) { return lab_random_free_pipeline(seed, 7); }

/* Contiguous, or with a period for each of two phases, or both. */
static lab draw_stages(uint64_t seed) {
  rng r = rng_new(seed);
  bool phases = rng_below(&r, 2);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, 6)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 3)),
                   .density = 0.1 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .training = phases || rng_below(&r, 3) == 0,
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .memory = rng_below(&r, 2) ? 0.2 + rng_unit(&r) : 0,
                   .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                               .communication = SITU_COMMUNICATION_HOST_STAGED,
                               .schedule = phases ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B,
                               .free = phases && rng_below(&r, 2),
                               .async_copies = rng_below(&r, 3) == 0,
                               .in_flight = (int32_t)rng_below(&r, 3)}};
  return lab_random(&o);
}

/* Without contention and memory the program of streams is the model. */
static lab draw_stream(uint64_t seed) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, 5)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 2)),
                   .density = 0.1 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
  return lab_random(&o);
}

/* The minimum period under a limit of latency that is between the minimum and that of one device. */
static lab draw_limited(uint64_t seed) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, 4)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 2)),
                   .density = 0.1 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .pinned = rng_below(&r, 4) == 0,
                   .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
  lab l = lab_random(&o);
  if (l.problem->conflict) return l;
  int64_t least = brute_force(l.problem, NULL);
  if (least < 1 || least >= SITU_NEVER_NS) return l;
  lab_free(&l);
  o.options.max_latency_ns = least + (int64_t)rng_below(&r, (uint32_t)least + 1);
  return lab_random(&o);
}

static lab draw_calls_of(uint64_t seed, int32_t max_calls) {
  rng r = rng_new(seed);
  int32_t devices = (int32_t)(2 + rng_below(&r, 2));
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, devices == 2 ? 4 : 3)),
                   .n_devices = devices,
                   .density = 0.1 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .memory = rng_below(&r, 2) ? 0.2 + rng_unit(&r) : 0,
                   .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = max_calls}};
  return lab_random(&o);
}

static lab draw_calls(uint64_t seed) { return draw_calls_of(seed, 0); }
static lab draw_few_calls(uint64_t seed) { return draw_calls_of(seed, 1 + (int32_t)(seed % 2)); }

enum { MAX_N = 8, CALLS = 2 };
typedef struct two_calls {
  const situ_problem *problem;
  simulator *simulator;
  int32_t device[MAX_N], call[MAX_N];
  int64_t best_ns;
} two_calls;

/* Whether the second call of each device starts after the end of the first, which it then does queued or not. */
static bool in_turn(const two_calls *b, const simulation *found) {
  for (int32_t v = 0; v < b->problem->n_operators; v++)
    for (int32_t w = 0; w < b->problem->n_operators; w++)
      if (b->device[v] == b->device[w] && b->call[v] < b->call[w] && found->finish_ns[v] > found->start_ns[w])
        return false;
  return true;
}

/* Each operator on each device, there in one of two calls. */
static void try_two_calls(two_calls *b, int32_t v) {
  const situ_problem *p = b->problem;
  if (v == p->n_operators) {
    int32_t number[MAX_N * CALLS], n = 0, call[MAX_N];
    memset(number, 0xff, sizeof number);
    for (int32_t w = 0; w < p->n_operators; w++)
      if (b->call[w] >= 0) number[b->device[w] * CALLS + b->call[w]] = 0;
    for (int32_t k = 0; k < p->n_devices * CALLS; k++)
      if (number[k] == 0) number[k] = n++;
    for (int32_t w = 0; w < p->n_operators; w++)
      call[w] = b->call[w] < 0 ? -1 : number[b->device[w] * CALLS + b->call[w]];
    if (!solve_allows(p, b->device)) return;
    simulation found = simulator_run(b->simulator, &(placement){.device = b->device, .call = call}, true);
    if (found.excess_bytes == 0 && found.value_ns < b->best_ns && in_turn(b, &found)) b->best_ns = found.value_ns;
    return;
  }
  for (b->device[v] = 0; b->device[v] < p->n_devices; b->device[v]++) {
    bool host = problem_is_host(p, b->device[v]);
    for (b->call[v] = host ? -1 : 0; b->call[v] < (host ? 0 : CALLS); b->call[v]++) try_two_calls(b, v + 1);
  }
}

static int64_t best_of_two_calls(const situ_problem *p) {
  OWN(arena) *a = arena_new();
  two_calls b = {.problem = p, .simulator = simulator_new(p, a), .best_ns = SITU_NEVER_NS};
  assert_non_null(b.simulator);
  try_two_calls(&b, 0);
  return b.best_ns;
}

/* milp gives each accelerator two calls at least, one after the other. */
static bool expect_best_calls(const situ_problem *p, uint64_t seed) {
  return expect_between(p, brute_force(p, NULL), best_of_two_calls(p), seed);
}

static void try_seeds(lab (*draw)(uint64_t), bool (*expect)(const situ_problem *, uint64_t), uint64_t seeds) {
  int n_served = 0, n_solved = 0;
  if (mip_missing()) skip();
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    OWN(lab) l = draw(seed);
    if (situ_solver_serves("milp", l.problem) && !l.problem->conflict) {
      n_served++;
      n_solved += expect(l.problem, seed);
    }
  }
  print_message("%d served, %d of them to the end\n", n_served, n_solved);
  assert_true(n_solved >= n_served * 99 / 100);
}

TEST(free_pipelines_are_solved) { try_seeds(draw_pipeline, expect_optimum, (uint64_t)rounds_of(1500)); }

TEST(contiguous_and_phased_pipelines_are_solved) { try_seeds(draw_stages, expect_optimum, (uint64_t)rounds_of(1500)); }

TEST(periods_of_streams_are_solved) { try_seeds(draw_limited, expect_optimum, (uint64_t)rounds_of(600)); }

TEST(streams_are_solved) { try_seeds(draw_stream, expect_optimum, (uint64_t)rounds_of(1000)); }

TEST(calls_are_solved) { try_seeds(draw_calls, expect_best_calls, (uint64_t)rounds_of(600)); }

/* As many calls as an accelerator may run are as many slots: the program is exact. */
TEST(few_calls_are_solved) { try_seeds(draw_few_calls, expect_optimum, (uint64_t)rounds_of(600)); }

/* Hosts are small too, and some problems have no plan: Cbc 2.10 dies in the preprocessing of about one in a hundred of
 * such programs, in a process of its own. */
static lab draw_tight_calls(uint64_t seed) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, 3)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 2)),
                   .density = 0.1 + 0.6 * rng_unit(&r),
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .memory = 0.1 + 0.6 * rng_unit(&r),
                   .host_memory = 0.1 + 0.6 * rng_unit(&r),
                   .options = {.execution = SITU_EXECUTION_CALLS}};
  return lab_random(&o);
}

TEST(an_engine_that_dies_takes_nothing_with_it) {
  const char *wanted = getenv("SITU_PROBLEMS");
  n_crashed = 0;
  try_seeds(draw_tight_calls, expect_best_calls, wanted ? strtoull(wanted, NULL, 10) : (uint64_t)rounds_of(600));
  print_message("the engine died %d times\n", n_crashed);
}

/* HiGHS of tools/setup.sh engines, beside which tests run, unless the caller names one. */
static void find_highs(void) {
  glob_t found = {0};
  if (!getenv("SITU_HIGHS") && glob("engines/lib/python3*/site-packages/highsbox", 0, NULL, &found) == 0)
    setenv("SITU_HIGHS", "engines", 1);
  globfree(&found);
}

int main(void) {
  find_highs();
  return TEST_RUN(NULL, NULL);
}
