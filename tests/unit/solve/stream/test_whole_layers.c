/* Layers in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "situ/instance.h"

static double times_as_fast_as_one_device(const char *model, const char *platform) {
  situ_instance_options o = {.size = sizeof(situ_instance_options),
                             .model = model,
                             .platform = platform,
                             .unused = (const char *const[]){"cpu"},
                             .n_unused = 1,
                             .read = &(situ_read_options){.size = sizeof(situ_read_options), .training = true}};
  situ_solve_options solve = {.size = sizeof(situ_solve_options), .solvers = "layers", .no_bounds = true};
  situ_instance *instance;
  situ_plan *plan;
  situ_error error;
  if (situ_place(&plan, &instance, &o, &solve, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  double ratio = (double)situ_plan_best_single_ns(plan) / (double)situ_plan_value_ns(plan);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return ratio;
}

/* Four equal layers over T steps flow through four devices in T + 3 of the 4 T steps that one device takes: 3.8 times
 * as fast with T = 60, less what does not flow, which a small vocabulary and a large batch make little. */
static void the_layers_of_a_recurrent_network_flow_through_the_devices(void **state) {
  (void)state;
  double ratio =
      times_as_fast_as_one_device("builtin:rnnlm?layers=4&hidden=1024&vocab=10&batch=256&steps=60", "cpu+4*p100-16g");
  assert_true(ratio > 0.9 * 240 / 63.0);
  assert_true(ratio < 4);
}

/* The encoder must end before the decoder begins: only if both have all devices do both flow. */
static void encoder_and_decoder_both_have_all_devices(void **state) {
  (void)state;
  assert_true(times_as_fast_as_one_device("builtin:gnmt?layers=2&batch=64&steps=20&vocab=100", "cpu+2*p100-16g") >
              1.35);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_layers_of_a_recurrent_network_flow_through_the_devices),
      cmocka_unit_test(encoder_and_decoder_both_have_all_devices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
