/* Sizes that the ONNX reader assumes, on small files written here. */
#include "../../lab/test.h"
#include "graph/graph.h"
#include "onnx_bytes.h"
#include "read/reader.h"

extern const reader onnx_reader;

static read_result result;

static int forget(void **state) {
  situ_graph_free(result.graph);
  text_free(&result.notes);
  free(result.dims);
  result = (read_result){0};
  return 0;
}

static void read_with(const situ_read_options *options, bytes m) {
  situ_error error = {0};
  read_source source = {
      .path = "made.onnx", .bytes = (const unsigned char *)m.bytes, .size_bytes = m.length, .options = options};
  forget(NULL);
  assert_false(m.failed);
  situ_status status = onnx_reader.read(&result, &source, &error);
  text_free(&m);
  if (status != SITU_STATUS_OK) print_error("%s: %s\n", error.where, error.text);
  assert_int_equal(status, SITU_STATUS_OK);
}

/* Of what the operator "conv" makes. */
static int64_t conv_bytes(void) {
  int32_t first;
  assert_true(situ_graph_outputs(result.graph, situ_graph_find(result.graph, "conv"), &first) > 0);
  return graph_tensor(result.graph, first).size_bytes;
}

static bool noted(const char *text) { return result.notes.bytes && strstr(result.notes.bytes, text); }

/* One window of the weights over an image of an open shape. */
static bytes image_model(const char *shape, const char *weights) {
  bytes g = {0};
  add_input(&g, "x", F32, shape);
  add_weight(&g, tensor("w", F32, weights));
  add_node(&g, node("Conv", "conv", "x w", "y"));
  return model(g);
}

static int64_t assumed(const char *name) {
  for (int32_t i = 0; i < result.n_dims; i++)
    if (strcmp(result.dims[i].name, name) == 0) return result.dims[i].value;
  return 1;
}

TEST(sides_of_images_that_nobody_gives_get_a_usual_size) {
  situ_read_options options = {.size = sizeof(situ_read_options)};
  read_with(&options, image_model("batch 3 ? width", "8 3 3 3"));
  assert_int_equal(conv_bytes(), 4LL * 8 * 222 * 222);
  assert_true(assumed("x[2]") == 224 && assumed("width") == 224 && assumed("batch") == 1 && result.n_dims == 2);
  assert_true(noted("dimension width = 224") && noted("dimension batch = 1"));
  /* A side that the file states is the other one's too. */
  read_with(&options, image_model("1 1 32 width", "8 1 3 3"));
  assert_int_equal(conv_bytes(), 4LL * 8 * 30 * 30);
  situ_dim dims[] = {{"width", 100}};
  situ_read_options given = {.size = sizeof(situ_read_options), .dims = dims, .n_dims = 1};
  read_with(&given, image_model("batch 3 ? width", "8 3 3 3"));
  assert_int_equal(conv_bytes(), 4LL * 8 * 222 * 98);
  /* Five channels are no image. */
  read_with(&options, image_model("1 5 width 9", "8 5 1 1"));
  assert_int_equal(conv_bytes(), 4LL * 8 * 1 * 9);
  assert_int_equal(result.n_dims, 0);
}

TEST(assumed_sizes_change_until_all_operators_fit) {
  situ_read_options options = {.size = sizeof(situ_read_options)};
  /* A window of 300 x 300 fits into 320, but not into 224. */
  read_with(&options, image_model("1 3 h w", "8 3 300 300"));
  assert_true(assumed("h") == 320 && assumed("w") == 320);
  assert_int_equal(conv_bytes(), 4LL * 8 * 21 * 21);
  assert_false(noted("does not fit"));
  /* One of 1000 x 1000 fits into nothing that is tried, so all count as 1. */
  read_with(&options, image_model("1 3 h w", "8 3 1000 1000"));
  assert_int_equal(result.n_dims, 0);
  assert_true(noted("operator 'conv' does not match the assumed dimensions") && noted("dimension h = 1 "));
  assert_false(noted("dimension h = 224"));
  /* A recording: the window takes 400 samples; the state behind it keeps its one stream. */
  bytes g = {0};
  add_input(&g, "x", F32, "batch 1 samples");
  add_input(&g, "state", F32, "2 streams");
  add_weight(&g, tensor("w", F32, "8 1 400"));
  add_node(&g, node("Conv", "conv", "x w", "y"));
  add_node(&g, node("Relu", "relu", "state", "z"));
  read_with(&options, model(g));
  assert_int_equal(conv_bytes(), 4LL * 8 * 113);
  assert_true(assumed("samples") == 512 && assumed("streams") == 1);
}

int main(void) {
  test_end_each(forget);
  return TEST_RUN(NULL, NULL);
}
