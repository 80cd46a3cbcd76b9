/* Kernels: each pattern with its work counted by hand, no circles, and what problems, checker and tables make of them.
 */
#include <dirent.h>
#include <unistd.h>
#include "../../lab/test.h"

#include "base/rng.h"
#include "cost/cost_models.h"
#include "cost/fusion.h"
#include "graph/builder.h"
#include "platform/platform.h"
#include "situ/read.h"

enum { MAX_N = 64 };

/* A network by hand: an operator makes one tensor, and moves its inputs, its weights and its output. */
typedef struct net {
  situ_graph_builder *b;
  situ_graph *g;
  int64_t out[MAX_N];
  int32_t n, tensor[MAX_N];
  arena *a;
} net;

static net net_new(void) {
  net n = {.a = arena_new()};
  assert_int_equal(situ_graph_builder_new(&n.b, "net", NULL), SITU_STATUS_OK);
  return n;
}

typedef struct made {
  const char *kind;
  int64_t out, weights, outside; /* bytes: of the output, of weights, of inputs of the model */
  int64_t flops;
  int32_t colocation; /* 0: none */
  situ_phase phase;
} made;

/* Inputs are operators, ended by -1. */
static int32_t add(net *n, made m, ...) {
  situ_operator op = {.kind = m.kind,
                      .dtype = SITU_DTYPE_F32,
                      .colocation = m.colocation - 1,
                      .phase = m.phase,
                      .source_id = -1,
                      .inferred = true,
                      .flops = m.flops,
                      .weight_bytes = m.weights,
                      .moved_bytes = m.outside + m.weights + m.out};
  va_list inputs;
  int32_t v, at[8], n_in = 0;
  va_start(inputs, m);
  for (int u; (u = va_arg(inputs, int)) >= 0;) {
    op.moved_bytes += n->out[u];
    at[n_in++] = n->tensor[u];
  }
  va_end(inputs);
  if (m.flops == 0) op.moved_bytes = 0;
  situ_tensor tensor = {.rank = -1, .size_bytes = m.out};
  assert_int_equal(builder_add_operator(n->b, &op, &v, NULL), SITU_STATUS_OK);
  assert_int_equal(builder_add_tensor(n->b, v, &tensor, &n->tensor[v], NULL), SITU_STATUS_OK);
  for (int32_t i = 0; i < n_in; i++) assert_int_equal(builder_add_use(n->b, v, at[i], NULL), SITU_STATUS_OK);
  n->out[v] = m.out;
  n->n++;
  return v;
}

#define OP(...) ((made){__VA_ARGS__})
#define WORK(KIND, OUT, ...) ((made){.kind = KIND, .out = OUT, .flops = 10, __VA_ARGS__})
#define FREE(KIND, OUT) ((made){.kind = KIND, .out = OUT})

static fusion fuse(net *n, const char *profile) {
  fusion f;
  if (!n->g) assert_int_equal(situ_graph_freeze(&n->g, n->b, NULL), SITU_STATUS_OK);
  for (int32_t v = 0; v < n->n; v++) assert_int_equal(n->g->built_index[v], v); /* so that numbers stay */
  assert_true(fusion_find(&f, n->g, fusion_profile_find(profile)->rules, NULL, NULL, n->a));
  return f;
}

static void net_free(net *n) {
  situ_graph_free(n->g);
  situ_graph_builder_free(n->b);
  arena_free(n->a);
}

/* Kernels as a text: the letter of each operator's head. */
static void assert_kernels(const fusion *f, int32_t n, const char *expected) {
  char letters[MAX_N + 1] = "";
  for (int32_t v = 0; v < n; v++) letters[v] = (char)('a' + f->group[v]);
  assert_string_equal(letters, expected);
}

