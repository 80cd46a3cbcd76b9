/* The judge: simulated plans pass, and each kind of damage is found under its rule. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "check/judge.h"
#include "graph/builder.h"

static const situ_problem_options stream_link = {.size = sizeof(situ_problem_options),
                                                 .execution = SITU_EXECUTION_STREAM};
static const situ_problem_options stream_none = {
    .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE};

/* The rules that a plan breaks, joined by blanks, each once, in order of appearance. */
static const char *broken_rules(char into[256], const situ_plan *plan) {
  OWN(situ_verdict) *verdict = NULL;
  into[0] = '\0';
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  for (int32_t i = 0; i < verdict->n_kept; i++) {
    const char *rule = situ_verdict_violation(verdict, i).rule;
    assert_true(strlen(situ_verdict_violation(verdict, i).text) > 10);
    if (strstr(into, rule)) continue;
    if (into[0]) strcat(into, " ");
    strcat(into, rule);
  }
  return into;
}

static situ_plan *plan_of(lab *s, int32_t *device, int32_t *order) {
  return lab_plan(s, &(placement){.device = device, .order = order});
}

/* 1,500 random problems of each model. The memory of a random placement may be too small, and then "memory" is all
 * that is broken; a pipeline may not be contiguous, and then the simulator has to say so too. */
TEST(simulated_plans_pass) {
  const situ_problem_options options[] = {
      stream_link,
      stream_none,
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS},
      {.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .free = true},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_HOST_STAGED,
       .async_copies = true,
       .free = true,
       .in_flight = 3},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_HOST_STAGED},
  };
  int passed = 0, broken = 0;
  for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
    for (uint64_t seed = 0; seed < 1500; seed++) {
      OWN(lab) s = lab_random_tiny(seed, 30, &options[k]);
      rng r = rng_new(seed);
      int32_t device[LAB_MAX_OPERATORS], order[LAB_MAX_OPERATORS];
      lab_random_placement(&s, &r, device, order);
      OWN(situ_plan) *plan = plan_of(&s, device, order);
      simulation found = simulator_run(s.simulator, &(placement){.device = device, .order = order}, true);
      char rules[256];
      broken_rules(rules, plan);
      if (plan->value_ns == SITU_NEVER_NS) {
        assert_true(strstr(rules, "contiguity") || strstr(rules, "schedule") || strstr(rules, "call"));
        broken++;
      } else {
        const char *expected = found.excess_bytes == 0 ? "" : s.problem->conflict ? "conflict memory" : "memory";
        if (strcmp(rules, expected) != 0)
          fail_msg("model %d seed %llu: '%s' is broken, expected '%s'", (int)k, (unsigned long long)seed, rules,
                   expected);
        passed++;
      }
    }
  }
  assert_true(passed > 5000 && broken > 100);
}

/* a (d0) sends 3 bytes to b (d1) and by way of d0 nothing else; c (d2) reads 4 bytes of b over two hops.
 *   d0  a 0..2             d1  b 5..7           d2  c 15..16
 *   d0>d1 2..5             d1>d0 7..11          d0>d2 11..15                                                      */
