/* The ONNX reader on small files written here, each for one thing. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "onnx_read.h"

/* x[2,3] * w[3,4] -> y, relu -> z. */
static bytes small_graph(void) {
  bytes g = {0};
  add_input(&g, "x", F32, "2 3");
  add_weight(&g, tensor("w", F32, "3 4"));
  add_node(&g, node("MatMul", "mul", "x w", "y"));
  add_node(&g, node("Relu", "relu", "y", "z"));
  add_output(&g, "z", F32, "2 4");
  return g;
}

static void a_small_graph_is_read(void **state) {
  read_good(model(small_graph()));
  assert_int_equal(result.graph->n_operators, 2);
  assert_int_equal(result.graph->n_edges, 1);
  assert_string_equal(result.graph->model, "made");
  situ_operator mul = op("mul");
  assert_string_equal(mul.kind, "MatMul");
  assert_int_equal(mul.flops, 2 * 2 * 3 * 4);
  assert_int_equal(mul.weight_bytes, 3 * 4 * 4);
  assert_int_equal(mul.moved_bytes, (2 * 3 + 3 * 4 + 2 * 4) * 4);
  assert_int_equal(mul.dtype, SITU_DTYPE_F32);
  assert_true(mul.inferred);
  assert_int_equal(mul.source_id, 0);
  situ_tensor y = made_by("mul");
  assert_string_equal(y.name, "y");
  assert_int_equal(y.rank, 2);
  assert_int_equal(y.dims[0], 2);
  assert_int_equal(y.dims[1], 4);
  assert_int_equal(y.size_bytes, 32);
}

static void an_initialiser_that_is_an_input_too_is_a_weight(void **state) {
  bytes g = small_graph();
  add_input(&g, "w", F32, "3 4");
  read_good(model(g));
  assert_int_equal(op("mul").weight_bytes, 48);
}

static void names_are_made_unique(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "2");
  add_node(&g, node("Relu", "same", "x", "a"));
  add_node(&g, node("Relu", "same", "a", "b"));
  add_node(&g, node("Relu", "", "b", "c"));
  add_node(&g, node("Relu", "d", "c", "e"));
  add_node(&g, node("Relu", "", "e", "d"));
  read_good(model(g));
  assert_int_equal(op("same").source_id, 0);
  assert_int_equal(op("b").source_id, 1);
  assert_int_equal(op("c").source_id, 2);
  assert_int_equal(op("d").source_id, 3);
  assert_int_equal(op("d_4").source_id, 4);
}

static void nodes_may_come_in_any_order(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "2 3");
  add_node(&g, node("Relu", "last", "b", "c"));
  add_node(&g, node("Neg", "middle", "a", "b"));
  add_node(&g, node("Exp", "first", "x", "a"));
  read_good(model(g));
  assert_int_equal(situ_graph_find(result.graph, "first"), 0);
  assert_int_equal(situ_graph_find(result.graph, "last"), 2);
  assert_int_equal(made_by("last").size_bytes, 24);
}

static void a_cycle_is_named(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "2");
  add_node(&g, node("Add", "round", "x b", "a"));
  add_node(&g, node("Neg", "about", "a", "b"));
  read_bad(model(g), "round", "cycle");
}

static void values_are_made_exactly_once(void **state) {
  bytes g = small_graph();
  add_node(&g, node("Relu", "again", "x", "y"));
  read_bad(model(g), "again", "produces value 'y'");
  g = small_graph();
  add_node(&g, node("Relu", "lost", "nowhere", "u"));
  read_bad(model(g), "lost", "reads value 'nowhere'");
  g = small_graph();
  add_output(&g, "missing", F32, "1");
  read_bad(model(g), "made.onnx", "'missing'");
}

static void shapes_that_do_not_fit_are_an_error_at_their_operator(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "2 3");
  add_weight(&g, tensor("w", F32, "4 5"));
  add_node(&g, node("MatMul", "wrong", "x w", "y"));
  read_bad(model(g), "wrong", "MatMul");
}

