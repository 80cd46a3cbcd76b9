/* One output element from one element of each input: arithmetic, comparison, logic, activations, casts.
 *
 * FLOPs of an element: 1 for arithmetic and comparison, 4 for a transcendental function (exp, log, tanh, erf, pow, a
 * sine), and their sum for what is composed of them. Engines differ; the orders of magnitude do not. */
#include <float.h>
#include <math.h>

#include "ops/kind.h"

/* clang-format off */
enum {
  OTHER,
  ADD, SUB, MUL, DIV, MOD, POW, MIN, MAX, MEAN,
  AND, OR, XOR, EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL,
  NEG, ABS, FLOOR, CEIL, ROUND, SQRT, SIGN, RECIPROCAL, EXP, LOG, RELU, NOT,
};
/* clang-format on */

/* ---- Values ---- */

static int64_t power(int64_t x, int64_t y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : x == 0 ? OPS_UNKNOWN_INT : 0;
  if (x == 0 || x == 1) return y == 0 ? 1 : x;
  if (x == -1) return y % 2 ? -1 : 1;
  int64_t product = 1;
  for (; y > 0; y--)
    if (__builtin_mul_overflow(product, x, &product)) return OPS_UNKNOWN_INT;
  return product;
}

/* Whether a value is in the range of its type. Other values would wrap around, and are treated as unknown. */
static bool fits(int64_t x, situ_dtype dtype) {
  switch (dtype) {
    case SITU_DTYPE_I32: return x >= INT32_MIN && x <= INT32_MAX;
    case SITU_DTYPE_I16: return x >= INT16_MIN && x <= INT16_MAX;
    case SITU_DTYPE_I8: return x >= INT8_MIN && x <= INT8_MAX;
    case SITU_DTYPE_I4: return x >= -8 && x <= 15;
    case SITU_DTYPE_U64: return x >= 0;
    case SITU_DTYPE_U32: return x >= 0 && x <= UINT32_MAX;
    case SITU_DTYPE_U16: return x >= 0 && x <= UINT16_MAX;
    case SITU_DTYPE_U8: return x >= 0 && x <= UINT8_MAX;
    default: return true;
  }
}

/* Integer division truncates toward zero; Mod takes the sign of the divisor. What overflows is unknown. */
static int64_t join_ints(int tag, bool c_mod, int64_t x, int64_t y) {
  int64_t z;
  if (x == OPS_UNKNOWN_INT || y == OPS_UNKNOWN_INT) return OPS_UNKNOWN_INT;
  switch (tag) {
    case ADD:
    case MEAN: return __builtin_add_overflow(x, y, &z) ? OPS_UNKNOWN_INT : z;
    case SUB: return __builtin_sub_overflow(x, y, &z) ? OPS_UNKNOWN_INT : z;
    case MUL: return __builtin_mul_overflow(x, y, &z) ? OPS_UNKNOWN_INT : z;
    case DIV: return y == 0 || (y == -1 && x == INT64_MIN) ? OPS_UNKNOWN_INT : x / y;
    case MOD:
      if (y == 0) return OPS_UNKNOWN_INT;
      z = y == -1 ? 0 : x % y;
      return !c_mod && z != 0 && (z < 0) != (y < 0) ? z + y : z;
    case POW: return power(x, y);
    case MIN: return min64(x, y);
    case MAX: return max64(x, y);
    case AND: return x && y;
    case OR: return x || y;
    case XOR: return !x != !y;
    case EQUAL: return x == y;
    case LESS: return x < y;
    case LESS_EQUAL: return x <= y;
    case GREATER: return x > y;
    case GREATER_EQUAL: return x >= y;
    default: return OPS_UNKNOWN_INT;
  }
}

static double join_reals(int tag, double x, double y) {
  switch (tag) {
    case ADD:
    case MEAN: return x + y;
    case SUB: return x - y;
    case MUL: return x * y;
    case DIV: return x / y;
    case MOD: return fmod(x, y);
    case POW: return pow(x, y);
    case MIN: return fmin(x, y);
    case MAX: return fmax(x, y);
    case EQUAL: return x == y;
    case LESS: return x < y;
    case LESS_EQUAL: return x <= y;
    case GREATER: return x > y;
    case GREATER_EQUAL: return x >= y;
    default: return (double)NAN;
  }
}

/* Narrow types compute narrowly, so that Floor and Ceil see what the engine sees. */
static double narrowed(double x, situ_dtype dtype) {
  return dtype == SITU_DTYPE_F32 && fabs(x) <= (double)FLT_MAX ? (double)(float)x : x;
}

