/* The door to the simulators: what is refused, what is reported of ties and limits. */
#include "../../lab/lab.h"
#include "../../lab/test.h"

static const situ_problem_options stream = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};

/* Three equal devices around a host, and two operators of 4 ns. */
static lab star(const situ_problem_options *options) {
  lab s = lab_new();
  s.alike = true;
  for (int32_t d = 0; d < 3; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  int32_t a = lab_operator(&s, "a", 4, 0, 0), b = lab_operator(&s, "b", 4, 0, 0);
  lab_tensor(&s, a, 2, -1);
  lab_tensor(&s, b, 2, -1);
  lab_pose(&s, options);
  return s;
}

TEST(plans_are_made_of_placements_that_make_sense) {
  static const struct {
    int32_t device[2], order[2], replica_of[3];
    const char *text; /* NULL: a plan */
  } rows[] = {
      {{0, 2}, {1, 0}, {-1, -1, 1}, NULL},
      {{0, 2}, {0, 1}, {-1, -1, 0}, NULL},
      {{-1, 0}, {0, 1}, {-1, -1, -1}, "is placed on device -1; expected 0 to 2"},
      {{0, 3}, {0, 1}, {-1, -1, -1}, "is placed on device 3; expected 0 to 2"},
      {{0, 0}, {0, 2}, {-1, -1, -1}, "the order is not a permutation: entry 1 is 2, which is out of range or repeated"},
      {{0, 0},
       {-1, 1},
       {-1, -1, -1},
       "the order is not a permutation: entry 0 is -1, which is out of range or repeated"},
      {{0, 0}, {1, 1}, {-1, -1, -1}, "the order is not a permutation: entry 1 is 1, which is out of range or repeated"},
      {{0, 0},
       {0, 1},
       {-1, -2, -1},
       "is the replica of device -2; expected another device that is not itself a replica"},
      {{0, 0}, {0, 1}, {-1, 3, -1}, "is the replica of device 3; expected another device that is not itself a replica"},
      {{0, 0}, {0, 1}, {-1, 1, -1}, "is the replica of device 1; expected another device that is not itself a replica"},
      {{0, 0}, {0, 1}, {-1, 0, 1}, "is the replica of device 1; expected another device that is not itself a replica"},
  };
  for (int pipeline = 0; pipeline < 2; pipeline++) {
    OWN(lab)
    s = star(pipeline ? &(situ_problem_options){.size = sizeof(situ_problem_options),
                                                .execution = SITU_EXECUTION_PIPELINE,
                                                .replicate = true}
                      : &stream);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
      int32_t device[2], order[2], replica_of[3];
      memcpy(device, rows[i].device, sizeof device);
      memcpy(order, rows[i].order, sizeof order);
      memcpy(replica_of, rows[i].replica_of, sizeof replica_of);
      OWN(situ_plan) *plan = NULL;
      situ_error error = {0};
      situ_status status = simulator_plan(
          &plan, s.simulator, &(placement){.device = device, .order = order, .replica_of = replica_of}, &error);
      assert_int_equal(status, rows[i].text ? SITU_STATUS_BAD_ARGUMENT : SITU_STATUS_OK);
      if (rows[i].text) {
        assert_string_equal(error.text, rows[i].text);
        assert_null(plan);
        continue;
      }
      assert_int_equal(plan->outcome, SITU_OUTCOME_FEASIBLE);
      assert_true((plan->replica_of != NULL) == (pipeline == 1)); /* nobody else knows of replicas */
      assert_int_equal(plan->uses[2].replica_of, pipeline ? replica_of[2] : -1);
      assert_int_equal(plan->uses[0].memory_limit_bytes, 100);
    }
    int32_t device[2] = {0, 2}, none[3] = {-1, -1, -1};
    situ_plan *plan;
    assert_int_equal(simulator_plan(&plan, s.simulator, &(placement){.device = device, .replica_of = none}, NULL), 0);
    assert_null(plan->replica_of);
    assert_int_equal(plan->uses[0].n_operators, 1);
    assert_int_equal(plan->uses[1].n_operators, 0);
    situ_plan_free(plan);
  }
}

/* Both end at 4: the first operator's device counts as the last to finish, and in a pipeline the first device. */
TEST(of_equals_the_first_is_the_worst) {
  for (situ_execution e = SITU_EXECUTION_STREAM; e <= SITU_EXECUTION_PIPELINE; e++)
    for (int contention = 0; contention < 2; contention++) {
      situ_problem_options options = {.size = sizeof(situ_problem_options), .execution = e};
      if (e == SITU_EXECUTION_STREAM && contention) options.contention = SITU_CONTENTION_NONE;
      OWN(lab) s = star(&options);
      int32_t device[] = {2, 1};
      simulation found = simulator_run(s.simulator, &(placement){.device = device}, true);
      assert_int_equal(found.worst_device, e == SITU_EXECUTION_PIPELINE ? 1 : 2);
      assert_int_equal(found.value_ns, 4);
      assert_int_equal(found.excess_bytes, 0);
      assert_int_equal(found.load_ns[1], 4);
      assert_int_equal(found.load_ns[0], 0);
    }
}

/* a 3 ns on d0, 6 bytes to b, 1 ns, on d1: latency 10; period 6, which is the link's; under limits of 8 and 5 ns both
 * are over, by 2 and by 1. */