static void dynamic_dimensions_take_given_or_default_sizes(void **state) {
  situ_dim dims[] = {{"batch", 5}};
  situ_read_options options = {.size = sizeof(situ_read_options), .dims = dims, .n_dims = 1, .default_dim = 2};
  bytes g = {0};
  add_input(&g, "x", F32, "batch length ? 3");
  add_node(&g, node("Relu", "relu", "x", "y"));
  put(&g, 13, value("y", F32, "7 length ? 3")); /* contradicts what is given: the given size wins */
  assert_int_equal(read_at("made.onnx", model(g), &options), SITU_STATUS_OK);
  assert_int_equal(made_by("relu").size_bytes, 5 * 2 * 2 * 3 * 4);
  assert_true(noted("dimension length = 2 (set it with --dim 'length=N')"));
  assert_true(noted("dimension x[2] = 2"));
  assert_false(noted("batch"));
  assert_int_equal(result.n_dims, 0); /* given, not assumed */
}

static void dimensions_named_by_a_question_mark_are_sizes_of_their_own(void **state) {
  situ_dim dims[] = {{"x[0]", 3}, {"x[1]", 4}, {"y[0]", 4}, {"y[1]", 5}};
  situ_read_options options = {.size = sizeof(situ_read_options), .dims = dims, .n_dims = 4};
  static const char *const names[] = {"'? '?", "'None 'None", "'-1 '-1"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    bytes g = {0};
    add_input(&g, "x", F32, names[i]);
    add_input(&g, "y", F32, names[i]);
    add_node(&g, node("MatMul", "mul", "x y", "z"));
    add_output(&g, "z", F32, names[i]);
    assert_int_equal(read_at("made.onnx", model(g), &options), SITU_STATUS_OK);
    assert_int_equal(op("mul").flops, 2 * 3 * 4 * 5);
  }
}

static void a_newer_file_is_read_by_what_it_uses(void **state) {
  (void)state;
  for (int uses = 0; uses < 3; uses++) { /* nothing new; a field of the model; one of a node */
    bytes m = {0}, g = {0}, n = node("Relu", "relu", "x", "y");
    add_input(&g, "x", F32, "2 3");
    if (uses == 2) put_text(&n, 11, "new");
    add_node(&g, n);
    put_int(&m, 1, 14);
    if (uses == 1) put_text(&m, 27, "new");
    put(&m, 7, g);
    put(&m, 8, opset("", 17));
    read_good(m);
    assert_int_equal(made_by("relu").size_bytes, 24);
    assert_int_equal(noted("IR version"), uses > 0);
    if (uses > 0) assert_true(noted(uses == 1 ? "field 27 of a model" : "field 11 of a node"));
  }
}

static void a_size_for_a_dimension_that_is_not_there_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *shape, *message;
  } rows[] = {{"batch length", "has no dynamic dimension bacth; did you mean batch?"},
              {"width 3", "has no dynamic dimension bacth; known: width"},
              {"2 3", "has no dynamic dimension bacth; all its sizes are fixed"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_dim dims[] = {{"bacth", 6}};
    situ_read_options options = {.size = sizeof(situ_read_options), .dims = dims, .n_dims = 1};
    bytes g = {0};
    add_input(&g, "x", F32, rows[i].shape);
    add_node(&g, node("Relu", "relu", "x", "y"));
    assert_int_equal(read_at("made.onnx", model(g), &options), SITU_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, rows[i].message));
  }
}

