#define _GNU_SOURCE
/* Models put together by hand, cut into parts: what goes where, what is copied, what is refused. */
#include <unistd.h>

#include "../../lab/test.h"
#include "../onnx_by_hand.h"
#include "split/onnx_file.h"

/* A model that is being written: y = D(B(A(x), w), C(A(x), w)), where w is a weight, c = Constant is read by C, and
 * what else the test adds. */
typedef struct writing {
  text_buffer graph;
} writing;

static void start(writing *w) {
  *w = (writing){0};
  add_node(&w->graph, "A", "x", "a", NULL);
  add_node(&w->graph, "Constant", "", "c", NULL);
  add_node(&w->graph, "B", "a w", "b", NULL);
  add_node(&w->graph, "C", "a w c", "d", NULL);
  add_node(&w->graph, "D", "b d", "y", NULL);
  add_weight(&w->graph, "w", NULL);
  add_value(&w->graph, 11, "x");
  add_value(&w->graph, 12, "y");
  for (const char *v = "abd"; *v; v++) add_value(&w->graph, 13, (char[]){*v, '\0'});
}

static situ_status finish(writing *w, model_file **file, situ_error *error) {
  const char *path = "test_onnx_parts.onnx";
  text_buffer model = {0};
  wire_add_number(&model, 1, 8);
  add_message(&model, 7, &w->graph);
  add_text(&model, 99, "another field of the future");
  assert_int_equal(file_write(path, model.bytes, model.length, error), SITU_STATUS_OK);
  text_free(&model);
  situ_status status = model_file_open(file, path, error);
  unlink(path);
  return status;
}

/* The kinds of a part's nodes, then its inputs and its outputs: "A B: x > b". */
static void describe(const model_parts *p, int32_t k, char into[256]) {
  const model_part *part = &p->parts[k];
  size_t n = 0;
  for (int32_t i = 0; i < part->n_nodes; i++)
    n += (size_t)snprintf(into + n, 256 - n, "%s%s", i ? " " : "", p->file->kind[part->nodes[i]]);
  for (int32_t i = 0; i < part->n_inputs; i++)
    n += (size_t)snprintf(into + n, 256 - n, "%s %s", i ? "" : ":", p->file->values[part->inputs[i]].name);
  for (int32_t i = 0; i < part->n_outputs; i++)
    n += (size_t)snprintf(into + n, 256 - n, "%s %s", i ? "" : " >", p->file->values[part->outputs[i]].name);
}

/* Parts of the model of `start` for devices of A, Constant, B, C, D, which all start at 0 and end at finish_ns (NULL:
 * 0). */
