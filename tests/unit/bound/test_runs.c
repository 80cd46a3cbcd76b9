/* Runs of a chain, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lab/proved.h"
#include "../scenario.h"
#include "bound/bound.h"

static const situ_problem_options pipeline = {.execution = SITU_EXECUTION_PIPELINE,
                                              .objective = SITU_OBJECTIVE_THROUGHPUT};

/* What the bound finds, which the judge must see in its certificate. */
static int64_t found(scenario *s, const situ_problem_options *options) {
  budget unlimited = budget_new(0, 0, NULL, NULL);
  certificate proof = {0};
  int64_t lower;
  scenario_pose(s, options);
  assert_int_equal(runs_bound.compute(&lower, &proof, s->problem, s->arena, &unlimited, NULL), SITU_STATUS_OK);
  if (proof.kind) assert_true(proved_by(s->problem, &proof) == lower);
  return lower;
}

/* n operators in a row, 10 ns each, 7 bytes of weights. */
static void add_row(scenario *s, int32_t n) {
  for (int32_t v = 0; v < n; v++) {
    scenario_operator(s, "", 10, 7, 0);
    if (v > 0) scenario_tensor(s, v - 1, 1, v, -1);
  }
}

/* Five operators on two devices: one has at least three of them in a row, 30 ns. Work alone says 25. */
static void a_chain_is_cut_between_operators(void **state) {
  (void)state;
  scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
  add_row(&s, 5);
  assert_int_equal(found(&s, &pipeline), 30);
  scenario_free(&s);
}

/* a and d, 10 ns each, with b and c, 4 ns each, beside each other between them. By the chain a, b, d one device has two
 * of them, 14 ns; and a, b | c, d takes 14 ns. */
static void what_is_beside_the_chain_is_left_out(void **state) {
  (void)state;
  scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 4; v++) scenario_operator(&s, "", v == 0 || v == 3 ? 10 : 4, 0, 0);
  scenario_tensor(&s, 0, 1, 1, 2, -1);
  scenario_tensor(&s, 1, 1, 3, -1);
  scenario_tensor(&s, 2, 1, 3, -1);
  assert_int_equal(found(&s, &pipeline), 14);
  scenario_free(&s);
}

/* One device alone has all four: 10 + 4 + 4 + 10. The chain a, d knows what lies between its ends. */
static void what_lies_between_the_ends_of_a_run_counts(void **state) {
  (void)state;
  scenario s = scenario_mesh(1, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 4; v++) scenario_operator(&s, "", v == 0 || v == 3 ? 10 : 4, 0, 0);
  scenario_tensor(&s, 0, 1, 1, 2, -1);
  scenario_tensor(&s, 1, 1, 3, -1);
  scenario_tensor(&s, 2, 1, 3, -1);
  assert_int_equal(found(&s, &pipeline), 28);
  scenario_free(&s);
}

/* The host takes 100 ns for each of five; the other device 10, and has room for 14 bytes, two of them: 300. With 6
 * bytes it has room for none: 500. */
static void a_run_has_room_in_memory(void **state) {
  (void)state;
  for (int32_t none = 0; none < 2; none++) {
    scenario s = scenario_new();
    scenario_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    scenario_device(&s, none ? 6 : 14, -1, false);
    scenario_link(&s, 0, 1, 0, -1);
    scenario_link(&s, 1, 0, 0, -1);
    add_row(&s, 5);
    for (int32_t v = 0; v < 5; v++) s.time_ns[v][0] = 100;
    assert_int_equal(found(&s, &pipeline), none ? 500 : 300);
    scenario_free(&s);
  }
}

/* Without contiguity, or with shared parts, nothing is proved. */
static void only_contiguous_parts_are_runs(void **state) {
  (void)state;
  for (int32_t shared = 0; shared < 2; shared++) {
    scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
    situ_problem_options o = pipeline;
    o.free = !shared;
    o.replicate = shared;
    add_row(&s, 5);
    assert_int_equal(found(&s, &o), 0);
    certificate c;
    certificate_start(&c, "runs", 0);
    int64_t *chain = certificate_add_operators(&c, "chain", 5, s.arena);
    for (int32_t v = 0; v < 5; v++) chain[v] = v;
    assert_int_equal(proved_by(s.problem, &c), 0);
    scenario_free(&s);
  }
}

/* The same operators in another order, or one of them twice, are no chain. Some of them are one: 2 and 4 alone have
 * 3 between them, so that two devices take 10 ns. */
static void the_judge_asks_for_a_chain(void **state) {
  (void)state;
  static const struct {
    int64_t chain[3];
    int32_t n, proved;
  } rows[] = {{{0, 1, 2}, 3, 20}, {{1, 0, 2}, 3, 0}, {{0, 1, 1}, 3, 0}, {{2, 4, 0}, 2, 10}, {{3, 0, 0}, 1, 10}};
  scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
  add_row(&s, 5);
  found(&s, &pipeline);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    certificate c;
    certificate_start(&c, "runs", 0);
    int64_t *chain = certificate_add_operators(&c, "chain", rows[i].n, s.arena);
    for (int32_t k = 0; k < rows[i].n; k++) chain[k] = rows[i].chain[k];
    assert_int_equal(proved_by(s.problem, &c), rows[i].proved);
  }
  scenario_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_is_cut_between_operators),
      cmocka_unit_test(what_is_beside_the_chain_is_left_out),
      cmocka_unit_test(what_lies_between_the_ends_of_a_run_counts),
      cmocka_unit_test(a_run_has_room_in_memory),
      cmocka_unit_test(only_contiguous_parts_are_runs),
      cmocka_unit_test(the_judge_asks_for_a_chain),
  };
  return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
