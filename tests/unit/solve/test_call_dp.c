/* call_dp on the published latency workloads: no worse than any column of the published table that keeps memory, and
 * proved. Needs the shared data; skipped without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "situ.h"

static void hold(const char *name, double longest_path_ms, double published_ms) {
  const char *shared = getenv("SITU_SHARED");
  char path[512];
  snprintf(path, sizeof path, "%s/data/workloads/latency/%s.json", shared ? shared : ".", name);
  situ_instance *instance = NULL;
  situ_plan *plan = NULL;
  situ_error error;
  situ_instance_options o = {.model = path, .problem = {.execution = SITU_EXECUTION_CALLS}};
  if (situ_instance_open(&instance, &o, &error) != SITU_STATUS_OK) skip();
  situ_solve_options with = {.solvers = "call_dp"};
  assert_int_equal(situ_solve(&plan, situ_instance_problem(instance), &with, &error), SITU_STATUS_OK);
  double value_ms = (double)situ_plan_value_ns(plan) / 1e6;
  assert_true(situ_plan_value_ns(plan) == situ_plan_lower_bound_ns(plan));
  assert_true(value_ms >= longest_path_ms - 1e-3);
  assert_true(value_ms <= published_ms + 1e-3);
  situ_plan_free(plan);
  situ_instance_free(instance);
}

static void bert24_is_proved(void **state) {
  (void)state;
  hold("LayerGraphs/bert24_inference", 92.406, 100.219);
}

static void gnmt_is_proved(void **state) {
  (void)state;
  hold("LayerGraphs/gnmt_inference", 182.435, 244.331);
}

static void resnet50_layers_are_proved(void **state) {
  (void)state;
  hold("LayerGraphs/resnet50_inference", 187.455, 1443.793);
}

static void resnet50_operators_are_proved(void **state) {
  (void)state;
  hold("OperatorGraphs/resnet50_inference", 289.855, 839.536);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bert24_is_proved),
      cmocka_unit_test(gnmt_is_proved),
      cmocka_unit_test(resnet50_layers_are_proved),
      cmocka_unit_test(resnet50_operators_are_proved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
