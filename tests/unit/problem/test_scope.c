/* The scope of a proof: every restriction of a problem is one entry, and the words name all that narrow. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "plan/scope_json.h"
#include "problem/scope.h"
#include "situ/plan.h"

/* a, b, c, d on a host d0 and on d1, d2, alike. */
static lab four_operators(int32_t group) {
  lab s = lab_mesh(3, 1000);
  s.alike = true;
  for (int32_t v = 0; v < 4; v++) {
    char name[2] = {(char)('a' + v), 0};
    lab_add(&s, (situ_operator){.name = name, .source_id = -1, .colocation = v < 2 ? group : -1}, 1);
  }
  return s;
}

static void expect_scope(int32_t group, situ_problem_options options, const char *plans, const char *plan,
                         int narrowing) {
  lab s = four_operators(group);
  text_buffer t = {0};
  scope of;
  lab_pose(&s, &options);
  assert_string_equal(s.problem->scope, plans);
  scope_find(&of, s.problem, 0);
  scope_add_plan(&t, &of);
  char *found = text_take(&t);
  assert_string_equal(found, plan);
  free(found);
  for (int k = 0; k <= SCOPE_LIMIT; k++) narrowing -= of.amount[k] > 0;
  assert_int_equal(narrowing, 0);
  lab_free(&s);
}

#define WHOLE "every operator whole on one device"

TEST(every_restriction_is_named) {
  const int32_t one[] = {1, -1, -1, -1}, all[] = {0, 0, 0, 0}, keys[] = {0, -1, 0, -1}, alone[] = {0, 1, 2, 3};
  const bool unused[] = {true, false, true};
  expect_scope(-1, (situ_problem_options){0}, "plans that keep " WHOLE, "plan that keeps " WHOLE, 1);
  expect_scope(5, (situ_problem_options){0}, "plans that keep " WHOLE ", 1 colocation group together",
               "plan that keeps 1 colocation group together and " WHOLE, 2);
  expect_scope(-1, (situ_problem_options){.pins = one}, "plans that keep " WHOLE ", 1 of 4 operators pinned",
               "plan that keeps 1 of 4 operators pinned and " WHOLE, 2);
  expect_scope(-1, (situ_problem_options){.pins = all}, "plans that keep " WHOLE ", all 4 operators pinned",
               "plan that keeps all 4 operators pinned and " WHOLE, 2);
  expect_scope(-1, (situ_problem_options){.unused = unused}, "plans that keep " WHOLE " and leave d0 and d2 unused",
               "plan that leaves d0 and d2 unused and keeps " WHOLE, 2);
  expect_scope(-1, (situ_problem_options){.keep_together = keys}, "plans that keep " WHOLE ", given groups whole",
               "plan that keeps given groups whole and " WHOLE, 2);
  expect_scope(-1, (situ_problem_options){.keep_together = keys, .keep_name = "layers", .unused = unused},
               "plans that keep " WHOLE ", layers whole and leave d0 and d2 unused",
               "plan that leaves d0 and d2 unused, keeps layers whole and " WHOLE, 3);
  expect_scope(-1, (situ_problem_options){.keep_together = alone}, "plans that keep " WHOLE, "plan that keeps " WHOLE,
               1);
  expect_scope(-1, (situ_problem_options){.execution = SITU_EXECUTION_CALLS, .max_calls = 1},
               "plans that keep " WHOLE " and make at most 1 call on each accelerator",
               "plan that makes at most 1 call on each accelerator and keeps " WHOLE, 2);
  expect_scope(-1, (situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT},
               "plans that keep " WHOLE ", give each device one contiguous part and use no replicas",
               "plan that uses no replicas, gives each device one contiguous part and keeps " WHOLE, 3);
  expect_scope(-1, (situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT, .free = true, .replicate = true},
               "plans that keep " WHOLE, "plan that keeps " WHOLE, 1);
  expect_scope(-1, (situ_problem_options){.max_period_ns = 7},
               "plans that keep " WHOLE " and stay within the limit on period (7 ns)",
               "plan that stays within the limit on period (7 ns) and keeps " WHOLE, 2);
}

/* A limit that excludes nothing, by which fronts ask for both values, is none. What the machine does narrows nothing.
 */
TEST(what_narrows_nothing_is_not_among_the_words) {
  expect_scope(-1, (situ_problem_options){.max_period_ns = SITU_NEVER_NS - 1}, "plans that keep " WHOLE,
               "plan that keeps " WHOLE, 1);
  expect_scope(-1, (situ_problem_options){.overlap = SITU_OVERLAP_NONE}, "plans that keep " WHOLE,
               "plan that keeps " WHOLE, 1);
  OWN(lab) s = four_operators(-1);
  lab_pose(&s, &(situ_problem_options){.copies = 2, .contention = SITU_CONTENTION_NONE});
  scope of;
  scope_find(&of, s.problem, SITU_FORM_LAYERS | SITU_FORM_ONE_SERVER);
  assert_int_equal(of.amount[SCOPE_COPIES], 2);
  assert_int_equal(of.amount[SCOPE_CONTENTION], 1);
  text_buffer t = {0};
  scope_add_machine(&t, &of);
  char *machine = text_take(&t);
  assert_string_equal(machine, " (links without contention, 2 copies)");
  free(machine);
  json_value *list = scope_to_json(&of);
  assert_int_equal(json_size(list), 4);
  for (size_t i = 0; i < 4; i++) assert_true(json_bool(json_get(json_at(list, i), "narrows"), false) == (i == 0));
  assert_string_equal(json_text(json_get(json_at(list, 1), "words"), ""),
                      "the form that its writers need: whole layers, one server");
  json_free(list);
}

/* Kernels of the costs, operators that rules forbid, and memory that they reserve. */
TEST(what_costs_know_is_named) {
  OWN(lab) s = four_operators(-1);
  lab_pose(&s, NULL);
  situ_problem_free(s.problem);
  bool ruled[4 * 2] = {[1] = true, [3] = true}; /* a and b on the second class */
  s.costs->group = (int32_t[]){0, 0, 2, 3};
  s.costs->ruled = ruled;
  s.costs->reserved_bytes = 2000;
  assert_int_equal(s.costs->n_classes, 2);
  assert_int_equal(situ_problem_pose(&s.problem, s.graph, s.platform, s.costs, NULL, NULL), SITU_STATUS_OK);
  assert_string_equal(s.problem->scope, "plans that keep " WHOLE
                                        ", kernels whole, 2 operators where rules allow and leave 2.00 KB "
                                        "free over all memories");
}

TEST(forms_have_names_in_files) {
  for (int32_t form = 1; form < 2 * SITU_FORM_ONE_SERVER; form += 37) {
    int32_t again = 0;
    json_value *list = form_to_json(form);
    assert_true(form_from_json(&again, list) && again == form);
    json_free(list);
  }
  int32_t form;
  json_value *list = json_new_array();
  assert_true(json_push(list, json_new_text("layer")));
  assert_false(form_from_json(&form, list) || form_from_json(&form, NULL));
  json_free(list);
}

TEST_MAIN