TEST(a_convolution_takes_normalisation_and_activation) {
  net n = net_new();
  int32_t conv = add(&n, WORK("Conv", 80, .weights = 40, .outside = 100), -1);
  int32_t norm = add(&n, WORK("BatchNormalization", 80, .weights = 8), conv, -1);
  add(&n, WORK("Relu", 80), norm, -1);
  fusion f = fuse(&n, NULL);
  assert_kernels(&f, 3, "aaa");
  assert_int_equal(f.flops[0], 30);
  assert_int_equal(f.moved_bytes[0], 100 + 40 + 8 + 80); /* in, weights, out: nothing between */
  assert_int_equal(f.flops[1] + f.moved_bytes[1] + f.flops[2] + f.moved_bytes[2], 0);
  assert_int_equal(f.n_working, 1);
  f = fuse(&n, "ort-cuda"); /* there is no Conv + activation on CUDA */
  assert_kernels(&f, 3, "aac");
  assert_int_equal(f.moved_bytes[0], 100 + 40 + 8 + 80);
  assert_int_equal(f.moved_bytes[2], 160);
  f = fuse(&n, "none");
  assert_null(f.group);
  assert_int_equal(f.n_working, 3);
  net_free(&n);
}

TEST(a_residual_joins_the_later_branch_once) {
  net n = net_new();
  int32_t first = add(&n, WORK("Conv", 80, .weights = 40, .outside = 100), -1);
  int32_t second = add(&n, WORK("Conv", 80, .weights = 40, .outside = 100), -1);
  int32_t third = add(&n, WORK("Conv", 80, .weights = 40, .outside = 100), -1);
  int32_t sum = add(&n, WORK("Add", 80), first, second, -1);
  add(&n, WORK("Add", 80), sum, third, -1);
  fusion f = fuse(&n, NULL);
  /* The first sum goes with the second convolution; the other one would be its second residual, and goes with the
   * third, which is earlier than the exit of that kernel. */
  assert_kernels(&f, 5, "abcbc");
  assert_int_equal(f.moved_bytes[1], 100 + 40 + 80 /* of the first */ + 80);
  assert_int_equal(f.moved_bytes[0], 100 + 40 + 80);
  net_free(&n);
}

TEST(a_tensor_with_two_users_ends_a_kernel) {
  net n = net_new();
  int32_t conv = add(&n, WORK("Conv", 80, .outside = 100), -1);
  int32_t left = add(&n, WORK("Relu", 80), conv, -1);
  int32_t right = add(&n, WORK("Conv", 80), conv, -1);
  add(&n, WORK("Concat", 160), left, right, -1);
  fusion f = fuse(&n, NULL);
  assert_kernels(&f, 4, "abcd");
  net_free(&n);
}

TEST(elementwise_operators_chain) {
  net n = net_new();
  int32_t table = add(&n, WORK("Gather", 80, .outside = 80), -1);
  int32_t other = add(&n, WORK("Exp", 80, .outside = 80), -1);
  int32_t x = add(&n, WORK("Mul", 80), table, -1);
  x = add(&n, WORK("Add", 80), x, other, -1);
  add(&n, WORK("Tanh", 80), x, -1);
  fusion f = fuse(&n, "tensorrt");
  assert_kernels(&f, 5, "acccc");
  assert_int_equal(f.flops[2], 40);
  assert_int_equal(f.moved_bytes[2], 80 /* gathered */ + 80 /* outside */ + 80);
  f = fuse(&n, "onnxruntime");
  assert_kernels(&f, 5, "abcde");
  net_free(&n);
}

/* Mean, Sub, Pow, Mean, Add, Sqrt, Div, Mul, Add: nine operators of which each reads 80 or 8 bytes. */
TEST(a_decomposed_layer_norm_is_one_kernel) {
  net n = net_new();
  int32_t x = add(&n, WORK("MatMul", 80, .weights = 40, .outside = 80), -1);
  int32_t mean = add(&n, WORK("ReduceMean", 8), x, -1);
  int32_t d = add(&n, WORK("Sub", 80), x, mean, -1);
  int32_t s = add(&n, WORK("Pow", 80), d, -1);
  s = add(&n, WORK("ReduceMean", 8), s, -1);
  s = add(&n, WORK("Add", 8), s, -1);
  s = add(&n, WORK("Sqrt", 8), s, -1);
  s = add(&n, WORK("Div", 80), d, s, -1);
  s = add(&n, WORK("Mul", 80, .weights = 4), s, -1);
  s = add(&n, WORK("Add", 80, .weights = 4), s, -1);
  add(&n, WORK("MatMul", 80, .weights = 40), s, -1);
  static const char *const profiles[] = {"generic", "ort-cuda", "onnxruntime", "openvino"};
  for (int k = 0; k < 4; k++) {
    fusion f = fuse(&n, profiles[k]);
    assert_kernels(&f, 11, "abbbbbbbbbk");
    assert_int_equal(f.flops[1], 90);
    assert_int_equal(f.moved_bytes[1], 80 + 4 + 4 + 80); /* x once, though two read it */
    assert_int_equal(f.moved_bytes[0], 80 + 40 + 80);
  }
  net_free(&n);
}

