/* The ONNX reader on small files written here, each for one thing. */
#include <sys/stat.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "base/file.h"
#include "graph/graph.h"
#include "onnx_bytes.h"
#include "read/reader.h"

extern const reader onnx_reader;

static read_result result;
static situ_error error;

static void forget(void) {
  situ_graph_free(result.graph);
  text_free(&result.notes);
  free(result.dims);
  result = (read_result){0};
}

static int clean(void **state) {
  forget();
  return 0;
}

/* Reads and frees a model as if it were the file at `path`. */
static situ_status read_at(const char *path, bytes m, const situ_read_options *options) {
  situ_read_options none = {.size = sizeof(situ_read_options), .default_dim = 1};
  read_source source = {.path = path,
                        .bytes = (const unsigned char *)m.bytes,
                        .size_bytes = m.length,
                        .options = options ? options : &none};
  forget();
  error = (situ_error){0};
  assert_false(m.failed);
  situ_status status = onnx_reader.read(&result, &source, &error);
  text_free(&m);
  assert_true((status == SITU_STATUS_OK) == (result.graph != NULL));
  return status;
}

static void read_good(bytes m) {
  situ_status status = read_at("made.onnx", m, NULL);
  if (status != SITU_STATUS_OK) print_error("%s: %s\n", error.where, error.text);
  assert_int_equal(status, SITU_STATUS_OK);
}

static void read_bad(bytes m, const char *where, const char *text) {
  assert_int_equal(read_at("made.onnx", m, NULL), SITU_STATUS_BAD_INPUT);
  assert_string_equal(error.where, where);
  if (!strstr(error.text, text)) print_error("%s\n", error.text);
  assert_non_null(strstr(error.text, text));
}

static situ_operator op(const char *name) {
  int32_t i = situ_graph_find(result.graph, name);
  if (i < 0) print_error("no operator %s\n", name);
  assert_true(i >= 0);
  return graph_operator(result.graph, i);
}

static situ_tensor made_by(const char *name) {
  int32_t first;
  assert_true(situ_graph_outputs(result.graph, situ_graph_find(result.graph, name), &first) > 0);
  return graph_tensor(result.graph, first);
}

static bool noted(const char *text) { return result.notes.bytes && strstr(result.notes.bytes, text); }

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

static void a_size_for_a_dimension_that_is_not_there_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *shape, *told;
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
    assert_non_null(strstr(error.text, rows[i].told));
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

/* ---- sub-graphs ---- */

/* A branch that multiplies the outer x[4,4] by an own weight `times` times. */
static bytes branch(int times) {
  bytes g = {0};
  char from[16] = "x", to[16];
  add_weight(&g, tensor("own", F32, "4 4"));
  for (int i = 0; i < times; i++) {
    snprintf(to, sizeof to, "step%d", i);
    char inputs[40];
    snprintf(inputs, sizeof inputs, "%s own", from);
    add_node(&g, node("MatMul", "", inputs, to));
    memcpy(from, to, sizeof from);
  }
  add_output(&g, from, F32, "4 4");
  return g;
}

static bytes choice(bool known, int taken) {
  bytes g = {0};
  add_input(&g, "seed", F32, "4 4");
  add_node(&g, node("Relu", "before", "seed", "x"));
  if (known) {
    bytes t = tensor("c", BOOLEAN, "");
    char truth = (char)taken;
    put_bytes(&t, 9, &truth, 1);
    add_weight(&g, t);
  } else {
    add_input(&g, "c", BOOLEAN, "");
  }
  bytes n = node("If", "choose", "c", "y");
  attr_graph(&n, "then_branch", branch(1));
  attr_graph(&n, "else_branch", branch(3));
  add_node(&g, n);
  return model(g);
}

static void an_if_costs_as_its_dearer_branch(void **state) {
  read_good(choice(false, 0));
  assert_int_equal(result.graph->n_operators, 2);
  assert_int_equal(result.n_nested_operators, 4);
  assert_int_equal(op("choose").flops, 3 * 2 * 4 * 4 * 4);
  assert_int_equal(op("choose").weight_bytes, 2 * 64 + 0);
  assert_int_equal(result.graph->n_edges, 1); /* x is captured */
  assert_int_equal(made_by("choose").size_bytes, 64);
}

static void an_if_with_a_known_condition_costs_as_what_is_taken(void **state) {
  read_good(choice(true, 1));
  assert_int_equal(op("choose").flops, 2 * 4 * 4 * 4);
  assert_int_equal(result.n_nested_operators, 4);
}

