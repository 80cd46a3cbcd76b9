/* The foundations: arena, text, hash, random numbers, budget, files, JSON. */
#include <sys/stat.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "base/arena.h"
#include "base/budget.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/text.h"

TEST(arena_releases_to_its_mark) {
  OWN(arena) *a = arena_new();
  char *first = arena_string(a, "kept");
  arena_mark mark = arena_get_mark(a);
  size_t held = arena_held_bytes(a);
  for (int i = 0; i < 1000; i++) assert_non_null(arena_alloc(a, 1000, 8));
  assert_true(arena_held_bytes(a) > held);
  arena_release(a, mark);
  assert_int_equal(arena_held_bytes(a), held);
  assert_string_equal(first, "kept");
}

TEST(many_arrays_are_made_at_once_or_the_first_that_fails_is_stated) {
  OWN(arena) *a = arena_new();
  char *bytes = NULL;
  int64_t *numbers = NULL, *untouched = NULL;
  void **pointers = NULL;
  assert_true(ARENA_ARRAYS(a, ZEROS(bytes, 3), ARRAY(numbers, 5), ZEROS(pointers, 2)));
  for (int i = 0; i < 3; i++) assert_int_equal(bytes[i], 0);
  for (int i = 0; i < 5; i++) numbers[i] = -1; /* 40 bytes of its own: the others stay as they are */
  assert_null(pointers[0]);
  assert_null(pointers[1]);
  assert_int_equal(bytes[2], 0);
  assert_false(ARENA_ARRAYS(a, ARRAY(bytes, 1), ARRAY(numbers, INT64_MAX), ARRAY(untouched, 1)));
  assert_null(untouched);
  assert_int_equal(numbers[4], -1); /* still the array of before */
}

TEST(an_arena_lives_as_long_as_one_that_holds_it) {
  arena *a = arena_new(), *b = arena_new(), *c = arena_new();
  char *text = arena_string(a, "held");
  assert_true(arena_hold(b, a) && arena_hold(c, a) && arena_hold(c, b));
  arena_free(a);
  arena_free(b);
  assert_string_equal(text, "held");
  arena_free(c); /* leak checks and AddressSanitizer see that nothing is left, or freed twice */
}

TEST(arena_refuses_sizes_that_overflow) {
  OWN(arena) *a = arena_new();
  assert_null(arena_alloc(a, INT64_MAX, 8));
  assert_null(arena_alloc(a, -1, 8));
  assert_non_null(arena_alloc(a, 0, 8));
}

TEST(map_finds_what_was_put_and_nothing_else) {
  OWN(arena) *a = arena_new();
  string_map *map = string_map_new(a, 0);
  char key[32];
  for (int i = 0; i < 5000; i++) {
    snprintf(key, sizeof key, "key%d", i);
    assert_int_equal(string_map_put(map, arena_string(a, key), i), i);
  }
  assert_int_equal(string_map_put(map, "key7", 99), 7);
  assert_int_equal(string_map_count(map), 5000);
  for (int i = 0; i < 5000; i++) {
    snprintf(key, sizeof key, "key%d", i);
    assert_int_equal(string_map_get(map, key), i);
  }
  assert_int_equal(string_map_get(map, "key5000"), -1);
}

TEST(saturation_holds_at_the_edges) {
  assert_true(sat_add(INT64_MAX, 1) == INT64_MAX);
  assert_true(sat_mul(INT64_MAX / 2, 3) == INT64_MAX);
  assert_true(sat_round(1e30) == INT64_MAX);
  assert_int_equal(sat_round(2.5), 3);
  assert_int_equal(sat_round(17789906.25), 17789906);
}

TEST(people_read_three_digits) {
  char into[TEXT_UNIT_BYTES];
  assert_string_equal(text_time(into, 999), "999 ns");
  assert_string_equal(text_time(into, 1500), "1.50 us");
  assert_string_equal(text_time(into, 999999), "1.00 ms");
  assert_string_equal(text_time(into, 17789906), "17.8 ms");
  assert_string_equal(text_time(into, INT64_MAX), "never");
  assert_string_equal(text_size(into, 17185374208), "17.2 GB");
}