static void cut_timed(const int32_t *device, const int32_t *rank, const int64_t *finish_ns, const char *const *expected,
                      int32_t n) {
  writing w;
  model_file *file;
  model_parts *p;
  situ_error error = {0};
  char text[256];
  start(&w);
  if (finish(&w, &file, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  node_turn turn[5] = {{0}};
  for (int32_t v = 0; rank && v < 5; v++) turn[v].rank = rank[v];
  for (int32_t v = 0; finish_ns && v < 5; v++) turn[v].finish_ns = finish_ns[v];
  assert_int_equal(model_parts_find(&p, file, NULL, device, rank ? turn : NULL, &error), SITU_STATUS_OK);
  assert_int_equal(p->n_parts, n);
  for (int32_t k = 0; k < n; k++) {
    describe(p, k, text);
    assert_string_equal(text, expected[k]);
  }
  model_parts_free(p);
  model_file_free(file);
}

static void cut(const int32_t *device, const int32_t *rank, const char *const *expected, int32_t n) {
  cut_timed(device, rank, NULL, expected, n);
}

TEST(parts_are_as_large_as_can_be) {
  cut((int32_t[]){0, 0, 0, 0, 0}, NULL, (const char *[]){"Constant A B C D: x > y"}, 1);
  cut((int32_t[]){0, 0, 0, 1, 1}, NULL, (const char *[]){"A B: x > a b", "Constant C D: a b > y"}, 2);
  /* A and D on one device with C elsewhere: that device must run twice */
  cut((int32_t[]){0, 1, 0, 1, 0}, NULL, (const char *[]){"A B: x > a b", "Constant C: a > d", "D: b d > y"}, 3);
}

TEST(a_sequence_ends_parts_where_others_wait) {
  /* B runs on device 0 while C runs on device 1: the part of A ends where C can begin */
  cut((int32_t[]){0, 0, 0, 1, 0}, (int32_t[]){0, 1, 2, 3, 4},
      (const char *[]){"A: x > a", "B: a > b", "Constant C: a > d", "D: b d > y"}, 4);
}

TEST(a_part_does_not_wait_for_what_its_first_nodes_can_run_without) {
  /* C comes before B in the order; if it has ended by then, B and D are one part, else B runs meanwhile */
  cut((int32_t[]){0, 0, 0, 1, 0}, (int32_t[]){0, 1, 3, 2, 4},
      (const char *[]){"A: x > a", "Constant C: a > d", "B D: a d > y"}, 3);
  cut_timed((int32_t[]){0, 0, 0, 1, 0}, (int32_t[]){0, 1, 3, 2, 4}, (int64_t[]){0, 0, 0, 9, 9},
            (const char *[]){"A: x > a", "Constant C: a > d", "B: a > b", "D: b d > y"}, 4);
}

TEST(a_node_without_a_device_goes_to_what_it_reads) {
  cut((int32_t[]){1, -1, -1, -1, -1}, NULL, (const char *[]){"Constant A B C D: x > y"}, 1);
}

/* Whether bytes hold a text. */
static bool holds(const text_buffer *bytes, const char *text) {
  return memmem(bytes->bytes, bytes->length, text, strlen(text)) != NULL;
}

TEST(what_is_not_known_is_kept) {
  writing w;
  model_file *file;
  model_parts *p;
  situ_error error = {0};
  start(&w);
  add_text(&w.graph, 55, "documentation of the graph");
  assert_int_equal(finish(&w, &file, &error), SITU_STATUS_OK);
  assert_int_equal(model_parts_find(&p, file, NULL, (int32_t[]){0, 0, 0, 1, 1}, NULL, &error), SITU_STATUS_OK);
  for (int32_t k = 0; k < 2; k++) {
    text_buffer bytes = {0};
    assert_int_equal(onnx_part_emit(&bytes, p, k, k == 1, &error), SITU_STATUS_OK);
    assert_true(holds(&bytes, "a field of the future") && holds(&bytes, "another field of the future"));
    assert_true(holds(&bytes, "documentation of the graph"));
    assert_true(holds(&bytes, k == 0 ? "\x1a\x01"
                                       "A"
                                     : "\x1a\x02n3")); /* names as they were, and by number */
    text_free(&bytes);
  }
  model_parts_free(p);
  model_file_free(file);
}

TEST(what_a_sub_graph_reads_outside_crosses_the_cut) {
  writing w;
  model_file *file;
  model_parts *p;
  situ_error error = {0};
  char text[256];
  text_buffer body = {0};
  add_node(&body, "Inner", "b own", "inside", NULL); /* b from outside, own from within */
  add_weight(&body, "own", NULL);
  add_value(&body, 12, "inside");
  start(&w);
  add_node(&w.graph, "If", "y", "z", &body);
  add_value(&w.graph, 12, "z");
  assert_int_equal(finish(&w, &file, &error), SITU_STATUS_OK);
  assert_int_equal(model_parts_find(&p, file, NULL, (int32_t[]){0, 0, 0, 0, 0, 1}, NULL, &error), SITU_STATUS_OK);
  assert_int_equal(p->n_parts, 2);
  describe(p, 0, text);
  assert_string_equal(text, "Constant A B C D: x > b y");
  describe(p, 1, text);
  assert_string_equal(text, "If: y b > z");
  model_parts_free(p);
  model_file_free(file);
}

static void refused(writing *w, const char *expected) {
  model_file *file = NULL;
  situ_error error = {0};
  assert_int_equal(finish(w, &file, &error), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.text, expected));
  assert_null(file);
}

TEST(hostile_files_are_refused) {
  writing w;
  start(&w);
  add_node(&w.graph, "E", "nowhere", "e", NULL);
  refused(&w, "'nowhere' is read, but nothing produces it");
  start(&w);
  add_node(&w.graph, "E", "x", "y", NULL);
  refused(&w, "value 'y' is produced twice");
  start(&w);
  add_weight(&w.graph, "v", "../../etc/passwd");
  refused(&w, "lie outside the model's folder");
  start(&w);
  add_weight(&w.graph, "v", "/etc/passwd");
  refused(&w, "lie outside the model's folder");
  start(&w);
  text_add_bytes(&w.graph, "\x0a\x7f", 2); /* a node of 127 bytes that are not there */
  refused(&w, "longer than the message that holds it");
}

TEST(a_cycle_is_stated) {
  writing w;
  model_file *file;
  model_parts *p;
  situ_error error = {0};
  start(&w);
  add_node(&w.graph, "E", "g", "f", NULL);
  add_node(&w.graph, "F", "f", "g", NULL);
  assert_int_equal(finish(&w, &file, &error), SITU_STATUS_OK);
  assert_int_equal(model_parts_find(&p, file, NULL, (int32_t[]){0, 0, 0, 0, 0, 0, 0}, NULL, &error),
                   SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.text, "cycle"));
  model_file_free(file);
}

TEST(a_cut_through_a_value_of_unknown_type_is_refused) {
  writing w = {0};
  model_file *file;
  model_parts *p;
  situ_error error = {0};
  text_buffer bytes = {0};
  add_node(&w.graph, "A", "x", "a", NULL);
  add_node(&w.graph, "B", "a", "y", NULL);
  add_value(&w.graph, 11, "x");
  add_value(&w.graph, 12, "y");
  assert_int_equal(finish(&w, &file, &error), SITU_STATUS_OK);
  assert_int_equal(model_parts_find(&p, file, NULL, (int32_t[]){0, 1}, NULL, &error), SITU_STATUS_OK);
  assert_int_equal(onnx_part_emit(&bytes, p, 0, false, &error), SITU_STATUS_UNSUPPORTED);
  assert_string_equal(error.where, "a");
  text_free(&bytes);
  model_parts_free(p);
  model_file_free(file);
}

TEST_MAIN