static lab damaged(const situ_problem_options *options, situ_plan **plan) {
  lab s = lab_new();
  for (int d = 0; d < 3; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  int32_t a = lab_operator(&s, "a", 2, 10, 0), b = lab_operator(&s, "b", 2, 0, 0);
  int32_t c = lab_operator(&s, "c", 1, 0, 0), e = lab_operator(&s, "e", 3, 0, 0);
  s.time_ns[e][2] = SITU_NEVER_NS;
  lab_tensor(&s, a, 3, b, -1);
  lab_tensor(&s, b, 4, c, -1);
  lab_pose(&s, options);
  int32_t device[] = {0, 1, 2, 0};
  *plan = plan_of(&s, device, NULL);
  char rules[256];
  assert_string_equal(broken_rules(rules, *plan), "");
  assert_int_equal((*plan)->value_ns, 16);
  assert_int_equal((*plan)->n_transfers, 3);
  return s;
}

typedef void damage(situ_plan *plan);
static void no_place(situ_plan *p) { p->device = NULL; }
static void bad_place(situ_plan *p) { p->device[3] = 7; }
static void wrong_outcome(situ_plan *p) { p->outcome = SITU_OUTCOME_LIMIT; }
static void no_support(situ_plan *p) { p->device[3] = 2; }
static void lower_value(situ_plan *p) { p->value_ns--; }
static void bound_above(situ_plan *p) { p->lower_bound_ns = 17; }
static void false_optimum(situ_plan *p) { p->outcome = SITU_OUTCOME_OPTIMAL; }
static void false_load(situ_plan *p) { p->uses[1].load_ns++; }
static void no_uses(situ_plan *p) { p->uses = NULL; }
static void false_memory(situ_plan *p) { p->uses[1].memory_bytes++; }
static void false_count(situ_plan *p) { p->uses[0].n_operators = 1; }
static void too_short(situ_plan *p) { p->finish_ns[2] = 15; }
static void both_at_once(situ_plan *p) { p->start_ns[3] = 1, p->finish_ns[3] = 4; }
static void too_early(situ_plan *p) { p->start_ns[2] = 14, p->finish_ns[2] = 15, p->value_ns = 15; }
static void too_late(situ_plan *p) { p->start_ns[2] = 16, p->finish_ns[2] = p->value_ns = 17; }
static void hop_too_early(situ_plan *p) { p->transfers[2].start_ns = 10, p->transfers[2].finish_ns = 14; }
static void hop_too_late(situ_plan *p) { p->transfers[0].start_ns = 3, p->transfers[0].finish_ns = 6; }
static void hop_too_short(situ_plan *p) { p->transfers[2].finish_ns = 14; }
static void hop_missing(situ_plan *p) { p->n_transfers = 2; }
static void hop_elsewhere(situ_plan *p) { p->transfers[2].link = 0; }
static void hop_of_nothing(situ_plan *p) { p->transfers[2].tensor = 99; }
static void nothing_sent(situ_plan *p) { p->n_transfers = 0; }
static void no_times(situ_plan *p) { p->start_ns = NULL; }
static void out_of_order(situ_plan *p) { p->order[0] = p->order[1]; }
static void small_memory(situ_plan *p) { p->uses[0].memory_limit_bytes = 1; }

TEST(damage_is_found_under_its_rule) {
  static const struct {
    damage *damage;
    const char *rule;
  } rows[] = {
      {no_place, "placement"},      {bad_place, "placement"},      {wrong_outcome, "placement"},
      {no_support, "support"},      {lower_value, "value"},        {bound_above, "bound"},
      {false_optimum, "bound"},     {false_load, "use"},           {no_uses, "use"},
      {false_memory, "use"},        {false_count, "use"},          {small_memory, "use"},
      {too_short, "duration"},      {both_at_once, "overlap"},     {too_early, "precedence"},
      {too_late, "idle"},           {hop_too_early, "precedence"}, {hop_too_late, "idle"},
      {hop_too_short, "duration"},  {hop_missing, "transfer"},     {hop_elsewhere, "transfer"},
      {hop_of_nothing, "transfer"}, {nothing_sent, "transfer"},    {no_times, "schedule"},
      {out_of_order, "order"},
  };
  for (size_t i = 0; i < 2 * (sizeof rows / sizeof rows[0]); i++) {
    OWN(situ_plan) *plan = NULL;
    OWN(lab) s = damaged(i % 2 ? &stream_link : &stream_none, &plan);
    char rules[256];
    rows[i / 2].damage(plan);
    if (!strstr(broken_rules(rules, plan), rows[i / 2].rule))
      fail_msg("damage %d: '%s' is broken, expected '%s'", (int)(i / 2), rules, rows[i / 2].rule);
  }
}

/* A tensor that nobody there uses, a link that serves two at once, and one that serves out of turn. */
TEST(links_are_watched) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
  lab_tensor(&s, a, 3, b, -1);
  lab_tensor(&s, a, 3, b, -1);
  lab_pose(&s, &stream_link);
  int32_t device[] = {0, 1};
  char rules[256];
  situ_plan *plan = plan_of(&s, device, NULL); /* 1..4 and 4..7 */
  plan->transfers[1].start_ns = 1;
  plan->transfers[1].finish_ns = 4;
  broken_rules(rules, plan);
  assert_non_null(strstr(rules, "overlap"));
  plan->transfers[0].start_ns = 4;
  plan->transfers[0].finish_ns = 7;
  assert_string_equal(broken_rules(rules, plan), "queue");
  situ_plan_free(plan);
  int32_t together[] = {0, 0};
  plan = plan_of(&s, together, NULL);
  plan->n_transfers = 1;
  plan->transfers = &(situ_transfer){.tensor = 0, .link = 0, .to_memory = 1, .start_ns = 1, .finish_ns = 4};
  broken_rules(rules, plan);
  assert_non_null(strstr(rules, "transfer"));
  situ_plan_free(plan);
}

TEST(memory_over_its_capacity_is_found) {
  OWN(lab) s = lab_new();
  lab_device(&s, 11, -1, true);
  lab_operator(&s, "a", 1, 10, 2);
  lab_pose(&s, &stream_link);
  int32_t device[] = {0};
  char rules[256];
  OWN(situ_plan) *plan = plan_of(&s, device, NULL);
  assert_int_equal(plan->uses[0].memory_bytes, 12);
  assert_string_equal(broken_rules(rules, plan), "memory");
}

