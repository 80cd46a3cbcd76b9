/* The profile of ONNX Runtime as times of nodes: what its kernels are called, and whose they are. */
#define _GNU_SOURCE
#include <unistd.h>

#include "../../lab/test.h"
#include "../onnx_by_hand.h"
#include "engine/profile.h"

/* y = Relu(Conv(x)), z = Loop(y), of nodes called "first", "" and "loop". */
typedef struct scene {
  model_file *file;
  model_parts *parts;
  arena *arena;
} scene;

static void start(scene *s) {
  const char *path = "test_profile.onnx";
  text_buffer graph = {0}, body = {0}, model = {0};
  situ_error error = {0};
  add_node(&body, "Inner", "y", "inside", NULL);
  add_value(&body, 12, "inside");
  add_node(&graph, "Conv", "x", "c", NULL);
  add_node(&graph, "Relu", "c", "y", NULL);
  add_node(&graph, "Loop", "y", "z", &body);
  add_value(&graph, 11, "x");
  add_value(&graph, 12, "z");
  wire_add_number(&model, 1, 8);
  add_message(&model, 7, &graph);
  assert_int_equal(file_write(path, model.bytes, model.length, &error), SITU_STATUS_OK);
  text_free(&model);
  if (model_file_open(&s->file, path, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  unlink(path);
  assert_int_equal(model_parts_find(&s->parts, s->file, NULL, (int32_t[]){0, 0, 0}, NULL, &error), SITU_STATUS_OK);
  s->arena = arena_new();
}

static void stop(scene *s) {
  arena_free(s->arena);
  model_parts_free(s->parts);
  model_file_free(s->file);
}

static void event(text_buffer *t, const char *name, const char *kind, int start_us, int duration_us) {
  text_add(t, "%s{\"cat\":\"%s\",\"name\":\"%s%s\",\"ts\":%d,\"dur\":%d,\"args\":{\"op_name\":\"%s\"}}",
           t->length > 1 ? "," : "", *kind ? "Node" : "Session", name, *kind ? "_kernel_time" : "", start_us,
           duration_us, kind);
}

/* Times of Conv, Relu and Loop, in us. */
static void expect_profile(scene *s, text_buffer *t, bool named, int32_t n_skipped, const int64_t expected_us[3]) {
  situ_error error = {0};
  node_times times;
  json_value *events;
  text_add(t, "]");
  if (json_parse(&events, t->bytes, t->length, "test", &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  if (profile_read(&times, events, s->parts, n_skipped, named, s->arena, &error) != SITU_STATUS_OK)
    fail_msg("%s", error.text);
  for (int v = 0; v < 3; v++) assert_int_equal(times.median_ns[v], 1000 * expected_us[v]);
  json_free(events);
  text_free(t);
}

TEST(nodes_are_found_by_name_and_the_median_of_runs_counts) {
  scene s;
  text_buffer t = {0};
  start(&s);
  text_add(&t, "[");
  event(&t, "Conv", "Conv", 0, 900); /* the first run, which warms up */
  event(&t, "model_run", "", 0, 900);
  for (int run = 1; run <= 3; run++) {
    event(&t, "Conv", "Conv", 1000 * run, 10 * run);
    event(&t, "Relu", "Relu", 1000 * run + 50, 3);
    event(&t, "model_run", "", 1000 * run, 60);
  }
  expect_profile(&s, &t, false, 1, (const int64_t[]){20, 3, 0}); /* of 10, 20, 30 */
  stop(&s);
}

TEST(nodes_that_were_numbered_are_found_by_number) {
  scene s;
  text_buffer t = {0};
  start(&s);
  text_add(&t, "[");
  event(&t, "n1", "Relu", 0, 5);
  event(&t, "n7", "Relu", 5, 2); /* no such node: to the one before */
  event(&t, "model_run", "", 0, 7);
  expect_profile(&s, &t, true, 0, (const int64_t[]){0, 7, 0});
  stop(&s);
}

TEST(a_fusion_called_after_its_last_output_is_that_of_the_kernels_kind) {
  scene s;
  text_buffer t = {0};
  start(&s);
  text_add(&t, "[");
  event(&t, "ReorderInput", "ReorderInput", 0, 1); /* before what is known: to the first that is */
  event(&t, "y_nchwc", "Conv", 1, 40);
  event(&t, "ReorderOutput", "ReorderOutput", 41, 4);
  event(&t, "model_run", "", 0, 45);
  expect_profile(&s, &t, true, 0, (const int64_t[]){45, 0, 0});
  stop(&s);
}

TEST(kernels_within_a_loop_are_in_the_time_of_the_loop) {
  scene s;
  text_buffer t = {0};
  start(&s);
  text_add(&t, "[");
  event(&t, "Conv", "Conv", 0, 10);
  for (int i = 0; i < 3; i++) event(&t, "Inner", "Inner", 12 + 5 * i, 4);
  event(&t, "Loop", "Loop", 11, 20);
  event(&t, "model_run", "", 0, 31);
  expect_profile(&s, &t, false, 0, (const int64_t[]){10, 0, 20});
  stop(&s);
}

TEST(what_is_no_profile_is_refused) {
  scene s;
  situ_error error = {0};
  node_times times;
  json_value *events = json_new_array();
  start(&s);
  assert_int_equal(profile_read(&times, events, s.parts, 0, false, s.arena, &error), SITU_STATUS_BAD_INPUT);
  json_free(events);
  stop(&s);
}

TEST(a_median_is_that_of_the_middle) {
  int64_t half;
  assert_int_equal(median_of((int64_t[]){5, 1, 3}, 3, &half), 3);
  assert_int_equal(median_of((int64_t[]){4, 1, 3, 2}, 4, NULL), 2); /* (2 + 3) / 2, cut off */
  assert_int_equal(median_of((int64_t[]){50, 10, 30, 20, 40}, 5, &half), 30);
  assert_int_equal(half, 10); /* (40 - 20) / 2 */
  assert_int_equal(median_of(NULL, 0, &half), 0);
}

TEST_MAIN
