/* The search among slices of a schedule. Builds with contracts count its loads anew after each round. */
#include "../../../lab/test.h"
#include "plan/plan.h"
#include "situ/instance.h"

enum { N_OPERATORS = 12000 };

typedef struct outcome {
  int64_t value_ns;
  int32_t device[N_OPERATORS];
} outcome;

/* pins: NULL or [operator]. Of these steps heft, from which it starts, needs few. */
static void place_by(outcome *out, const char *name, const char *rule, const int32_t *pins) {
  situ_problem_options problem = SITU_PROBLEM_OPTIONS_INIT;
  problem.pins = pins;
  situ_instance_options o = {.size = sizeof o,
                             .model = "builtin:layered?operators=12000",
                             .platform = "cpu+2*v100-16g",
                             .rules = (const char *const[]){rule},
                             .n_rules = 1,
                             .problem = &problem};
  situ_solve_options solve = {.size = sizeof solve, .solvers = name, .max_steps = 400, .no_bounds = true};
  OWN(situ_instance) *instance = NULL;
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  if (situ_place(&plan, &instance, &o, &solve, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  out->value_ns = plan->value_ns;
  for (int32_t v = 0; v < N_OPERATORS; v++) out->device[v] = plan->device[v];
}

static outcome a, b;

/* It starts from heft. What stays takes 1.76 GB; each GPU has 16 or 0.4 GB. */
TEST(a_plan_of_heft_gets_shorter_with_memory_ample_and_tight) {
  static const char *const RULES[] = {"reserve gpu=1", "reserve gpu=15600000000"};
  for (int k = 0; k < 2; k++) {
    place_by(&a, "heft", RULES[k], NULL);
    place_by(&b, "slices", RULES[k], NULL);
    assert_true(b.value_ns < a.value_ns);
  }
}

TEST(equal_steps_give_equal_plans) {
  place_by(&a, "slices", "reserve gpu=15600000000", NULL);
  place_by(&b, "slices", "reserve gpu=15600000000", NULL);
  assert_memory_equal(&a, &b, sizeof a);
}

/* Every seventh operator is pinned to the CPU, whatever that costs. */
TEST(pinned_operators_stay) {
  static int32_t pins[N_OPERATORS];
  int32_t moved = 0;
  for (int32_t v = 0; v < N_OPERATORS; v++) pins[v] = v % 7 ? -1 : 0;
  place_by(&a, "heft", "reserve gpu=1", pins);
  place_by(&b, "slices", "reserve gpu=1", pins);
  for (int32_t v = 0; v < N_OPERATORS; v++) {
    if (pins[v] == 0) assert_int_equal(b.device[v], 0);
    moved += b.device[v] != a.device[v];
  }
  assert_true(moved > 0 && b.value_ns < a.value_ns);
}

TEST_MAIN
