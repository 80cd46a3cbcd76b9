/* The ONNX reader on graphs within operators, and on functions: small files written here, each for one thing. */
#include "onnx_read.h"

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

TEST(an_if_costs_as_its_dearer_branch) {
  read_good(choice(false, 0));
  assert_int_equal(result.graph->n_operators, 2);
  assert_int_equal(result.n_nested_operators, 4);
  assert_int_equal(op("choose").flops, 3 * 2 * 4 * 4 * 4);
  assert_int_equal(op("choose").weight_bytes, 2 * 64 + 0);
  assert_int_equal(result.graph->n_edges, 1); /* x is captured */
  assert_int_equal(made_by("choose").size_bytes, 64);
}

TEST(an_if_with_a_known_condition_costs_as_what_is_taken) {
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

TEST(a_loop_costs_as_its_trips) {
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

TEST(a_scan_costs_as_its_sequence) {
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
TEST(inner_names_hide_outer_ones) {
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

TEST(deep_nesting_is_an_error) {
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

TEST(a_function_call_is_one_operator_with_the_work_of_its_body) {
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

TEST(functions_that_call_themselves_are_an_error) {
  bytes g = {0}, none = {0};
  add_input(&g, "x", F32, "2");
  add_node(&g, call("Ping", "start", "x", "y"));
  bytes m = model(g);
  add_function(&m, "Ping", "a", "b", call("Pong", "", "a", "b"), none);
  add_function(&m, "Pong", "a", "b", call("Ping", "back", "a", "b"), none);
  read_bad(m, "back", "calls itself");
}

/* Each of 40 functions calls the next one twice: 2^40 operators if one wrote them out. */
TEST(functions_that_explode_are_an_error) {
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

int onnx_nested_tests(void) {
  test_end_each(clean);
  return TEST_RUN(NULL, NULL);
}