TEST(a_decomposed_gelu_follows_its_product) {
  net n = net_new();
  int32_t x = add(&n, WORK("MatMul", 80, .weights = 40, .outside = 20), -1);
  x = add(&n, WORK("Add", 80, .weights = 8), x, -1);
  int32_t e = add(&n, WORK("Div", 80), x, -1);
  e = add(&n, WORK("Erf", 80), e, -1);
  e = add(&n, WORK("Add", 80), e, -1);
  e = add(&n, WORK("Mul", 80), x, e, -1);
  add(&n, WORK("Mul", 80), e, -1);
  fusion f = fuse(&n, NULL);
  assert_kernels(&f, 7, "aaaaaaa");
  assert_int_equal(f.flops[0], 70);
  assert_int_equal(f.moved_bytes[0], 20 + 40 + 8 + 80);
  f = fuse(&n, "ort-cuda"); /* bias with the product, GELU by itself */
  assert_kernels(&f, 7, "aaccccc");
  assert_int_equal(f.moved_bytes[2], 80 + 80);
  net_free(&n);
}

TEST(a_swish_reads_its_input_once) {
  net n = net_new();
  int32_t x = add(&n, WORK("Conv", 80, .outside = 20), -1);
  int32_t s = add(&n, WORK("Sigmoid", 80), x, -1);
  int32_t y = add(&n, WORK("Mul", 80), x, s, -1);
  add(&n, WORK("MaxPool", 20), y, -1);
  fusion f = fuse(&n, NULL);
  assert_kernels(&f, 4, "aaad");
  assert_int_equal(f.moved_bytes[0], 20 + 80);
  net_free(&n);
}

/* Projections, scores of 160 bytes, scale, mask, softmax, values. */
static void attention(net *n, bool to_values) {
  int32_t q = add(n, WORK("MatMul", 40, .weights = 10, .outside = 40), -1);
  q = add(n, WORK("Transpose", 40), add(n, FREE("Reshape", 40), q, -1), -1);
  int32_t k = add(n, WORK("MatMul", 40, .weights = 10, .outside = 40), -1);
  int32_t v = add(n, WORK("MatMul", 40, .weights = 10, .outside = 40), -1);
  int32_t s = add(n, WORK("MatMul", 160), q, k, -1);
  s = add(n, WORK("Div", 160), s, -1);
  s = add(n, WORK("Add", 160, .outside = 16), s, -1);
  s = add(n, WORK("Softmax", 160), s, -1);
  s = to_values ? add(n, WORK("MatMul", 40), s, v, -1) : add(n, WORK("Concat", 200), s, v, -1);
  add(n, WORK("Transpose", 40), s, -1);
}

TEST(attention_is_one_kernel) {
  net n = net_new();
  attention(&n, true);
  fusion f = fuse(&n, NULL);
  assert_kernels(&f, 11, "aaadeffffff");
  assert_int_equal(f.flops[5], 60);
  assert_int_equal(f.moved_bytes[5], 40 + 40 + 16 + 40 + 40); /* q, k, mask, v, out; no scores */
  assert_int_equal(f.moved_bytes[0], 40 + 10 + 40);
  f = fuse(&n, "openvino"); /* scores with scale and mask, softmax, values with their transpose */
  assert_kernels(&f, 11, "aaadefffijj");
  net_free(&n);
}

TEST(softmax_without_values_is_not_attention) {
  net n = net_new();
  attention(&n, false);
  fusion f = fuse(&n, NULL);
  assert_kernels(&f, 11, "aaadefffijk");
  net_free(&n);
}

