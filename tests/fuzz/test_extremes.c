/* Random problems with huge times, sizes and counts through every solver: each is refused in words, or its plan passes
 * the judge. Under UBSan this is the test that no sum overflows. */
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "cost/cost_models.h"
#include "situ/solve.h"

enum { ROUNDS = 80 };

/* A number of up to `bits` bits, and often one beside a power of two. */
static int64_t extreme(rng *r, int32_t bits) {
  int32_t shift = (int32_t)rng_below(r, bits + 1);
  int64_t power = shift == 63 ? INT64_MAX - 1 : (int64_t)1 << shift;
  if (rng_below(r, 8) == 0) return 0;
  return rng_below(r, 2) ? power : power / 2 + rng_below(r, power / 2 + 1);
}

static situ_problem_options options_of(uint64_t seed, rng *r) {
  situ_problem_options o = SITU_PROBLEM_OPTIONS_INIT;
  o.execution = (situ_execution)(SITU_EXECUTION_STREAM + (int)(seed % 3));
  if (o.execution == SITU_EXECUTION_STREAM) {
    o.contention = rng_below(r, 2) ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK;
    if (rng_below(r, 3) == 0) o.max_period_ns = extreme(r, 63);
  }
  if (o.execution == SITU_EXECUTION_CALLS && rng_below(r, 2)) o.max_calls = (int32_t)extreme(r, 30);
  if (o.execution != SITU_EXECUTION_PIPELINE) return o;
  o.communication = rng_below(r, 2) ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED;
  o.free = rng_below(r, 2);
  o.async_copies = rng_below(r, 3) == 0;
  o.replicate = rng_below(r, 3) == 0;
  o.in_flight = (int32_t)extreme(r, 30);
  o.schedule = rng_below(r, 3) == 0 ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B;
  return o;
}

/* Gives a problem numbers of up to time_bits and size_bits, and poses it again. */
static situ_status make_extreme(lab *l, rng *r, int32_t time_bits, int32_t size_bits, situ_error *error) {
  situ_problem_options o = options_of((uint64_t)rng_below(r, 3), r);
  situ_graph *g = l->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (rng_below(r, 2)) g->weight_bytes[v] = extreme(r, size_bits);
    if (rng_below(r, 2)) g->workspace_bytes[v] = extreme(r, size_bits);
  }
  for (int32_t t = 0; t < g->n_tensors; t++)
    if (rng_below(r, 2)) g->size_bytes[t] = extreme(r, size_bits);
  for (int32_t m = 0; m < l->platform->n_memories; m++)
    l->platform->memory_bytes[m] =
        rng_below(r, 2) ? SITU_UNLIMITED_BYTES : extreme(r, size_bits + 3 > 63 ? 63 : size_bits + 3);
  for (int32_t d = 0; d < l->platform->n_devices; d++)
    l->platform->devices[d].memory_bytes = l->platform->memory_bytes[l->platform->memory_of[d]];
  situ_problem_free(l->problem);
  situ_costs_free(l->costs);
  l->problem = NULL;
  l->costs = NULL;
  situ_status status = costs_new_with_transfers(&l->costs, g, l->platform, NULL, error);
  if (status != SITU_STATUS_OK) return status;
  int64_t n = (int64_t)g->n_operators * l->costs->n_classes;
  for (int64_t i = 0; i < n; i++) {
    bool host = i % l->costs->n_classes == l->platform->class_of[0];
    l->costs->time_ns[i] = !host && rng_below(r, 8) == 0 ? SITU_NEVER_NS : extreme(r, time_bits);
  }
  return situ_problem_pose(&l->problem, g, l->platform, l->costs, &o, error);
}

TEST(every_solver_ends_in_words_or_with_a_plan) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(ROUNDS); seed++) {
    rng r = rng_new(seed);
    lab_options o = {.seed = seed,
                     .n_operators = 3 + (int32_t)rng_below(&r, 16),
                     .n_devices = 2 + (int32_t)rng_below(&r, 3),
                     .density = 0.1 + 0.3 * rng_unit(&r),
                     .n_colocations = (int32_t)rng_below(&r, 2),
                     .training = rng_below(&r, 4) == 0,
                     .equal = rng_below(&r, 2) == 0};
    lab l = lab_random(&o);
    situ_error error = {0};
    bool refused = rng_below(&r, 8) == 0; /* most likely; the rest are about as large as problems may be */
    int32_t time_bits = 30 + (int32_t)rng_below(&r, refused ? 34 : 22);
    int32_t size_bits = 25 + (int32_t)rng_below(&r, refused ? 39 : 26);
    situ_status posed = make_extreme(&l, &r, time_bits, size_bits, &error);
    if (posed != SITU_STATUS_OK && posed != SITU_STATUS_BAD_INPUT)
      fail_msg("seed %d: %s %s", (int)seed, situ_status_name(posed), error.text);
    for (int32_t i = 0; l.problem && i < situ_solver_count(); i++) {
      situ_solver_info info = SITU_SOLVER_INFO_INIT;
      assert_true(situ_solver_at(i, &info));
      const char *name = info.name;
      if (!situ_solver_serves(name, l.problem)) continue;
      situ_plan *plan;
      situ_solve_options s = {
          .size = sizeof s, .solvers = name, .max_steps = 40, .seed = seed, .no_bounds = i % 4 != 0};
      if (situ_solve(&plan, l.problem, &s, &error) != SITU_STATUS_OK)
        fail_msg("seed %d, times of %d bits, sizes of %d, %s: %s", (int)seed, (int)time_bits, (int)size_bits, name,
                 error.text);
      situ_plan_free(plan);
    }
    lab_free(&l);
  }
}

TEST_MAIN
