/* Equal devices begin in the order of the platform, in every execution model, and the judge agrees. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "plan/plan.h"
#include "situ/solve.h"
#include "view/equal_devices.h"

static const situ_problem_options models[] = {
    {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM},
    {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS},
    {.size = sizeof(situ_problem_options),
     .objective = SITU_OBJECTIVE_THROUGHPUT,
     .execution = SITU_EXECUTION_PIPELINE,
     .communication = SITU_COMMUNICATION_HOST_STAGED,
     .replicate = true},
};

/* The position at which a device begins; the number of operators if it runs none. A replica begins with its leader. */
static int32_t begin_of(const situ_plan *plan, int32_t d) {
  int32_t n = plan->n_operators;
  for (int32_t k = 0; k < n; k++)
    if (plan->device[plan->order ? plan->order[k] : k] == d) return k;
  return n;
}

static situ_plan *solve(const lab *l, const char *solvers, const situ_plan *start) {
  situ_plan *plan;
  situ_error e;
  situ_solve_options o = {.size = sizeof o, .solvers = solvers, .max_steps = 60, .starts = &start, .n_starts = !!start};
  must(situ_solve(&plan, l->problem, &o, &e), &e);
  return plan;
}

TEST(equal_devices_begin_in_order) {
  int32_t n_pairs = 0;
  for (size_t k = 0; k < sizeof models / sizeof models[0]; k++)
    for (uint64_t seed = 1; seed <= (uint64_t)(in_check() ? 60 : 15); seed++) {
      lab_options o = {
          .seed = seed, .n_operators = 14, .n_devices = 4, .density = 0.15, .equal = true, .options = models[k]};
      OWN(lab) l = lab_random(&o);
      OWN(arena) *a = arena_new();
      equal_devices equal;
      assert_true(equal_devices_find(&equal, l.problem, EQUAL_ALWAYS, a));
      OWN(situ_plan) *plan = solve(&l, "auto", NULL);
      for (int32_t t = 0; t < equal.n_types && plan->device; t++)
        for (int32_t i = 1; i < equal.types[t].n_devices; i++) {
          assert_true(begin_of(plan, equal.types[t].devices[i - 1]) <= begin_of(plan, equal.types[t].devices[i]));
          n_pairs += begin_of(plan, equal.types[t].devices[i]) < plan->n_operators;
        }
    }
  assert_true(n_pairs > (in_check() ? 20 : 5));
}

/* An operator that only accelerators run fast, on the second of two equal ones: it moves to the first, but stays where
 * it is pinned, and in the plan of a caller that nothing beats. */
TEST(pins_and_plans_of_callers_stay) {
  for (int k = 0; k < 3; k++) {
    OWN(lab) l = lab_new();
    l.alike = true;
    for (int d = 0; d < 3; d++) lab_device(&l, SITU_UNLIMITED_BYTES, -1, d == 0);
    lab_star(&l);
    lab_operator(&l, "a", 10, 1, 0);
    l.time_ns[0][0] = 1000;
    int32_t pin = 2;
    lab_pose(&l, &(situ_problem_options){.size = sizeof(situ_problem_options),
                                         .execution = SITU_EXECUTION_STREAM,
                                         .pins = k == 1 ? &pin : NULL});
    OWN(situ_plan) *start = NULL;
    situ_error e;
    if (k == 2) must(situ_simulate(&start, l.problem, &pin, NULL, &e), &e);
    OWN(situ_plan) *plan = solve(&l, "single", start);
    assert_int_equal(plan->device[0], k == 0 ? 1 : 2);
  }
}

/* Without a host the first device is the one that stages would be sent from; where they go over links, it is like the
 * others, and the first stage is on it. */
TEST(the_first_stage_is_on_the_first_device) {
  situ_instance_options o = {
      .size = sizeof(situ_instance_options),
      .model = "builtin:resnet50",
      .platform = "4*(h100-80g)@infiniband-ndr",
      .problem = &(situ_problem_options){.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT}};
  OWN(situ_instance) *instance = NULL;
  situ_error e = {0};
  must(situ_instance_open(&instance, &o, &e), &e);
  const lab l = {.problem = (situ_problem *)(uintptr_t)situ_instance_problem(instance)};
  OWN(situ_plan) *plan = solve(&l, "linear_dp", NULL);
  for (int32_t d = 1; d < 4; d++) assert_true(begin_of(plan, d - 1) < begin_of(plan, d));
}

TEST_MAIN