TEST(what_is_dequantised_is_computed_in_integers) {
  net n = net_new();
  int32_t x = add(&n, WORK("Conv", 80, .outside = 80), -1);
  x = add(&n, WORK("QuantizeLinear", 20), x, -1);
  x = add(&n, WORK("DequantizeLinear", 80), x, -1);
  int32_t w = add(&n, WORK("DequantizeLinear", 40, .weights = 10), -1);
  x = add(&n, WORK("Conv", 80), x, w, -1);
  add(&n, WORK("QuantizeLinear", 20), x, -1);
  fusion f = fuse(&n, NULL);
  assert_kernels(&f, 6, "aaeeee");
  assert_int_equal(f.moved_bytes[4], 20 /* quantised input */ + 10 /* quantised weights */ + 20);
  assert_int_equal(f.dtype[4], SITU_DTYPE_I8);
  assert_int_equal(f.dtype[0], SITU_DTYPE_F32);
  assert_int_equal(f.moved_bytes[0], 80 + 20);
  net_free(&n);
}

TEST(operators_without_work_follow_their_neighbours) {
  net n = net_new();
  int32_t shape = add(&n, FREE("Constant", 8), -1);
  int32_t x = add(&n, WORK("Conv", 80, .outside = 80), -1);
  int32_t size = add(&n, FREE("Shape", 16), x, -1);
  int32_t y = add(&n, FREE("Reshape", 80), x, shape, -1);
  int32_t a = add(&n, WORK("Concat", 80), y, -1);
  int32_t z = add(&n, FREE("Reshape", 80), a, size, -1);
  int32_t b = add(&n, WORK("Concat", 80), z, -1);
  add(&n, FREE("Reshape", 80), b, shape, -1);
  fusion f = fuse(&n, NULL);
  /* The constant with the first of its two readers, the shape where it is read off; the second view reads the shape
   * too, from another kernel, and goes with its reader. */
  assert_kernels(&f, 8, "bbbbeggg");
  assert_true(f.known[shape] && f.known[size]);
  assert_false(f.known[x] || f.known[y] || f.known[z]);
  assert_int_equal(f.n_working, 3);
  net_free(&n);
}

TEST(what_is_known_before_a_run_takes_no_time_to_send) {
  net n = net_new();
  int32_t shape = add(&n, FREE("Constant", 8000), -1);
  int32_t x = add(&n, WORK("Conv", 8000, .outside = 80), -1);
  add(&n, WORK("Expand", 80), x, shape, -1);
  fuse(&n, NULL);
  OWN(situ_platform) *p = NULL;
  assert_int_equal(situ_platform_read(&p, "cpu+v100-16g", NULL), SITU_STATUS_OK);
  static const char *const profiles[] = {"none", "generic"};
  for (int k = 0; k < 2; k++) {
    OWN(situ_costs) *c = NULL;
    situ_cost_options o = {.size = sizeof o, .fusion = profiles[k]};
    assert_int_equal(situ_costs_estimate(&c, n.g, p, &o, NULL), SITU_STATUS_OK);
    assert_int_equal(situ_costs_transfer_ns(c, p, n.tensor[shape], 0, 1) == 0, k);
    assert_true(situ_costs_transfer_ns(c, p, n.tensor[x], 0, 1) > 0);
  }
  net_free(&n);
}

TEST(colocation_and_phases_are_borders) {
  net n = net_new();
  int32_t conv = add(&n, WORK("Conv", 80, .colocation = 1), -1);
  int32_t relu = add(&n, WORK("Relu", 80), conv, -1);
  int32_t tanh = add(&n, WORK("Tanh", 80, .colocation = 1), relu, -1);
  add(&n, WORK("Exp", 80, .phase = SITU_PHASE_BACKWARD), tanh, -1);
  fusion f = fuse(&n, NULL);
  assert_kernels(&f, 4, "abcd");
  net_free(&n);
}