static int64_t map_int(int tag, int64_t x) {
  if (x == OPS_UNKNOWN_INT) return x;
  switch (tag) {
    case NEG: return x == INT64_MIN ? OPS_UNKNOWN_INT : -x;
    case ABS: return x == INT64_MIN ? OPS_UNKNOWN_INT : x < 0 ? -x : x;
    case SIGN: return (x > 0) - (x < 0);
    case RELU: return max64(x, 0);
    case NOT: return !x;
    default: return OPS_UNKNOWN_INT;
  }
}

static double map_real(int tag, double x) {
  switch (tag) {
    case NEG: return -x;
    case ABS: return fabs(x);
    case FLOOR: return floor(x);
    case CEIL: return ceil(x);
    case ROUND: return x - remainder(x, 1.0); /* half to even */
    case SQRT: return sqrt(x);
    case SIGN: return (x > 0) - (x < 0);
    case RECIPROCAL: return 1 / x;
    case EXP: return exp(x);
    case LOG: return log(x);
    case RELU: return fmax(x, 0);
    default: return (double)NAN;
  }
}

/* The index in t of element k of a shape that t broadcasts to. */
static int64_t broadcast_index(const ops_tensor *t, const ops_tensor *out, int64_t k) {
  int64_t at = 0, step = 1;
  for (int32_t d = out->rank - 1, own = t->rank - 1; own >= 0; d--, own--) {
    int64_t index = k % out->dims[d];
    k /= out->dims[d];
    if (t->dims[own] != 1) at += index * step;
    step *= t->dims[own];
  }
  return at;
}

static situ_status join_values(const kind_call *c) {
  int tag = c->row->tag;
  const ops_node *node = c->node;
  bool reals_in = true, ints_in = true;
  for (int32_t i = 0; i < node->n_inputs; i++) {
    const ops_tensor *t = kind_in(node, i);
    bool small = t && kind_small(t) >= 0;
    ints_in = ints_in && small && t->ints;
    reals_in = reals_in && small && t->reals;
  }
  if (tag == OTHER || node->n_inputs < 1 || node->n_outputs < 1 || ints_in == reals_in) return SITU_STATUS_OK;
  ops_tensor *out = &node->outputs[0];
  if (reals_in && tag < AND && !kind_is_real(out->dtype)) return SITU_STATUS_OK;
  if (ints_in && kind_is_real(out->dtype)) return SITU_STATUS_OK;
  int64_t *ints, n;
  double *reals;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  bool c_mod = ops_attr_int(node, "fmod", 0) != 0;
  for (int64_t k = 0; k < n; k++) {
    const ops_tensor *first = node->inputs[0];
    int64_t at = broadcast_index(first, out, k), whole = ints_in ? first->ints[at] : 0;
    double real = reals_in ? first->reals[at] : 0;
    for (int32_t i = 1; i < node->n_inputs; i++) {
      const ops_tensor *next = node->inputs[i];
      at = broadcast_index(next, out, k);
      if (ints_in) whole = join_ints(tag, c_mod, whole, next->ints[at]);
      if (reals_in) real = narrowed(join_reals(tag, real, next->reals[at]), out->dtype);
    }
    if (tag == MEAN && reals_in) real /= node->n_inputs;
    if (ints) ints[k] = !ints_in ? real != 0 : fits(whole, out->dtype) ? whole : OPS_UNKNOWN_INT;
    if (reals) reals[k] = real;
  }
  return SITU_STATUS_OK;
}

/* ---- Inference ---- */

static situ_status infer_map(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  TRY(kind_infer_same(c));
  if (c->row->tag == OTHER || kind_small(t) < 0 || (!t->ints && !t->reals) || c->node->n_outputs < 1)
    return SITU_STATUS_OK;
  int64_t *ints, n;
  double *reals;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  for (int64_t k = 0; k < n; k++) {
    if (ints) ints[k] = t->ints ? map_int(c->row->tag, t->ints[k]) : OPS_UNKNOWN_INT;
    if (reals) reals[k] = t->reals ? narrowed(map_real(c->row->tag, t->reals[k]), t->dtype) : (double)NAN;
  }
  return SITU_STATUS_OK;
}