static void an_assumed_size_that_does_not_fit_is_told_and_not_fatal(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "2 width");
  add_weight(&g, tensor("w", F32, "3 4"));
  add_node(&g, node("MatMul", "mul", "x w", "y"));
  put(&g, 13, value("y", F32, "2 4"));
  bytes again = {0};
  text_add_bytes(&again, g.bytes, g.length);
  read_good(model(g));
  assert_true(noted("operator 'mul' does not match the assumed dimensions"));
  assert_false(op("mul").inferred);
  assert_int_equal(made_by("mul").size_bytes, 32);
  /* A size that the user gave is meant: there the contradiction is an error. */
  situ_dim dims[] = {{"width", 7}};
  situ_read_options options = {.size = sizeof(situ_read_options), .dims = dims, .n_dims = 1, .default_dim = 1};
  assert_int_equal(read_at("made.onnx", model(again), &options), SITU_STATUS_BAD_INPUT);
  assert_string_equal(error.where, "mul");
}

static void a_weight_is_charged_to_its_first_reader(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "3 3");
  add_weight(&g, tensor("w", F32, "3 3"));
  add_node(&g, node("MatMul", "second", "a w", "b"));
  add_node(&g, node("MatMul", "first", "x w", "a"));
  read_good(model(g));
  assert_int_equal(op("first").weight_bytes, 36);
  assert_int_equal(op("second").weight_bytes, 0);
  assert_true(noted("36 of 36 bytes of weights are read by several operators"));
}

/* k is [4] where Reshape reads it and [2, 2] later: engines take the later one. */
static void of_two_constants_of_one_name_the_later_one_counts(void **state) {
  bytes g = {0}, early = node("Constant", "early", "", "k"), late = node("Constant", "late", "", "k");
  attr_tensor(&early, "value", vector64("", "4"));
  attr_tensor(&late, "value", vector64("", "2 2"));
  add_input(&g, "x", F32, "4");
  add_node(&g, early);
  add_node(&g, node("Reshape", "form", "x k", "y"));
  add_node(&g, late);
  add_output(&g, "y", F32, "");
  read_good(model(g));
  assert_int_equal(made_by("form").rank, 2);
}

/* ConstantOfShape([4,3,3,3]) -> Conv: 4*3*3*3 floats, as in the light models of the ONNX project. */
static void made_weights_cost_as_weights(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "1 3 8 8");
  add_weight(&g, vector64("shape", "4 3 3 3"));
  add_node(&g, node("ConstantOfShape", "make", "shape", "w"));
  add_node(&g, node("Conv", "conv", "x w", "y"));
  read_good(model(g));
  assert_int_equal(op("conv").weight_bytes, 4 * 3 * 3 * 3 * 4);
  assert_int_equal(op("conv").flops, 2LL * 4 * 6 * 6 * 3 * 3 * 3);
  assert_int_equal(op("make").weight_bytes, 0);
  assert_int_equal(op("make").flops + op("make").moved_bytes, 0);
  assert_int_equal(made_by("make").size_bytes, 0);
  assert_int_equal(result.graph->n_uses, 0);
}

static void quantised_weights_stay_quantised(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "1 64");
  add_weight(&g, tensor("q", I8, "64 32"));
  add_weight(&g, tensor("scale", F32, ""));
  add_node(&g, node("DequantizeLinear", "dequantise", "q scale", "w"));
  add_node(&g, node("MatMul", "mul", "x w", "y"));
  read_good(model(g));
  assert_int_equal(op("mul").weight_bytes, 64 * 32 + 4);
  assert_int_equal(op("dequantise").weight_bytes, 0);
}

/* Weights of I8 with a scale for each of 32 columns, computed with in F32 or, where the other side is dequantised too,
 * in I8; in both cases they are read as stored. */
