/* Tensors that are certain to be in memory, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lab/proved.h"
#include "../scenario.h"
#include "bound/alive.h"
#include "bound/bound.h"

/* a -> b -> c, and backward x of c, y of b, z of a; b and y are one group. Tensors, bytes in brackets: a makes p [40]
 * for b and y, b makes q [7] for c, c makes r [5] for x, x makes s [3] for y, y makes t [2] for z. Each takes 10 ns.
 * While c runs, the group {b, y} has read p and has yet to read it: 40 bytes. q is on its way, and c holds it while it
 * runs: c has it before (it is c itself) and behind, so 7 bytes with c. r is made by c and read by x, another unit: not
 * certain. */
static scenario step(int64_t bytes) {
  scenario s = scenario_mesh(2, bytes);
  const char *names[] = {"a", "b", "c", "x", "y", "z"};
  for (int32_t v = 0; v < 6; v++)
    scenario_add(
        &s,
        (situ_operator){
            .name = names[v], .source_id = -1, .colocation = v == 1 || v == 4 ? 0 : -1, .weight_bytes = v == 1 ? 4 : 0},
        10);
  scenario_tensor(&s, 0, 40, 1, 4, -1);
  scenario_tensor(&s, 1, 7, 2, -1);
  scenario_tensor(&s, 2, 5, 3, -1);
  scenario_tensor(&s, 3, 3, 4, -1);
  scenario_tensor(&s, 4, 2, 5, -1);
  scenario_pose(&s, NULL);
  return s;
}

static void what_a_unit_has_read_and_will_read_again_is_certain(void **state) {
  (void)state;
  scenario s = step(1000);
  const situ_problem *p = s.problem;
  int64_t bytes[6];
  assert_int_equal(p->units.n, 5);
  assert_true(alive_bytes(bytes, p, 2, s.arena));
  for (int32_t u = 0; u < 5; u++) assert_int_equal(bytes[u], u == p->units.of[1] ? 40 : u == p->units.of[2] ? 7 : 0);
  /* While y runs: p, which b has read and y reads, and s, which y reads: 43. t is made by y for another unit. */
  assert_true(alive_bytes(bytes, p, 4, s.arena));
  for (int32_t u = 0; u < 5; u++) assert_int_equal(bytes[u], u == p->units.of[1] ? 43 : 0);
  scenario_free(&s);
}

/* The group needs 4 + 40 bytes while c runs; 4 + 40 + 7 while b does, and 4 + 40 + 3 + 2 while y does: b needs the
 * most. */
static void a_unit_has_no_room_where_that_is_too_much(void **state) {
  (void)state;
  for (int64_t room = 50; room <= 51; room++) {
    scenario s = step(room);
    bool may[12], fewer;
    assert_true(alive_rooms(may, &fewer, s.problem, 2, s.arena));
    assert_int_equal(fewer, room < 51);
    for (int32_t i = 0; i < 12; i++) assert_int_equal(may[i], room >= 51 || (i / 2 != 1 && i / 2 != 4));
    scenario_free(&s);
  }
}

/* With 50 bytes the group is nowhere, and critical_path says so: its certificate names an instant. With 51 six
 * operators of 10 ns follow one another. */
static void without_room_there_is_no_plan(void **state) {
  (void)state;
  for (int64_t room = 50; room <= 51; room++) {
    scenario s = step(room);
    budget unlimited = budget_new(0, 0, NULL, NULL);
    certificate proof = {0};
    int64_t lower;
    assert_int_equal(critical_path_bound.compute(&lower, &proof, s.problem, s.arena, &unlimited, NULL), SITU_STATUS_OK);
    assert_int_equal(lower, room < 51 ? SITU_NEVER_NS : 60);
    assert_int_equal(certificate_size(&proof, "instant"), room < 51);
    scenario_free(&s);
  }
}

/* An operator that may take no time has no instant inside. */
static void an_instant_lies_within_an_operator(void **state) {
  (void)state;
  scenario s = step(1000);
  int64_t bytes[6];
  s.costs->time_ns[2 * s.costs->n_classes] = 0;
  assert_true(alive_bytes(bytes, s.problem, 2, s.arena));
  for (int32_t u = 0; u < 5; u++) assert_int_equal(bytes[u], 0);
  scenario_free(&s);
}

/* Ten forward operators, each with its backward one in a group, which reads 7 bytes of it: 100 ns each on a host
 * without limit, 1 on a device with 21 bytes. With one input in flight that has room for three of ten groups, so the
 * host works at least 7 * 200 ns; with two, for one and a half, 10 * 200 - 1.5 * 200 = 1700. */
static void the_stash_of_a_pipeline_counts_with_its_weights(void **state) {
  (void)state;
  for (int32_t in_flight = 1; in_flight <= 2; in_flight++) {
    scenario s = scenario_new();
    scenario_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    scenario_device(&s, 21, -1, false);
    scenario_link(&s, 0, 1, 0, -1);
    scenario_link(&s, 1, 0, 0, -1);
    for (int32_t v = 0; v < 20; v++) {
      scenario_of_phase(&s, "", 100, v % 2 ? SITU_PHASE_BACKWARD : SITU_PHASE_FORWARD, v / 2);
      s.time_ns[v][1] = 1;
      if (v % 2) scenario_tensor(&s, v - 1, 7, v, -1);
    }
    scenario_pose(
        &s, &(situ_problem_options){
                .execution = SITU_EXECUTION_PIPELINE, .objective = SITU_OBJECTIVE_THROUGHPUT, .in_flight = in_flight});
    budget unlimited = budget_new(0, 0, NULL, NULL);
    certificate proof = {0};
    int64_t lower, most = in_flight == 1 ? 1400 : 1700;
    assert_int_equal(area_bound.compute(&lower, &proof, s.problem, s.arena, &unlimited, NULL), SITU_STATUS_OK);
    assert_in_range(lower, most - 20, most);
    assert_true(proved_by(s.problem, &proof) == lower);
    scenario_free(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_unit_has_read_and_will_read_again_is_certain),
      cmocka_unit_test(a_unit_has_no_room_where_that_is_too_much),
      cmocka_unit_test(without_room_there_is_no_plan),
      cmocka_unit_test(an_instant_lies_within_an_operator),
      cmocka_unit_test(the_stash_of_a_pipeline_counts_with_its_weights),
  };
  return cmocka_run_group_tests_name("alive", tests, NULL, NULL);
}
