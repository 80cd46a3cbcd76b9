/* Incremental loads agree with the simulator; critical paths explain schedules. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "base/rng.h"
#include "graph/topological.h"
#include "sim/simulate.h"
#include "solve/pipeline/loads.h"
#include "solve/stream/critical.h"

/* Units are placed in random order, some taken back on the way: loads only grow with them, and are what they were
 * after one is taken back. Then all move about. At every time that all are placed the loads are the simulator's. */
typedef struct tested {
  loads now;
  contraction units;
  int32_t *operator_device;
  int64_t max_ns[2];
  simulator *simulator;
} tested;

static void place_all(tested *x, int32_t *order, rng *r) {
  int32_t n = x->units.n_classes, n_devices = x->now.problem->n_devices;
  for (int32_t k = 0; k < n; k++) order[k] = k;
  for (int32_t k = 0; k < n; k++) {
    int32_t other = k + (int32_t)rng_below(r, n - k), unit = order[other];
    order[other] = order[k];
    order[k] = unit;
    int64_t before = loads_period(&x->now);
    loads_move(&x->now, unit, (int32_t)rng_below(r, n_devices));
    assert_true(loads_period(&x->now) >= before);
    loads_move(&x->now, unit, -1);
    assert_int_equal(loads_period(&x->now), before);
    loads_raise(&x->now, x->max_ns); /* what has changed and changed back is no more than it was */
    assert_int_equal(x->max_ns[0] + x->max_ns[1], before);
    loads_move(&x->now, unit, (int32_t)rng_below(r, n_devices));
    loads_raise(&x->now, x->max_ns);
    assert_int_equal(x->max_ns[0] + x->max_ns[1], loads_period(&x->now));
  }
}

static void agree_with_simulator(tested *x) {
  bool fits = true;
  contraction_expand(&x->units, x->now.device, x->operator_device);
  simulation found = simulator_run(x->simulator, &(placement){.device = x->operator_device}, true);
  assert_int_equal(loads_period(&x->now), found.value_ns);
  for (int32_t m = 0; m < x->now.problem->n_memories; m++) fits &= loads_fit(&x->now, m);
  assert_int_equal(fits, found.excess_bytes == 0);
}

TEST(loads_are_those_of_the_simulator) {
  for (uint64_t seed = 1; seed <= 400; seed++) {
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
    OWN(lab) l = lab_random(&o);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    tested x = {.simulator = simulator_new(p, a), .operator_device = ARENA_NEW(a, int32_t, p->n_operators)};
    assert_true(contract(&x.units, p, false, a) && loads_init(&x.now, p, &x.units, a));
    int32_t *order = ARENA_NEW(a, int32_t, x.units.n_classes), *same = ARENA_NEW(a, int32_t, x.units.n_classes);
    place_all(&x, order, &r);
    agree_with_simulator(&x);
    for (int32_t k = 0; k < x.units.n_classes; k++) same[k] = x.now.device[k];
    loads_set(&x.now, same);
    for (int32_t k = 0; k < 30; k++) {
      int32_t unit = (int32_t)rng_below(&r, x.units.n_classes);
      loads_move(&x.now, unit, (int32_t)rng_below(&r, p->n_devices));
      agree_with_simulator(&x);
      double soft = loads_settle(&x.now), hard = (double)loads_period(&x.now);
      assert_true(soft >= hard * 0.999999 && soft <= hard * 2 + 1e-6); /* 16-norm of at most 2^16 loads */
    }
  }
}

TEST(a_critical_path_runs_from_start_to_end) {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 30,
                     .n_devices = 3,
                     .density = 0.1,
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
    OWN(lab) l = lab_random(&o);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
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
  }
}

TEST_MAIN