static void a_product_of_dequantised_values_is_one_of_integers(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "4 64");
  add_weight(&g, tensor("q", I8, "64 32"));
  add_weight(&g, tensor("scales", F32, "32"));
  add_weight(&g, tensor("scale", F32, ""));
  add_weight(&g, tensor("zero", U8, ""));
  bytes columns = node("DequantizeLinear", "weights", "q scales", "w");
  attr_int(&columns, "axis", 1);
  add_node(&g, columns);
  add_node(&g, node("MatMul", "real", "x w", "y"));
  add_node(&g, node("QuantizeLinear", "in", "x scale zero", "xq"));
  add_node(&g, node("DequantizeLinear", "back", "xq scale zero", "xd"));
  add_node(&g, node("MatMul", "whole", "xd w", "z"));
  read_good(model(g));
  assert_int_equal(op("real").dtype, SITU_DTYPE_F32);
  assert_int_equal(op("whole").dtype, SITU_DTYPE_I8);
  assert_int_equal(op("real").weight_bytes, 64 * 32 + 4 * 32);
  assert_int_equal(op("whole").weight_bytes, 0);
  assert_int_equal(op("real").moved_bytes, 4 * 4 * 64 + (64 * 32 + 4 * 32) + 4 * 4 * 32);
}

/* 64 x 32 weights of 4 bits in blocks of 32: [N, K / 32, 16] bytes, and a scale for each block. */
static void weights_in_few_bits_cost_what_they_store(void **state) {
  bytes g = {0}, mul = node("MatMulNBits", "mul", "x b scales", "y");
  add_input(&g, "x", F32, "4 64");
  add_weight(&g, tensor("b", U8, "32 2 16"));
  add_weight(&g, tensor("scales", F32, "64"));
  put_text(&mul, 7, "com.microsoft");
  attr_int(&mul, "N", 32);
  attr_int(&mul, "K", 64);
  attr_int(&mul, "bits", 4);
  attr_int(&mul, "block_size", 32);
  add_node(&g, mul);
  read_good(model(g));
  assert_int_equal(op("mul").weight_bytes, 32 * 64 / 2 + 64 * 4);
  assert_int_equal(op("mul").moved_bytes, 4 * 4 * 64 + (32 * 64 / 2 + 64 * 4) + 4 * 4 * 32);
  assert_int_equal(op("mul").flops, 2 * 4 * 32 * 64);
}

static void sparse_weights_cost_what_they_store(void **state) {
  bytes g = {0}, sparse = {0};
  put(&sparse, 1, tensor("w", F32, "5"));
  put(&sparse, 2, tensor("", I64, "5"));
  put_int(&sparse, 3, 100);
  put_int(&sparse, 3, 10);
  put(&g, 15, sparse);
  add_input(&g, "x", F32, "2 100");
  add_node(&g, node("MatMul", "mul", "x w", "y"));
  read_good(model(g));
  assert_int_equal(op("mul").weight_bytes, 5 * 4 + 5 * 8);
  assert_int_equal(made_by("mul").size_bytes, 2 * 10 * 4);
}

/* ---- marks ---- */

static void unknown_kinds_are_legal_and_told_once(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "8");
  for (int i = 0; i < 2; i++) {
    bytes n = node("Frobnicate", i ? "second" : "first", i ? "y0" : "x", i ? "y1" : "y0");
    put_text(&n, 7, "com.example");
    add_node(&g, n);
  }
  put(&g, 13, value("y0", F32, "8"));
  read_good(model(g));
  assert_false(op("first").inferred);
  assert_int_equal(made_by("first").size_bytes, 32);
  const char *at = strstr(result.notes.bytes, "com.example:Frobnicate");
  assert_non_null(at);
  assert_null(strstr(at + 1, "com.example:Frobnicate"));
}

