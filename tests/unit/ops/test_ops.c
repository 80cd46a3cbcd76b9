/* The table of operator kinds: one row of ops_cases.h for each case, and what rows cannot say. */
#include <math.h>

#include "../../lab/test.h"
#include "base/arena.h"
#include "base/rng.h"
#include "ops/ops.h"
#include "ops_text.h"

/* Written as ops_text.h says. A kind may have a domain: "ms:Gelu", "ml:Scaler". Outputs "BAD" mean BAD_INPUT; FLOPs
 * of -1 are not looked at. */
typedef struct op_case {
  const char *kind;
  int opset;
  const char *attrs, *inputs, *outputs;
  int64_t flops;
} op_case;

static const op_case cases[] = {
#include "base/dtype.h"
#include "ops_cases.h"
};
enum { N_CASES = sizeof cases / sizeof cases[0], MAX_N = 32 };

/* A case made into a node. */
typedef struct sample {
  ops_node node;
  ops_attr attrs[MAX_N];
  ops_tensor inputs[MAX_N], outputs[MAX_N], expected[MAX_N];
  const ops_tensor *pointers[MAX_N];
  bool looked_at[MAX_N];
} sample;

static void build(sample *s, const op_case *c, arena *a) {
  *s = (sample){0};
  const char *colon = strchr(c->kind, ':');
  s->node.domain = !colon ? "" : c->kind[1] == 's' ? "com.microsoft" : "ai.onnx.ml";
  s->node.kind = colon ? colon + 1 : c->kind;
  s->node.opset = c->opset;
  int n = 0;
  for (at = c->attrs; *at; take(' ')) s->attrs[n++] = take_attr(a);
  s->node.attrs = s->attrs;
  s->node.n_attrs = n;
  n = 0;
  for (at = c->inputs; *at; take(' '), n++) {
    if (take('-')) continue;
    s->inputs[n] = take_tensor(a);
    s->pointers[n] = &s->inputs[n];
  }
  s->node.inputs = s->pointers;
  s->node.n_inputs = n;
  n = 0;
  for (at = strcmp(c->outputs, "BAD") ? c->outputs : "f32*"; *at; take(' '), n++) {
    s->outputs[n].rank = -1;
    s->looked_at[n] = !take('-');
    if (s->looked_at[n]) s->expected[n] = take_tensor(a);
  }
  s->node.outputs = s->outputs;
  s->node.n_outputs = n;
}

static bool agrees(const ops_tensor *found, const ops_tensor *expected) {
  int64_t n = 1;
  if (found->dtype != expected->dtype || found->rank != expected->rank) return false;
  for (int32_t d = 0; d < found->rank; n *= found->dims[d++])
    if (found->dims[d] != expected->dims[d]) return false;
  if (!expected->ints && !expected->reals) return true;
  if ((expected->ints && !found->ints) || (expected->reals && !found->reals)) return false;
  for (int64_t k = 0; k < n; k++) {
    if (expected->ints && found->ints[k] != expected->ints[k]) return false;
    if (expected->reals && fabs(found->reals[k] - expected->reals[k]) > 1e-6) return false;
  }
  return true;
}

static void print_tensor(const ops_tensor *t) {
  printf(" %s[", situ_dtype_name(t->dtype));
  for (int32_t d = 0; d < t->rank; d++) printf("%s%lld", d ? "," : "", (long long)t->dims[d]);
  printf(t->rank < 0 ? "*]" : "]");
  if (t->ints && ops_elements(t, NULL) < 10)
    for (int64_t k = 0; k < ops_elements(t, NULL); k++) printf("%c%lld", k ? ',' : '{', (long long)t->ints[k]);
}

TEST(each_case_is_as_written) {
  int failures = 0;
  for (int i = 0; i < N_CASES; i++) {
    OWN(arena) *a = arena_new();
    sample s;
    situ_error error = {0};
    build(&s, &cases[i], a);
    if (!ops_known(s.node.domain, s.node.kind)) printf("unknown kind %s\n", cases[i].kind), failures++;
    situ_status status = ops_infer(&s.node, a, &error);
    bool bad = strcmp(cases[i].outputs, "BAD") == 0;
    bool good = status == (bad ? SITU_STATUS_BAD_INPUT : SITU_STATUS_OK) && (!bad || error.text[0]);
    for (int k = 0; good && !bad && k < s.node.n_outputs; k++)
      good = !s.looked_at[k] || agrees(&s.outputs[k], &s.expected[k]);
    ops_work work = ops_count(&s.node);
    if (cases[i].flops >= 0 && work.flops != cases[i].flops) good = false;
    if (!good) {
      printf("case %d, %s %s (%s): %s; found", i, cases[i].kind, cases[i].attrs, cases[i].inputs, error.text);
      for (int k = 0; k < s.node.n_outputs; k++) print_tensor(&s.outputs[k]);
      printf(" and %lld FLOPs; expected %s and %lld\n", (long long)work.flops, cases[i].outputs,
             (long long)cases[i].flops);
      failures++;
    }
  }
  assert_int_equal(failures, 0);
}

