/* The rules of the judge one by one, on problems small enough to work out by hand: each has a plan that just keeps it
 * and one that just does not. Here those of streams and calls. */
#include "rules_found.h"

static const situ_problem_options stream = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};
static const situ_problem_options calls = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS};

/* ---- streams ---- */

/* a 3 ns and b 4 ns on d0, c 5 ns on d1 beside them: latency and period are 7 ns. */
TEST(limits_are_judged_to_the_nanosecond) {
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
TEST(the_value_is_the_objective) {
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
TEST(operators_without_duration_keep_their_place_in_the_sequence) {
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
TEST(memory_counts_what_is_there_at_one_instant) {
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
  expect_within(plan, "memory: the memory of d0 must hold 14 B; the capacity is 13 B\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* The result of an operator that takes no time counts at the instant of the end, which nothing comes after. */
TEST(results_count_at_the_end_itself) {
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
  expect_within(plan, "memory: the memory of d0 must hold 9 B; the capacity is 8 B\n");
  situ_plan_free(plan);
  lab_free(&s);
}

/* Two copies of one operator of one byte: on one memory 1, on two memories 1 each; beside them 3 bytes of workspace
 * each, on one device one after the other. */
TEST(copies_share_their_weights) {
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
TEST(the_first_tensor_has_to_be_sent_to_the_first_memory) {
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
TEST(a_tensor_takes_each_hop_of_its_route) {
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
TEST(a_transfer_is_of_what_there_is) {
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
TEST(a_copy_may_wait_for_copies_and_operators) {
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
TEST(copies_take_their_turns_at_a_host) {
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

/* The host runs h from 0 to 10. At 2 it gets a tensor without bytes of a on d1, which takes no time and keeps nobody
 * busy. */
TEST(a_copy_without_duration_keeps_no_host_busy) {
  lab s = star(2, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 2, 0, 0), h = lab_operator(&s, "h", 10, 0, 0), f = lab_operator(&s, "f", 1, 0, 0);
  lab_tensor(&s, a, 0, f, -1);
  pose_blocking(&s);
  situ_plan *plan = plan_on(&s, (int32_t[]){1, 0, 0});
  assert_int_equal(plan->n_transfers, 1);
  assert_true(plan->transfers[0].start_ns == 2 && plan->transfers[0].finish_ns == 2);
  assert_true(plan->start_ns[h] == 0 && plan->start_ns[f] == 10);
  expect(plan, "");
  situ_plan_free(plan);
  lab_free(&s);
}

/* Two hosts of one memory: a on one from 0 to 100, g and b on the other from 0 to 10 and 20. What ends first does not
 * free the memory: a copy to it has to wait for a. */
TEST(a_copy_waits_for_the_longest_of_several_hosts) {
  lab s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&s, SITU_UNLIMITED_BYTES, 0, true);
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
  lab_link(&s, 0, 2, 0, -1);
  lab_link(&s, 2, 0, 0, -1);
  lab_operator(&s, "a", 100, 0, 0);
  int32_t g = lab_operator(&s, "g", 10, 0, 0), b = lab_operator(&s, "b", 10, 0, 0);
  int32_t c = lab_operator(&s, "c", 50, 0, 0), e = lab_operator(&s, "e", 1, 0, 0);
  lab_tensor(&s, g, 1, b, -1);
  lab_tensor(&s, c, 3, e, -1);
  pose_blocking(&s);
  situ_plan *plan = plan_on(&s, (int32_t[]){0, 1, 1, 2, 0});
  assert_true(plan->start_ns[b] == 10 && plan->finish_ns[b] == 20);
  assert_int_equal(plan->transfers[0].start_ns, 100);
  expect(plan, "");
  plan->transfers[0].start_ns = 50;
  plan->transfers[0].finish_ns = 53;
  expect_within(plan, "overlap: at 50 ns a host works while a tensor is copied to its memory");
  situ_plan_free(plan);
  lab_free(&s);
}

/* a on d1 and b on d2, 2 ns each, have 5 bytes each for c on d3, none of them a host: both go from 2 to 7, over two
 * links, and keep no host busy. */
TEST(copies_between_accelerators_keep_no_host_busy) {
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
TEST(the_memory_of_a_host_is_limited_in_calls) {
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
    if (room == 19) strcpy(expected, "memory: the memory of d0 must hold 20 B; the capacity is 19 B\n");
    expect(plan, expected);
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* Four operators, 1 ns each; a and b on d1, c on d2, e on the host. What is said of calls has to be of use. */
TEST(calls_are_numbers_of_one_device) {
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
TEST(a_call_pays_once_for_each_tensor) {
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

int main(void) { return TEST_RUN(NULL, NULL) + rules_of_whole_plans(); }