/* At 80 % of all rates the head has the time of all: max(30, 228) / 0.8 = 285 ns, and one launch of 1000 ns. */
TEST(the_head_has_the_time_of_its_kernel) {
  net n = net_new();
  int32_t conv = add(&n, WORK("Conv", 80, .weights = 40, .outside = 100), -1);
  int32_t norm = add(&n, WORK("BatchNormalization", 80, .weights = 8), conv, -1);
  add(&n, WORK("Relu", 80), norm, -1);
  fuse(&n, NULL);
  situ_device d = {.name = "d",
                   .class_name = "d",
                   .peak_flops[SITU_DTYPE_F32] = 1e9,
                   .memory_bytes_per_s = 1e9,
                   .memory_bytes = SITU_UNLIMITED_BYTES,
                   .launch_ns = 1000,
                   .shares_memory_with = -1};
  OWN(situ_platform) *p = NULL;
  assert_int_equal(platform_new(&p, "p", &d, 1, NULL, 0, NULL), SITU_STATUS_OK);
  static const struct {
    const char *engine, *fusion;
    int64_t time[3];
  } rows[] = {{NULL, NULL, {1285, 0, 0}},
              {"tensorrt", NULL, {985, 0, 0}},              /* 0.7 launches */
              {"eager", NULL, {2275, 2210, 2200}},          /* 220, 168 and 160 bytes by themselves */
              {"eager", "generic", {2285, 0, 0}},           /* the profile counts */
              {NULL, "ort-cuda", {1285, 0, 1200}},          /* 228 bytes for the first two */
              {"onnxruntime", "none", {1475, 1410, 1400}}}; /* 1.2 launches */
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    OWN(situ_costs) *c = NULL;
    situ_cost_options o = {.size = sizeof o, .fusion = rows[k].fusion, .engine = rows[k].engine, .efficiency = 0.8};
    assert_int_equal(situ_costs_estimate(&c, n.g, p, &o, NULL), SITU_STATUS_OK);
    for (int32_t v = 0; v < 3; v++) assert_int_equal(situ_costs_time_ns(c, p, v, 0), rows[k].time[v]);
  }
  situ_error error;
  situ_costs *c;
  situ_cost_options o = {.size = sizeof o, .fusion = "magic"};
  assert_int_equal(situ_costs_estimate(&c, n.g, p, &o, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "magic"));
  o = (situ_cost_options){.size = sizeof o, .engine = "steam"};
  assert_int_equal(situ_costs_estimate(&c, n.g, p, &o, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "steam"));
  net_free(&n);
}

/* Conv, Relu, MaxPool, Relu: two kernels by rule. A time for the first Relu takes it out of its kernel; a table may
 * also say that the first three are one. */
TEST(tables_part_and_make_kernels) {
  net n = net_new();
  int32_t v = add(&n, WORK("Conv", 80, .outside = 100), -1);
  for (int i = 0; i < 3; i++) v = add(&n, WORK(i == 1 ? "MaxPool" : "Relu", 80), v, -1);
  fuse(&n, NULL);
  OWN(situ_platform) *p = NULL;
  assert_int_equal(situ_platform_read(&p, "cpu+v100-16g", NULL), SITU_STATUS_OK);
  static const struct {
    const char *table;
    int32_t kernel[4];
    int64_t cpu_ns[4]; /* -1: an estimate above 0 */
  } rows[] = {{"\"operators\": {}", {0, 0, 2, 2}, {-1, 0, -1, 0}},
              {"\"operators\": {\"Relu_1\": {\"cpu\": 7}}", {0, 1, 2, 2}, {-1, 7, -1, 0}},
              {"\"operators\": {}, \"groups\": [{\"operators\": [\"MaxPool_2\", \"Conv_0\", \"Relu_1\"], \"times\": "
               "{\"cpu\": 9}}]",
               {2, 2, 2, 3}, /* the first that is named is the head */
               {0, 0, 9, -1}}};
  char path[64];
  snprintf(path, sizeof path, "kernels-%ld.json", (long)getpid());
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "{\"situ_costs\": 1, \"unit\": \"ns\", %s}", rows[k].table);
    fclose(f);
    OWN(situ_costs) *c = NULL;
    situ_error error = {0};
    situ_cost_options o = {.size = sizeof o, .table_path = path};
    if (situ_costs_estimate(&c, n.g, p, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
    for (int32_t u = 0; u < 4; u++) {
      int64_t time = situ_costs_time_ns(c, p, u, 0);
      assert_int_equal(situ_costs_kernel(c, u), rows[k].kernel[u]);
      assert_true(rows[k].cpu_ns[u] < 0 ? time > 0 : time == rows[k].cpu_ns[u]);
    }
    OWN(situ_costs) *twice = costs_copies(c, 2);
    assert_non_null(twice);
    for (int32_t u = 0; u < 8; u++) assert_int_equal(situ_costs_kernel(twice, u), rows[k].kernel[u % 4] + u / 4 * 4);
  }
  unlink(path);
  net_free(&n);
}

