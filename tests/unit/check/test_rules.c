/* The rules of the judge one by one, on problems small enough to work out by hand: each has a plan that just keeps it
 * and one that just does not. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "check/judge.h"
#include "graph/builder.h"

static const situ_problem_options stream = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};
static const situ_problem_options calls = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS};

/* The violations of a plan, "rule: text" in lines. */
static const char *found(char into[4096], const situ_plan *plan) {
  situ_verdict *verdict;
  size_t n = 0;
  into[0] = '\0';
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  for (int32_t i = 0; i < verdict->n_kept && n < 4096; i++)
    n += (size_t)snprintf(into + n, 4096 - n, "%s: %s\n", situ_verdict_violation(verdict, i).rule,
                          situ_verdict_violation(verdict, i).text);
  situ_verdict_free(verdict);
  return into;
}

static void expect(const situ_plan *plan, const char *expected) {
  char told[4096];
  if (strcmp(found(told, plan), expected) != 0) fail_msg("found\n%sexpected\n%s", told, expected);
}

static void expect_within(const situ_plan *plan, const char *part) {
  char told[4096];
  if (!strstr(found(told, plan), part)) fail_msg("found\n%sexpected in it\n%s", told, part);
}

/* Devices of their own memory, each joined to the first both ways, 1 byte a nanosecond; the first is the host. */
static lab star(int32_t n, int64_t memory_bytes) {
  lab s = lab_new();
  for (int32_t d = 0; d < n; d++) lab_device(&s, memory_bytes, -1, d == 0);
  for (int32_t d = 1; d < n; d++) {
    lab_link(&s, 0, d, 0, -1);
    lab_link(&s, d, 0, 0, -1);
  }
  return s;
}

static situ_plan *plan_on(lab *s, int32_t *device) { return lab_plan(s, &(placement){.device = device}); }

/* ---- streams ---- */

/* a 3 ns and b 4 ns on d0, c 5 ns on d1 beside them: latency and period are 7 ns. */
static void limits_are_judged_to_the_nanosecond(void **state) {
  (void)state;
  for (int64_t limit = 6; limit < 8; limit++)
    for (int period = 0; period < 2; period++) {
      situ_problem_options options = stream;
      if (period)
        options.max_period_ns = limit;
      else
        options.max_latency_ns = limit;
      lab s = star(2, SITU_UNLIMITED_BYTES);
      int32_t a = lab_operator(&s, "a", 3, 0, 0), b = lab_operator(&s, "b", 4, 0, 0);
      lab_operator(&s, "c", 5, 0, 0);
      lab_tensor(&s, a, 1, b, -1);
      lab_pose(&s, &options);
      int32_t device[] = {0, 0, 1};
      situ_plan *plan = plan_on(&s, device);
      const char *broken = period ? "period: the plan has a period of 7 ns; at most 6 ns are allowed\n"
                                  : "latency: the plan has a latency of 7 ns; at most 6 ns are allowed\n";
      expect(plan, limit == 6 ? broken : "");
      plan->latency_ns = 8;
      expect_within(plan, "value: the plan states a latency of 8 ns and a period of 7 ns; they are 7 ns and 7 ns\n");
      plan->latency_ns = 7;
      plan->period_ns = 6;
      expect_within(plan, "value: the plan states a latency of 7 ns and a period of 6 ns; they are 7 ns and 7 ns\n");
      situ_plan_free(plan);
      lab_free(&s);
    }
}

/* a 3 ns on d0 and 6 bytes to b, 1 ns, on d1: latency 10, period 6, which is the link's. The value is the one that is
 * to be least. */
