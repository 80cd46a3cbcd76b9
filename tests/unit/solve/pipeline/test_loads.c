/* Incremental loads agree with the simulator; critical paths explain schedules. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "base/rng.h"
#include "graph/topological.h"
#include "sim/simulate.h"
#include "solve/pipeline/loads.h"
#include "solve/stream/critical.h"

static void loads_after_moves_are_those_of_the_simulator(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 5 + (int32_t)(seed % 20),
                     .n_devices = 2 + (int32_t)(seed % 4),
                     .density = 0.2,
                     .training = seed % 3 == 0,
                     .memory = seed % 2 ? 0.5 : 0,
                     .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                 .free = true,
                                 .async_copies = seed % 5 == 0,
                                 .in_flight = 1 + (int32_t)(seed % 3),
                                 .schedule = seed % 4 < 2 ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B,
                                 .communication = seed % 2 ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED}};
    lab l = lab_random(&o);
    const situ_problem *p = l.problem;
    arena *a = arena_new();
    simulator *s = simulator_new(p, a);
    loads kept;
    assert_true(loads_init(&kept, p, a));
    int32_t *device = ARENA_ZERO(a, int32_t, p->n_operators);
    loads_set(&kept, device);
    rng r = rng_new(seed);
    for (int32_t k = 0; k < 200; k++) {
      int32_t v = (int32_t)rng_below(&r, p->n_operators), d = (int32_t)rng_below(&r, p->n_devices);
      device[v] = d;
      loads_move(&kept, v, d);
      simulation found = simulator_run(s, &(placement){.device = device}, true);
      assert_int_equal(loads_period(&kept), found.value_ns);
      bool fits = true;
      for (int32_t m = 0; m < p->n_memories; m++) fits &= loads_fit(&kept, m);
      assert_int_equal(fits, found.excess_bytes == 0);
      double soft = loads_settle(&kept), hard = (double)found.value_ns;
      assert_true(soft >= hard * 0.999999 && soft <= hard * 2 + 1e-6); /* 16-norm of at most 2^16 loads */
    }
    arena_free(a);
    lab_free(&l);
  }
}

static void a_critical_path_runs_from_start_to_end(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 30,
                     .n_devices = 3,
                     .density = 0.1,
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
    lab l = lab_random(&o);
    const situ_problem *p = l.problem;
    arena *a = arena_new();
    rng r = rng_new(seed);
    int32_t n = p->n_operators;
    placement where = {.device = ARENA_NEW(a, int32_t, n), .order = ARENA_NEW(a, int32_t, n)};
    assert_true(topological_deep(where.order, p->graph, &r, a));
    for (int32_t v = 0; v < n; v++) where.device[v] = (int32_t)rng_below(&r, p->n_devices);
    simulation found = simulator_run(simulator_new(p, a), &where, false);
    critical c;
    assert_true(critical_init(&c, p, a));
    critical_find(&c, &where, found.start_ns, found.finish_ns);
    /* without contention each start is explained: the path begins at 0, ends at the makespan, and every operator on it
     * has a start and a tail that make the makespan together */
    assert_int_equal(found.start_ns[c.path[0]], 0);
    assert_int_equal(found.finish_ns[c.path[c.n_path - 1]], found.value_ns);
    for (int32_t i = 0; i < c.n_path; i++)
      assert_int_equal(found.start_ns[c.path[i]] + c.tail_ns[c.path[i]], found.value_ns);
    arena_free(a);
    lab_free(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_after_moves_are_those_of_the_simulator),
      cmocka_unit_test(a_critical_path_runs_from_start_to_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