TEST(no_kind_is_in_the_table_twice) {
  int32_t n = ops_n_kinds();
  assert_true(n > 200);
  for (int32_t i = 0; i < n; i++) {
    const char *domain, *kind, *other_domain, *other;
    ops_kind_at(i, &domain, &kind);
    assert_true(ops_known(domain, kind));
    for (int32_t k = 0; k < i; k++) {
      ops_kind_at(k, &other_domain, &other);
      if (strcmp(kind, other) == 0 && strcmp(domain, other_domain) == 0) fail_msg("%s:%s is there twice", domain, kind);
    }
  }
  const char *domain, *kind;
  ops_kind_at(n, &domain, &kind);
  assert_null(kind);
  assert_true(ops_known("ai.onnx", "Conv"));
  assert_true(ops_known(NULL, "Conv"));
  assert_false(ops_known("com.example", "Conv"));
}

/* Makes a case, marks all inputs constant or not, and returns the flag of its output. */
static bool constant_after(const op_case *c, bool inputs_constant) {
  OWN(arena) *a = arena_new();
  sample s;
  build(&s, c, a);
  for (int i = 0; i < s.node.n_inputs; i++) s.inputs[i].constant = inputs_constant;
  assert_int_equal(ops_infer(&s.node, a, NULL), SITU_STATUS_OK);
  bool constant = s.outputs[0].constant;
  return constant;
}

TEST(constants_come_from_constants_alone) {
  const op_case weight = {"ConstantOfShape", 9, "", "i64[2]{5000,5000}", "f32[5000,5000]", 0};
  const op_case noise = {"RandomNormal", 1, "shape=[2,2]", "", "f32[2,2]", 0};
  const op_case like = {"RandomNormalLike", 1, "", "f32[2]", "f32[2]", 0};
  const op_case literal = {"Constant", 13, "value_int=3", "", "i64[]{3}", 0};
  const op_case shape = {"Shape", 13, "", "f32[2,3]", "i64[2]{2,3}", 0};
  const op_case open_shape = {"Shape", 13, "", "f32[2,?]", "i64[2]", 0};
  const op_case dropout = {"Dropout", 13, "", "f32[2] f32[] bool[]{1}", "f32[2]", 0};
  assert_true(constant_after(&weight, true));
  assert_false(constant_after(&weight, false));
  assert_false(constant_after(&noise, true));
  assert_false(constant_after(&like, true));
  assert_true(constant_after(&literal, true));
  assert_true(constant_after(&shape, false)); /* the shape is known, whatever the values will be */
  assert_false(constant_after(&open_shape, false));
  assert_false(constant_after(&dropout, true));
}

static ops_work work_of(const op_case *c) {
  OWN(arena) *a = arena_new();
  sample s;
  build(&s, c, a);
  assert_int_equal(ops_infer(&s.node, a, NULL), SITU_STATUS_OK);
  ops_work work = ops_count(&s.node);
  return work;
}

TEST(bytes_are_those_that_move) {
  const op_case add = {"Add", 13, "", "f32[2,3] f32[3]", "f32[2,3]", 0};
  assert_int_equal(work_of(&add).read_bytes, 24 + 12);
  assert_int_equal(work_of(&add).written_bytes, 24);
  assert_int_equal(work_of(&add).dtype, SITU_DTYPE_F32);
  /* 7 rows of 64 floats and 7 indices, not the table of 30000 rows */
  const op_case gather = {"Gather", 13, "", "f32[30000,64] i64[7]", "f32[7,64]", 0};
  assert_int_equal(work_of(&gather).read_bytes, 7 * 64 * 4 + 7 * 8);
  assert_int_equal(work_of(&gather).written_bytes, 7 * 64 * 4);
  const op_case view = {"Reshape", 13, "", "f32[2,3] i64[1]{6}", "f32[6]", 0};
  assert_int_equal(work_of(&view).read_bytes + work_of(&view).written_bytes, 0);
  assert_true(work_of(&view).exact);
  const op_case turn = {"Transpose", 13, "", "f16[2,3]", "f16[3,2]", 0};
  assert_int_equal(work_of(&turn).read_bytes, 12);
  const op_case open = {"Relu", 13, "", "f32[?,4]", "f32[?,4]", 0};
  assert_false(work_of(&open).exact);
  assert_int_equal(work_of(&open).written_bytes, 16);
  /* 4-bit elements: 3 of them take 2 bytes */
  ops_tensor nibbles = {.dtype = SITU_DTYPE_I4, .rank = 1, .dims = (const int64_t[]){3}};
  assert_int_equal(ops_bytes(&nibbles, NULL), 2);
}

