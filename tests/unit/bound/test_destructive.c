/* Contradictions to a time, by hand: cases that one of its rules alone sees, each with the optimum as the bound. */
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "bound/bound.h"

static int64_t bound_of(lab *s, certificate *proof) {
  lab_pose(s, &(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM});
  return proved_bound(proof, &destructive_bound, s->problem, s->arena);
}

/* The bound says just this, and the judge sees it proved by its numbers, and no more. */
static void expect(lab *s, int64_t expected_ns) {
  certificate c;
  assert_int_equal(bound_of(s, &c), expected_ns);
  assert_true(proved_claim(s->problem, &c));
  c.lower_ns++;
  assert_false(proved_claim(s->problem, &c));
  lab_free(s);
}

/* An operator that runs on one device alone. */
static int32_t on_one(lab *s, int32_t d, int64_t time_ns) {
  int32_t v = lab_operator(s, NULL, time_ns, 0, 0);
  for (int32_t e = 0; e < s->n_devices; e++)
    if (e != d) s->time_ns[v][e] = SITU_NEVER_NS;
  return v;
}

/* 9, 1 and 1 ns with nothing between them, one after the other on the one device. */
TEST(work_of_one_device_adds_up) {
  lab s = lab_mesh(1, SITU_UNLIMITED_BYTES);
  for (int i = 0; i < 3; i++) lab_operator(&s, NULL, i ? 1 : 9, 0, 0);
  expect(&s, 11);
}

/* The same of so many operators that only some intervals are looked at: 190 of 2 ns. */
TEST(work_of_many_operators_adds_up) {
  lab s = lab_mesh(1, SITU_UNLIMITED_BYTES);
  for (int i = 0; i < 190; i++) lab_operator(&s, NULL, 2, 0, 0);
  expect(&s, 380);
}

/* Three chains of 50, 4 and 70 ns, each on a device of its own but for its middle, which is the first device's: that
 * has 12 ns to do between 50 and 70 ns before the end. No operator comes after, or before, more than one of the three.
 */
TEST(work_between_what_is_before_and_what_is_after_adds_up) {
  lab s = lab_mesh(4, SITU_UNLIMITED_BYTES);
  for (int32_t d = 1; d < 4; d++) {
    int32_t before = on_one(&s, d, 50), middle = on_one(&s, 0, 4), after = on_one(&s, d, 70);
    lab_tensor(&s, before, 0, middle, -1);
    lab_tensor(&s, middle, 0, after, -1);
  }
  expect(&s, 50 + 12 + 70);
}

/* x has 45 bytes for a; neither takes time. In less than 50 ns x goes with y, which takes 50 on the first device and 10
 * on the second, and a with c, of which the converse is so: then 45 ns it is. */
TEST(what_time_rules_out_for_one_of_a_group_is_so_for_all) {
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  int32_t x = lab_of_phase(&s, "x", 0, SITU_PHASE_FORWARD, 1), y, a, c;
  y = lab_of_phase(&s, "y", 10, SITU_PHASE_FORWARD, 1);
  a = lab_of_phase(&s, "a", 0, SITU_PHASE_FORWARD, 2);
  c = lab_of_phase(&s, "c", 10, SITU_PHASE_FORWARD, 2);
  s.time_ns[y][0] = s.time_ns[c][1] = 50;
  lab_tensor(&s, x, 45, a, -1);
  expect(&s, 45);
}

/* Operators of no transfers on two devices, all of one row before all of the next: four of 5 ns, one of 10, four of 5,
 * and three that take 4 ns on the first device and 9 on the second. The rows take 10 + 10 + 10, then two of the three
 * follow one another on the first device beside the third: 39. The rounds see it one by one: that the third row starts
 * at 20 follows from work, that the last starts at 30 from work after that, and that within 38 ns none of the last can
 * be on the second device from both; only then is there too much on the first. */
TEST(work_goes_on_from_what_work_showed) {
  static const int32_t rows[] = {0, 4, 5, 9, 12};
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t row = 0; row < 4; row++)
    for (int32_t v = rows[row]; v < rows[row + 1]; v++) {
      lab_operator(&s, NULL, row == 1 ? 10 : row == 3 ? 4 : 5, 0, 0);
      if (row == 3) s.time_ns[v][1] = 9;
      for (int32_t u = row ? rows[row - 1] : 0; row && u < rows[row]; u++) lab_tensor(&s, u, 0, v, -1);
    }
  expect(&s, 39);
}

/* Priced sums fit their numbers up to 2^50 ns of work, whichever operators have it. */
TEST(more_work_than_sums_can_hold_is_not_looked_at) {
  const int64_t most = (int64_t)1 << 50;
  const int64_t rows[][3] = {
      {most, 0, 1}, {0, most, 1}, {most + 1, 0, 0}, {0, most + 1, 0}, {most / 2, most / 2 + 1, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    OWN(lab) s = lab_mesh(1, SITU_UNLIMITED_BYTES);
    for (int k = 0; k < 2; k++) lab_operator(&s, NULL, rows[i][k], 0, 0);
    certificate c;
    assert_int_equal(bound_of(&s, &c), rows[i][2] * most);
  }
}

/* a, 3 ns, before b, 4 ns, wherever they run: as many devices as the rules look at, and one more. */
TEST(it_serves_64_devices) {
  for (int more = 0; more < 2; more++) {
    situ_graph_builder *builder;
    assert_int_equal(situ_graph_builder_new(&builder, "two", NULL), SITU_STATUS_OK);
    for (int32_t v = 0; v < 2; v++)
      assert_int_equal(builder_add_operator(builder, &(situ_operator){.colocation = -1, .source_id = -1}, NULL, NULL),
                       SITU_STATUS_OK);
    assert_int_equal(builder_add_tensor(builder, 0, &(situ_tensor){.rank = -1}, NULL, NULL), SITU_STATUS_OK);
    assert_int_equal(builder_add_use(builder, 1, 0, NULL), SITU_STATUS_OK);
    OWN(lab) l = lab_of_builder(builder, more ? "cpu+64*t4-16g" : "cpu+63*t4-16g");
    for (int32_t i = 0; i < 2 * l.costs->n_classes; i++) l.costs->time_ns[i] = i < l.costs->n_classes ? 3 : 4;
    situ_problem_options options = {.size = sizeof options, .execution = SITU_EXECUTION_STREAM};
    assert_int_equal(situ_problem_pose(&l.problem, l.graph, l.platform, l.costs, &options, NULL), SITU_STATUS_OK);
    certificate c;
    OWN(arena) *a = arena_new();
    assert_int_equal(proved_bound(&c, &destructive_bound, l.problem, a), more ? 0 : 7);
  }
}

TEST_MAIN
