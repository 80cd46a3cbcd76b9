/* Groups of devices from options to plans: brute force over all sizes, memory, and what has no groups. */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "api/instance.h"
#include "read/reader.h"
#include "situ/instance.h"
#include "situ/write.h"

static situ_instance_options asked(const char *model, const char *platform, const char *groups) {
  situ_instance_options o = SITU_INSTANCE_OPTIONS_INIT;
  o.model = model;
  o.platform = platform;
  o.tensor_parallel = groups;
  o.granularity = SITU_GRANULARITY_OPERATOR;
  return o;
}

/* `auto` is the best of all sizes, each over all placements; the bounds in its note hold. */
static void auto_is_the_minimum_over_all_sizes(void **state) {
  (void)state;
  static const char *const models[] = {"builtin:layered?operators=5&hidden=4096&rows=512&width=1",
                                       "builtin:layered?operators=5&hidden=512&rows=64&width=2",
                                       "builtin:layered?operators=5&hidden=2048&rows=4096&width=3",
                                       "builtin:layered?operators=5&hidden=8192&rows=1&width=1"};
  static const char *const platforms[] = {"cpu+4*v100-16g@nvlink2", "cpu+3*t4-16g", "4*p100-16g"};
  int32_t split = 0, whole = 0;
  for (size_t m = 0; m < sizeof models / sizeof *models; m++)
    for (size_t p = 0; p < sizeof platforms / sizeof *platforms; p++) {
      int64_t best = SITU_NEVER_NS;
      int32_t best_size = 0;
      situ_error error = {0};
      for (int32_t k = 1; k <= 4; k += k == 2 && p == 1 ? 1 : k) {
        char size[8];
        int32_t device[64];
        situ_instance *i;
        snprintf(size, sizeof size, "%d", (int)k);
        situ_instance_options o = asked(models[m], platforms[p], size);
        situ_status status = situ_instance_open(&i, &o, &error);
        if (status != SITU_STATUS_OK && k == 4 && p == 1) break;
        must(status, &error);
        int64_t value = brute_force(situ_instance_problem(i), device);
        if (value < best) best_size = k;
        if (value < best) best = value;
        situ_instance_free(i);
      }
      situ_instance_options o = asked(models[m], platforms[p], "auto");
      situ_solve_options solve = SITU_SOLVE_OPTIONS_INIT;
      solve.max_steps = 500;
      situ_plan *plan;
      situ_instance *i;
      must(situ_place(&plan, &i, &o, &solve, &error), &error);
      situ_plan_summary s = SITU_PLAN_SUMMARY_INIT;
      assert_true(situ_plan_get_summary(plan, &s));
      if (s.value_ns != best)
        fail_msg("%s on %s: %lld, not %lld", models[m], platforms[p], (long long)s.value_ns, (long long)best);
      situ_verdict *verdict;
      must(situ_check(&verdict, plan, &error), &error);
      situ_verdict_summary judged = SITU_VERDICT_SUMMARY_INIT;
      assert_true(situ_verdict_get_summary(verdict, &judged));
      assert_int_equal(judged.n_found, 0);
      situ_verdict_free(verdict);
      (best_size > 1 ? &split : &whole)[0]++;
      assert_non_null(strstr(situ_instance_model(i)->notes, "devices that split operators"));
      situ_plan_free(plan);
      situ_instance_free(i);
    }
  assert_true(split > 0 && whole > 0); /* or the cases show nothing */
}

static void expect_refused(situ_instance_options o, situ_status status, const char *says) {
  situ_instance *i = NULL;
  situ_error error = {0};
  assert_int_equal(situ_instance_open(&i, &o, &error), status);
  if (!strstr(error.text, says)) fail_msg("%s", error.text);
}

static void what_cannot_be_split_is_refused(void **state) {
  (void)state;
  const char *model = "builtin:layered?operators=6";
  expect_refused(asked(model, "cpu+2*v100-16g", "two"), SITU_STATUS_BAD_ARGUMENT, "auto or a number");
  expect_refused(asked(model, "cpu+2*v100-16g", "0"), SITU_STATUS_BAD_ARGUMENT, "auto or a number");
  expect_refused(asked(model, "cpu+2*v100-16g", "2x"), SITU_STATUS_BAD_ARGUMENT, "auto or a number");
  expect_refused(asked(model, "cpu+2*v100-16g", "auto"), SITU_STATUS_BAD_ARGUMENT, "only situ place");
  expect_refused(asked(model, "cpu+2*v100-16g", "3"), SITU_STATUS_BAD_ARGUMENT, "at most 2 can");
  situ_instance_options o = asked(model, "cpu+2*v100-16g", "2");
  situ_read_options training = SITU_READ_OPTIONS_INIT;
  training.training = true;
  o.read = &training;
  expect_refused(o, SITU_STATUS_UNSUPPORTED, "training step");
  static const char *const exo = "exo";
  o = asked("builtin:llama?layers=2&hidden=64&heads=4&kv_heads=4", "cpu+2*v100-16g", "2");
  o.writers = &exo;
  o.n_writers = 1;
  expect_refused(o, SITU_STATUS_UNSUPPORTED, "exo cannot express");
}

/* A reserve is that of each member. */
static void a_reserve_holds_for_each_member(void **state) {
  (void)state;
  static const char *const rule = "reserve gpu=1GiB";
  situ_instance_options o = asked("builtin:layered?operators=6", "cpu+4*v100-16g", "4");
  situ_instance *i, *reserved;
  situ_error error = {0};
  must(situ_instance_open(&i, &o, &error), &error);
  o.rules = &rule;
  o.n_rules = 1;
  must(situ_instance_open(&reserved, &o, &error), &error);
  assert_int_equal(i->platform->devices[1].memory_bytes - reserved->platform->devices[1].memory_bytes, INT64_C(4)
                                                                                                           << 30);
  situ_instance_free(i);
  situ_instance_free(reserved);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(auto_is_the_minimum_over_all_sizes),
      cmocka_unit_test(what_cannot_be_split_is_refused),
      cmocka_unit_test(a_reserve_holds_for_each_member),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
