/* The rules of the judge, as in test_rules.c: those of pipelines, of the best single device, and of all models. */
#include "graph/builder.h"
#include "rules_found.h"

static const situ_problem_options stream = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};
static const situ_problem_options calls = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS};

/* ---- pipelines ---- */

/* One forward operator, 9 ns, on d1; d2 to d5 could be its replica but for one thing each. */
TEST(replicas_are_equal_devices) {
  enum {
    ROOM = 1,
    CLASS,
    SHARED,
    LEADER_SHARED,
    ROUTE_TO,
    ROUTE_FROM,
    UNUSED,
    LEADER_UNUSED,
    PINNED,
    LEADER_PINNED,
    NONE
  };
  static const char *const why[] = {"",
                                    "their memories are of two sizes",
                                    "they are of two classes",
                                    "one of them shares its memory",
                                    "one of them shares its memory",
                                    "their routes to the host differ",
                                    "their routes to the host differ",
                                    "one of them must stay unused",
                                    "one of them must stay unused",
                                    "an operator is pinned to one of them",
                                    "an operator is pinned to one of them",
                                    "this problem has no replicas"};
  for (int odd = 0; odd <= NONE; odd++) {
    lab s = lab_new();
    s.alike = odd != CLASS;
    bool unused[4] = {false, odd == LEADER_UNUSED, odd == UNUSED, false};
    int32_t pins[2] = {-1, odd == PINNED ? 2 : odd == LEADER_PINNED ? 1 : -1};
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    lab_device(&s, 100, -1, false);
    lab_device(&s, odd == ROOM ? 101 : 100, -1, false);
    lab_device(&s, 100, odd == SHARED ? 2 : odd == LEADER_SHARED ? 1 : -1, false);
    for (int32_t d = 1; d < 4; d++) {
      if (d == 3 && (odd == SHARED || odd == LEADER_SHARED)) continue;
      lab_link(&s, 0, d, odd == ROUTE_FROM && d == 2, -1);
      lab_link(&s, d, 0, odd == ROUTE_TO && d == 2, -1);
    }
    lab_operator(&s, "a", 9, 5, 0);
    lab_operator(&s, "b", 1, 0, 0);
    situ_problem_options options = {
        .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .replicate = odd != NONE};
    options.unused = unused;
    options.pins = pins;
    lab_pose(&s, &options);
    int32_t device[] = {1, odd == PINNED ? 0 : odd == LEADER_PINNED ? 1 : 0}, replica_of[] = {-1, -1, 1, -1};
    situ_plan *plan = lab_plan(&s, &(placement){.device = device, .replica_of = replica_of});
    char expected[160] = "";
    if (odd) snprintf(expected, sizeof expected, "replication: d2 cannot be a replica of device 1: %s\n", why[odd]);
    if (odd)
      expect_within(plan, expected);
    else
      expect(plan, "");
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* a on d1, shared by d2; b on d0. */
TEST(replicas_have_a_leader_and_nothing_else) {
  lab s = star(4, 100);
  s.alike = true;
  lab_operator(&s, "a", 9, 5, 0);
  lab_operator(&s, "b", 1, 0, 0);
  lab_pose(&s, &(situ_problem_options){
                   .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .replicate = true});
  int32_t device[] = {1, 0}, replica_of[] = {-1, -1, 1, -1};
  static const struct {
    int32_t replica_of[4], on_d2;
    const char *expected;
  } rows[] = {
      {{-1, -1, 1, -1}, 0, ""},
      {{-1, -1, 2, -1}, 0, "replication: d2 cannot be a replica of device 2: that is not another device with a part"},
      {{-1, -1, 4, -1}, 0, "replication: d2 cannot be a replica of device 4: that is not another device with a part"},
      {{-1, -1, 1, 2}, 0, "replication: d3 cannot be a replica of device 2: that is not another device with a part"},
      {{-1, -1, 1, -1}, 1, "replication: d2 cannot be a replica of device 1: operators are placed on it"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_plan *plan = lab_plan(&s, &(placement){.device = device, .replica_of = replica_of});
    memcpy(plan->replica_of, rows[i].replica_of, sizeof rows[i].replica_of);
    for (int d = 0; d < 4; d++) plan->uses[d].replica_of = rows[i].replica_of[d];
    if (rows[i].on_d2) plan->device[1] = 2;
    if (i == 0)
      expect(plan, "");
    else
      expect_within(plan, rows[i].expected);
    plan->uses[3].replica_of = 0;
    expect_within(plan, "replication: d3: the plan contradicts itself about which part it replicates\n");
    situ_plan_free(plan);
  }
  lab_free(&s);
}

/* f before g, forward, on d1 and d2: F has an edge from d1 to d2. q before r, backward: turned round it goes from r's
 * group to q's. Where r is on d2 and q on d1 that closes a circle, unless both groups have a forward operator. */
TEST(backward_edges_count_turned_round) {
  static const struct {
    int64_t q_group, r_group; /* of f: 1, of g: 2 */
    bool contiguous;
  } rows[] = {{-1, -1, false}, {1, -1, false}, {-1, 2, false}, {1, 2, true}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int straight = 0; straight < 2; straight++) {
      if (straight && i > 0) continue; /* with the groups the devices are given */
      lab s = star(3, SITU_UNLIMITED_BYTES);
      int32_t f = lab_of_phase(&s, "f", 1, SITU_PHASE_FORWARD, 1), g = lab_of_phase(&s, "g", 1, SITU_PHASE_FORWARD, 2);
      int32_t q = lab_of_phase(&s, "q", 1, SITU_PHASE_BACKWARD, rows[i].q_group);
      int32_t r = lab_of_phase(&s, "r", 1, SITU_PHASE_BACKWARD, rows[i].r_group);
      lab_tensor(&s, f, 1, g, -1);
      lab_tensor(&s, q, 1, r, -1);
      lab_pose(&s,
               &(situ_problem_options){.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT});
      int32_t device[] = {1, 2, straight ? 2 : 1, straight ? 1 : 2};
      situ_plan *plan = plan_on(&s, device);
      bool good = straight || rows[i].contiguous;
      assert_true((plan->value_ns == SITU_NEVER_NS) == !good);
      if (good)
        expect(plan, "");
      else
        expect_within(plan, "contiguity: the parts of 2 devices depend on each other in a cycle, on which");
      situ_plan_free(plan);
      lab_free(&s);
    }
}

/* ---- the best single device ---- */

typedef struct single_case {
  situ_problem_options options;
  int64_t room_bytes[3];
  bool unused[3], never_on_d2;
  int32_t device;
  int64_t value_ns;
} single_case;

/* a makes 4 bytes for b; c stands by itself and makes 5 bytes. d0, the host: 3 + 3 + 3 ns; d1: 2 + 2 + 2; d2: 1 + 1
 * + 1. Weights 10 each. In a stream: a, b, c in this order; a 4 bytes, then 4 (b), then 5 (c): 35 bytes. In calls and
 * pipelines the greatest footprint is that of c, 5 bytes: 35 as well; with 3 inputs in flight 30 + 3 * 5. */
TEST(the_best_single_device_is_worked_out_again) {
  const single_case rows[] = {
      {stream, {100, 100, 100}, {0}, false, 2, 3},
      {stream, {100, 100, 35}, {0}, false, 2, 3},
      {stream, {100, 100, 34}, {0}, false, 1, 6},
      {stream, {100, 100, 100}, {false, false, true}, false, 1, 6},
      {stream, {100, 100, 100}, {0}, true, 1, 6},
      {stream, {35, 34, 34}, {0}, false, 0, 9},
      {stream, {34, 34, 34}, {0}, false, -1, SITU_NEVER_NS},
      {calls, {100, 34, 34}, {0}, false, 0, 6}, /* a host is as wide as need be: a and b are the longest chain */
      {calls, {100, 35, 34}, {0}, false, 0, 6}, /* as much as on d1: the first of equals */
      {calls, {100, 100, 35}, {0}, false, 2, 3},
      {{.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT},
       {100, 100, 35},
       {0},
       false,
       2,
       3},
      {{.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .in_flight = 3},
       {100, 45, 44},
       {0},
       false,
       1,
       6},
      {{.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .in_flight = 3},
       {100, 44, 44},
       {0},
       false,
       0,
       9},
      {{.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .max_period_ns = 2},
       {100, 100, 100},
       {0},
       false,
       2,
       3}, /* limits aside */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    lab s = lab_new();
    for (int32_t d = 0; d < 3; d++) lab_device(&s, rows[i].room_bytes[d], -1, d == 0);
    lab_star(&s);
    for (int v = 0; v < 3; v++) {
      lab_operator(&s, (const char *[]){"a", "b", "c"}[v], 3, 10, 0);
      s.time_ns[v][1] = 2;
      s.time_ns[v][2] = rows[i].never_on_d2 && v == 1 ? SITU_NEVER_NS : 1;
    }
    lab_tensor(&s, 0, 4, 1, -1);
    lab_tensor(&s, 2, 5, -1);
    situ_problem_options options = rows[i].options;
    int32_t pins[] = {0, 0, 0}; /* they are ignored */
    options.unused = rows[i].unused;
    options.pins = pins;
    lab_pose(&s, &options);
    int32_t device[] = {0, 0, 0};
    situ_plan *plan = lab_plan(&s, &(placement){.device = device});
    char text[4096];
    for (int32_t d = -1; d < 3; d++)
      for (int64_t off = -1; off < 2; off++) {
        plan->best_single_device = d;
        plan->best_single_ns = rows[i].value_ns == SITU_NEVER_NS ? SITU_NEVER_NS - (off != 0) : rows[i].value_ns + off;
        bool complains = strstr(found(text, plan), "single: ") != NULL;
        if (complains != (d != rows[i].device || off != 0))
          fail_msg("row %d, device %d, %d:\n%s", (int)i, d, (int)off, text);
      }
    plan->best_single_device = 7;
    expect_within(plan, "single: the plan states that the best single device is none with ");
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* Of twins the first is named, but a device with less room, or another class, is no twin. */
TEST(equal_devices_stand_for_each_other) {
  for (int odd = 0; odd < 4; odd++) {
    lab s = lab_new();
    s.alike = true;
    bool unused[4] = {false, odd == 3, false, false};
    lab_device(&s, 10, -1, true);
    lab_device(&s, odd == 1 ? 9 : 10, -1, false);
    lab_device(&s, 10, -1, false);
    lab_device(&s, odd == 2 ? 11 : 10, -1, false);
    lab_star(&s);
    int32_t a = lab_operator(&s, "a", 9, 10, 0);
    for (int32_t d = 1; d < 4; d++) s.time_ns[a][d] = 5;
    situ_problem_options options = stream;
    options.unused = unused;
    lab_pose(&s, &options);
    int32_t device[] = {0};
    situ_plan *plan = plan_on(&s, device);
    assert_int_equal(plan->best_single_device, odd == 1 || odd == 3 ? 2 : 1);
    expect(plan, "");
    plan->best_single_device = 3;
    expect_within(plan, "single: the plan states that the best single device is d3 with 5 ns; it is d");
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* ---- all models ---- */

/* u and w must share a device and are pinned apart: whatever is placed, no plan keeps that. */
TEST(constraints_that_contradict_each_other_are_stated) {
  lab s = star(2, SITU_UNLIMITED_BYTES);
  lab_of_phase(&s, "u", 1, SITU_PHASE_FORWARD, 1);
  lab_of_phase(&s, "w", 1, SITU_PHASE_FORWARD, 1);
  int32_t pins[] = {0, 1}, device[] = {0, 0};
  situ_problem_options options = stream;
  options.pins = pins;
  lab_pose(&s, &options);
  situ_plan *plan = plan_on(&s, device);
  expect(plan,
         "conflict: no plan can satisfy a constraint: colocation: u and w must share a device but are pinned to "
         "different ones\n"
         "pin: w is on d0; it is pinned to d1\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* What a plan says of itself beside its placement. */
TEST(claims_are_held_to_their_ranges) {
  lab s = star(2, SITU_UNLIMITED_BYTES);
  lab_operator(&s, "a\x01", 3, 0, 0);
  lab_pose(&s, &stream);
  int32_t device[] = {0};
  situ_plan *plan = plan_on(&s, device);
  plan->lower_bound_ns = -1;
  expect(plan, "bound: the lower bound is -1 ns; expected at least 0\n");
  plan->lower_bound_ns = 4;
  expect(plan, "bound: the lower bound of 4 ns is above the value of 3 ns\n");
  plan->lower_bound_ns = 3;
  expect(plan, "");
  plan->outcome = SITU_OUTCOME_OPTIMAL;
  expect(plan, "");
  plan->lower_bound_ns = 2;
  expect(plan, "bound: the plan claims to be optimal; its bound is 2 ns, its value 3 ns\n");
  plan->outcome = SITU_OUTCOME_INFEASIBLE;
  expect(plan, "placement: the plan has a placement, but its outcome is infeasible\n");
  plan->outcome = SITU_OUTCOME_FEASIBLE;
  plan->device[0] = 2;
  expect(plan, "placement: a? is on device 2; there are devices 0 to 1\n"); /* control characters are '?' */
  plan->device[0] = -1;
  expect(plan, "placement: a? is on device -1; there are devices 0 to 1\n");
  plan->device = NULL;
  plan->outcome = SITU_OUTCOME_INFEASIBLE;
  expect(plan, "placement: the plan has no placement; its outcome is infeasible\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* d1 draws from the memory of the host, d2 has its own: of 100 bytes the operators on d0 and d1 take 50 and 50, or one
 * byte more, 40 more on d2 counting nothing. */
TEST(memories_that_share_a_capacity_keep_it_together) {
  for (int more = 0; more < 2; more++) {
    lab s = lab_new();
    for (int32_t d = 0; d < 3; d++) lab_device(&s, 100, d == 1 ? 0 : -1, d == 0);
    s.devices[1].separate_address_space = 1;
    for (int32_t from = 0; from < 3; from++)
      for (int32_t to = 0; to < 3; to++)
        if (from != to) lab_link(&s, from, to, 0, -1);
    lab_operator(&s, "a", 3, 50, 0);
    lab_operator(&s, "b", 3, 50 + more, 0);
    lab_operator(&s, "c", 3, 40, 0);
    lab_pose(&s, &stream);
    int32_t device[] = {0, 1, 2};
    situ_plan *plan = plan_on(&s, device);
    expect(plan,
           more ? "memory: the memories that share the capacity of d0 must hold 101 B; the capacity is 100 B\n" : "");
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* That there is no plan is proved by a conflict of the problem, and then that is all there is to say. */
TEST(a_conflict_proves_that_there_is_no_plan) {
  lab s = star(1, 5);
  lab_operator(&s, "a", 3, 6, 0);
  lab_pose(&s, &stream);
  assert_non_null(s.problem->conflict);
  situ_plan *plan = plan_new(s.problem);
  plan->outcome = SITU_OUTCOME_INFEASIBLE;
  plan->lower_bound_ns = SITU_NEVER_NS;
  situ_verdict *verdict;
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  assert_int_equal(verdict->n_found, 0);
  assert_true(verdict->verified_ns == SITU_NEVER_NS);
  assert_string_equal(verdict->certificate, "conflict");
  situ_verdict_require_proof(verdict);
  assert_int_equal(verdict->n_found, 0);
  situ_verdict_free(verdict);
  plan->outcome = SITU_OUTCOME_LIMIT; /* says nothing of that kind */
  expect(plan, "placement: the plan has no placement; its outcome is limit\n");
  situ_plan_free(plan);
  lab_free(&s);
}

int rules_of_whole_plans(void) { return TEST_RUN(NULL, NULL); }
