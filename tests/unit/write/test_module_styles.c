/* Styles of modules: what Megatron-LM's scheme makes of a block of a decoder, and what parallelize_module cannot do. */
#include "write/module_styles.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "situ/graph.h"

enum { MOST = 16, WIDTH = 32 };

/* An operator and its one output; inputs are operators before it, -1: none. */
typedef struct row {
  const char *name, *kind;
  int64_t weights;
  int32_t input[3];
  int32_t rank;
  int64_t dims[4];
  module_style style;
} row;

static situ_graph *graph_of(const row *rows) {
  OWN(situ_graph_builder) *b = NULL;
  situ_graph *g;
  situ_error error = {0};
  must(situ_graph_builder_new(&b, "rows", &error), &error);
  for (int32_t v = 0; v < MOST && rows[v].name; v++) {
    situ_operator op = SITU_OPERATOR_INIT;
    situ_tensor t = SITU_TENSOR_INIT;
    op.name = rows[v].name;
    op.kind = rows[v].kind;
    op.weight_bytes = rows[v].weights;
    op.dtype = strcmp(op.name, "packed.mm") == 0 ? SITU_DTYPE_I8 : SITU_DTYPE_F16;
    situ_graph_builder_add_operator(b, &op);
    for (int32_t i = 0; i < 3 && rows[v].input[i] >= 0; i++) situ_graph_builder_add_use(b, v, rows[v].input[i]);
    t.rank = rows[v].rank;
    t.dims = rows[v].dims;
    t.size_bytes = 64;
    situ_graph_builder_add_tensor(b, v, &t);
  }
  must(situ_graph_freeze(&g, b, &error), &error);
  return g;
}

#define FLAT \
  3, { 1, 2, WIDTH }
#define FROM(...) \
  { __VA_ARGS__, -1, -1 }
#define NOTHING \
  { -1, -1, -1 }

TEST(a_block_of_a_decoder_is_split_as_megatron_does) {
  static const row rows[] = {{"embed.embedding", "Gather", 900, NOTHING, FLAT, MODULE_TABLE},
                             {"0.norm.rms", "RMSNormalization", 9, FROM(0), FLAT, MODULE_WHOLE},
                             {"0.q.linear", "MatMul", 900, FROM(1), FLAT, MODULE_BY_COLUMNS},
                             {"0.k.linear_1", "MatMul", 900, FROM(1), FLAT, MODULE_BY_COLUMNS},
                             {"0.v.linear_2", "MatMul", 900, FROM(1), FLAT, MODULE_BY_COLUMNS},
                             {"0.sdpa", "Attention", 0, {2, 3, 4}, FLAT, MODULE_WHOLE},
                             {"0.o.linear_3", "MatMul", 900, FROM(5), FLAT, MODULE_BY_ROWS},
                             {"0.add", "Add", 0, {0, 6, -1}, FLAT, MODULE_WHOLE},
                             {"norm.rms", "RMSNormalization", 9, FROM(7), FLAT, MODULE_WHOLE},
                             {"pool.dense.linear", "MatMul", 900, FROM(8), FLAT, MODULE_GATHERED},
                             {"pool.tanh", "Tanh", 0, FROM(9), FLAT, MODULE_WHOLE},
                             {"head.linear", "MatMul", 900, FROM(8), FLAT, MODULE_GATHERED},
                             {0}};
  OWN(situ_graph) *g = graph_of(rows);
  situ_error error = {0};
  module_styles m;
  OWN(arena) *a = arena_new();
  must(module_styles_find(&m, g, 4, a, &error), &error);
  for (int32_t v = 0; rows[v].name; v++) {
    int32_t at = situ_graph_find(g, rows[v].name);
    if (m.style[at] != rows[v].style) fail_msg("%s: %d", rows[v].name, m.style[at]);
  }
  assert_string_equal(module_styles_path(&m, situ_graph_find(g, "0.o.linear_3"), a), "0.o");
  assert_string_equal(module_styles_path(&m, situ_graph_find(g, "0.add"), a), "0");
  g->micro_batch = 512; /* of a language model's file: operators are modules */
  assert_string_equal(module_styles_path(&m, situ_graph_find(g, "0.add"), a), "0.add");
}

static void expect_refused(const row *rows, const char *says, int64_t micro_batch) {
  OWN(situ_graph) *g = graph_of(rows);
  situ_error error = {0};
  module_styles m;
  OWN(arena) *a = arena_new();
  g->micro_batch = micro_batch;
  assert_int_equal(module_styles_find(&m, g, 4, a, &error), SITU_STATUS_UNSUPPORTED);
  if (!strstr(error.text, says)) fail_msg("%s: %s", error.where, error.text);
}

