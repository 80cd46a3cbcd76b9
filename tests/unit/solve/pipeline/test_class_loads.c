/* Loads of growing chains agree with the simulator. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "solve/pipeline/class_loads.h"

/* Places all classes in random order, takes some back on the way; the whole is what the simulator says. */
static void loads_of_whole_placements_are_those_of_the_simulator(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 800; seed++) {
    rng r = rng_new(seed);
    lab_options o = {.seed = seed,
                     .n_operators = 3 + (int32_t)rng_below(&r, 20),
                     .n_devices = 2 + (int32_t)rng_below(&r, 4),
                     .n_hosts = 1 + (int32_t)rng_below(&r, 2),
                     .density = 0.3,
                     .n_colocations = (int32_t)rng_below(&r, 3),
                     .training = rng_below(&r, 2),
                     .memory = rng_below(&r, 2) ? 0.5 : 0,
                     .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                 .free = true,
                                 .async_copies = rng_below(&r, 3) == 0,
                                 .in_flight = 1 + (int32_t)rng_below(&r, 3)}};
    o.options.communication = rng_below(&r, 2) ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED;
    o.options.schedule = rng_below(&r, 2) ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B;
    lab l = lab_random(&o);
    const situ_problem *p = l.problem;
    arena *a = arena_new();
    contraction classes;
    class_loads loads;
    int32_t order[64], device[64];
    int64_t before = 0;
    bool fits = true;
    assert_true(contract(&classes, p, false, a) && class_loads_init(&loads, p, &classes, a));
    for (int32_t c = 0; c < classes.n_classes; c++) order[c] = c;
    for (int32_t c = 0; c < classes.n_classes; c++) {
      int32_t other = c + (int32_t)rng_below(&r, classes.n_classes - c), swapped = order[c];
      order[c] = order[other];
      order[other] = swapped;
    }
    for (int32_t k = 0; k < classes.n_classes; k++) {
      int64_t mark = loads.n_changes, value = class_loads_value(&loads);
      class_loads_add(&loads, order[k], (int32_t)rng_below(&r, p->n_devices));
      class_loads_undo(&loads, order[k], mark);
      assert_int_equal(class_loads_value(&loads), value);
      fits &= class_loads_add(&loads, order[k], (int32_t)rng_below(&r, p->n_devices));
      assert_true(class_loads_value(&loads) >= before);
      before = class_loads_value(&loads);
    }
    contraction_expand(&classes, loads.device, device);
    simulation found = simulator_run(simulator_new(p, a), &(placement){.device = device}, true);
    assert_int_equal(class_loads_value(&loads), found.value_ns);
    assert_int_equal(fits, found.excess_bytes == 0);
    arena_free(a);
    lab_free(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_of_whole_placements_are_those_of_the_simulator),
  };
  return cmocka_run_group_tests_name("class_loads", tests, NULL, NULL);
}
