/* What a policy is served beside, where it starts, and the levels that it works on. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "learn/learner.h"
#include "plan/plan.h"
#include "situ/instance.h"

static situ_plan *place(const char *model, const char *platform, situ_solve_options how) {
  situ_instance_options at = {.size = sizeof(situ_instance_options), .model = model, .platform = platform};
  OWN(situ_instance) *instance = NULL;
  situ_plan *plan = NULL;
  situ_error error = {0};
  how.size = sizeof how;
  if (situ_place(&plan, &instance, &at, &how, &error) != SITU_STATUS_OK) fail_msg("%s: %s", model, error.text);
  return plan;
}

/* All built-in networks on machines of equal, of unlike and of small devices; a budget of one trial and of a few. */
TEST(no_policy_serves_less_than_the_best_single_device) {
  static const char *const platforms[] = {"cpu+2*v100-16g", "cpu+4*p100-16g", "2*v100-16g", "cpu+a100-80g+p100-16g"};
  static const char *const learned[] = {"gdp", "hsdag"};
  enum { N_PLATFORMS = sizeof platforms / sizeof *platforms };
  int32_t n = rounds_of(situ_builtin_count() * N_PLATFORMS), judged = 0;
  for (int32_t k = 0; k < n; k++) {
    situ_builtin_info info = SITU_BUILTIN_INFO_INIT;
    char model[128];
    /* 7 shares no factor with the number of pairs, so a share of the rounds takes pairs of all kinds */
    int32_t pair = (int32_t)((int64_t)k * 7 % (situ_builtin_count() * N_PLATFORMS));
    assert_true(situ_builtin_at(pair / N_PLATFORMS, &info));
    bool large = strcmp(info.name, "layered") == 0 || strcmp(info.name, "gnmt") == 0;
    snprintf(model, sizeof model, "builtin:%s%s", info.name,
             !large                ? ""
             : info.name[0] == 'g' ? "?steps=4"
                                   : "?operators=500");
    const char *platform = platforms[pair % N_PLATFORMS];
    OWN(situ_plan) *plan =
        place(model, platform,
              (situ_solve_options){.solvers = learned[k % 3 == 0], .max_steps = k % 2 ? 12 : 1, .no_bounds = true});
    int64_t single = plan->best_single_ns;
    judged += single < SITU_NEVER_NS;
    if (single < SITU_NEVER_NS && (!plan_exists(plan) || plan->value_ns > single))
      fail_msg("%s on %s: %lld, the best single device %lld", model, platform, (long long)plan->value_ns,
               (long long)single);
  }
  assert_true(judged > 0);
}

static int64_t statistic(const situ_plan *plan, const char *name) {
  for (int32_t i = 0; i < plan->n_statistics; i++)
    if (strcmp(plan->statistics[i].name, name) == 0) return plan->statistics[i].value;
  return 0;
}

/* HEFT is among what a policy is served beside, and what it tries near the best of it only makes that better. */
TEST(no_policy_serves_less_than_heft) {
  static const char *const models[] = {"builtin:inception-v3", "builtin:layered?operators=200&width=8",
                                       "builtin:rnnlm?steps=5"};
  int32_t better = 0;
  for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
    OWN(situ_plan) *heft = place(models[k], "3*p100-16g", (situ_solve_options){.solvers = "heft", .no_bounds = true});
    OWN(situ_plan) *served = place(models[k], "3*p100-16g", (situ_solve_options){.solvers = "gdp", .no_bounds = true});
    assert_true(served->value_ns <= heft->value_ns);
    better += served->value_ns < heft->value_ns;
  }
  assert_true(better > 0);
}

/* 64 groups, 256, 1,024, as far as there are so many operators; one level where trials are dear. */
TEST(a_policy_is_served_on_three_levels_at_most) {
  static const struct {
    const char *model;
    int64_t levels;
  } cases[] = {{"builtin:layered?operators=50&width=4", 1},
               {"builtin:layered?operators=200&width=8", 2},
               {"builtin:layered?operators=600&width=8", 3},
               {"builtin:layered?operators=33000&width=8", 1}};
  int32_t n = rounds_of(100) < 100 ? 3 : 4; /* the last takes seconds */
  for (int32_t k = 0; k < n; k++) {
    OWN(situ_plan) *plan =
        place(cases[k].model, "2*p100-16g", (situ_solve_options){.solvers = "gdp", .no_bounds = true});
    assert_int_equal(statistic(plan, "learn.levels"), cases[k].levels);
  }
}