/* A Loop whose body multiplies what it carries by the captured weight w and gives it out as a scan output too. */
static bytes loop(bool known) {
  bytes g = {0}, body = {0};
  add_input(&body, "i", I64, "");
  add_input(&body, "going", BOOLEAN, "");
  add_input(&body, "state", F32, "2 3");
  add_node(&body, node("MatMul", "", "state w", "next"));
  add_node(&body, node("Identity", "", "next", "copy"));
  add_output(&body, "going", BOOLEAN, "");
  add_output(&body, "next", F32, "2 3");
  add_output(&body, "copy", F32, "2 3");
  bytes n = node("Loop", "loop", "trips - x", "last all");
  attr_graph(&n, "body", body);
  add_input(&g, "x", F32, "2 3");
  add_weight(&g, tensor("w", F32, "3 3"));
  if (known)
    add_weight(&g, scalar64("trips", 10));
  else
    add_input(&g, "trips", I64, "");
  add_node(&g, n);
  return model(g);
}

static void a_loop_costs_as_its_trips(void **state) {
  read_good(loop(true));
  assert_int_equal(op("loop").flops, 10 * 2 * 2 * 3 * 3);
  assert_int_equal(op("loop").weight_bytes, 9 * 4 + 8);
  assert_true(op("loop").inferred);
  int32_t first;
  assert_int_equal(situ_graph_outputs(result.graph, 0, &first), 2);
  assert_int_equal(graph_tensor(result.graph, first).size_bytes, 24);
  assert_int_equal(graph_tensor(result.graph, first + 1).size_bytes, 240);
  read_good(loop(false));
  assert_int_equal(op("loop").flops, 2 * 2 * 3 * 3);
  assert_true(noted("Loop 'loop': how often it runs is not known"));
  assert_false(op("loop").inferred);
}

static void a_scan_costs_as_its_sequence(void **state) {
  bytes g = {0}, body = {0};
  add_input(&body, "s", F32, "4");
  add_input(&body, "e", F32, "4");
  add_node(&body, node("Add", "", "s e", "t"));
  add_node(&body, node("Identity", "", "t", "o"));
  add_output(&body, "t", F32, "4");
  add_output(&body, "o", F32, "4");
  bytes n = node("Scan", "scan", "start xs", "end ys");
  attr_graph(&n, "body", body);
  attr_int(&n, "num_scan_inputs", 1);
  attr_ints(&n, "scan_input_axes", "1");
  add_input(&g, "start", F32, "4");
  add_input(&g, "xs", F32, "4 25");
  add_node(&g, n);
  read_good(model(g));
  assert_int_equal(op("scan").flops, 25 * 4);
  int32_t first;
  situ_graph_outputs(result.graph, 0, &first);
  situ_tensor ys = graph_tensor(result.graph, first + 1);
  assert_int_equal(ys.rank, 2);
  assert_int_equal(ys.dims[0], 25);
  assert_int_equal(ys.dims[1], 4);
}

/* Inner names hide outer ones: here the inner x is no capture of the later outer x, which would be a cycle. */
static void inner_names_hide_outer_ones(void **state) {
  bytes g = {0}, inner = {0};
  add_node(&inner, node("Neg", "", "seed", "x"));
  add_node(&inner, node("Exp", "", "x", "r"));
  add_output(&inner, "r", F32, "4 4");
  bytes n = node("If", "choose", "c", "y");
  attr_graph(&n, "then_branch", inner);
  bytes other = {0};
  add_node(&other, node("Neg", "", "seed", "r"));
  add_output(&other, "r", F32, "4 4");
  attr_graph(&n, "else_branch", other);
  add_input(&g, "seed", F32, "4 4");
  add_input(&g, "c", BOOLEAN, "");
  add_node(&g, n);
  add_node(&g, node("Relu", "after", "y", "x"));
  read_good(model(g));
  assert_int_equal(situ_graph_find(result.graph, "after"), 1);
}

static bytes nested(int depth) {
  bytes g = {0};
  add_node(&g, node("Relu", "", "x", "r"));
  add_output(&g, "r", F32, "4");
  for (int i = 0; i < depth; i++) {
    bytes outer = {0}, other = {0};
    add_node(&other, node("Neg", "", "x", "r"));
    add_output(&other, "r", F32, "4");
    bytes n = node("If", "", "c", "r");
    attr_graph(&n, "then_branch", g);
    attr_graph(&n, "else_branch", other);
    add_node(&outer, n);
    add_output(&outer, "r", F32, "4");
    g = outer;
  }
  add_input(&g, "x", F32, "4");
  add_input(&g, "c", BOOLEAN, "");
  return model(g);
}