/* Operator sets before 7 broadcast the second input into the first if an attribute says so. */
static situ_status infer_join(const kind_call *c) {
  const ops_node *node = c->node;
  bool compares = c->row->tag >= AND && c->row->tag <= GREATER_EQUAL;
  situ_dtype dtype = compares ? SITU_DTYPE_BOOL : kind_in_dtype(node, 0);
  if (ops_attr_int(node, "broadcast", 0)) return kind_put_like(c, 0, dtype, kind_in(node, 0));
  int64_t dims[OPS_MAX_RANK];
  int32_t rank;
  TRY(kind_broadcast(c, node->inputs, node->n_inputs, dims, &rank));
  TRY(kind_put(c, 0, dtype, rank, dims));
  return rank >= 0 ? join_values(c) : SITU_STATUS_OK;
}

static situ_status infer_where(const kind_call *c) {
  const ops_node *node = c->node;
  const ops_tensor *test = kind_in(node, 0), *yes = kind_in(node, 1), *no = kind_in(node, 2);
  int64_t dims[OPS_MAX_RANK];
  int32_t rank;
  TRY(kind_broadcast(c, node->inputs, node->n_inputs, dims, &rank));
  TRY(kind_put(c, 0, kind_in_dtype(node, 1), rank, dims));
  if (rank < 0 || node->n_outputs < 1 || kind_small(test) < 0 || kind_small(yes) < 0 || kind_small(no) < 0)
    return SITU_STATUS_OK;
  if (!test->ints || !((yes->ints && no->ints) || (yes->reals && no->reals))) return SITU_STATUS_OK;
  const ops_tensor *out = &node->outputs[0];
  int64_t *ints, n;
  double *reals;
  if (yes->ints && kind_is_real(out->dtype)) return SITU_STATUS_OK;
  if (yes->reals && !kind_is_real(out->dtype)) return SITU_STATUS_OK;
  int64_t n_tests;
  if (yes->reals && !kind_ints(test, &n_tests)) return SITU_STATUS_OK;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  for (int64_t k = 0; k < n; k++) {
    int64_t which = test->ints[broadcast_index(test, out, k)];
    const ops_tensor *chosen = which ? yes : no;
    int64_t at = broadcast_index(chosen, out, k);
    if (ints) ints[k] = which == OPS_UNKNOWN_INT ? which : chosen->ints[at];
    if (reals) reals[k] = chosen->reals[at];
  }
  return SITU_STATUS_OK;
}

static int64_t cast_real(double x) { return fabs(x) < 9e18 ? (int64_t)x : OPS_UNKNOWN_INT; /* NaN compares false */ }

static situ_status cast_values(const kind_call *c, const ops_tensor *t) {
  int64_t *ints, n, unused;
  double *reals;
  if (c->node->n_outputs < 1 || kind_small(t) < 0 || (!t->ints && !t->reals)) return SITU_STATUS_OK;
  situ_dtype to = c->node->outputs[0].dtype;
  if (kind_is_real(to) && !t->reals && !kind_ints(t, &unused)) return SITU_STATUS_OK;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  for (int64_t k = 0; k < n; k++) {
    if (reals) reals[k] = narrowed(t->reals ? t->reals[k] : (double)t->ints[k], to);
    if (!ints) continue;
    int64_t whole = t->ints ? t->ints[k] : cast_real(t->reals[k]);
    if (to == SITU_DTYPE_BOOL && t->reals) whole = t->reals[k] != 0;
    if (to == SITU_DTYPE_BOOL && whole != OPS_UNKNOWN_INT) whole = whole != 0;
    ints[k] = fits(whole, to) ? whole : OPS_UNKNOWN_INT;
  }
  return SITU_STATUS_OK;
}

static situ_status infer_cast(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  TRY(kind_put_like(c, 0, kind_dtype_attr(c->node, "to", SITU_DTYPE_UNKNOWN), t));
  return cast_values(c, t);
}

static situ_status infer_cast_like(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  TRY(kind_put_like(c, 0, kind_in_dtype(c->node, 1), t));
  return cast_values(c, t);
}

#define MAP(name, tag, cost) \
  { KIND_ONNX, name, infer_map, NULL, cost, tag, 0 }
#define JOIN(name, tag, cost) \
  { KIND_ONNX, name, infer_join, kind_count_nary, cost, tag, 0 }
#define MS_MAP(name, cost) \
  { KIND_MS, name, kind_infer_same, NULL, cost, OTHER, 0 }