static void the_value_is_the_objective(void **state) {
  (void)state;
  for (int throughput = 0; throughput < 2; throughput++) {
    situ_problem_options options = stream;
    if (throughput)
      options.max_latency_ns = 10;
    else
      options.max_period_ns = 6;
    lab s = star(2, SITU_UNLIMITED_BYTES);
    int32_t a = lab_operator(&s, "a", 3, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    lab_tensor(&s, a, 6, b, -1);
    lab_pose(&s, &options);
    int32_t device[] = {0, 1};
    situ_plan *plan = plan_on(&s, device);
    assert_int_equal(plan->value_ns, throughput ? 6 : 10);
    expect(plan, "");
    plan->value_ns = throughput ? 10 : 6;
    expect(plan, throughput ? "value: the plan states 10 ns; its operators and transfers give 6 ns\n"
                            : "value: the plan states 6 ns; its operators and transfers give 10 ns\n");
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* a 3 ns and then z, which takes no time, on one device. In the sequence z, a it starts at 0; in a, z at 3. */
static void operators_without_duration_keep_their_place_in_the_sequence(void **state) {
  (void)state;
  lab s = star(1, SITU_UNLIMITED_BYTES);
  lab_operator(&s, "a", 3, 0, 0);
  lab_operator(&s, "z", 0, 0, 0);
  lab_pose(&s, &stream);
  int32_t device[] = {0, 0}, order[] = {1, 0};
  situ_plan *plan = lab_plan(&s, &(placement){.device = device, .order = order});
  expect(plan, "");
  plan->order[0] = 0;
  plan->order[1] = 1;
  expect(plan, "overlap: d0 runs a until 3 ns and then z, which starts at 0 ns\n");
  plan->start_ns[1] = plan->finish_ns[1] = 3;
  expect(plan, "");
  plan->start_ns[1] = plan->finish_ns[1] = 4;
  plan->value_ns = 4;
  expect(plan, "idle: z starts at 4 ns; its device and its inputs are ready at 3 ns\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* Two operators, 10 and 7 bytes of workspace, one after the other: 10 bytes, not 17. And their results: r, 4 bytes,
 * from the start of the first on; q, 3 bytes, of an operator that takes no time, at the very end. 4 + 10, then 4 + 7,
 * then 4 + 3: the end itself counts 7 bytes, the peak is 14. */
static void memory_counts_what_is_there_at_one_instant(void **state) {
  (void)state;
  lab s = star(1, 14);
  int32_t first = lab_operator(&s, "first", 2, 0, 10), second = lab_operator(&s, "second", 3, 0, 7);
  int32_t end = lab_operator(&s, "end", 0, 0, 100);
  lab_tensor(&s, first, 4, -1);
  lab_tensor(&s, second, 0, end, -1);
  lab_tensor(&s, end, 3, -1);
  lab_pose(&s, &stream);
  int32_t device[] = {0, 0, 0};
  simulation run = simulator_run(s.simulator, &(placement){.device = device}, true);
  assert_int_equal(run.peak_bytes[0], 14);
  situ_plan *plan = plan_on(&s, device);
  expect(plan, "");
  s.platform->memory_bytes[0] = plan->uses[0].memory_limit_bytes = 13;
  expect_within(plan, "memory: the memory of d0 must hold 14 bytes; its capacity is 13\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* The result of an operator that takes no time counts at the instant of the end, which nothing comes after. */
static void results_count_at_the_end_itself(void **state) {
  (void)state;
  lab s = star(1, 8);
  int32_t a = lab_operator(&s, "a", 5, 0, 0), z = lab_operator(&s, "z", 0, 0, 0);
  lab_tensor(&s, a, 3, z, -1);
  lab_tensor(&s, z, 9, -1);
  lab_pose(&s, &stream);
  int32_t device[] = {0, 0};
  simulation run = simulator_run(s.simulator, &(placement){.device = device}, true);
  assert_int_equal(run.peak_bytes[0], 9); /* the 3 bytes end with z, at 5; the 9 begin there */
  assert_int_equal(run.excess_bytes, 1);
  situ_plan *plan = plan_on(&s, device);
  expect_within(plan, "memory: the memory of d0 must hold 9 bytes; its capacity is 8\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* Two copies of one operator of one byte: on one memory 1, on two memories 1 each; beside them 3 bytes of workspace
 * each, on one device one after the other. */
static void copies_share_their_weights(void **state) {
  (void)state;
  lab s = star(2, SITU_UNLIMITED_BYTES);
  lab_operator(&s, "v", 2, 1, 3);
  lab_operator(&s, "v@2", 2, 0, 3);
  situ_problem_options options = stream;
  options.copies = 2;
  lab_pose(&s, &options);
  int32_t together[] = {1, 1}, apart[] = {0, 1}, turned[] = {1, 0};
  int32_t *rows[] = {together, apart, turned};
  static const int64_t bytes[][2] = {{0, 4}, {4, 4}, {4, 4}};
  for (int i = 0; i < 3; i++) {
    situ_plan *plan = plan_on(&s, rows[i]);
    assert_int_equal(plan->uses[0].memory_bytes, bytes[i][0]);
    assert_int_equal(plan->uses[1].memory_bytes, bytes[i][1]);
    expect(plan, "");
    plan->uses[1].memory_bytes++;
    expect(plan, "use: d1: the plan states that it uses 5 bytes of memory; it uses 4\n");
    situ_plan_free(plan);
  }
  lab_free(&s);
}

/* a on d1 has the first tensor of all, for b on d0, the first memory: 2 ns on the way. */
static void the_first_tensor_has_to_be_sent_to_the_first_memory(void **state) {
  (void)state;
  lab s = star(2, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
  lab_tensor(&s, a, 2, b, -1);
  lab_pose(&s, &stream);
  int32_t device[] = {1, 0};
  situ_plan *plan = plan_on(&s, device);
  expect(plan, "");
  assert_int_equal(plan->n_transfers, 1);
  plan->n_transfers = 0;
  expect_within(plan, "transfer: a tensor of a is not sent to d0, where b uses it\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* a on d1, 1 ns, has 4 bytes for b on d2, by way of d0: 1 to 5 and 5 to 9. The first hop twice, at just these times, is
 * as many hops, and not the route. */
static void a_tensor_takes_each_hop_of_its_route(void **state) {
  (void)state;
  lab s = star(3, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
  lab_tensor(&s, a, 4, b, -1);
  lab_pose(&s, &stream);
  situ_plan *plan = plan_on(&s, (int32_t[]){1, 2});
  expect(plan, "");
  assert_int_equal(plan->n_transfers, 2);
  assert_true(plan->transfers[0].start_ns == 1 && plan->transfers[1].start_ns == 5);
  plan->transfers[1].link = plan->transfers[0].link;
  expect(plan, "transfer: a tensor of a does not take each hop of its route to memory 2 once\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* a on d1 sends 2 bytes to b on d0: of 1 tensor, 2 memories and 2 links nothing is in front of the first or behind the
 * last. */
static void a_transfer_is_of_what_there_is(void **state) {
  (void)state;
  lab s = star(2, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
  lab_tensor(&s, a, 2, b, -1);
  lab_pose(&s, &stream);
  situ_plan *plan = plan_on(&s, (int32_t[]){1, 0});
  situ_transfer *x = &plan->transfers[0];
  struct {
    int32_t *number, n;
  } rows[] = {{&x->tensor, 1}, {&x->to_memory, 2}, {&x->link, 2}};
  for (int i = 0; i < 3; i++)
    for (int behind = 0; behind < 2; behind++) {
      int32_t was = *rows[i].number;
      *rows[i].number = behind ? rows[i].n : -1;
      expect_within(plan, "; one of them does not exist\n");
      *rows[i].number = was;
    }
  expect(plan, "");
  situ_plan_free(plan);
  lab_free(&s);
}

/* A stream whose copies keep their hosts busy. */
static void pose_blocking(lab *s) {
  situ_problem_options blocking = stream;
  blocking.overlap = SITU_OVERLAP_HOST_BLOCKING;
  lab_pose(s, &blocking);
}

/* The host is busy without a gap from 2 to 9: it copies 3 bytes of a from d1, then runs f, which uses them, for 4 ns.
 * The 5 bytes of b on d2, which are ready at 2 too, wait until 9 for it. */
static void a_copy_may_wait_for_copies_and_operators(void **state) {
  (void)state;
  lab s = star(3, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 2, 0, 0), b = lab_operator(&s, "b", 2, 0, 0);
  int32_t f = lab_operator(&s, "f", 4, 0, 0), e = lab_operator(&s, "e", 1, 0, 0);
  lab_tensor(&s, a, 3, f, -1);
  lab_tensor(&s, b, 5, e, -1);
  pose_blocking(&s);
  situ_plan *plan = plan_on(&s, (int32_t[]){1, 2, 0, 0});
  assert_int_equal(plan->start_ns[f], 5);
  assert_int_equal(plan->start_ns[e], 9 + 5);
  expect(plan, "");
  situ_plan_free(plan);
  lab_free(&s);
}

/* a on d1 and b on d2, 2 ns each, have 3 bytes each for c on the host, which copies one after the other: from 2 to 5
 * over the channel of the lower number, from 5 to 8 over the other. The other way round it is no turn. */
static void copies_take_their_turns_at_a_host(void **state) {
  (void)state;
  lab s = star(3, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 2, 0, 0), b = lab_operator(&s, "b", 2, 0, 0);
  int32_t c = lab_operator(&s, "c", 1, 0, 0);
  lab_tensor(&s, a, 3, c, -1);
  lab_tensor(&s, b, 3, c, -1);
  pose_blocking(&s);
  situ_plan *plan = plan_on(&s, (int32_t[]){1, 2, 0});
  expect(plan, "");
  for (int i = 0; i < 2; i++) {
    situ_transfer *x = &plan->transfers[i];
    assert_int_equal(x->start_ns, x->link == 1 ? 2 : 5);
    x->start_ns = x->link == 1 ? 5 : 2;
    x->finish_ns = x->start_ns + 3;
  }
  expect(plan, "queue: a copy on link 1 waits for its host until 5 ns while one on a later channel runs\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* a on d1 and b on d2, 2 ns each, have 5 bytes each for c on d3, none of them a host: both go from 2 to 7, over two
 * links, and keep no host busy. */
static void copies_between_accelerators_keep_no_host_busy(void **state) {
  (void)state;
  lab s = lab_mesh(4, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 2, 0, 0), b = lab_operator(&s, "b", 2, 0, 0);
  int32_t c = lab_operator(&s, "c", 1, 0, 0);
  lab_tensor(&s, a, 5, c, -1);
  lab_tensor(&s, b, 5, c, -1);
  pose_blocking(&s);
  situ_plan *plan = plan_on(&s, (int32_t[]){1, 2, 3});
  assert_int_equal(plan->value_ns, 2 + 5 + 1);
  expect(plan, "");
  situ_plan_free(plan);
  lab_free(&s);
}

/* ---- calls ---- */

/* The memory of a host has a limit in calls too: weights of 6 and 5 bytes, and the greater footprint: b's workspace of
 * 2, its input of 3 and its output of 4. 20 bytes. */
static void the_memory_of_a_host_is_limited_in_calls(void **state) {
  (void)state;
  for (int64_t room = 19; room < 21; room++) {
    lab s = star(2, room);
    int32_t a = lab_operator(&s, "a", 1, 6, 0), b = lab_operator(&s, "b", 1, 5, 2);
    lab_tensor(&s, a, 3, b, -1);
    lab_tensor(&s, b, 4, -1);
    lab_pose(&s, &calls);
    int32_t device[] = {0, 0};
    simulation run = simulator_run(s.simulator, &(placement){.device = device}, true);
    assert_int_equal(run.peak_bytes[0], 20);
    assert_int_equal(run.excess_bytes, 20 - room);
    situ_plan *plan = plan_on(&s, device);
    char expected[160] = "";
    if (room == 19) strcpy(expected, "memory: the memory of d0 must hold 20 bytes; its capacity is 19\n");
    expect(plan, expected);
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* Four operators, 1 ns each; a and b on d1, c on d2, e on the host. What is said of calls has to be of use. */
static void calls_are_numbers_of_one_device(void **state) {
  (void)state;
  lab s = star(3, SITU_UNLIMITED_BYTES);
  for (int i = 0; i < 4; i++) lab_operator(&s, (const char *[]){"a", "b", "c", "e"}[i], 1, 0, 0);
  lab_pose(&s, &calls);
  int32_t device[] = {1, 1, 2, 0};
  situ_plan *plan = plan_on(&s, device);
  expect(plan, "");
  static const struct {
    int32_t call[4];
    const char *expected;
  } rows[] = {
      {{0, 0, 1, 1}, "call: e is on a host but in call 1; expected none\n"},
      {{0, 4, 1, -1}, "call: b is in call 4; expected 0 to 3\n"},
      {{0, -1, 1, -1}, "call: b is in call -1; expected 0 to 3\n"},
      {{0, 0, 0, -1}, "call: a and c are in call 0 but on two devices\n"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    memcpy(plan->call, rows[i].call, sizeof rows[i].call);
    expect(plan, rows[i].expected);
  }
  plan->start_ns = NULL;
  expect(plan, "schedule: the plan does not state which operators form a call, or when they run\n");
  plan->value_ns = SITU_NEVER_NS;
  expect(plan, "schedule: calls wait for each other in a cycle, or there are more than allowed\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* a, 2 ns, makes 3 bytes for b, 4 ns, and 5 bytes for b and c, 1 ns. a alone on d1: 2 + 3 + 5 out; b and c, one call on
 * d2: 3 + 5 in, each once, + 4 + 1. A second call of d1 waits for the first. */
static void a_call_pays_once_for_each_tensor(void **state) {
  (void)state;
  lab s = star(3, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 2, 0, 0), b = lab_operator(&s, "b", 4, 0, 0);
  int32_t c = lab_operator(&s, "c", 1, 0, 0), e = lab_operator(&s, "e", 7, 0, 0);
  lab_tensor(&s, a, 3, b, -1);
  lab_tensor(&s, a, 5, b, c, -1);
  (void)e;
  lab_pose(&s, &calls);
  int32_t device[] = {1, 2, 2, 1}, call[] = {0, 1, 1, 2};
  situ_plan *plan = lab_plan(&s, &(placement){.device = device, .call = call});
  static const int64_t start[] = {0, 10, 10, 10}, finish[] = {10, 23, 23, 17};
  for (int v = 0; v < 4; v++) assert_true(plan->start_ns[v] == start[v] && plan->finish_ns[v] == finish[v]);
  expect(plan, "");
  plan->finish_ns[3] = 16;
  expect(plan, "precedence: e: the plan states 10 to 16 ns; it starts at 10 and ends at 17\n");
  plan->finish_ns[3] = 17;
  plan->uses[1].load_ns = 16;
  expect(plan, "use: d1: the plan states a load of 16 ns; it is 17 ns\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* ---- pipelines ---- */

/* One forward operator, 9 ns, on d1; d2 to d5 could be its replica but for one thing each. */
static void replicas_are_equal_devices(void **state) {
  (void)state;
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
static void replicas_have_a_leader_and_nothing_else(void **state) {
  (void)state;
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
static void backward_edges_count_turned_round(void **state) {
  (void)state;
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
static void the_best_single_device_is_worked_out_again(void **state) {
  (void)state;
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
    for (int32_t d = 1; d < 3; d++) {
      lab_link(&s, 0, d, 0, -1);
      lab_link(&s, d, 0, 0, -1);
    }
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
    char told[4096];
    for (int32_t d = -1; d < 3; d++)
      for (int64_t off = -1; off < 2; off++) {
        plan->best_single_device = d;
        plan->best_single_ns = rows[i].value_ns == SITU_NEVER_NS ? SITU_NEVER_NS - (off != 0) : rows[i].value_ns + off;
        bool complains = strstr(found(told, plan), "single: ") != NULL;
        if (complains != (d != rows[i].device || off != 0))
          fail_msg("row %d, device %d, %d:\n%s", (int)i, d, (int)off, told);
      }
    plan->best_single_device = 7;
    expect_within(plan, "single: the plan states that the best single device is none with ");
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* Of twins the first is named, but a device with less room, or another class, is no twin. */
static void equal_devices_stand_for_each_other(void **state) {
  (void)state;
  for (int odd = 0; odd < 4; odd++) {
    lab s = lab_new();
    s.alike = true;
    bool unused[4] = {false, odd == 3, false, false};
    lab_device(&s, 10, -1, true);
    lab_device(&s, odd == 1 ? 9 : 10, -1, false);
    lab_device(&s, 10, -1, false);
    lab_device(&s, odd == 2 ? 11 : 10, -1, false);
    for (int32_t d = 1; d < 4; d++) {
      lab_link(&s, 0, d, 0, -1);
      lab_link(&s, d, 0, 0, -1);
    }
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
static void constraints_that_contradict_each_other_are_told(void **state) {
  (void)state;
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
static void claims_are_held_to_their_ranges(void **state) {
  (void)state;
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
static void memories_that_share_a_capacity_keep_it_together(void **state) {
  (void)state;
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
    expect(
        plan,
        more ? "memory: the memories that share the capacity of d0 must hold 101 bytes together; the capacity is 100\n"
             : "");
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* That there is no plan is proved by a conflict of the problem, and then that is all there is to say. */
static void a_conflict_proves_that_there_is_no_plan(void **state) {
  (void)state;
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_are_judged_to_the_nanosecond),
      cmocka_unit_test(the_value_is_the_objective),
      cmocka_unit_test(operators_without_duration_keep_their_place_in_the_sequence),
      cmocka_unit_test(memory_counts_what_is_there_at_one_instant),
      cmocka_unit_test(results_count_at_the_end_itself),
      cmocka_unit_test(copies_share_their_weights),
      cmocka_unit_test(the_memory_of_a_host_is_limited_in_calls),
      cmocka_unit_test(the_first_tensor_has_to_be_sent_to_the_first_memory),
      cmocka_unit_test(a_tensor_takes_each_hop_of_its_route),
      cmocka_unit_test(a_transfer_is_of_what_there_is),
      cmocka_unit_test(a_copy_may_wait_for_copies_and_operators),
      cmocka_unit_test(copies_take_their_turns_at_a_host),
      cmocka_unit_test(copies_between_accelerators_keep_no_host_busy),
      cmocka_unit_test(calls_are_numbers_of_one_device),
      cmocka_unit_test(a_call_pays_once_for_each_tensor),
      cmocka_unit_test(replicas_are_equal_devices),
      cmocka_unit_test(replicas_have_a_leader_and_nothing_else),
      cmocka_unit_test(backward_edges_count_turned_round),
      cmocka_unit_test(the_best_single_device_is_worked_out_again),
      cmocka_unit_test(equal_devices_stand_for_each_other),
      cmocka_unit_test(constraints_that_contradict_each_other_are_told),
      cmocka_unit_test(claims_are_held_to_their_ranges),
      cmocka_unit_test(memories_that_share_a_capacity_keep_it_together),
      cmocka_unit_test(a_conflict_proves_that_there_is_no_plan),
  };
  return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