TEST(budget_stops_at_its_steps) {
  budget b = budget_new(10, 0, NULL, NULL);
  int done = 0;
  while (!budget_spend(&b, 1)) done++;
  assert_int_equal(done, 9);
  assert_int_equal(b.stop, BUDGET_STEPS);
}

static bool ask_to_stop(void *context) {
  ++*(int *)context;
  return true;
}

TEST(a_part_of_a_budget_without_limit_has_none) {
  budget whole = budget_new(0, 0, NULL, NULL);
  budget_spend(&whole, 7);
  budget part = budget_part(&whole, 0, 0);
  assert_true(budget_steps_left(&part) == INT64_MAX);
  assert_true(budget_time_left(&part) == INT64_MAX);
  whole.max_steps = 10;
  part = budget_part(&whole, 0, 0);
  assert_int_equal(budget_steps_left(&part), 3);
}

TEST(budget_heeds_its_callback) {
  int asked = 0;
  budget b = budget_new(0, 0, ask_to_stop, &asked);
  while (!budget_spend(&b, 1)) continue;
  assert_int_equal(b.stop, BUDGET_CANCELLED);
  assert_int_equal(asked, 1);
}

TEST(an_unwritable_file_leaves_nothing) {
  situ_error error;
  assert_int_equal(file_write("/nonexistent-folder/x", "a", 1, &error), SITU_STATUS_IO);
  assert_non_null(strstr(error.text, "cannot be written"));
  assert_false(file_exists("/nonexistent-folder/x"));
}

TEST(a_written_file_reads_back) {
  char path[] = "/tmp/situ-test-XXXXXX";
  int handle = mkstemp(path);
  close(handle);
  assert_int_equal(file_write(path, "hello", 5, NULL), SITU_STATUS_OK);
  file_view view;
  assert_int_equal(file_open(&view, path, NULL), SITU_STATUS_OK);
  assert_int_equal(view.size_bytes, 5);
  assert_memory_equal(view.bytes, "hello", 5);
  file_close(&view);
  unlink(path);
}

TEST(a_file_cut_off_after_it_was_read_is_still_whole) {
  char path[] = "/tmp/situ-test-XXXXXX";
  close(mkstemp(path));
  assert_int_equal(file_write(path, "hello", 5, NULL), SITU_STATUS_OK);
  file_view view;
  assert_int_equal(file_open(&view, path, NULL), SITU_STATUS_OK);
  assert_int_equal(truncate(path, 0), 0);
  assert_memory_equal(view.bytes, "hello", 5);
  file_close(&view);
  unlink(path);
}

/* 100 MB, of which the first and the last byte are asked for; between them another process empties the file. */
TEST(a_file_cut_off_between_two_parts_is_a_failure_and_no_signal) {
  enum { SIZE = 100000000 };
  char path[] = "/tmp/situ-test-XXXXXX";
  close(mkstemp(path));
  assert_int_equal(truncate(path, SIZE), 0);
  file_view view;
  situ_error error;
  assert_int_equal(file_begin(&view, path, &error), SITU_STATUS_OK);
  assert_int_equal(view.size_bytes, SIZE);
  file_need(&view, 0, 1);
  assert_int_equal(file_result(&view, path, &error), SITU_STATUS_OK);
  assert_int_equal(truncate(path, 1), 0);
  file_need(&view, SIZE - 1, 1);
  assert_int_equal(view.bytes[SIZE - 1], 0);
  assert_int_equal(file_result(&view, path, &error), SITU_STATUS_IO);
  assert_non_null(strstr(error.text, "was truncated"));
  file_close(&view);
  unlink(path);
}