static void deep_nesting_is_an_error(void **state) {
  read_good(nested(60));
  assert_int_equal(result.graph->n_operators, 1);
  assert_int_equal(result.n_nested_operators, 2 * 60);
  read_bad(nested(100), "made.onnx", "nests sub-graphs more than 64 deep");
  read_bad(nested(5000), "made.onnx", "nests sub-graphs more than 64 deep");
}

/* ---- functions ---- */

static void add_function(bytes *m, const char *name, const char *inputs, const char *outputs, bytes first,
                         bytes second) {
  bytes f = {0};
  put_text(&f, 1, name);
  put_words(&f, 4, inputs);
  put_words(&f, 5, outputs);
  put(&f, 7, first);
  if (second.bytes) put(&f, 7, second);
  put(&f, 9, opset("", 17));
  put_text(&f, 10, "mine");
  put(m, 25, f);
}

static bytes call(const char *kind, const char *name, const char *inputs, const char *outputs) {
  bytes n = node(kind, name, inputs, outputs);
  put_text(&n, 7, "mine");
  return n;
}

static void a_function_call_is_one_operator_with_the_work_of_its_body(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "2 3 4");
  add_weight(&g, tensor("w", F32, "3 4"));
  bytes n = call("Twice", "call", "x w", "y");
  attr_int(&n, "along", 2);
  add_node(&g, n);
  bytes m = model(g), concat = node("Concat", "", "s s", "o");
  attr_reference(&concat, "axis", "along");
  add_function(&m, "Twice", "a b", "o", node("Add", "", "a b", "s"), concat);
  read_good(m);
  assert_int_equal(result.graph->n_operators, 1);
  assert_int_equal(result.n_nested_operators, 2);
  assert_int_equal(op("call").flops, 24);
  assert_int_equal(op("call").weight_bytes, 48);
  situ_tensor y = made_by("call");
  assert_int_equal(y.dims[2], 8);
  assert_int_equal(y.size_bytes, 192);
}

static void functions_that_call_themselves_are_an_error(void **state) {
  bytes g = {0}, none = {0};
  add_input(&g, "x", F32, "2");
  add_node(&g, call("Ping", "start", "x", "y"));
  bytes m = model(g);
  add_function(&m, "Ping", "a", "b", call("Pong", "", "a", "b"), none);
  add_function(&m, "Pong", "a", "b", call("Ping", "back", "a", "b"), none);
  read_bad(m, "back", "calls itself");
}

/* Each of 40 functions calls the next one twice: 2^40 operators if one wrote them out. */
static void functions_that_explode_are_an_error(void **state) {
  bytes g = {0};
  add_input(&g, "x", F32, "2");
  add_node(&g, call("F0", "start", "x", "y"));
  bytes m = model(g);
  for (int i = 0; i < 40; i++) {
    char name[16], next[16];
    snprintf(name, sizeof name, "F%d", i);
    snprintf(next, sizeof next, "F%d", i + 1);
    add_function(&m, name, "a", "c", call(next, "", "a", "b"), call(next, "", "b", "c"));
  }
  read_bad(m, "made.onnx", "written out");
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
      ONE(a_size_for_a_dimension_that_is_not_there_is_refused),
      ONE(an_assumed_size_that_does_not_fit_is_told_and_not_fatal),
      ONE(a_weight_is_charged_to_its_first_reader),
      ONE(made_weights_cost_as_weights),
      ONE(quantised_weights_stay_quantised),
      ONE(a_product_of_dequantised_values_is_one_of_integers),
      ONE(weights_in_few_bits_cost_what_they_store),
      ONE(sparse_weights_cost_what_they_store),
      ONE(an_if_costs_as_its_dearer_branch),
      ONE(an_if_with_a_known_condition_costs_as_what_is_taken),
      ONE(a_loop_costs_as_its_trips),
      ONE(a_scan_costs_as_its_sequence),
      ONE(inner_names_hide_outer_ones),
      ONE(deep_nesting_is_an_error),
      ONE(a_function_call_is_one_operator_with_the_work_of_its_body),
      ONE(functions_that_call_themselves_are_an_error),
      ONE(functions_that_explode_are_an_error),
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
  return cmocka_run_group_tests(tests, NULL, NULL);
}