static void layers_come_from_metadata_or_names(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "2");
  add_node(&g, node("Relu", "/model/layers.3/act/Relu", "x", "a"));
  bytes n = node("Relu", "scoped", "a", "b");
  put(&n, 9, entry("stack", "long text that is left behind"));
  put(&n, 9, entry("pkg.torch.onnx.name_scopes", "['', 'layers.0', 'layers.0.act', 'relu']"));
  add_node(&g, n);
  n = node("Relu", "/a/annotated", "b", "c");
  put(&n, 9, entry("namespace", ": net.Net/block.1: net.Block/relu: aten.relu.default"));
  put(&n, 9, entry("layer_ann", "dev1"));
  add_node(&g, n);
  n = node("Relu", "spaced", "c", "d");
  put(&n, 9, entry("namespace", ": net.Net/block.1: net.Block/relu: aten.relu.default"));
  add_node(&g, n);
  add_node(&g, node("Relu", "plain", "d", "e"));
  read_good(model(g));
  assert_string_equal(op("/model/layers.3/act/Relu").layer, "/model/layers.3/act");
  assert_string_equal(op("scoped").layer, "layers.0.act");
  assert_string_equal(op("/a/annotated").layer, "dev1");
  assert_string_equal(op("spaced").layer, "block.1");
  assert_null(op("plain").layer);
}

static void gradients_are_backward(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "2");
  add_node(&g, node("Relu", "relu", "x", "a"));
  add_node(&g, node("Mul", "relu_Grad/Mul", "a x", "b"));
  bytes n = node("SoftmaxGrad_13", "soft", "a b", "c");
  put_text(&n, 7, "com.microsoft");
  add_node(&g, n);
  n = node("AdamWOptimizer", "step", "c", "d");
  put_text(&n, 7, "com.microsoft");
  add_node(&g, n);
  read_good(model(g));
  assert_int_equal(op("relu").phase, SITU_PHASE_FORWARD);
  assert_int_equal(op("relu_Grad/Mul").phase, SITU_PHASE_BACKWARD);
  assert_int_equal(op("soft").phase, SITU_PHASE_BACKWARD);
  assert_int_equal(op("step").phase, SITU_PHASE_UPDATE);
}

static void sequences_take_no_bytes(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "1000");
  add_node(&g, node("SequenceConstruct", "pack", "x x", "s"));
  read_good(model(g));
  assert_int_equal(made_by("pack").size_bytes, 0);
}

/* ---- sizes ---- */

static void sizes_that_lie_are_an_error(void **state) {
  bytes g = small_graph(), t = tensor("v", F32, "3");
  put_bytes(&t, 9, "12345678", 8);
  add_weight(&g, t);
  read_bad(model(g), "made.onnx", "tensor 'v' has 8 bytes of data; its shape and type need 12");
  g = small_graph();
  add_weight(&g, tensor("v", F32, "3 -1"));
  read_bad(model(g), "made.onnx", "dimension of size -1");
}

/* Texts end at a zero byte in C: a name would be cut, and two names become one. */
static void a_text_with_a_zero_byte_is_refused(void **state) {
  bytes g = {0}, n = node("Relu", "relu", "x", "y");
  add_input(&g, "x", F32, "6");
  put_bytes(&n, 3, "a\0b", 3);
  add_node(&g, n);
  read_bad(model(g), "made.onnx", "in a node, a text holds a zero byte");
}

static void huge_sizes_saturate(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "4611686018427387904 16");
  add_weight(&g, tensor("w", F32, "16 4611686018427387904"));
  add_node(&g, node("Relu", "relu", "x", "y"));
  add_node(&g, node("MatMul", "mul", "y w", "z"));
  read_good(model(g));
  assert_true(made_by("relu").size_bytes == INT64_MAX);
  assert_true(op("mul").flops == INT64_MAX);
  assert_true(op("mul").weight_bytes == INT64_MAX);
}

/* ---- external data ---- */

static char folder[64];