TEST(limits_tell_by_how_much_they_are_exceeded) {
  static const struct {
    int64_t period_ns, latency_ns, over_ns;
    bool throughput;
  } rows[] = {{6, 0, 0, false}, {5, 0, 1, false}, {100, 0, 0, false}, {0, 10, 0, true}, {0, 8, 2, true}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    OWN(lab) s = lab_new();
    for (int32_t d = 0; d < 2; d++) lab_device(&s, 100, -1, d == 0);
    lab_star(&s);
    int32_t a = lab_operator(&s, "a", 3, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    lab_tensor(&s, a, 6, b, -1);
    lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options),
                                         .execution = SITU_EXECUTION_STREAM,
                                         .max_period_ns = rows[i].period_ns,
                                         .max_latency_ns = rows[i].latency_ns});
    int32_t device[] = {0, 1};
    OWN(arena) *scratch = arena_new();
    simulator_base *base = simulator_base_new(s.simulator, scratch);
    placement where = {.device = device};
    for (int how = 0; how < 3; how++) {
      simulation found = how == 0   ? simulator_run(s.simulator, &where, true)
                         : how == 1 ? simulator_run_base(s.simulator, base, &where, true)
                                    : simulator_run_below(s.simulator, base, &where, true, 11);
      assert_int_equal(found.latency_ns, 10);
      assert_int_equal(found.period_ns, 6);
      assert_int_equal(found.over_ns, rows[i].over_ns);
      assert_int_equal(found.value_ns, rows[i].throughput ? 6 : 10);
      assert_int_equal(found.worst_device, rows[i].throughput ? 0 : 1);
      assert_false(found.stopped);
    }
    int64_t value = rows[i].throughput ? 6 : 10;
    simulation found = simulator_run_below(s.simulator, base, &where, true, value);
    assert_true(found.stopped && found.value_ns == value && found.latency_ns == SITU_NEVER_NS && !found.start_ns);
    OWN(situ_plan) *plan = NULL;
    assert_int_equal(simulator_plan(&plan, s.simulator, &where, NULL), SITU_STATUS_OK);
    assert_true(plan->value_ns == value && plan->latency_ns == 10 && plan->period_ns == 6);
  }
}

/* a and b, 3 and 1 ns, both on d0: 4 ns. By the secondary costs they take 7 and 2, which is over a limit of 8 by 1. */
TEST(a_limit_on_secondary_costs_tells_the_same) {
  for (int64_t limit_ns = 7; limit_ns <= 10; limit_ns++) {
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    lab_operator(&s, "a", 3, 0, 0);
    lab_operator(&s, "b", 1, 0, 0);
    lab_pose(&s, &stream);
    OWN(situ_costs) *secondary = costs_copies(s.costs, 1);
    assert_non_null(secondary);
    for (int32_t k = 0; k < secondary->n_classes; k++) {
      secondary->time_ns[k] = 7;
      secondary->time_ns[secondary->n_classes + k] = 2;
    }
    costs_find_extremes(secondary);
    situ_problem_options o = stream;
    o.size = sizeof o;
    o.overlap = SITU_OVERLAP_NONE;
    o.secondary_costs = secondary;
    o.max_secondary_ns = limit_ns;
    OWN(situ_problem) *p = NULL;
    situ_error error;
    must(situ_problem_pose(&p, s.graph, s.platform, s.costs, &o, &error), &error);
    int32_t device[] = {0, 0};
    simulation found = simulator_run(simulator_new(p, s.arena), &(placement){.device = device}, true);
    assert_int_equal(found.value_ns, 4);
    assert_int_equal(found.secondary_ns, 9);
    assert_int_equal(found.over_ns, limit_ns < 9 ? 9 - limit_ns : 0);
  }
}

/* Without a limit on the other, nothing is said of period and latency. */
TEST(without_limits_there_is_only_a_value) {
  lab s = star(&stream);
  int32_t device[] = {0, 1};
  simulation found = simulator_run(s.simulator, &(placement){.device = device}, false);
  assert_true(found.latency_ns == SITU_NEVER_NS && found.period_ns == SITU_NEVER_NS && found.over_ns == 0);
  assert_true(found.excess_bytes == 0 && found.peak_bytes == NULL);
  memory_change *changes;
  int64_t n = 7;
  arena *scratch = arena_new();
  assert_int_equal(simulator_memory(&changes, &n, s.simulator, &(placement){.device = device}, scratch, NULL), 0);
  assert_int_equal(n, 3); /* what the three memories hold from 0 on: two bytes each, and nothing */
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(changes[i].time_ns, 0);
    assert_int_equal(changes[i].held_bytes, changes[i].memory == 2 ? 0 : 2);
  }
  arena_free(scratch);
  lab_free(&s);
  s = star(&(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS});
  scratch = arena_new();
  assert_int_equal(simulator_memory(&changes, &n, s.simulator, &(placement){.device = device}, scratch, NULL), 0);
  assert_true(n == 0 && changes == NULL); /* calls have no memory over time, and no sequences */
  assert_true(simulator_dispatch(s.simulator, device, (double[]){1, 1}, (int32_t[2]){0}, SITU_NEVER_NS) ==
              SITU_NEVER_NS);
  arena_free(scratch);
  lab_free(&s);
}

TEST_MAIN