/* The rows of RFC 3629, section 4: the first and the last character of each, and what is just beyond. */
TEST(characters_are_those_of_utf8) {
  static const struct {
    const char *bytes;
    size_t n;
  } cases[] = {{"", 0},
               {"a", 1},
               {"\x7f", 1},
               {"\x80", 0},
               {"\xc1\xbf", 0},
               {"\xc2\x80", 2},
               {"\xdf\xbf", 2},
               {"\xdf", 0},
               {"\xe0\x9f\xbf", 0},
               {"\xe0\xa0\x80", 3},
               {"\xed\x9f\xbf", 3},
               {"\xed\xa0\x80", 0},
               {"\xee\x80\x80", 3},
               {"\xef\xbf\xbf", 3},
               {"\xf0\x8f\xbf\xbf", 0},
               {"\xf0\x90\x80\x80", 4},
               {"\xf4\x8f\xbf\xbf", 4},
               {"\xf4\x90\x80\x80", 0},
               {"\xf5\x80\x80\x80", 0},
               {"\xe2\x82z", 0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    assert_int_equal(text_character(cases[k].bytes), cases[k].n);
    assert_int_equal(text_is_utf8(cases[k].bytes), cases[k].n > 0 || !*cases[k].bytes);
  }
}

TEST(what_a_terminal_may_obey_is_not_printed) {
  char line[] = "a\033[1m\x7f\xc2\x9b\xc2\xa0\xff\n"; /* U+009B begins a command, U+00A0 is a blank */
  text_buffer t = {0};
  text_make_line(line);
  assert_string_equal(line, "a?[1m???\xc2\xa0??");
  json_quote(&t, "\x7f\xc2\x9b\xc3\xa9");
  assert_string_equal(t.bytes, "\"\\u007f\\u009b\xc3\xa9\"");
  text_free(&t);
  text_add_csv(&t, "a\033b,\nc");
  assert_string_equal(t.bytes, "\"a?b,\nc\"");
  text_free(&t);
}

/* A terabyte, of which nothing but the first part can be read within a test. */
TEST(a_text_is_read_up_to_its_first_zero_byte) {
  char path[] = "/tmp/situ-test-XXXXXX";
  close(mkstemp(path));
  assert_int_equal(file_write(path, "hello", 5, NULL), SITU_STATUS_OK);
  file_view view;
  situ_error error;
  assert_int_equal(file_open_text(&view, path, &error), SITU_STATUS_OK);
  assert_memory_equal(view.bytes, "hello", 5);
  file_close(&view);
  if (truncate(path, (off_t)1 << 40) != 0) skip(); /* the file system has a limit */
  assert_int_equal(file_open_text(&view, path, &error), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.text, "zero byte"));
  assert_null(view.bytes);
  unlink(path);
}

/* An open that waits for the other end of a pipe never comes back; the alarm ends the test then. */
TEST(a_pipe_is_no_file_and_nobody_waits_for_it) {
  char path[] = "/tmp/situ-test-XXXXXX";
  close(mkstemp(path));
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  alarm(10);
  file_view view;
  situ_error error;
  assert_int_equal(file_open(&view, path, &error), SITU_STATUS_IO);
  assert_non_null(strstr(error.text, "regular file"));
  alarm(0);
  unlink(path);
}

TEST(json_errors_name_line_and_column) {
  json_value *root;
  situ_error error;
  const char *bad = "{\"a\": 1,\n \"a\": 2}";
  assert_int_equal(json_parse(&root, bad, strlen(bad), "x.json", &error), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.where, "x.json:2:"));
}

