/* Units that look alike: classes that can be counted by hand. */
#include "../scenario.h"
#include "view/repeated_units.h"

/* A chain of n operators whose times repeat with a period; paired: operators 2k and 2k + 1 stay together. */
static scenario chain_of(int32_t n, int32_t period, bool paired) {
  static char names[SCENARIO_MOST][8];
  scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < n; v++) {
    snprintf(names[v], sizeof names[v], "%d", (int)v);
    scenario_of_phase(&s, names[v], 1 + v % period, SITU_PHASE_FORWARD, paired ? v / 2 : -1);
  }
  for (int32_t v = 0; v + 1 < n; v++) scenario_tensor(&s, v, 1, v + 1, -1);
  scenario_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  return s;
}

/* After r rounds an operator of a chain knows its own kind, and the r next to either side, so that those less than r
 * from an end are like no other; of the rest there are as many classes as kinds: 2 r + 2 of a chain of two kinds. */
static void classes_of_a_chain_are_its_kinds_and_its_ends(void **state) {
  (void)state;
  scenario s = chain_of(40, 2, false);
  repeated_levels levels;
  assert_true(repeated_levels_find(&levels, s.problem, s.arena));
  assert_int_equal(levels.n, 4);
  for (int32_t k = 0; k < levels.n; k++) {
    int32_t rounds = 1 << k;
    assert_int_equal(levels.of[k].n, 2 * rounds + 2);
    for (int32_t v = 0; v < 40; v++) {
      unit_members m = unit_list_members(&levels.of[k], levels.of[k].of[v]);
      bool inside = v >= rounds && v < 40 - rounds;
      assert_int_equal(m.n, inside ? (40 - 2 * rounds) / 2 : 1);
      for (int32_t i = 0; i < m.n; i++) assert_int_equal(m.member[i] % 2, v % 2);
    }
  }
  scenario_free(&s);
}

/* Twenty pairs that stay together: the first and the last are like no other, the rest are alike. */
static void units_stay_whole(void **state) {
  (void)state;
  scenario s = chain_of(40, 2, true);
  repeated_levels levels;
  assert_true(repeated_levels_find(&levels, s.problem, s.arena));
  assert_int_equal(levels.of[0].n, 1 + 2);
  for (int32_t k = 0; k < levels.n; k++)
    for (int32_t v = 0; v < 40; v += 2) assert_int_equal(levels.of[k].of[v], levels.of[k].of[v + 1]);
  scenario_free(&s);
}

static void what_does_not_repeat_has_no_levels(void **state) {
  (void)state;
  scenario s = chain_of(40, 40, false);
  repeated_levels levels;
  assert_true(repeated_levels_find(&levels, s.problem, s.arena));
  assert_int_equal(levels.n, 0);
  scenario_free(&s);
}

/* Thirty pairs, equal but for what the first half of them sends where `sized`: one round tells all there is. */
static void equal_pieces_are_alike_and_sizes_tell_them_apart(void **state) {
  (void)state;
  for (int32_t sized = 0; sized < 2; sized++) {
    enum { N = 60 };
    static char names[N][8];
    scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
    for (int32_t v = 0; v < N; v++) {
      snprintf(names[v], sizeof names[v], "%d", (int)v);
      scenario_operator(&s, names[v], 1, 0, 0);
    }
    for (int32_t v = 0; v < N; v += 2) scenario_tensor(&s, v, sized && v < N / 2 ? 2 : 1, v + 1, -1);
    scenario_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
    repeated_levels levels;
    assert_true(repeated_levels_find(&levels, s.problem, s.arena));
    assert_int_equal(levels.n, 1);
    assert_int_equal(levels.of[0].n, sized ? 4 : 2);
    scenario_free(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_of_a_chain_are_its_kinds_and_its_ends),
      cmocka_unit_test(units_stay_whole),
      cmocka_unit_test(what_does_not_repeat_has_no_levels),
      cmocka_unit_test(equal_pieces_are_alike_and_sizes_tell_them_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
