/* Tables, amounts, JSON texts and pictures. Expected texts are written by hand. */
#include <math.h>
#include <unistd.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "plan/plan.h"
#include "report/fields.h"
#include "situ/solve.h"

TEST(times_have_six_digits) {
  char a[TEXT_UNIT_BYTES];
  assert_string_equal(exact_time(a, 0), "0 ns");
  assert_string_equal(exact_time(a, 999), "999 ns");
  assert_string_equal(exact_time(a, 10000), "10.0000 us");
  assert_string_equal(round_time(a, 10000), "10 us");
  assert_string_equal(exact_time(a, 17789906), "17.7899 ms");
  assert_string_equal(exact_time(a, 43510000000), "43.5100 s");
  assert_string_equal(exact_time(a, 43510000000000), "43510.0 s");
  assert_string_equal(exact_time(a, INT64_MAX), "never");
  assert_string_equal(exact_time(a, INT64_MAX - 1), "9223372037 s");
}

TEST(counts_are_grouped) {
  char a[TEXT_UNIT_BYTES];
  assert_string_equal(grouped(a, 0), "0");
  assert_string_equal(grouped(a, 999), "999");
  assert_string_equal(grouped(a, 1000), "1,000");
  assert_string_equal(grouped(a, 1234567), "1,234,567");
  assert_string_equal(grouped(a, -1234), "-1,234");
  assert_string_equal(grouped(a, INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(only_nothing_is_0_percent) {
  char a[TEXT_UNIT_BYTES];
  assert_string_equal(percent_text(a, 0), "0 %");
  assert_string_equal(percent_text(a, 0.00001), "< 0.01 %");
  assert_string_equal(percent_text(a, 0.0007), "0.07 %");
  assert_string_equal(percent_text(a, 0.054), "5.4 %");
  assert_string_equal(percent_text(a, 0.9999), "100 %");
  assert_string_equal(percent_text(a, 12.34), "1234 %");
}

TEST(columns_are_as_wide_as_their_widest_cell) {
  table t;
  assert_true(table_start(&t));
  table_column(&t, "device", ALIGN_LEFT, 0);
  table_column(&t, "n", ALIGN_RIGHT, 0);
  table_column(&t, "words", ALIGN_LEFT, 0);
  table_cell(&t, STYLE_PLAIN, "gpu");
  table_cell(&t, STYLE_PLAIN, "1000");
  table_cell(&t, STYLE_PLAIN, NULL);
  table_cell(&t, STYLE_PLAIN, "a\xc3\xa9z"); /* three columns in four bytes */
  table_cell(&t, STYLE_PLAIN, "7");
  table_cell(&t, STYLE_PLAIN, "x\033[2Jy"); /* a file's text cannot command the terminal */
  text_buffer out = {0};
  table_render(&out, &t, NULL);
  assert_string_equal(out.bytes,
                      "  device     n  words\n"
                      "  gpu     1000\n"
                      "  a\xc3\xa9z        7  x?[2Jy\n");
  text_free(&out);
  table_stop(&t);
}

/* Two texts of prose between a name and a number, in 53 columns: 14 are taken, so that 39 are left for the two, and
 * the wider one gives way. */
TEST(prose_gives_way_to_a_narrow_terminal) {
  situ_report_options narrow = {.size = sizeof(situ_report_options), .width = 53};
  table t;
  assert_true(table_start(&t));
  table_column(&t, "a", ALIGN_LEFT, 0);
  table_column(&t, "b", ALIGN_PROSE, 0);
  table_column(&t, "n", ALIGN_RIGHT, 0);
  table_column(&t, "c", ALIGN_PROSE, 0);
  table_cell(&t, STYLE_PLAIN, "name");
  table_cell(&t, STYLE_PLAIN, "four and five words");
  table_cell(&t, STYLE_PLAIN, "17");
  table_cell(&t, STYLE_PLAIN, "abcdefghijklmnopqrstuvwxyz is one word");
  table_cell(&t, STYLE_PLAIN, "x");
  table_cell(&t, STYLE_PLAIN, "fits");
  table_cell(&t, STYLE_PLAIN, "1");
  table_cell(&t, STYLE_PLAIN, NULL);
  text_buffer out = {0}, wide = {0};
  table_render(&out, &t, &narrow);
  assert_string_equal(out.bytes,
                      "  a     b                     n  c\n"
                      "  name  four and five words  17  abcdefghijklmnopqrst\n"
                      "                                 uvwxyz is one word\n"
                      "  x     fits                  1\n");
  table_render(&wide, &t, &(situ_report_options){.size = sizeof(situ_report_options), .width = 0});
  assert_non_null(strstr(wide.bytes, "  17  abcdefghijklmnopqrstuvwxyz is one word\n"));
  text_free(&out);
  text_free(&wide);
  table_stop(&t);
}

/* Two devices, the second without a time; the third field is only in JSON, the fourth only in tables. */
static void add_two(row_list *r, const void *report) {
  const int64_t *times_ns = report;
  for (int i = 0; i <= 2; i++) {
    r->blank = i == 2;
    ROW(r, {"name", AS_NAME, "device", .text = i ? "gpu" : "cpu"},
        {"time_ns", AS_TIME, "time", .n = times_ns[i], .shown = i ? "-" : NULL}, {"bytes", AS_BYTES, .n = 1000},
        {NULL, AS_CHANGE, "off", .x = -0.125}, {"core", AS_INDEX, "core", .n = 7, .skip = true});
  }
}

TEST(a_field_is_a_member_and_a_cell) {
  const int64_t times_ns[] = {1500, INT64_MAX, 0};
  text_buffer out = {0};
  rows_text(&out, add_two, times_ns, NULL);
  assert_string_equal(out.bytes,
                      "  device        time      off\n"
                      "  cpu     1.50000 us  -12.5 %\n"
                      "  gpu              -  -12.5 %\n");
  text_free(&out);
  json_value *root =
      OBJECT({"rows", AS_TREE, .tree = rows_json(add_two, times_ns)}, {"gap", AS_NUMBER, .x = (double)NAN});
  char *text = json_print(root, 0);
  assert_string_equal(text,
                      "{\"rows\":[{\"name\":\"cpu\",\"time_ns\":1500,\"bytes\":1000},"
                      "{\"name\":\"gpu\",\"time_ns\":null,\"bytes\":1000}],\"gap\":null}");
  free(text);
  json_free(root);
}

TEST(rates_have_six_digits) {
  char a[TEXT_UNIT_BYTES];
  assert_string_equal(exact_rate(a, 1, 2000000), "500.000");
  assert_string_equal(exact_rate(a, 2, 2000000), "1000.00");
  assert_string_equal(exact_rate(a, 1, 3), "333333333");
  assert_string_equal(exact_rate(a, 1, 3000000000), "0.333333");
  assert_string_equal(exact_rate(a, 1, 0), "0");
}

TEST(bars_are_drawn_in_eighths) {
  char bar[64];
  situ_report_options fine = {.size = sizeof(situ_report_options), .unicode = true};
  assert_string_equal(bar_text(bar, sizeof bar, 0.5, 4, NULL), "##");
  assert_string_equal(bar_text(bar, sizeof bar, 0, 4, NULL), "");
  assert_string_equal(bar_text(bar, sizeof bar, 1e-9, 4, NULL), "#");
  assert_string_equal(bar_text(bar, sizeof bar, 9, 4, NULL), "####");
  assert_string_equal(bar_text(bar, sizeof bar, 0.375, 4, &fine), "█▌"); /* 12 of 32 eighths */
}

TEST(paragraphs_break_at_blanks) {
  text_buffer out = {0};
  text_add_wrapped(&out, "one two three four", "- ", "  ", 10);
  assert_string_equal(out.bytes, "- one two\n  three\n  four\n");
  text_free(&out);
}

/* The ten tasks of Topcuoglu, Hariri, Wu, TPDS 2002, fig. 2, on three processors: HEFT's makespan is 80. */
TEST(a_plan_tells_its_story) {
  OWN(lab) l = lab_topcuoglu();
  OWN(situ_plan) *plan = NULL;
  situ_error error = {0};
  situ_solve_options options = {.size = sizeof(situ_solve_options), .solvers = "heft", .max_steps = 100};
  assert_int_equal(situ_solve(&plan, l.problem, &options, &error), SITU_STATUS_OK);
  char *text = NULL;
  assert_int_equal(situ_report_plan(&text, plan, NULL, SITU_REPORT_TABLE, NULL, NULL), SITU_STATUS_OK);
  assert_non_null(strstr(text, "latency      80 ns"));
  assert_null(strchr(text, '\033'));
  situ_text_free(text);
  situ_report_options colour = {.size = sizeof(situ_report_options), .colour = true};
  assert_int_equal(situ_report_plan(&text, plan, NULL, SITU_REPORT_TABLE, &colour, NULL), SITU_STATUS_OK);
  assert_non_null(strstr(text, "\033[1m80 ns\033[0m"));
  situ_text_free(text);
  assert_int_equal(situ_report_plan(&text, plan, NULL, SITU_REPORT_JSON, NULL, NULL), SITU_STATUS_OK);
  json_value *root = NULL;
  assert_int_equal(json_parse(&root, text, strlen(text), "report", &error), SITU_STATUS_OK);
  assert_int_equal(json_int(json_get(root, "value_ns"), -1), 80);
  assert_int_equal(json_size(json_get(root, "devices")), 3);
  assert_int_equal(json_kind_of(json_get(root, "value")), JSON_NULL_KIND);
  json_free(root);
  situ_text_free(text);
  assert_int_equal(situ_report_plan(&text, plan, NULL, SITU_REPORT_SVG, NULL, NULL), SITU_STATUS_OK);
  assert_non_null(strstr(text, "<svg "));
  assert_non_null(strstr(text, "latency 80 ns"));
  situ_text_free(text);
}

/* The same ten tasks, counted by hand. */
TEST(inspection_measures_chains) {
  OWN(lab) l = lab_topcuoglu();
  char *text = NULL;
  assert_int_equal(situ_report_inspect(&text, l.problem, NULL, SITU_REPORT_JSON, NULL, NULL), SITU_STATUS_OK);
  situ_error error = {0};
  json_value *root = NULL;
  assert_int_equal(json_parse(&root, text, strlen(text), "report", &error), SITU_STATUS_OK);
  assert_int_equal(json_int(json_get(root, "operators"), -1), 10);
  assert_int_equal(json_int(json_get(root, "edges"), -1), 15);
  assert_int_equal(json_int(json_get(root, "depth"), -1), 4); /* 1, one of 2..6, one of 7..9, 10 */
  assert_int_equal(json_int(json_get(root, "width"), -1), 5); /* 2, 3, 4, 5, 6 */
  /* least times: 9 13 11 8 10 9 7 5 12 7; the longest chain is 1-2-9-10: 9 + 13 + 12 + 7 */
  assert_int_equal(json_int(json_get(json_get(root, "critical_path"), "time_ns"), -1), 41);
  assert_int_equal(json_int(json_get(root, "work_ns"), -1), 91);
  json_free(root);
  situ_text_free(text);
}

TEST(every_execution_has_a_picture) {
  const situ_problem_options kinds[] = {
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM},
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_LINK},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_HOST_STAGED},
  };
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
    for (uint64_t seed = 0; seed < 5; seed++) {
      lab_options wish = {.seed = seed, .n_operators = 40, .n_devices = 4, .density = 0.1, .options = kinds[k]};
      OWN(lab) l = lab_random(&wish);
      int32_t device[40];
      for (int v = 0; v < 40; v++) device[v] = v / 10;
      OWN(situ_plan) *plan = NULL;
      assert_int_equal(situ_simulate(&plan, l.problem, device, NULL, NULL), SITU_STATUS_OK);
      char *text = NULL;
      assert_int_equal(situ_report_plan(&text, plan, NULL, SITU_REPORT_SVG, NULL, NULL), SITU_STATUS_OK);
      assert_true(!plan_exists(plan) || (text && strstr(text, "</svg>")));
      situ_text_free(text);
    }
}

