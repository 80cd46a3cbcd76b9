/* What is unknown: shares by hand, kernels, measured times, and the claim that is left. */
#include <math.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "problem/claim.h"
#include "problem/unknown.h"

/* On a host and an accelerator: a 10 or 4 ns, b 30 or 20 ns, c 6 ns on both; 30 ns on the fastest. */
static lab three(void) {
  static const int64_t times[3][2] = {{10, 4}, {30, 20}, {6, 6}};
  lab s = lab_mesh(2, 1000);
  for (int v = 0; v < 3; v++) {
    const char *const names[] = {"a", "b", "c"};
    lab_add(&s, (situ_operator){.name = names[v], .colocation = -1, .source_id = -1, .inferred = true}, 0);
    for (int d = 0; d < 2; d++) s.time_ns[v][d] = times[v][d];
  }
  return s;
}

static void guess(lab *s, situ_guess_kind kind, const char *subject, int32_t op) {
  assert_int_equal(builder_add_guess(s->builder, kind, subject, op, NULL), SITU_STATUS_OK);
}

static void row_is(const unknown_list *l, int32_t k, const char *subject, int32_t n, double share) {
  assert_true(k < l->n);
  assert_string_equal(l->rows[k].subject, subject);
  assert_int_equal(l->rows[k].n_operators, n);
  assert_true(fabs(l->rows[k].share - (share)) < 1e-12);
}

TEST(shares_are_those_of_the_time_on_the_fastest_devices) {
  OWN(lab) s = three();
  guess(&s, SITU_GUESS_KIND, "Foo", 0);
  guess(&s, SITU_GUESS_TYPE, "T", 0);
  guess(&s, SITU_GUESS_TYPE, "T", 2);
  lab_pose(&s, NULL);
  const unknown_list *l = &s.problem->unknown;
  assert_int_equal(l->n, 2);
  row_is(l, 0, "T", 2, (4.0 + 6) / 30); /* the larger share first */
  row_is(l, 1, "Foo", 1, 4.0 / 30);
  assert_int_equal(l->n_operators, 2); /* a counts once */
  assert_true(fabs(l->share - (10.0 / 30)) < 1e-12);
  assert_true(l->single[0] && !l->single[1] && l->single[2]);
}

TEST(a_guess_about_all_has_the_whole_time) {
  OWN(lab) s = three();
  guess(&s, SITU_GUESS_KIND, "Foo", 1);
  guess(&s, SITU_GUESS_SIZE, "seq", GUESS_OF_ALL);
  lab_pose(&s, NULL);
  const unknown_list *l = &s.problem->unknown;
  row_is(l, 0, "seq", 3, 1);
  row_is(l, 1, "Foo", 1, 20.0 / 30);
  assert_true(fabs(l->share - (1)) < 1e-12);
  assert_true(!l->single[0] && l->single[1]); /* of all is of none alone */
}

/* The costs of a posed problem changed, and what is unknown then. */
static unknown_list again(lab *s) {
  unknown_list l;
  assert_true(unknown_find(&l, s->graph, s->costs, s->arena));
  return l;
}

TEST(a_kernel_is_guessed_with_any_of_its_operators) {
  OWN(lab) s = three();
  guess(&s, SITU_GUESS_KIND, "Foo", 0);
  lab_pose(&s, NULL);
  int32_t group[] = {1, 1, 2};
  s.costs->group = group;
  for (int k = 0; k < 2; k++) s.costs->time_ns[k] = 0; /* a is in the kernel of b: 20 of 26 ns */
  unknown_list l = again(&s);
  row_is(&l, 0, "Foo", 1, 20.0 / 26);
  s.costs->group = NULL;
}