/* Pins, devices that have to stay unused, and colocation: two operators of one group on two devices. */
TEST(wishes_are_watched) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 3; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  lab_operator(&s, "a", 1, 0, 0);
  lab_operator(&s, "b", 1, 0, 0);
  for (int i = 0; i < 2; i++) {
    situ_operator op = {.name = i ? "twin" : "sister", .source_id = -1, .colocation = 4};
    lab_add(&s, op, 1);
  }
  int32_t pins[] = {0, -1, -1, -1};
  bool unused[] = {false, true, false};
  situ_problem_options options = {
      .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .pins = pins, .unused = unused};
  lab_pose(&s, &options);
  char rules[256];
  int32_t device[][4] = {{0, 2, 2, 2}, {2, 2, 2, 2}, {0, 1, 2, 2}, {0, 2, 2, 0}};
  const char *expected[] = {"", "pin", "unused", "colocation"};
  for (int i = 0; i < 4; i++) {
    OWN(situ_plan) *plan = plan_of(&s, device[i], NULL);
    assert_string_equal(broken_rules(rules, plan), expected[i]);
  }
}

/* a and b are one kernel, b and c a colocation group: each is named by its own rule. */
TEST(parted_kernels_are_found) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  lab_operator(&s, "a", 1, 0, 0);
  for (int i = 0; i < 2; i++) {
    situ_operator op = {.name = i ? "c" : "b", .source_id = -1, .colocation = 4};
    lab_add(&s, op, 0);
  }
  lab_operator(&s, "d", 1, 0, 0);
  lab_pose(&s, NULL);
  s.costs->group = (int32_t[]){0, 0, 2, 3};
  int32_t device[][4] = {{1, 1, 1, 0}, {0, 1, 1, 1}, {1, 1, 0, 0}, {1, 0, 1, 0}};
  const char *expected[] = {"", "fusion", "colocation", "colocation fusion"};
  char rules[256];
  for (int i = 0; i < 4; i++) {
    OWN(situ_plan) *plan = plan_of(&s, device[i], NULL);
    assert_string_equal(broken_rules(rules, plan), expected[i]);
  }
}

/* 300 operators pinned to d1 stand on d0: 100 violations are kept, all are counted. */
TEST(violations_are_counted_beyond_those_kept) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  static int32_t pins[300], device[300];
  for (int i = 0; i < 300; i++) {
    lab_add(&s, (situ_operator){.source_id = -1, .colocation = -1}, 0);
    pins[i] = 1;
  }
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .pins = pins});
  OWN(situ_plan) *plan = plan_of(&s, device, NULL);
  OWN(situ_verdict) *verdict = NULL;
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  assert_int_equal(verdict->n_kept, 100);
  assert_int_equal(verdict->n_found, 300);
  assert_string_equal(situ_verdict_violation(verdict, 0).rule, "pin");
}

/* calls: a on the host, b and c one call on d1. Two calls that need each other are a circle. */
TEST(calls_are_watched) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  int32_t v[4];
  for (int i = 0; i < 4; i++) v[i] = lab_operator(&s, NULL, 1, 0, 0);
  for (int i = 0; i < 3; i++) lab_tensor(&s, v[i], 2, v[i + 1], -1);
  situ_problem_options options = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS};
  lab_pose(&s, &options);
  int32_t device[] = {1, 1, 1, 1}, call[] = {0, 0, 1, 1};
  char rules[256];
  OWN(situ_plan) *plan = lab_plan(&s, &(placement){.device = device, .call = call});
  assert_int_equal(plan->value_ns, 8); /* 2 operators + 2 bytes out, 2 bytes in + 2 operators */
  assert_string_equal(broken_rules(rules, plan), "");
  s.problem->max_calls = 2;
  assert_string_equal(broken_rules(rules, plan), "");
  s.problem->max_calls = 1;
  assert_string_equal(broken_rules(rules, plan), "call");
  s.problem->max_calls = INT32_MAX;
  plan->start_ns[2] = 3;
  assert_string_equal(broken_rules(rules, plan), "precedence");
  plan->call[1] = 1;
  plan->call[2] = 0;
  assert_string_equal(broken_rules(rules, plan), "call");
  plan->call[0] = -1;
  assert_string_equal(broken_rules(rules, plan), "call");
  plan->call = NULL;
  assert_string_equal(broken_rules(rules, plan), "schedule");
}

/* pipeline: x and z of a chain on d0, y between them on d1: not contiguous, unless that is allowed. */
TEST(contiguity_is_watched) {
  for (int is_free = 0; is_free < 2; is_free++) {
    OWN(lab) s = lab_new();
    for (int d = 0; d < 2; d++) lab_device(&s, 100, -1, d == 0);
    lab_star(&s);
    int32_t x = lab_operator(&s, "x", 1, 0, 0), y = lab_operator(&s, "y", 5, 0, 0);
    int32_t z = lab_operator(&s, "z", 1, 0, 0);
    lab_tensor(&s, x, 1, y, -1);
    lab_tensor(&s, y, 1, z, -1);
    situ_problem_options options = {
        .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .free = is_free == 1};
    lab_pose(&s, &options);
    int32_t device[] = {0, 1, 0};
    char rules[256];
    OWN(situ_plan) *plan = plan_of(&s, device, NULL);
    plan->value_ns = 5;
    assert_string_equal(broken_rules(rules, plan), is_free ? "" : "contiguity");
    plan->value_ns = 6;
    assert_non_null(strstr(broken_rules(rules, plan), "value"));
  }
}

TEST_MAIN