TEST(quantised_kinds_compute_in_bytes) {
  const op_case plain = {"MatMul", 13, "", "f16[2,3] f16[3,4]", "f16[2,4]", 0};
  const op_case whole = {"MatMulInteger", 13, "", "u8[2,3] i8[3,4]", "i32[2,4]", 0};
  const op_case choice = {"Where", 13, "", "bool[2] f32[2] f32[2]", "f32[2]", 0};
  assert_int_equal(work_of(&plain).dtype, SITU_DTYPE_F16);
  assert_int_equal(work_of(&whole).dtype, SITU_DTYPE_I8);
  assert_int_equal(work_of(&choice).dtype, SITU_DTYPE_F32);
}

TEST(amounts_beyond_all_bounds_saturate) {
  const op_case giant = {
      "MatMul", 13, "", "f32[4000000000,4000000000] f32[4000000000,4000000000]", "f32[4000000000,4000000000]", 0};
  assert_true(work_of(&giant).flops == INT64_MAX);
  assert_true(work_of(&giant).read_bytes == INT64_MAX);
}

TEST(what_the_file_declares_fills_gaps_and_yields) {
  OWN(arena) *a = arena_new();
  const int64_t open[] = {-1, 3}, declared[] = {5, 9}, other[] = {1, 2, 3};
  ops_tensor in = {.dtype = SITU_DTYPE_F32, .rank = 2, .dims = open};
  ops_tensor out = {.dtype = SITU_DTYPE_F32, .rank = 2, .dims = declared};
  const ops_tensor *inputs[] = {&in};
  ops_node node = {
      .domain = "", .kind = "Relu", .opset = 13, .inputs = inputs, .n_inputs = 1, .outputs = &out, .n_outputs = 1};
  assert_int_equal(ops_infer(&node, a, NULL), SITU_STATUS_OK);
  assert_int_equal(out.dims[0], 5);
  assert_int_equal(out.dims[1], 3);
  out = (ops_tensor){.rank = 3, .dims = other};
  assert_int_equal(ops_infer(&node, a, NULL), SITU_STATUS_OK);
  assert_int_equal(out.rank, 2);
  assert_int_equal(out.dims[0], -1);
  out = (ops_tensor){.dtype = SITU_DTYPE_F32, .rank = 2, .dims = declared};
  node.kind = "NobodyKnowsThis";
  assert_int_equal(ops_infer(&node, a, NULL), SITU_STATUS_OK);
  assert_int_equal(out.dims[1], 9);
  assert_false(ops_count(&node).exact);
}

/* clang-format off */
static const struct {
  const char *name;
  ops_attr_type type;
} attributes[] = {
    {"axis", OPS_INT}, {"axes", OPS_INTS}, {"perm", OPS_INTS}, {"pads", OPS_INTS}, {"strides", OPS_INTS},
    {"kernel_shape", OPS_INTS}, {"group", OPS_INT}, {"k", OPS_INT}, {"shape", OPS_INTS}, {"split", OPS_INTS},
    {"starts", OPS_INTS}, {"ends", OPS_INTS}, {"equation", OPS_STRING}, {"num_heads", OPS_INT},
    {"kv_num_heads", OPS_INT}, {"q_num_heads", OPS_INT}, {"to", OPS_INT}, {"blocksize", OPS_INT},
    {"hidden_size", OPS_INT}, {"direction", OPS_STRING}, {"keepdims", OPS_INT}, {"value", OPS_TENSOR},
    {"output_shape", OPS_INTS}, {"batch_dims", OPS_INT}, {"N", OPS_INT}, {"K", OPS_INT}, {"num_outputs", OPS_INT},
    {"qkv_hidden_sizes", OPS_INTS}, {"scales", OPS_FLOATS}, {"size", OPS_INT}, {"auto_pad", OPS_STRING},
    {"ceil_mode", OPS_INT}, {"border", OPS_INTS}, {"output_padding", OPS_INTS}, {"dilations", OPS_INTS},
    {"nodes_treeids", OPS_INTS}, {"inputdimensions", OPS_INTS}};
