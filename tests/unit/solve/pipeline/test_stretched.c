/* Networks that repeat themselves: what is merged along them, and plans of a stack of layers by arithmetic. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../solved.h"
#include "base/rng.h"
#include "solve/common/solver.h"
#include "view/level.h"

/* A chain of 40 operators of two kinds by turns, one of them pinned unless pinned < 0. */
static lab chain_of_two_kinds(int32_t pinned) {
  enum { N = 40 };
  static char names[N][8];
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < N; v++) {
    snprintf(names[v], sizeof names[v], "%d", (int)v);
    lab_operator(&s, names[v], 1 + v % 2, 0, 0);
    if (v > 0) lab_tensor(&s, v - 1, 1, v, -1);
  }
  int32_t pins[N];
  for (int32_t v = 0; v < N; v++) pins[v] = v == pinned ? 1 : -1;
  lab_pose(&s, &(situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT, .free = true, .pins = pins});
  return s;
}

/* Eight operators at either end are like no other after eight rounds (test_level.c), twelve of each kind are
 * left between them: 8, 10 .. 30 and 9, 11 .. 31. In four ranges each three of a kind are one. */
static void ranges_join_the_same_operator_of_neighbouring_layers(void **state) {
  (void)state;
  lab s = chain_of_two_kinds(-1);
  level_list ranges;
  assert_true(level_ranges.find(&ranges, s.problem, &(level_request){.n_wanted = 4}, s.arena));
  assert_int_equal(ranges.n, 1);
  unit_list units = ranges.of[0];
  assert_null(unit_list_check(&units, 40));
  assert_int_equal(units.n, 16 + 2 * 4);
  for (int32_t v = 8; v < 32; v++) {
    unit_members m = unit_list_members(&units, units.of[v]);
    int32_t first = v - (v - 8) / 2 % 3 * 2;
    assert_int_equal(m.n, 3);
    for (int32_t k = 0; k < 3; k++) assert_int_equal(m.member[k], first + 2 * k);
  }
  lab_free(&s);
}

/* 14, 16, 18 are a range; with 16 pinned they stay three units. */
static void a_pinned_operator_stays_alone(void **state) {
  (void)state;
  lab s = chain_of_two_kinds(16);
  level_list ranges;
  assert_true(level_ranges.find(&ranges, s.problem, &(level_request){.n_wanted = 4}, s.arena));
  unit_list units = ranges.of[0];
  assert_int_equal(units.n, 16 + 2 * 4 + 2);
  for (int32_t v = 14; v <= 18; v += 2) assert_int_equal(unit_list_members(&units, units.of[v]).n, 1);
  lab_free(&s);
}

/* ---- plans ---- */

enum { LAYER = 6 };
static const int64_t LAYER_NS[LAYER][2] = {{10, 30}, {30, 10}, {25, 50}, {10, 30}, {30, 10}, {50, 25}};

/* A chain of operators on two devices; times[k] are those of the k-th. A tensor takes 5 ns. */
static lab chain_of(int32_t n, const int64_t (*times)[2]) {
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  char name[16];
  for (int32_t v = 0; v < n; v++) {
    snprintf(name, sizeof name, "%d", (int)v);
    lab_operator(&s, name, 0, 0, 0);
    for (int32_t d = 0; d < 2; d++) s.time_ns[v][d] = times[v][d];
    if (v > 0) lab_tensor(&s, v - 1, 5, v, -1);
  }
  lab_pose(&s, &(situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT, .free = true});
  return s;
}

/* A stack of layers, a chain of LAYER operators each, on devices that are good at different ones. */
static lab stack_of(int32_t n_layers) {
  int64_t(*times)[2] = malloc((size_t)n_layers * sizeof LAYER_NS);
  assert_non_null(times);
  for (int32_t k = 0; k < n_layers; k++) memcpy(times + (int64_t)k * LAYER, LAYER_NS, sizeof LAYER_NS);
  lab s = chain_of(n_layers * LAYER, times);
  free(times);
  return s;
}

/* Each operator takes at least 10 or 25 ns wherever it is, 90 in a layer, so two devices need 45 a layer. That is met:
 * the first, third and fourth on one, the others on the other, and four tensors of a layer, two each way, take 10 on
 * each link. A contiguous plan has 155 a layer on either device, so 77.5 on each. */
static void a_stack_of_layers_is_placed_as_one_layer_would_be(void **state) {
  (void)state;
  for (int32_t n_layers = 400; n_layers <= 1600; n_layers *= 4) {
    lab s = stack_of(n_layers);
    for (uint64_t seed = 1; seed <= 3; seed++)
      assert_in_range(solved_value(s.problem, "stretched", 16000, seed, NULL), 45 * n_layers, 1.02 * 45 * n_layers);
    lab_free(&s);
  }
}

/* Of 2,100 operators 1,050 take 10 ns on one device and 30 on the other, the rest the reverse, in an order that repeats
 * nothing. With each where it is fast both devices take 10,500 ns. Contiguous plans, which are what exact programs
 * find, take about twice that: half of the operators on either device, at 20 ns on average. */
static void auto_leaves_the_searches_steps_where_exact_programs_do_not_end(void **state) {
  (void)state;
  enum { N = 2100 };
  int64_t times[N][2];
  rng random = rng_new(7);
  int32_t left = N / 2;
  for (int32_t v = 0; v < N; v++) {
    bool first = rng_below(&random, N - v) < left;
    left -= first;
    times[v][!first] = 10;
    times[v][first] = 30;
  }
  assert_int_equal(left, 0);
  lab s = chain_of(N, times);
  for (uint64_t seed = 1; seed <= 2; seed++)
    assert_in_range(solved_value(s.problem, "auto", 6000, seed, NULL), 10500, 1.5 * 10500);
  lab_free(&s);
}

static void equal_steps_give_equal_plans(void **state) {
  (void)state;
  lab s = stack_of(400);
  int64_t value_ns = solved_value(s.problem, "stretched", 1000, 1, NULL);
  assert_int_equal(solved_value(s.problem, "stretched", 1000, 1, NULL), value_ns);
  lab_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_join_the_same_operator_of_neighbouring_layers),
      cmocka_unit_test(a_pinned_operator_stays_alone),
      cmocka_unit_test(a_stack_of_layers_is_placed_as_one_layer_would_be),
      cmocka_unit_test(auto_leaves_the_searches_steps_where_exact_programs_do_not_end),
      cmocka_unit_test(equal_steps_give_equal_plans),
  };
  return cmocka_run_group_tests_name("stretched", tests, NULL, NULL);
}
