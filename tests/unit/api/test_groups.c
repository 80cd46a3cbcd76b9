/* Groups of devices from options to plans: brute force over all sizes, memory, and what has no groups. */
#include <math.h>

#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "api/instance.h"
#include "cost/efficiency.h"
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
TEST(auto_is_the_minimum_over_all_sizes) {
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
        OWN(situ_instance) *i = NULL;
        snprintf(size, sizeof size, "%d", (int)k);
        situ_instance_options o = asked(models[m], platforms[p], size);
        situ_status status = situ_instance_open(&i, &o, &error);
        if (status != SITU_STATUS_OK && k == 4 && p == 1) break;
        must(status, &error);
        int64_t value = brute_force(situ_instance_problem(i), device);
        if (value < best) best_size = k;
        if (value < best) best = value;
      }
      situ_instance_options o = asked(models[m], platforms[p], "auto");
      situ_solve_options solve = SITU_SOLVE_OPTIONS_INIT;
      solve.max_steps = 500;
      OWN(situ_plan) *plan = NULL;
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

TEST(what_cannot_be_split_is_refused) {
  const char *model = "builtin:layered?operators=6";
  expect_refused(asked(model, "cpu+2*v100-16g", "two"), SITU_STATUS_BAD_ARGUMENT, "must be auto, a number");
  expect_refused(asked(model, "cpu+2*v100-16g", "0"), SITU_STATUS_BAD_ARGUMENT, "must be auto, a number");
  expect_refused(asked(model, "cpu+2*v100-16g", "2x"), SITU_STATUS_BAD_ARGUMENT, "must be auto, a number");
  expect_refused(asked(model, "cpu+2*v100-16g", "auto"), SITU_STATUS_BAD_ARGUMENT, "only situ place");
  expect_refused(asked(model, "cpu+2*v100-16g", "3"), SITU_STATUS_BAD_ARGUMENT, "at most 2 can");
  situ_instance_options o = asked("builtin:llama?layers=2&hidden=64&heads=4&kv_heads=4", "cpu+2*v100-16g", "3,1");
  situ_read_options training = SITU_READ_OPTIONS_INIT;
  training.training = true;
  o.read = &training;
  expect_refused(o, SITU_STATUS_UNSUPPORTED, "training steps split evenly");
  static const char *const exo = "exo";
  o = asked("builtin:llama?layers=2&hidden=64&heads=4&kv_heads=4", "cpu+2*v100-16g", "2");
  o.writers = &exo;
  o.n_writers = 1;
  expect_refused(o, SITU_STATUS_UNSUPPORTED, "exo cannot express");
}

/* By how much the memory of the first device after the host shrinks where each GPU keeps 1 GiB free. */
static int64_t reserved_bytes(const char *platform, const char *groups) {
  static const char *const rule = "reserve gpu=1GiB";
  situ_instance_options o = asked("builtin:layered?operators=6", platform, groups);
  OWN(situ_instance) *i = NULL, *reserved = NULL;
  situ_error error = {0};
  must(situ_instance_open(&i, &o, &error), &error);
  o.rules = &rule;
  o.n_rules = 1;
  must(situ_instance_open(&reserved, &o, &error), &error);
  int64_t less = i->platform->devices[1].memory_bytes - reserved->platform->devices[1].memory_bytes;
  return less;
}

/* A reserve is that of each member; with shares, of the one that is full first: two fifths are on the smaller GPU. */
TEST(a_reserve_holds_for_each_member) {
  assert_int_equal(reserved_bytes("cpu+4*v100-16g", "4"), INT64_C(4) << 30);
  assert_true(reserved_bytes("cpu+rtx4090+rtx3060-12g", "3,2") * 2 / 5 >= (INT64_C(1) << 30) - 2);
}

/* Unlike GPUs with shares: an operator takes as long as the slowest of them takes for its columns, by the times that
 * each takes alone for all of them; what is not split takes what the slower one takes. */
TEST(unlike_members_wait_for_the_slowest) {
  static const char model[] = "builtin:layered?operators=6&hidden=4096&rows=64&width=1";
  static const double share[] = {0.75, 0.25};
  OWN(situ_instance) *alone = NULL, *group = NULL;
  situ_error error = {0};
  situ_cost_options cost = SITU_COST_OPTIONS_INIT;
  cost.engine = "llama.cpp";
  cost.fusion = "none";
  situ_instance_options o = asked(model, "cpu+rtx4090+rtx3060-12g", "1"),
                        p = asked(model, "cpu+rtx4090+rtx3060-12g", "3,1");
  o.cost = p.cost = &cost;
  must(situ_instance_open(&alone, &o, &error), &error);
  must(situ_instance_open(&group, &p, &error), &error);
  assert_int_equal(group->platform->n_devices, 2);
  assert_string_equal(group->platform->devices[1].class_name, "rtx4090-24g+rtx3060-12g");
  const situ_costs *one = alone->costs, *both = group->costs;
  int32_t n_split = 0;
  for (int32_t v = 0; v < one->n_operators; v++) {
    bool split = group->split->ways[v] > 1;
    int64_t slowest_ns = 0;
    for (int32_t m = 0; m < 2; m++) {
      const situ_device *d = &alone->platform->devices[1 + m];
      int64_t launch_ns = efficiency_launch_ns(d, cost_engine_find("llama.cpp"), false);
      int64_t work_ns = one->time_ns[(int64_t)v * one->n_classes + alone->platform->class_of[1 + m]] - launch_ns;
      int64_t part_ns = launch_ns + (int64_t)ceil((double)work_ns * (split ? share[m] : 1));
      if (work_ns > -launch_ns && part_ns > slowest_ns) slowest_ns = part_ns;
    }
    int64_t at = (int64_t)v * both->n_classes + group->platform->class_of[1];
    int64_t found_ns = both->time_ns[at] - both->collective_ns[at];
    assert_true(found_ns >= slowest_ns - 2 && found_ns <= slowest_ns + 2);
    n_split += split;
  }
  assert_true(n_split > 0);
}

TEST(shares_are_read_strictly) {
  static const char *const bad[] = {"3,", ",1", "3,-1", "3,0", "3,x", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_refused(asked("builtin:layered?operators=6", "cpu+rtx4090+rtx3060-12g", bad[i]), SITU_STATUS_BAD_ARGUMENT,
                   "expected shares above 0 of 2 to 16 devices");
  expect_refused(asked("builtin:layered?operators=6", "cpu+rtx4090+rtx3060-12g", "1,1,1"), SITU_STATUS_BAD_ARGUMENT,
                 "has no 3 equal devices");
  expect_refused(asked("builtin:layered?operators=6", "cpu+rtx4090+rtx3060-12g", "2,1,1"), SITU_STATUS_BAD_ARGUMENT,
                 "has no 3 devices in one server");
  expect_refused(asked("builtin:layered?operators=6", "cpu+rtx4090+rx7900xtx", "2,1"), SITU_STATUS_BAD_ARGUMENT,
                 "has no 2 devices in one server");
  expect_refused(asked("builtin:layered?operators=6", "cpu+rtx4090+rtx3060-12g", "1e9,1e-9"), SITU_STATUS_BAD_ARGUMENT,
                 "each share must be at least 1/10000");
  static const char *const vllm = "vllm";
  situ_instance_options o = asked("builtin:llama?layers=2&hidden=64&heads=4&kv_heads=4", "rtx4090+rtx3060-12g", "2,1");
  o.writers = &vllm;
  o.n_writers = 1;
  expect_refused(o, SITU_STATUS_UNSUPPORTED, "unequal shares, but vllm gives its GPUs equal ones");
}

TEST_MAIN