/* clang-format on */
enum { N_ATTRIBUTES = sizeof attributes / sizeof attributes[0], ROOM = 6, N_IN = 9, N_OUT = 3 };

/* A node of tensors and attributes that nobody would write. */
typedef struct nonsense {
  ops_node node;
  ops_attr attrs[ROOM];
  ops_tensor in[N_IN], out[N_OUT], value;
  const ops_tensor *inputs[N_IN];
  int64_t sizes[N_IN][ROOM], values[N_IN][ROOM];
  double reals[ROOM];
} nonsense;

static void make_tensor(nonsense *x, int k, rng *r) {
  static const int64_t odd_sizes[] = {-1, 0, 1, 2, 3, 4, 7, INT64_MAX, 1LL << 40, -9};
  static const int64_t odd_values[] = {INT64_MAX, INT64_MIN, OPS_UNKNOWN_INT, 1LL << 40, 64, 7};
  bool closed = rng_next(r) % 2, odd = rng_next(r) % 16 == 0;
  x->in[k] = (ops_tensor){.dtype = rng_next(r) % DTYPE_COUNT, .rank = (int32_t)(rng_next(r) % 6) - 1};
  x->in[k].dims = x->sizes[k];
  for (int d = 0; d < ROOM; d++) {
    x->sizes[k][d] = closed ? (int64_t)(rng_next(r) % 4) : odd_sizes[rng_next(r) % (odd ? 10 : 7)];
    x->values[k][d] = rng_next(r) % 4 ? (int64_t)(rng_next(r) % 5) - 2 : odd_values[rng_next(r) % 6];
  }
  if (closed && ops_elements(&x->in[k], NULL) <= ROOM) {
    if (x->in[k].dtype >= SITU_DTYPE_I64)
      x->in[k].ints = x->values[k];
    else
      x->in[k].reals = x->reals;
  }
  x->inputs[k] = rng_next(r) % 8 ? &x->in[k] : NULL;
}

static void make_nonsense(nonsense *x, int32_t kind, rng *r) {
  static const char *const words[] = {"", "ij,jk->ik", "...a,.b->", "SAME_UPPER", "bidirectional", "i,,->->", "none"};
  *x = (nonsense){.value = {.rank = -1}};
  for (int k = 0; k < ROOM; k++) x->reals[k] = (double)(int64_t)(rng_next(r) % 9) - 2.5;
  for (int k = 0; k < N_IN; k++) make_tensor(x, k, r);
  for (int k = 0; k < N_OUT; k++) x->out[k].rank = -1;
  for (int k = 0; k < ROOM; k++) {
    uint64_t which = rng_next(r) % N_ATTRIBUTES, type = rng_next(r) % 32;
    x->attrs[k] = (ops_attr){.name = attributes[which].name,
                             .type = type < 8 ? type : attributes[which].type,
                             .n = rng_next(r) % ROOM,
                             .i = x->values[k][0],
                             .f = x->reals[k],
                             .s = words[rng_next(r) % 7],
                             .ints = x->values[k],
                             .floats = x->reals,
                             .tensor = &x->value};
  }
  x->node = (ops_node){.opset = rng_next(r) % 24,
                       .attrs = x->attrs,
                       .n_attrs = rng_next(r) % (ROOM + 1),
                       .inputs = x->inputs,
                       .n_inputs = rng_next(r) % (N_IN + 1),
                       .outputs = x->out,
                       .n_outputs = rng_next(r) % (N_OUT + 1)};
  ops_kind_at(kind, &x->node.domain, &x->node.kind);
}

TEST(no_kind_falls_over_nonsense) {
  rng r = rng_new(7);
  for (int round = 0; round < 60; round++)
    for (int32_t i = 0; i < ops_n_kinds(); i++) {
      OWN(arena) *a = arena_new();
      nonsense x;
      make_nonsense(&x, i, &r);
      situ_error error = {0};
      situ_status status = ops_infer(&x.node, a, &error);
      assert_true(status == SITU_STATUS_OK || (status == SITU_STATUS_BAD_INPUT && error.text[0]));
      ops_work work = ops_count(&x.node);
      assert_true(work.flops >= 0 && work.read_bytes >= 0 && work.written_bytes >= 0);
      for (int k = 0; status == SITU_STATUS_OK && k < x.node.n_outputs; k++)
        for (int32_t d = 0; d < x.out[k].rank; d++) assert_true(x.out[k].dims[d] >= -1);
    }
}

TEST_MAIN