/* ---- no circles ---- */

/* Whether kernels can be run one after the other, by counting what each still waits for. */
static bool in_order(const situ_graph *g, const int32_t *group, arena *a) {
  int32_t n = g->n_operators, n_done = 0, n_kernels = 0, last = 0;
  int32_t *waits = ARENA_ZERO(a, int32_t, n), *ready = ARENA_NEW(a, int32_t, n), *next = ARENA_NEW(a, int32_t, n);
  int32_t *first = ARENA_NEW(a, int32_t, n);
  assert_non_null(first);
  for (int32_t v = 0; v < n; v++) first[v] = -1;
  for (int32_t v = n - 1; v >= 0; v--) {
    next[v] = first[group[v]];
    first[group[v]] = v;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      waits[group[v]] += group[g->producer[g->in[i]]] != group[v];
  }
  for (int32_t k = 0; k < n; k++) {
    n_kernels += first[k] >= 0;
    if (first[k] >= 0 && waits[k] == 0) ready[last++] = k;
  }
  while (n_done < last) {
    for (int32_t v = first[ready[n_done++]]; v >= 0; v = next[v])
      for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++)
        if (group[g->use[i]] != group[v] && --waits[group[g->use[i]]] == 0) ready[last++] = group[g->use[i]];
  }
  return n_done == n_kernels;
}

static void assert_in_order(const situ_graph *g, const char *name) {
  for (int32_t k = 0; situ_fusion_profile_at(k); k++) {
    OWN(arena) *a = arena_new();
    fusion f;
    assert_true(fusion_find(&f, g, fusion_profile_find(situ_fusion_profile_at(k))->rules, NULL, NULL, a));
    if (f.group && !in_order(g, f.group, a)) fail_msg("%s: %s makes a circle", name, situ_fusion_profile_at(k));
  }
}

TEST(random_graphs_have_no_circle) {
  static const char *const kinds[] = {"Conv",       "MatMul",           "Relu",  "Add",     "Mul",
                                      "ReduceMean", "Softmax",          "Sub",   "Reshape", "Transpose",
                                      "MaxPool",    "DequantizeLinear", "Shape", "Concat",  "Constant"};
  int64_t fused = 0, all = 0;
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    rng r = rng_new(seed);
    net n = net_new();
    int32_t size = 2 + (int32_t)rng_below(&r, MAX_N - 2), near = 1 + (int32_t)rng_below(&r, 6);
    for (int32_t v = 0; v < size; v++) {
      int32_t kind = (int32_t)rng_below(&r, 15), in[2] = {-1, -1};
      bool free = kind == 8 || kind == 12 || kind == 14;
      for (int i = 0; i < 2 && v > 0 && kind != 14; i++)
        if (i == 0 || rng_below(&r, 2)) in[i] = v - 1 - (int32_t)rng_below(&r, rng_below(&r, 8) && near < v ? near : v);
      if (in[1] == in[0]) in[1] = -1;
      add(&n,
          OP(.kind = kinds[kind], .out = 8 << rng_below(&r, 3), .flops = free ? 0 : 5,
             .weights = rng_below(&r, 2) ? 8 : 0),
          in[0], in[1], -1);
    }
    fusion f = fuse(&n, NULL);
    assert_in_order(n.g, "random");
    for (int32_t v = 0; v < size; v++) fused += f.group[v] != v;
    all += size;
    net_free(&n);
  }
  assert_true(fused * 5 > all); /* else nothing was tried */
}

