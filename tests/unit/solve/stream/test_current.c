/* The current solution of a search of streams: cost, moves in its order, trials. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "solve/common/solver.h"
#include "solve/stream/current.h"

/* a (4 ns) sends 3 bytes to b (5 ns), b sends to c (6 ns); d (7 ns) stands alone. Two equal devices with memories of
 * 100 and 50 bytes, a byte a nanosecond between them. Indices as built: a 0, b 1, c 2, d 3. */
typedef struct small {
  lab s;
  arena *arena;
  budget budget;
  incumbent best;
  solve_run run;
  current now;
} small;

static void make(small *x, int64_t incumbent_ns) {
  *x = (small){.s = lab_new(), .arena = arena_new(), .budget = budget_new(10, 0, NULL, NULL)};
  lab *s = &x->s;
  lab_device(s, 100, -1, true);
  lab_device(s, 50, -1, false);
  lab_link(s, 0, 1, 0, -1);
  lab_link(s, 1, 0, 0, -1);
  const char *names[] = {"a", "b", "c", "d"};
  for (int32_t v = 0; v < 4; v++) lab_operator(s, names[v], 4 + v, v == 3 ? 70 : 0, 0);
  lab_tensor(s, 0, 3, 1, -1);
  lab_tensor(s, 1, 3, 2, -1);
  lab_pose(s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  for (int32_t v = 0; v < 4; v++) assert_int_equal(s->graph->built_index[v], v);
  assert_true(incumbent_init(&x->best, s->problem, x->arena));
  x->best.value_ns = incumbent_ns;
  x->run = (solve_run){.problem = s->problem,
                       .simulator = s->simulator,
                       .budget = &x->budget,
                       .incumbent = &x->best,
                       .solver = "current",
                       .arena = x->arena};
  assert_true(current_init(&x->now, &x->run, true));
}

static void discard(small *x) {
  arena_free(x->arena);
  lab_free(&x->s);
}

/* The smallest memory, 50 bytes, costs ten values: 10 * 20 / 50 = 4 ns a byte, and a thousandth. Value 22 (everything
 * on device 1, one after the other), 20 bytes of weights over and 6 of tensors at most. */
TEST(a_byte_over_the_smallest_memory_costs_ten_values_in_proportion) {
  small x;
  make(&x, 20);
  assert_true(x.now.price > 4.0009 && x.now.price < 4.0011);
  assert_true(x.now.cost == SEARCH_NONE);
  int32_t device[] = {1, 1, 1, 1};
  current_go_to(&x.now, &(placement){.device = device});
  assert_true(x.now.excess_bytes >= 20 && x.now.excess_bytes <= 26);
  double expected = 22 + 4.001 * (double)x.now.excess_bytes;
  assert_true(x.now.cost > expected - 1e-6 && x.now.cost < expected + 1e-6);
  assert_int_equal(x.now.peak_bytes[1], 50 + x.now.excess_bytes);
  assert_int_equal(x.now.peak_bytes[0], 0);
  discard(&x);
  make(&x, SITU_NEVER_NS); /* one second: 10e9 / 50 */
  assert_true(x.now.price > 2e8 && x.now.price < 2e8 + 1);
  discard(&x);
}

/* a, b, c on device 0 take 15 in a row, and d 7 beside them on device 0 again: 22. The path is all four; on device 1 d
 * ends at 7, and the path is a, b, c. */
TEST(a_schedule_is_explained_anew_after_each_change) {
  small x;
  make(&x, 30);
  int32_t together[] = {0, 0, 0, 0}, apart[] = {0, 0, 0, 1}, d_first[] = {3, 0, 1, 2};
  current_go_to(&x.now, &(placement){.device = together, .order = d_first});
  current_explain(&x.now);
  assert_int_equal(x.now.critical.n_path, 4);
  assert_int_equal(x.now.critical.path[0], 3);
  assert_int_equal(x.now.start_ns[0], 7);
  simulation found = simulator_run(x.s.simulator, &(placement){.device = apart}, true);
  current_settle(&x.now, &(placement){.device = apart}, &found);
  assert_false(x.now.explained);
  current_explain(&x.now);
  assert_int_equal(x.now.critical.n_path, 3);
  assert_int_equal(x.now.critical.path[0], 0);
  assert_int_equal(x.now.finish_ns[2], 15);
  for (int32_t k = 0; k < 4; k++) assert_int_equal(x.now.where.order[k], k); /* no order is the index order */
  discard(&x);
}

/* In the order d, a, b, c: d may go anywhere (0 to 3), a before b only (0, 1), b between a and c (2 alone), c last or
 * just behind b (3). */
TEST(an_operator_may_move_between_its_producers_and_its_users) {
  small x;
  make(&x, 30);
  int32_t device[] = {0, 0, 0, 0}, order[] = {3, 0, 1, 2}, expected[][2] = {{0, 1}, {2, 2}, {3, 3}, {0, 3}};
  current_go_to(&x.now, &(placement){.device = device, .order = order});
  current_explain(&x.now);
  for (int32_t v = 0; v < 4; v++) {
    int32_t low, high;
    current_range(&x.now, v, &low, &high);
    assert_int_equal(low, expected[v][0]);
    assert_int_equal(high, expected[v][1]);
  }
  int32_t later[] = {0, 1, 3, 2}, back[] = {3, 0, 1, 2};
  current_shift(order, 0, 2);
  assert_memory_equal(order, later, sizeof later);
  current_shift(order, 2, 0);
  assert_memory_equal(order, back, sizeof back);
  current_shift(order, 1, 1);
  assert_memory_equal(order, back, sizeof back);
  discard(&x);
}

/* From d behind the others on one device (22) to d on the other (15): its 70 bytes are 20 too many there, which costs
 * 20 * (10 * 30 / 50 + 0.001) = 120.02 more. b alone on device 1 ends c at 4 + 3 + 5 + 3 + 6 = 21, d ends at 17. */
TEST(a_trial_tells_its_cost_only_below_a_limit) {
  small x;
  make(&x, 30);
  int32_t together[] = {0, 0, 0, 0}, d_apart[] = {0, 0, 0, 1}, b_apart[] = {0, 1, 0, 0};
  int32_t abdc[] = {0, 1, 3, 2};
  current_go_to(&x.now, &(placement){.device = together});
  assert_true(x.now.cost == 22);
  double cost = current_try(&x.now, &(placement){.device = d_apart}, 1e300);
  assert_true(cost > 135.0199 && cost < 135.0201);
  assert_int_equal(x.best.value_ns, 30); /* what breaks a limit is no plan */
  assert_true(current_try(&x.now, &(placement){.device = b_apart, .order = abdc}, 22) == 21);
  assert_int_equal(x.best.value_ns, 21);
  assert_true(current_try(&x.now, &(placement){.device = together}, 22) == SEARCH_NONE);
  assert_int_equal(x.budget.steps, 3);
  assert_true(x.now.cost == 22); /* trials change nothing */
  discard(&x);
}

TEST_MAIN
