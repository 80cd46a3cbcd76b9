/* The search that moves coarse units. */
#include "../../../lab/test.h"
#include "plan/plan.h"
#include "situ/instance.h"

static int64_t value_by(const char *name, const char *rule) {
  situ_instance_options o = {.size = sizeof o,
                             .model = "builtin:layered?operators=12000",
                             .platform = "cpu+2*v100-16g",
                             .rules = (const char *const[]){rule},
                             .n_rules = 1};
  situ_solve_options solve = {.size = sizeof solve, .solvers = name, .max_steps = 100, .no_bounds = true};
  OWN(situ_instance) *instance = NULL;
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  if (situ_place(&plan, &instance, &o, &solve, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  int64_t value = plan->value_ns;
  return value;
}

/* The same number of simulations; where memory binds (what stays takes 1.76 GB, each GPU has 0.4 GB) no worse. */
TEST(coarse_moves_gain_more_than_fine_ones_in_a_large_problem) {
  assert_true(value_by("multilevel", "reserve gpu=1") < value_by("tabu", "reserve gpu=1"));
  assert_true(value_by("multilevel", "reserve gpu=15600000000") <= value_by("heft", "reserve gpu=15600000000"));
}

TEST_MAIN