static int make_folder(void **state) {
  snprintf(folder, sizeof folder, "/tmp/situ-test-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state) {
  static const char *const names[] = {"data.bin", "link.bin"};
  char path[128];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
  return clean(state);
}

/* x[6] reshaped by an external shape of two int64. */
static situ_status read_external(const char *location, const char *offset, const char *length) {
  char path[128];
  bytes g = {0}, t = tensor("shape", I64, "2");
  external(&t, location, offset, length);
  add_weight(&g, t);
  add_input(&g, "x", F32, "6");
  add_node(&g, node("Reshape", "reshape", "x shape", "y"));
  snprintf(path, sizeof path, "%s/m.onnx", folder);
  return read_at(path, model(g), NULL);
}

static void external_data_stay_in_their_folder(void **state) {
  static const char *const outside[] = {"../data.bin",  "/etc/passwd", "a/../../data.bin", "..", "",
                                        "a\\..\\..\\b", "C:\\b"};
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    assert_int_equal(read_external(outside[i], NULL, NULL), SITU_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "must be relative and stay in the model's folder"));
  }
  char path[128];
  snprintf(path, sizeof path, "%s/link.bin", folder);
  assert_int_equal(symlink("/etc/passwd", path), 0);
  assert_int_equal(read_external("link.bin", NULL, "16"), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.text, "through a link"));
}

static void external_data_may_be_absent_and_small_shapes_are_read(void **state) {
  assert_int_equal(read_external("data.bin", "8", "16"), SITU_STATUS_OK);
  int64_t content[3] = {99, 2, 3};
  char path[128];
  snprintf(path, sizeof path, "%s/data.bin", folder);
  assert_int_equal(file_write(path, content, sizeof content, NULL), SITU_STATUS_OK);
  assert_int_equal(read_external("data.bin", "8", "16"), SITU_STATUS_OK);
  situ_tensor y = made_by("reshape");
  assert_int_equal(y.rank, 2);
  assert_int_equal(y.dims[0], 2);
  assert_int_equal(y.dims[1], 3);
  assert_int_equal(read_external("data.bin", "16", "16"), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.text, "has only 24"));
  assert_int_equal(read_external("data.bin", "9223372036854775800", "16"), SITU_STATUS_BAD_INPUT);
  assert_int_equal(read_external("data.bin", "0", "8"), SITU_STATUS_BAD_INPUT);
  assert_int_equal(read_external("data.bin", "-8", "16"), SITU_STATUS_BAD_INPUT);
}

int main(void) {
#define ONE(name) cmocka_unit_test_teardown(name, clean)
#define FILES(name) cmocka_unit_test_setup_teardown(name, make_folder, drop_folder)
  const struct CMUnitTest tests[] = {
      ONE(a_small_graph_is_read),
      ONE(an_initialiser_that_is_an_input_too_is_a_weight),
      ONE(names_are_made_unique),
      ONE(nodes_may_come_in_any_order),
      ONE(a_cycle_is_named),
      ONE(values_are_made_exactly_once),
      ONE(of_two_constants_of_one_name_the_later_one_counts),
      ONE(shapes_that_do_not_fit_are_an_error_at_their_operator),
      ONE(dynamic_dimensions_take_given_or_default_sizes),
      ONE(dimensions_named_by_a_question_mark_are_sizes_of_their_own),
      ONE(a_newer_file_is_read_by_what_it_uses),
      ONE(a_size_for_a_dimension_that_is_not_there_is_refused),
      ONE(an_assumed_size_that_does_not_fit_is_told_and_not_fatal),
      ONE(a_weight_is_charged_to_its_first_reader),
      ONE(made_weights_cost_as_weights),
      ONE(quantised_weights_stay_quantised),
      ONE(a_product_of_dequantised_values_is_one_of_integers),
      ONE(weights_in_few_bits_cost_what_they_store),
      ONE(sparse_weights_cost_what_they_store),
      ONE(unknown_kinds_are_legal_and_told_once),
      ONE(layers_come_from_metadata_or_names),
      ONE(gradients_are_backward),
      ONE(sequences_take_no_bytes),
      ONE(sizes_that_lie_are_an_error),
      ONE(a_text_with_a_zero_byte_is_refused),
      ONE(huge_sizes_saturate),
      FILES(external_data_stay_in_their_folder),
      FILES(external_data_may_be_absent_and_small_shapes_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + onnx_nested_tests();
}
