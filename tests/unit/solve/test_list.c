/* List schedulers and the timelines below them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../lab/lab.h"
#include "base/rng.h"
#include "sim/simulate.h"
#include "situ/solve.h"
#include "solve/kit/list.h"
#include "solve/kit/rank.h"
#include "solve/kit/timeline.h"

static void upward_ranks_are_those_of_the_paper(void **state) {
  (void)state;
  /* Topcuoglu et al. 2002, table 2 */
  static const double expected[10] = {108.000, 77.000, 80.000, 80.000, 69.000, 63.333, 42.667, 35.667, 44.333, 14.667};
  lab l = lab_topcuoglu();
  arena *a = arena_new();
  rank_costs costs;
  double rank[10];
  assert_true(rank_costs_find(&costs, a, l.problem, RANK_MEAN));
  rank_upward(rank, l.problem, &costs);
  for (int32_t v = 0; v < 10; v++) assert_true(fabs(rank[v] - expected[l.graph->source_id[v] - 1]) < 0.001);
  arena_free(a);
  lab_free(&l);
}

static void heft_takes_80_on_the_example_of_its_paper(void **state) {
  (void)state;
  lab l = lab_topcuoglu();
  arena *a = arena_new();
  rank_costs costs;
  double rank[10];
  draft s;
  budget b = budget_new(0, 0, NULL, NULL);
  assert_true(rank_costs_find(&costs, a, l.problem, RANK_MEAN));
  rank_upward(rank, l.problem, &costs);
  assert_true(draft_init(&s, l.problem, a));
  assert_true(list_schedule(&s, &(list_policy){.priority = rank}, &b, a));
  placement where = draft_placement(&s);
  assert_int_equal(simulator_run(simulator_new(l.problem, a), &where, true).value_ns, 80);
  arena_free(a);
  lab_free(&l);
}

static int64_t value_of(const situ_problem *p, const char *name) {
  situ_plan *plan;
  situ_error error;
  situ_solve_options o = {.solvers = name, .no_bounds = true};
  if (situ_solve(&plan, p, &o, &error) != SITU_STATUS_OK) fail_msg("%s: %s", name, error.text);
  int64_t value = situ_plan_value_ns(plan);
  assert_true(situ_plan_lower_bound_ns(plan) <= value);
  situ_plan_free(plan);
  return value;
}

static void cpop_takes_86_on_the_example_of_its_paper(void **state) {
  (void)state;
  lab l = lab_topcuoglu();
  assert_int_equal(value_of(l.problem, "cpop"), 86);
  assert_true(value_of(l.problem, "heft") <= 80);
  lab_free(&l);
}

/* Tensors that live long fill accelerators beyond what list scheduling sees of them: weights and the greatest
 * footprint. */
static void heft_finds_a_plan_where_one_device_is_enough(void **state) {
  (void)state;
  int32_t n_alone = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 300,
                     .n_devices = 2 + (int32_t)(seed % 4),
                     .density = 0.03 + 0.02 * (double)(seed % 5),
                     .equal = seed % 2,
                     .memory = 0.01 + 0.01 * (double)(seed % 3),
                     .pinned = seed % 5 == 0,
                     .options = {.execution = SITU_EXECUTION_STREAM}};
    lab l = lab_random(&o);
    bool alone = !l.problem->conflict && value_of(l.problem, "single") < SITU_NEVER_NS;
    n_alone += alone;
    if (alone && value_of(l.problem, "heft") == SITU_NEVER_NS) fail_msg("seed %d: heft has no plan", (int)seed);
    lab_free(&l);
  }
  assert_true(n_alone > 30);
}

/* The same by scanning a plain list of busy intervals. */
static int64_t find_slowly(const int64_t (*busy)[2], int n, int64_t ready, int64_t duration) {
  int64_t best = ready;
  for (bool moved = true; moved;) {
    moved = false;
    for (int i = 0; i < n; i++)
      if (best < busy[i][1] && best + duration > busy[i][0]) {
        best = busy[i][1];
        moved = true;
      }
  }
  return best;
}

static void timelines_find_the_first_gap(void **state) {
  (void)state;
  enum { TASKS = 200 };
  for (uint64_t seed = 0; seed < 50; seed++) {
    arena *a = arena_new();
    rng r = rng_new(seed);
    timeline_pool pool;
    timeline line = {.least = 1};
    int64_t busy[TASKS][2];
    assert_true(timeline_pool_init(&pool, a, TASKS));
    for (int i = 0; i < TASKS; i++) {
      int64_t ready = rng_below(&r, 2000), duration = 1 + rng_below(&r, 12);
      int64_t start = timeline_find(&pool, &line, ready, duration);
      assert_int_equal(start, find_slowly(busy, i, ready, duration));
      timeline_put(&pool, &line, start, duration);
      busy[i][0] = start;
      busy[i][1] = start + duration;
    }
    arena_free(a);
  }
}

static void a_name_that_does_not_exist_is_answered_with_near_ones(void **state) {
  (void)state;
  lab l = lab_topcuoglu();
  situ_plan *plan;
  situ_error error;
  situ_solve_options o = {.solvers = "heft,hefd"};
  assert_int_equal(situ_solve(&plan, l.problem, &o, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "hefd"));
  assert_non_null(strstr(error.text, "did you mean heft"));
  assert_null(plan);
  lab_free(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(upward_ranks_are_those_of_the_paper),
      cmocka_unit_test(heft_takes_80_on_the_example_of_its_paper),
      cmocka_unit_test(cpop_takes_86_on_the_example_of_its_paper),
      cmocka_unit_test(heft_finds_a_plan_where_one_device_is_enough),
      cmocka_unit_test(timelines_find_the_first_gap),
      cmocka_unit_test(a_name_that_does_not_exist_is_answered_with_near_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
