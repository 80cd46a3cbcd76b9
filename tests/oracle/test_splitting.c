/* Splitting against brute force over devices and orders, where memory binds too. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "situ/solve.h"

/* Counts the seeds on which splitting finds the optimum; fails where it finds a better one, or breaks a rule. */
static int32_t count_optima(double memory, situ_contention contention, int32_t seeds, int32_t *n_possible) {
  seeds = rounds_of(seeds);
  int32_t equal = 0;
  *n_possible = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 4 + (int32_t)(seed % 2),
                     .n_devices = 2 + (int32_t)(seed % 2),
                     .density = 0.2 + 0.1 * (double)(seed % 5),
                     .n_colocations = (int32_t)(seed % 2),
                     .pinned = seed % 3 == 0,
                     .unsupported = seed % 5 == 0,
                     .memory = memory,
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = contention}};
    OWN(lab) l = lab_random(&o);
    int64_t optimum = brute_force(l.problem, NULL);
    OWN(situ_plan) *plan = NULL;
    situ_error error;
    situ_solve_options with = {
        .size = sizeof(situ_solve_options), .solvers = "splitting", .max_steps = 400, .seed = seed};
    if (situ_solve(&plan, l.problem, &with, &error) != SITU_STATUS_OK) fail_msg("seed %d: %s", (int)seed, error.text);
    int64_t value = plan->value_ns;
    if (value < optimum)
      fail_msg("seed %d: %lld is below the optimum %lld", (int)seed, (long long)value, (long long)optimum);
    *n_possible += optimum != SITU_NEVER_NS;
    equal += optimum != SITU_NEVER_NS && value == optimum;
  }
  if (getenv("SITU_TABLE")) printf("%g %s: %d of %d\n", memory, situ_contention_name(contention), equal, *n_possible);
  return equal;
}

TEST(splitting_finds_the_optimum_of_most_small_graphs) {
  for (int32_t c = 0; c < 2; c++) {
    int32_t possible, equal = count_optima(0, c ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK, 600, &possible);
    assert_true(possible > rounds_of(500));
    assert_true(equal * 100 >= possible * 95);
  }
}

/* Accelerators hold a part of all weights and tensors only: the plans of least time do not fit. */
TEST(splitting_keeps_memory_where_it_binds) {
  static const double parts[] = {0.15, 0.25, 0.4};
  for (int32_t i = 0; i < 3; i++) {
    int32_t possible, equal = count_optima(parts[i], SITU_CONTENTION_LINK, 200, &possible);
    assert_true(possible > rounds_of(100));
    assert_true(equal * 100 >= possible * 75);
  }
}

TEST_MAIN