TEST(what_has_no_style_is_refused) {
  static const row conv[] = {{"c.conv", "Conv", 900, NOTHING, 4, {1, 8, 5, 5}, 0},
                             {"c.relu", "Relu", 0, FROM(0), 4, {1, 8, 5, 5}, 0},
                             {"d.conv", "Conv", 900, FROM(1), 4, {1, 8, 5, 5}, 0},
                             {0}};
  static const row experts[] = {{"e.mm", "ExpertsMatMul", 900, NOTHING, FLAT, 0}, {0}};
  static const row packed[] = {{"packed.mm", "MatMul", 900, NOTHING, FLAT, 0}, {0}};
  static const row uneven[] = {
      {"a.mm", "MatMul", 900, NOTHING, 2, {1, 30}, 0}, {"b.mm", "MatMul", 900, FROM(0), 2, {1, 30}, 0}, {0}};
  static const row fused[] = {{"a.mm", "MatMul", 900, NOTHING, 3, {1, 2, 2 * WIDTH}, 0},
                              {"a.half", "Slice", 0, FROM(0), FLAT, 0},
                              {"b.mm", "MatMul", 900, FROM(1), FLAT, 0},
                              {0}};
  static const row own[] = {{"a.mm", "MatMul", 900, NOTHING, FLAT, 0},
                            {"s.mul", "Mul", 128, FROM(0), FLAT, 0},
                            {"b.mm", "MatMul", 900, FROM(1), FLAT, 0},
                            {0}};
  static const row heads[] = {{"q.mm", "MatMul", 900, NOTHING, FLAT, 0},
                              {"k.mm", "MatMul", 900, NOTHING, FLAT, 0},
                              {"v.mm", "MatMul", 900, NOTHING, FLAT, 0},
                              {"a.sdpa", "Attention", 0, {0, 1, 2}, FLAT, 0},
                              {"a.norm", "LayerNormalization", 9, FROM(3), FLAT, 0},
                              {0}};
  static const row state_space[] = {{"a.mm", "MatMul", 900, NOTHING, FLAT, 0},
                                    {"a.scan", "StateSpace", 0, FROM(0), FLAT, 0},
                                    {"b.mm", "MatMul", 900, FROM(1), FLAT, 0},
                                    {0}};
  static const row two[] = {{"qkv", "MatMul", 900, NOTHING, FLAT, 0},
                            {"attention", "Attention", 0, FROM(0), FLAT, 0},
                            {"o", "MatMul", 900, FROM(1), FLAT, 0},
                            {0}};
  static const row gate[] = {{"gate_up", "MatMul", 900, NOTHING, 3, {1, 2, 2 * WIDTH}, 0},
                             {"act", "Swish", 0, FROM(0), FLAT, 0},
                             {"down", "MatMul", 900, FROM(1), FLAT, 0},
                             {0}};
  expect_refused(conv, "is a convolution", 0);
  expect_refused(experts, "is experts", 0);
  expect_refused(packed, "has packed weights", 0);
  expect_refused(uneven, "splits into 30 equal parts (heads or columns), which 4 devices", 0);
  expect_refused(fused, "some of the columns that one module makes", 0);
  expect_refused(own, "has weights of its own", 0);
  expect_refused(heads, "needed whole", 0);
  expect_refused(state_space, "is a recurrence", 0);
  expect_refused(two, "are not three modules", 512);
  expect_refused(gate, "some of the columns that one module makes", 512);
}

/* The bias of a product in an ONNX file is an operator of the same module. */
TEST(a_bias_belongs_to_its_module) {
  static const row rows[] = {{"/a/MatMul", "MatMul", 900, NOTHING, FLAT, 0},
                             {"/a/Add", "Add", 64, FROM(0), FLAT, 0},
                             {"/b/MatMul", "MatMul", 900, FROM(1), FLAT, 0},
                             {0}};
  OWN(situ_graph) *g = graph_of(rows);
  situ_error error = {0};
  module_styles m;
  OWN(arena) *a = arena_new();
  must(module_styles_find(&m, g, 4, a, &error), &error);
  assert_int_equal(m.style[0], MODULE_BY_COLUMNS);
  assert_int_equal(m.style[1], MODULE_WHOLE);
  assert_int_equal(m.style[2], MODULE_BY_ROWS);
}

TEST_MAIN
