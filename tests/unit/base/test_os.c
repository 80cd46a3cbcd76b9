/* What base/os.h promises of each system. */
#include <errno.h>

#include "../../lab/test.h"
#include "base/file.h"
#include "base/os.h"
#include "base/system_program.h"

static void make_file(const char *path, const char *text) {
  assert_int_equal(file_write(path, text, strlen(text), NULL), SITU_STATUS_OK);
}

TEST(a_temporary_folder_is_new_and_lists_what_is_in_it) {
  char folder[256], other[256], path[300];
  int n = 0;
  assert_true(os_temporary_folder(folder, sizeof folder, "situ-test-"));
  assert_true(os_temporary_folder(other, sizeof other, "situ-test-"));
  assert_string_not_equal(folder, other);
  snprintf(path, sizeof path, "%s/one", folder);
  make_file(path, "1");
  os_folder *all = os_folder_open(folder);
  for (const char *name; (name = os_folder_next(all));) n += strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
  os_folder_close(all);
  assert_int_equal(n, 1);
  assert_false(os_remove_folder(folder)); /* it is not empty */
  assert_true(os_remove(path) && os_remove_folder(folder) && os_remove_folder(other));
  assert_int_equal(os_look(folder).kind, OS_ABSENT);
  assert_null(os_folder_open(folder));
  assert_null(os_folder_next(NULL));
}

TEST(a_name_for_which_there_is_no_room_is_no_folder) {
  char small[12];
  assert_false(os_temporary_folder(small, sizeof small, "situ-test-"));
  assert_string_equal(small, "");
}

TEST(a_folder_that_is_there_is_made_and_a_file_in_its_place_is_named) {
  situ_error error = {0};
  char folder[256];
  assert_true(os_temporary_folder(folder, sizeof folder, "situ-test-"));
  assert_int_equal(file_make_folder(folder, NULL), SITU_STATUS_OK);
  assert_int_equal(file_make_folder("/nonexistent-folder/x", &error), SITU_STATUS_IO);
  assert_non_null(strstr(error.text, "cannot be made: No such file"));
  assert_true(os_remove_folder(folder));
}

TEST(renaming_replaces_and_one_file_has_two_names) {
  char folder[256], one[300], two[300], spelt[320];
  assert_true(os_temporary_folder(folder, sizeof folder, "situ-test-"));
  snprintf(one, sizeof one, "%s/one", folder);
  snprintf(two, sizeof two, "%s/two", folder);
  snprintf(spelt, sizeof spelt, "%s/./two", folder);
  make_file(one, "new");
  make_file(two, "older");
  assert_false(os_is_same(one, two));
  assert_true(os_rename(one, two));
  assert_int_equal(os_look(one).kind, OS_ABSENT);
  assert_int_equal(os_look(two).size_bytes, 3);
  assert_true(os_is_same(two, spelt));
  assert_true(os_create(two) < 0 && errno == EEXIST);
  assert_true(os_remove(two) && os_remove_folder(folder));
}

TEST(names_end_paths) {
  assert_string_equal(file_name("a/b.c"), "b.c");
  assert_string_equal(file_name("b.c"), "b.c");
  assert_string_equal(file_name("a/"), "");
  assert_true(os_is_absolute("/a"));
  assert_false(os_is_absolute("a/b"));
  char *root = os_real_path("/.//");
  assert_string_equal(root, "/");
  free(root);
}

TEST(a_program_that_is_killed_says_by_which_signal) {
  int killed_by = -1;
  long process = os_start((const char *const[]){"/bin/sleep", "100", NULL}, 1);
  assert_true(process > 0);
  assert_false(os_has_ended(process, &killed_by));
  assert_int_equal(os_kill(process), 9); /* SIGKILL */
}

TEST(what_a_program_prints_is_read_to_its_end) {
  arena *a = arena_new();
  text_buffer out = {0};
  const char *words[] = {system_program_find("printf", a), "%s|", "two words", "\"", NULL};
  assert_true(system_program_output(&out, words, 100, NULL, NULL));
  assert_string_equal(out.bytes, "two words|\"|");
  text_free(&out);
  arena_free(a);
}

TEST(nothing_to_read_is_waited_for_no_longer_than_asked) {
  int ends[2];
  assert_true(os_pipe(ends));
  int64_t begun_ns = os_now_ns();
  assert_int_equal(os_wait(ends, 1, 20000000), -1);
  assert_true(os_now_ns() - begun_ns >= 20000000);
  assert_int_equal(os_write(ends[1], "x", 1), 1);
  assert_int_equal(os_wait(ends, 1, 20000000), 0);
  os_close(ends[1]);
  os_close(ends[0]);
}

TEST(a_connection_carries_both_blocks) {
  int ends[2];
  char got[8] = "";
  assert_true(os_line(ends));
  assert_true(os_receive(ends[1], got, sizeof got, false) < 0 && errno == EAGAIN);
  assert_true(os_send(ends[0], "one", 3, "two", 3));
  assert_int_equal(os_receive(ends[1], got, sizeof got, true), 6);
  assert_memory_equal(got, "onetwo", 6);
  os_hang_up(ends[0]);
  assert_int_equal(os_receive(ends[1], got, sizeof got, true), 0);
  assert_false(os_send(ends[1], "x", 1, NULL, 0)); /* and no signal */
  os_hang_up(ends[1]);
  assert_int_equal(os_connect(os_free_port(), 1000000), -1); /* nobody listens */
}

TEST_MAIN