/* clang-format off */
static const ops_kind rows[] = {
    JOIN("Add", ADD, 1), JOIN("Sub", SUB, 1), JOIN("Mul", MUL, 1), JOIN("Div", DIV, 1), JOIN("Mod", MOD, 1),
    JOIN("Pow", POW, 4), JOIN("Min", MIN, 1), JOIN("Max", MAX, 1), JOIN("Sum", ADD, 1), JOIN("Mean", MEAN, 1),
    JOIN("And", AND, 1), JOIN("Or", OR, 1), JOIN("Xor", XOR, 1), JOIN("Equal", EQUAL, 1), JOIN("Less", LESS, 1),
    JOIN("LessOrEqual", LESS_EQUAL, 1), JOIN("Greater", GREATER, 1), JOIN("GreaterOrEqual", GREATER_EQUAL, 1),
    JOIN("BitShift", OTHER, 1), JOIN("BitwiseAnd", OTHER, 1), JOIN("BitwiseOr", OTHER, 1),
    JOIN("BitwiseXor", OTHER, 1), JOIN("PRelu", OTHER, 2),
    {KIND_ONNX, "Where", infer_where, NULL, 1, 0, KIND_OF_OUTPUT},
    {KIND_ONNX, "Cast", infer_cast, NULL, 1, 0, 0},
    {KIND_ONNX, "CastLike", infer_cast_like, NULL, 1, 0, 0},
    MAP("Neg", NEG, 1), MAP("Abs", ABS, 1), MAP("Floor", FLOOR, 1), MAP("Ceil", CEIL, 1), MAP("Round", ROUND, 1),
    MAP("Sqrt", SQRT, 1), MAP("Sign", SIGN, 1), MAP("Reciprocal", RECIPROCAL, 1), MAP("Exp", EXP, 4),
    MAP("Log", LOG, 4), MAP("Relu", RELU, 1), MAP("Not", NOT, 1), MAP("BitwiseNot", OTHER, 1),
    MAP("LeakyRelu", OTHER, 2), MAP("ThresholdedRelu", OTHER, 1), MAP("Clip", OTHER, 2), MAP("Shrink", OTHER, 2),
    MAP("Sin", OTHER, 4), MAP("Cos", OTHER, 4), MAP("Tan", OTHER, 4), MAP("Asin", OTHER, 4), MAP("Acos", OTHER, 4),
    MAP("Atan", OTHER, 4), MAP("Sinh", OTHER, 4), MAP("Cosh", OTHER, 4), MAP("Tanh", OTHER, 4),
    MAP("Asinh", OTHER, 4), MAP("Acosh", OTHER, 4), MAP("Atanh", OTHER, 4), MAP("Erf", OTHER, 4),
    MAP("Sigmoid", OTHER, 4), MAP("Softplus", OTHER, 8), MAP("Softsign", OTHER, 3), MAP("Elu", OTHER, 5),
    MAP("Selu", OTHER, 6), MAP("Celu", OTHER, 6), MAP("HardSigmoid", OTHER, 4), MAP("HardSwish", OTHER, 5),
    MAP("Gelu", OTHER, 8), MAP("Swish", OTHER, 5), MAP("Mish", OTHER, 13),
    {KIND_ONNX, "IsNaN", kind_infer_bool, NULL, 1, 0, 0},
    {KIND_ONNX, "IsInf", kind_infer_bool, NULL, 1, 0, 0},
    /* Experimental kinds of the first operator sets. */
    MAP("Affine", OTHER, 2), MAP("ImageScaler", OTHER, 2), MAP("ScaledTanh", OTHER, 6),
    MAP("ParametricSoftplus", OTHER, 10),
    /* Activations that ONNX Runtime fuses; their biases are vectors. */
    MS_MAP("Gelu", 8), MS_MAP("FastGelu", 9), MS_MAP("BiasGelu", 9), MS_MAP("QuickGelu", 6), MS_MAP("BiasAdd", 2),
    MS_MAP("IsAllFinite", 1), {KIND_MS, "BiasDropout", kind_infer_same, NULL, 3, 0, 0},
    /* Simulated quantisation: scale, shift, round, clamp twice, and back. */
    {"onnx.brevitas", "Quant", infer_map, NULL, 7, OTHER, 0},
    {"onnx.brevitas", "BipolarQuant", infer_map, NULL, 2, OTHER, 0},
    {"qonnx.custom_op.general", "Quant", infer_map, NULL, 7, OTHER, 0},
    {"qonnx.custom_op.general", "BipolarQuant", infer_map, NULL, 2, OTHER, 0},
};
/* clang-format on */

const ops_family ops_family_elementwise = {rows, sizeof rows / sizeof rows[0]};