TEST(comparing_sorts_by_value) {
  OWN(lab) l = lab_topcuoglu();
  OWN(situ_comparison) *c = NULL;
  situ_solve_options options = {.size = sizeof options, .solvers = "single,heft", .max_steps = 100};
  assert_int_equal(situ_compare(&c, l.problem, &options, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_comparison_count(c), 2);
  assert_true(situ_comparison_is_complete(c));
  assert_string_equal(situ_comparison_at(c, 0).solver, "single"); /* in the order given */
  char *text = NULL;
  assert_int_equal(situ_report_compare(&text, c, NULL, SITU_REPORT_JSON, NULL, NULL), SITU_STATUS_OK);
  json_value *root = NULL;
  assert_int_equal(json_parse(&root, text, strlen(text), "report", NULL), SITU_STATUS_OK);
  const json_value *list = json_get(root, "rows");
  const char *expected[] = {"heft", "single"};
  for (size_t i = 0; i < 2; i++) assert_string_equal(json_text(json_get(json_at(list, i), "solver"), ""), expected[i]);
  json_free(root);
  situ_text_free(text);
}

/* The graph has no layers, so no solver can keep them whole. */
TEST(a_solver_that_fails_has_a_row_with_the_reason) {
  OWN(lab) l = lab_topcuoglu();
  OWN(situ_comparison) *c = NULL;
  char *text = NULL;
  situ_solve_options options = {
      .size = sizeof options, .solvers = "single,heft", .max_steps = 100, .form = SITU_FORM_LAYERS};
  assert_int_equal(situ_compare(&c, l.problem, &options, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_comparison_count(c), 2);
  assert_null(situ_comparison_at(c, 1).plan);
  assert_non_null(strstr(situ_comparison_at(c, 1).failure, "layers"));
  assert_int_equal(situ_report_compare(&text, c, NULL, SITU_REPORT_TABLE, NULL, NULL), SITU_STATUS_OK);
  assert_non_null(strstr(text, "heft: "));
  situ_text_free(text);
}

static bool stop_at_once(void *context, const situ_progress *progress) {
  (void)progress;
  ++*(int *)context;
  return true;
}

TEST(a_comparison_that_is_stopped_ends_with_the_solver_that_ran) {
  OWN(lab) l = lab_topcuoglu();
  OWN(situ_comparison) *c = NULL;
  int calls = 0;
  situ_solve_options options = {
      .size = sizeof options, .solvers = "tabu,heft", .progress = stop_at_once, .context = &calls};
  assert_int_equal(situ_compare(&c, l.problem, &options, NULL), SITU_STATUS_OK);
  assert_true(calls > 0);
  assert_int_equal(situ_comparison_count(c), 1);
  assert_false(situ_comparison_is_complete(c));
}

/* What takes part in no run has no row either, and all others that serve the problem have one. */
TEST(who_is_left_out_of_a_comparison_has_no_row) {
  OWN(lab) l = lab_topcuoglu();
  OWN(situ_comparison) *all = NULL, *fewer = NULL;
  situ_solve_options options = {.size = sizeof options, .max_steps = 20};
  assert_int_equal(situ_compare(&all, l.problem, &options, NULL), SITU_STATUS_OK);
  options.solvers = "-heft,-join";
  assert_int_equal(situ_compare(&fewer, l.problem, &options, NULL), SITU_STATUS_OK);
  int32_t n = situ_comparison_count(fewer);
  assert_int_equal(situ_comparison_count(all), n + 1);
  for (int32_t k = 0; k < n; k++) assert_string_not_equal(situ_comparison_at(fewer, k).solver, "heft");
}

TEST(every_family_is_listed) {
  char *text = NULL, *names = NULL;
  assert_int_equal(situ_report_list(&text, "nothing", SITU_REPORT_TABLE, NULL, NULL), SITU_STATUS_BAD_ARGUMENT);
  assert_int_equal(situ_report_list(&text, "nothing", SITU_REPORT_JSON, NULL, NULL), SITU_STATUS_BAD_ARGUMENT);
  for (int32_t i = 0; situ_report_family(i); i++) {
    assert_int_equal(situ_report_list(&text, situ_report_family(i), SITU_REPORT_TABLE, NULL, NULL), SITU_STATUS_OK);
    assert_int_equal(situ_report_list(&names, situ_report_family(i), SITU_REPORT_NAMES, NULL, NULL), SITU_STATUS_OK);
    bool none = strcmp(situ_report_family(i), "learners") == 0 && situ_learner_count() == 0; /* meson option learn */
    assert_true(none || strlen(names) > 0);
    situ_text_free(text);
    situ_text_free(names);
  }
}

TEST_MAIN