static void read_and_order(const char *path) {
  situ_model *m;
  situ_read_options o = {.size = sizeof o, .default_dim = 8};
  if (situ_model_read(&m, path, &o, NULL) != SITU_STATUS_OK) return;
  assert_in_order(situ_model_graph(m), path);
  situ_model_free(m);
}

TEST(no_model_has_a_circle) {
  situ_builtin_info row = SITU_BUILTIN_INFO_INIT;
  for (int32_t k = 0; situ_builtin_at(k, &row); k++) {
    char name[64];
    snprintf(name, sizeof name, "builtin:%s", row.name);
    read_and_order(name);
  }
  const char *shared = getenv("SITU_SHARED");
  static const char *const folders[] = {"onnx", "onnx-small", "openvino", "tensorflow", "other"};
  for (int k = 0; shared && k < 5; k++) {
    char folder[512], path[1024];
    snprintf(folder, sizeof folder, "%s/data/%s", shared, folders[k]);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
      snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
      if (e->d_name[0] != '.') read_and_order(path);
    }
    if (d) closedir(d);
  }
}

/* realism.md, section 2: 174 operators of ResNet-50 become 56 kernels that move 216 MB, those of BERT-base about 120.
 */
TEST(networks_become_the_kernels_that_engines_run) {
  static const struct {
    const char *model;
    int32_t least, most;
    double megabytes;
  } rows[] = {
      {"builtin:resnet50", 56, 56, 216}, {"builtin:bert-base", 110, 125, 0}, {"builtin:mobilenet-v2", 54, 54, 0}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    OWN(situ_model) *m = NULL;
    fusion f;
    OWN(arena) *a = arena_new();
    assert_int_equal(situ_model_read(&m, rows[k].model, NULL, NULL), SITU_STATUS_OK);
    const situ_graph *g = situ_model_graph(m);
    assert_true(fusion_find(&f, g, fusion_profile_find(NULL)->rules, NULL, NULL, a));
    double bytes = 0;
    for (int32_t v = 0; v < g->n_operators; v++) bytes += (double)f.moved_bytes[v];
    print_message("%s: %d kernels, %.0f MB\n", rows[k].model, (int)f.n_working, bytes / 1e6);
    assert_in_range(f.n_working, rows[k].least, rows[k].most);
    if (rows[k].megabytes > 0)
      assert_true(bytes / 1e6 > 0.98 * rows[k].megabytes && bytes / 1e6 < 1.02 * rows[k].megabytes);
  }
}

/* No elementwise operator with a producer that it alone reads is a kernel by itself. */
TEST(no_lone_activation_is_left) {
  static const char *const models[] = {"resnet50", "mobilenet-v2", "inception-v3", "bert-base", "vgg16"};
  for (int k = 0; k < 5; k++) {
    char name[64];
    OWN(situ_model) *m = NULL;
    fusion f;
    OWN(arena) *a = arena_new();
    snprintf(name, sizeof name, "builtin:%s", models[k]);
    assert_int_equal(situ_model_read(&m, name, NULL, NULL), SITU_STATUS_OK);
    const situ_graph *g = situ_model_graph(m);
    assert_true(fusion_find(&f, g, fusion_profile_find(NULL)->rules, NULL, NULL, a));
    for (int32_t v = 0; v < g->n_operators; v++) {
      fusion_class class = fusion_class_of(g->kind_name[g->kind[v]]);
      bool lone = f.group[v] == v && (class == FUSION_EACH || class == FUSION_ADD || class == FUSION_SCALE);
      bool working = g->flops[v] > 0, follows = false;
      for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
        int32_t t = g->in[i];
        follows |= g->use_start[t + 1] - g->use_start[t] == 1 && g->moved_bytes[g->producer[t]] > 0;
      }
      if (lone && working && follows) {
        fusion_class of = fusion_class_of(g->kind_name[g->kind[g->producer[g->in[g->in_start[v]]]]]);
        if (of != FUSION_NONE) fail_msg("%s: %s is alone", name, g->name[v]);
      }
    }
  }
}

TEST_MAIN