TEST(what_is_measured_everywhere_is_no_guess) {
  OWN(lab) s = three();
  guess(&s, SITU_GUESS_KIND, "Foo", 0);
  guess(&s, SITU_GUESS_SIZE, "seq", GUESS_OF_ALL);
  lab_pose(&s, NULL);
  bool measured[6] = {true, false}; /* a on the host alone */
  s.costs->measured = measured;
  unknown_list l = again(&s);
  assert_int_equal(l.n, 2);
  measured[1] = true;
  l = again(&s);
  assert_int_equal(l.n, 1);
  row_is(&l, 0, "seq", 2, 26.0 / 30);
  measured[2] = true; /* b on the host, and it cannot run elsewhere: 40 ns are all, c is the 6 that are not known */
  s.costs->time_ns[3] = SITU_NEVER_NS;
  l = again(&s);
  row_is(&l, 0, "seq", 1, 6.0 / 40);
  assert_true(costs_set_measured(s.costs));
  l = again(&s);
  assert_int_equal(l.n, 0);
  assert_true(fabs(l.share - (0)) < 1e-12);
  s.costs->measured = NULL;
}

TEST(without_times_operators_count) {
  OWN(lab) s = three();
  guess(&s, SITU_GUESS_KIND, "Foo", 0);
  for (int v = 0; v < 3; v++) s.time_ns[v][0] = s.time_ns[v][1] = 0;
  lab_pose(&s, NULL);
  row_is(&s.problem->unknown, 0, "Foo", 1, 1.0 / 3);
}

/* 30 ns, of which a limit of 20 % leaves 6: c is as much, b more. */
TEST(a_claim_holds_up_to_the_limit) {
  situ_error error = {0};
  for (int op = 1; op < 3; op++) {
    OWN(lab) s = three();
    situ_problem_options o = SITU_PROBLEM_OPTIONS_INIT;
    o.max_unknown_percent = 20;
    guess(&s, SITU_GUESS_KIND, "Foo", op);
    lab_pose(&s, &o);
    bool over = op == 1;
    situ_problem_summary said = SITU_PROBLEM_SUMMARY_INIT;
    assert_true(situ_problem_get_summary(s.problem, &said));
    assert_int_equal(said.guessed, over);
    assert_int_equal(said.n_unknown, 1);
    assert_string_equal(claim_optimal(s.problem),
                        over ? "optimal for guessed costs" : "proved optimal for these costs");
    assert_string_equal(claim_costs(s.problem), over ? "guessed costs" : "these costs");
    assert_int_equal(situ_problem_require_known(s.problem, 0, &error), over ? SITU_STATUS_GUESSED : SITU_STATUS_OK);
    assert_int_equal(situ_problem_require_known(s.problem, 67, NULL), SITU_STATUS_OK);
    assert_int_equal(situ_problem_require_known(s.problem, 1, NULL), SITU_STATUS_GUESSED);
  }
  assert_non_null(
      strstr(error.text, "more than 20 % is guessed (1 operator, 66.7 % of the time: no cost rule for Foo)"));
}

TEST(nothing_guessed_is_nothing_said) {
  OWN(lab) s = three();
  lab_pose(&s, NULL);
  assert_int_equal(situ_problem_unknown_count(s.problem), 0);
  assert_string_equal(claim_optimal(s.problem), "proved optimal for these costs");
  assert_int_equal(situ_problem_require_known(s.problem, 1e-9, NULL), SITU_STATUS_OK);
  text_buffer t = {0};
  unknown_add_words(&t, &s.problem->unknown);
  assert_int_equal(t.length, 0);
}

TEST(a_line_names_three_subjects_of_a_kind) {
  OWN(lab) s = three();
  const char *const subjects[] = {"one", "two", "three", "fo\x1bur"};
  for (int k = 0; k < 4; k++) guess(&s, SITU_GUESS_ROLE, subjects[k], k < 3 ? k : 0);
  guess(&s, SITU_GUESS_SIZE, "seq", 2);
  lab_pose(&s, NULL);
  text_buffer t = {0};
  unknown_add_words(&t, &s.problem->unknown);
  assert_string_equal(t.bytes,
                      "3 operators, 100 % of the time: size of seq assumed; role of two, three, one and 1 more");
  text_free(&t);
}

TEST_MAIN