/* What RFC 8259 does not allow, and what situ refuses: texts with U+0000 and keys that are there twice. */
TEST(bad_json_is_refused_with_the_reason) {
  static const char *const bad[][3] = {
      {"{\"a\": \"b\\u0000c\"}", "U+0000", ":1:9"},
      {"{\"b\\u0000c\": 1}", "U+0000", ":1:4"},
      {"", "beginning", ":1:1"},
      {"12", "beginning", ":1:1"},
      {"[1,]", "no value", ":1:4"},
      {"[1 2]", "no ',' or ']'", ":1:4"},
      {"{\"a\" 1}", "no ':'", ":1:6"},
      {"{\"a\": 1,}", "no key", ":1:9"},
      {"{1: 2}", "no key", ":1:2"},
      {"[1] x", "after its end", ":1:5"},
      {"[01]", "number that is none", ":1:2"},
      {"[1.]", "number that is none", ":1:2"},
      {"[.5]", "no value", ":1:2"},
      {"[+1]", "no value", ":1:2"},
      {"[1e]", "number that is none", ":1:2"},
      {"[-]", "number that is none", ":1:2"},
      {"[1,5]]", "after its end", ":1:6"},
      {"[NaN]", "no value", ":1:2"},
      {"[nullx]", "no value", ":1:2"},
      {"[9223372036854775808]", "beyond 64 bits", ":1:2"},
      {"[-9223372036854775809]", "beyond 64 bits", ":1:2"},
      {"[1e999]", "beyond the range", ":1:2"},
      {"[\"a", "does not end", ":1:2"},
      {"[\"a\tb\"]", "control character", ":1:4"},
      {"[\"\xff\"]", "not UTF-8", ":1:3"},
      {"[\"\xc3\"]", "not UTF-8", ":1:3"},
      {"[\"\\x\"]", "unknown escape", ":1:3"},
      {"[\"\\u12g4\"]", "hexadecimal", ":1:3"},
      {"[\"\\ud800\"]", "surrogates", ":1:3"},
      {"[\"\\ude00\"]", "surrogates", ":1:3"},
      {"[\"\\ud83d\\u0041\"]", "surrogates", ":1:3"},
      {"[\n \"\xc3\xa4\", x]", "no value", ":2:7"}, /* columns count characters */
      {"{\"a\": [1}", "no ',' or ']'", ":1:9"},
      {"{\"a\": 1]", "no ',' or '}'", ":1:8"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    json_value *root = NULL;
    situ_error error = {0};
    situ_status status = json_parse(&root, bad[i][0], strlen(bad[i][0]), "x", &error);
    if (status != SITU_STATUS_BAD_INPUT || root || !strstr(error.text, bad[i][1]) || strcmp(error.where + 1, bad[i][2]))
      fail_msg("%s: %s: %s; expected %s at %s", bad[i][0], error.where, error.text, bad[i][1], bad[i][2]);
  }
  json_value *root = NULL;
  assert_int_equal(json_parse(&root, "[1]\0", 4, "x", NULL), SITU_STATUS_BAD_INPUT); /* a zero byte is not space */
}

TEST(json_is_read_as_it_says) {
  static const char text[] =
      " {\"\\u00e4\\ud83d\\ude00\\n\\/\": [0, -0, -9223372036854775808, 0.1, 1E+2, -2.5e-3, 4.9e-324],\r\n\t"
      "\"\": {}, \"t\": [true, false, null, \"\", []]} ";
  json_value *root = NULL;
  situ_error error = {0};
  if (json_parse(&root, text, strlen(text), "x", &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  const json_value *list = json_get(root, "\xc3\xa4\xf0\x9f\x98\x80\n/");
  assert_int_equal(json_size(list), 7);
  assert_int_equal(json_kind_of(json_at(list, 1)), JSON_INT);
  assert_true(json_int(json_at(list, 2), 0) == INT64_MIN);
  assert_true(json_number(json_at(list, 3), 0) == 0.1 && json_number(json_at(list, 4), 0) == 100);
  assert_true(json_number(json_at(list, 5), 0) == -0.0025 && json_number(json_at(list, 6), 0) == 4.9e-324);
  assert_int_equal(json_kind_of(json_get(root, "")), JSON_OBJECT_KIND);
  assert_string_equal(json_text(json_at(json_get(root, "t"), 3), "?"), "");
  json_free(root);
}

/* 2,048 levels are read, one more is not. */
TEST(nesting_has_a_limit) {
  for (int n = 2048; n <= 2049; n++) {
    char deep[2 * 2049];
    json_value *root = NULL;
    memset(deep, '[', (size_t)n);
    memset(deep + n, ']', (size_t)n);
    assert_int_equal(json_parse(&root, deep, 2 * (size_t)n, "x", NULL),
                     n == 2048 ? SITU_STATUS_OK : SITU_STATUS_BAD_INPUT);
    json_free(root);
  }
}

TEST(json_survives_a_round_trip) {
  json_value *root = json_new_object();
  assert_true(json_set(root, "whole", json_new_int(INT64_MAX)));
  assert_true(json_set(root, "number", json_new_number(0.1)));
  assert_true(json_set(root, "bad", json_new_text("a\xff")));
  char *text = json_print(root, 0);
  assert_string_equal(text, "{\"whole\":9223372036854775807,\"number\":0.10000000000000001,\"bad\":\"a?\"}");
  free(text);
  json_free(root);
}

/* The library escapes what must be escaped; texts without escapes are written past it. */
TEST(texts_are_quoted_as_the_library_quotes_them) {
  for (int c = 1; c < 0x80; c++) {
    char text[] = {'a', (char)c, 'b', '\0'};
    text_buffer quoted = {0};
    json_value *value = json_new_text(text);
    char *printed = json_print(value, 0);
    json_quote(&quoted, text);
    assert_string_equal(quoted.bytes, printed);
    text_free(&quoted);
    free(printed);
    json_free(value);
  }
}

static json_text_member letter(const void *context, int64_t k) {
  static const char *const keys[] = {"a", "\"b\"", "c"};
  return (json_text_member){keys[k], context};
}

TEST(a_listing_prints_as_the_members_that_it_stands_for) {
  const char *device = "gpu\xff"; /* not UTF-8, as a platform might name it */
  for (int64_t n = 0; n <= 3; n++) {
    json_value *tree = json_new_object(), *own = json_new_object(), *left_out = json_new_object();
    json_value *with = json_new_object(), *list = json_new_array();
    for (int64_t k = 0; k < n; k++) assert_true(json_set(own, letter(device, k).key, json_new_text(device)));
    assert_true(json_set(tree, "before", json_new_int(1)) && json_set(tree, "here", own));
    assert_true(json_set(tree, "after", json_new_array()));
    assert_true(json_set(with, "before", json_new_int(1)) && json_set(with, "here", left_out));
    assert_true(json_set(with, "after", list));
    json_listing listing = {left_out, n, letter, device};
    char *printed = json_print(tree, 2), *listed = json_print_with(with, 2, &listing);
    assert_string_equal(listed, printed);
    free(printed);
    free(listed);
    json_free(tree);
    json_free(with);
  }
}

TEST(errors_stay_on_one_line) {
  situ_error error;
  fail_with(&error, SITU_STATUS_BAD_INPUT, "a\nb", "%s", "x\ty\x1b[31m");
  assert_string_equal(error.where, "a?b");
  assert_string_equal(error.text, "x?y?[31m");
}

TEST(random_numbers_are_those_of_the_paper) {
  rng r = rng_new(1234567); /* the first outputs published for SplitMix64 with this seed */
  assert_true(rng_next(&r) == 6457827717110365317u);
  assert_true(rng_next(&r) == 3203168211198807973u);
}

static void prints_as(json_value *tree, const char *expected) {
  char *text = json_print(tree, 0);
  assert_string_equal(text, expected);
  free(text);
  json_free(tree);
}

/* Members that are absent are none; a value that could not be made spoils the whole, and the others are freed (which
 * AddressSanitizer sees). */
TEST(trees_are_made_whole_or_not_at_all) {
  prints_as(
      JSON_OBJECT({"a", json_new_int(1)}, {"b", JSON_ABSENT}, {"c", JSON_ARRAY(json_new_text("x"), json_new_null())}),
      "{\"a\":1,\"c\":[\"x\",null]}");
  prints_as(json_new_ints((const int64_t[]){3, -4}, 2), "[3,-4]");
  assert_null(JSON_OBJECT({"a", json_new_text("x")}, {"b", NULL}, {"c", json_new_int(2)}));
  assert_null(JSON_ARRAY(json_new_text("x"), NULL, json_new_int(2)));
  assert_false(JSON_SET(NULL, {"a", json_new_int(1)}));
  assert_int_equal(json_write("/tmp", NULL, 0, NULL), SITU_STATUS_NO_MEMORY);
}

TEST_MAIN