/* A case that follows a plan has tried it: with units of their own its time is that of the same devices, tried anew.
 */
TEST(a_case_that_follows_a_plan_tries_it) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    lab_options o = {.seed = seed, .n_operators = 30, .n_devices = 3, .density = 0.1, .n_colocations = 3};
    o.options.objective = SITU_OBJECTIVE_LATENCY;
    OWN(lab) l = lab_random(&o);
    situ_solve_options how = {.size = sizeof how, .solvers = "heft", .no_bounds = true};
    OWN(situ_plan) *plan = NULL;
    situ_error error = {0};
    assert_int_equal(situ_solve(&plan, l.problem, &how, &error), SITU_STATUS_OK);
    OWN(arena) *a = arena_new();
    trainer *t = trainer_new(learner_find("gdp"), seed, false, a, 1);
    train_case *s = trainer_add(t, l.problem);
    assert_non_null(s);
    assert_true(train_case_follow(s, plan->device, a));
    assert_int_equal(s->env.n_trials, 1);
    for (int32_t v = 0; v < l.problem->n_operators; v++)
      assert_int_equal(s->env.best[s->env.unit_of[v]], plan->device[v]);
    trainer_free(t);
  }
}

/* More than 64 operators are placed by 64 groups, then by 256, at last one by one; fewer are one level. A level ends
 * when nothing better comes, which is not before 20 steps of 16 trials: 100 trials see one, 3,000 both, 64 and 100. */
TEST(levels_go_from_groups_to_operators) {
  static const struct {
    const char *model;
    int64_t steps, levels;
  } cases[] = {{"builtin:layered?operators=50&width=4", 200, 1},
               {"builtin:layered?operators=300&width=8", 100, 1},
               {"builtin:layered?operators=100&width=8", 3000, 2}};
  for (int32_t k = 0; k < (in_check() ? 3 : 2); k++) {
    OWN(situ_plan) *plan = place(cases[k].model, "4*p100-16g",
                                 (situ_solve_options){.solvers = "gdp", .policy = "none", .max_steps = cases[k].steps});
    assert_int_equal(statistic(plan, "learn.levels"), cases[k].levels);
    assert_true(plan->steps <= cases[k].steps);
  }
}

/* Solvers before a policy say where it begins: with no trial of its own but the first, it is not worse. */
TEST(a_policy_begins_at_the_incumbent) {
  static const char *const model = "builtin:rnnlm?steps=6&layers=4", *const platform = "4*p100-16g";
  OWN(situ_plan) *before = place(model, platform, (situ_solve_options){.solvers = "layers", .max_steps = 100});
  OWN(situ_plan) *plan =
      place(model, platform, (situ_solve_options){.solvers = "layers,gdp", .policy = "none", .max_steps = 400});
  OWN(situ_plan) *cold =
      place(model, platform, (situ_solve_options){.solvers = "gdp", .policy = "none", .max_steps = 300});
  assert_true(plan->value_ns <= before->value_ns);
  assert_true(plan->value_ns < cold->value_ns);
}

/* And near the plan that it begins at the solver hsdag finds better ones: HEFT's, on random wiring, are not the best.
 */
TEST(hsdag_looks_near_the_incumbent) {
  int32_t better = 0;
  for (int seed = 1; seed < 4; seed++) {
    char model[64];
    snprintf(model, sizeof model, "builtin:layered?operators=60&width=8&seed=%d", seed);
    OWN(situ_plan) *heft = place(model, "2*p100-16g", (situ_solve_options){.solvers = "heft"});
    OWN(situ_plan) *plan = place(model, "2*p100-16g", (situ_solve_options){.solvers = "heft,hsdag", .max_steps = 200});
    assert_true(plan->value_ns <= heft->value_ns);
    assert_true(plan->steps <= 200);
    better += plan->value_ns < heft->value_ns;
  }
  assert_true(better > 0);
}

TEST_MAIN
