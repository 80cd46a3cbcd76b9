/* The costs of a layer of an OpenVINO IR. Shapes are known by then, so a kind only needs a counting rule. Most kinds
 * are counted like the equivalent ONNX operator (ops/ops.h); shapes and attributes in another form are translated
 * first. Recurrent layers count the products with their weights and hidden state. */
#include <string.h>

#include "base/checked.h"
#include "read/ir_net.h"

typedef enum rule {
  AS_ONNX,       /* the ONNX kind as it is */
  EACH,          /* `cost` FLOPs for each element of the first output */
  MATRIX,        /* MatMul with transpose_a, transpose_b */
  CONVOLUTION,   /* weights as an input; before version 10 within the layer */
  GROUPED,       /* weights with a dimension of groups in front */
  DECONVOLUTION, /* the same two, backward */
  GROUPED_BACK,
  POOL,     /* the kernel as "3,3" */
  DENSE,    /* FullyConnected, weights within the layer */
  CELL,     /* one step of a recurrent layer with `cost` gates */
  SEQUENCE, /* all steps: the input is batch, steps, features */
  ATTENTION /* scaled dot products of query, key, value */
} rule;

typedef struct row {
  const char *type;
  rule rule;
  const char *onnx;
  int cost;
} row;

/* Kinds that bear the same name in both and are counted alike need no row. */
static const row rows[] = {
    {"AdaptiveAvgPool", AS_ONNX, "GlobalAveragePool", 0},
    {"AdaptiveMaxPool", AS_ONNX, "GlobalMaxPool", 0},
    {"AvgPool", POOL, "AveragePool", 0},
    {"BatchNormInference", AS_ONNX, "BatchNormalization", 0},
    {"BinaryConvolution", CONVOLUTION, "Conv", 0},
    {"Broadcast", AS_ONNX, "Expand", 0},
    {"Bucketize", EACH, NULL, 4},
    {"Ceiling", AS_ONNX, "Ceil", 0},
    {"Clamp", AS_ONNX, "Clip", 0},
    {"Convert", AS_ONNX, "Cast", 0},
    {"ConvertLike", AS_ONNX, "Cast", 0},
    {"Convolution", CONVOLUTION, "Conv", 0},
    {"ConvolutionBackpropData", DECONVOLUTION, "ConvTranspose", 0},
    {"Crop", AS_ONNX, "Slice", 0},
    {"CumSum", EACH, NULL, 1},
    {"Deconvolution", DECONVOLUTION, "ConvTranspose", 0},
    {"Divide", AS_ONNX, "Div", 0},
    {"Eltwise", AS_ONNX, "Add", 0},
    {"FakeConvert", EACH, NULL, 4},
    {"FakeQuantize", EACH, NULL, 6}, /* two comparisons, subtract, scale, round, scale back */
    {"FloorMod", AS_ONNX, "Mod", 0},
    {"FullyConnected", DENSE, NULL, 0},
    {"GRN", EACH, NULL, 4},
    {"GRUCell", CELL, NULL, 3},
    {"GRUSequence", SEQUENCE, NULL, 3},
    {"GreaterEqual", AS_ONNX, "GreaterOrEqual", 0},
    {"GroupConvolution", GROUPED, "Conv", 0},
    {"GroupConvolutionBackpropData", GROUPED_BACK, "ConvTranspose", 0},
    {"HSigmoid", AS_ONNX, "HardSigmoid", 0},
    {"HSwish", AS_ONNX, "HardSwish", 0},
    {"Interpolate", AS_ONNX, "Resize", 0},
    {"LSTMCell", CELL, NULL, 4},
    {"LSTMSequence", SEQUENCE, NULL, 4},
    {"LessEqual", AS_ONNX, "LessOrEqual", 0},
    {"LogicalAnd", AS_ONNX, "And", 0},
    {"LogicalNot", AS_ONNX, "Not", 0},
    {"LogicalOr", AS_ONNX, "Or", 0},
    {"LogicalXor", AS_ONNX, "Xor", 0},
    {"MVN", AS_ONNX, "LayerNormalization", 0},
    {"MatMul", MATRIX, NULL, 0},
    {"MaxPool", POOL, "MaxPool", 0},
    {"Maximum", AS_ONNX, "Max", 0},
    {"Minimum", AS_ONNX, "Min", 0},
    {"Multiply", AS_ONNX, "Mul", 0},
    {"Negative", AS_ONNX, "Neg", 0},
    {"Norm", EACH, NULL, 16},
    {"NormalizeL2", EACH, NULL, 4},
    {"NotEqual", AS_ONNX, "Equal", 0},
    {"PReLU", AS_ONNX, "PRelu", 0},
    {"Permute", AS_ONNX, "Transpose", 0},
    {"Pooling", POOL, "MaxPool", 0},
    {"Power", AS_ONNX, "Pow", 0},
    {"PriorBox", EACH, NULL, 8},
    {"PriorBoxClustered", EACH, NULL, 8},
    {"RNNCell", CELL, NULL, 1},
    {"RNNSequence", SEQUENCE, NULL, 1},
    {"ROIAlign", AS_ONNX, "RoiAlign", 0},
    {"ROIPooling", AS_ONNX, "MaxRoiPool", 0},
    {"ReLU", AS_ONNX, "Relu", 0},
    {"ReadValue", AS_ONNX, "Identity", 0},
    {"Assign", AS_ONNX, "Identity", 0},
    {"ReduceLogicalAnd", AS_ONNX, "ReduceMin", 0},
    {"ReduceLogicalOr", AS_ONNX, "ReduceMax", 0},
    {"Resample", AS_ONNX, "Resize", 0},
    {"Reverse", AS_ONNX, "ReverseSequence", 0},
    {"Roll", AS_ONNX, "Concat", 0},
    {"ScaleShift", EACH, NULL, 2},
    {"ScaledDotProductAttention", ATTENTION, NULL, 0},
    {"ScatterElementsUpdate", AS_ONNX, "ScatterElements", 0},
    {"ScatterNDUpdate", AS_ONNX, "ScatterND", 0},
    {"ScatterUpdate", AS_ONNX, "ScatterElements", 0},
    {"Select", AS_ONNX, "Where", 0},
    {"ShapeOf", AS_ONNX, "Shape", 0},
    {"ShuffleChannels", AS_ONNX, "Transpose", 0},
    {"SoftMax", AS_ONNX, "Softmax", 0},
    {"SoftPlus", AS_ONNX, "Softplus", 0},
    {"SoftSign", AS_ONNX, "Softsign", 0},
    {"SquaredDifference", EACH, NULL, 2},
    {"StridedSlice", AS_ONNX, "Slice", 0},
    {"Subtract", AS_ONNX, "Sub", 0},
    {"VariadicSplit", AS_ONNX, "Split", 0},
};

const char *ir_text(const ir_layer *layer, const char *key, const char *default_value) {
  for (int64_t i = 0; i < layer->n_attrs; i++)
    if (strcmp(layer->attrs[i].key, key) == 0) return layer->attrs[i].value;
  return default_value;
}

/* The numbers of a list "3,3" (at most `most`); returns how many, 0 when there is no such list. */
int32_t ir_ints(const ir_layer *layer, const char *key, int64_t *into, int32_t max) {
  int32_t n = 0;
  const char *at = ir_text(layer, key, "");
  while (n < max) {
    while (*at == ' ' || *at == ',') at++;
    bool minus = *at == '-';
    at += minus;
    if (*at < '0' || *at > '9') break;
    int64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) value = sat_add(sat_mul(value, 10), *at - '0');
    into[n++] = minus ? -value : value;
  }
  return n;
}

int64_t ir_int(const ir_layer *layer, const char *key, int64_t default_value) {
  int64_t value;
  return ir_ints(layer, key, &value, 1) == 1 ? value : default_value;
}

bool ir_is_true(const ir_layer *layer, const char *key) {
  const char *text = ir_text(layer, key, "false");
  return strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "1") == 0;
}

static int64_t product(const int64_t *values, int32_t n) {
  int64_t made = 1;
  for (int32_t i = 0; i < n; i++) made = sat_mul(made, max64(values[i], 1));
  return made;
}

static int64_t dim_of(const ops_tensor *t, int32_t axis) {
  return t->rank > axis && axis >= 0 ? max64(t->dims[axis], 1) : 1;
}

ops_tensor ir_without_groups(const ops_tensor *t, arena *a) {
  ops_tensor made = *t;
  int64_t *dims = t->rank > 1 ? ARENA_NEW(a, int64_t, t->rank) : NULL;
  if (!dims) return made;
  dims[0] = t->dims[0] < 0 || t->dims[1] < 0 ? -1 : sat_mul(t->dims[0], t->dims[1]);
  for (int32_t d = 2; d < t->rank; d++) dims[d - 1] = t->dims[d];
  made.rank--;
  made.dims = dims;
  return made;
}

/* A convolution whose weights are within it: each element of one side meets the kernel and the channels of the other.
 */
static int64_t flops_of_old_convolution(const ir_layer *l, bool backward) {
  const ops_tensor *in = &l->inputs[0].tensor, *out = &l->outputs[0].tensor;
  int64_t kernel[OPS_MAX_RANK];
  int32_t n = ir_ints(l, "kernel", kernel, OPS_MAX_RANK);
  int64_t each = sat_mul(product(kernel, n), dim_of(backward ? out : in, 1) / max64(ir_int(l, "group", 1), 1));
  return sat_mul(sat_mul(2, each), ops_elements(backward ? in : out, NULL));
}

static int64_t flops_of_dense(const ir_layer *l) {
  const ops_tensor *x = &l->inputs[0].tensor;
  int64_t features = ops_elements(x, NULL) / dim_of(x, 0);
  return sat_mul(sat_mul(2, features), ops_elements(&l->outputs[0].tensor, NULL));
}

/* Gates times hidden size times (features + hidden size), for each element of the batch and step and direction. */
static int64_t flops_of_recurrent(const ir_layer *l, int gates, bool sequence) {
  const ops_tensor *x = &l->inputs[0].tensor;
  int64_t hidden = max64(ir_int(l, "hidden_size", 1), 1), features = dim_of(x, x->rank - 1);
  int64_t directions = strcmp(ir_text(l, "direction", ""), "bidirectional") == 0 ? 2 : 1;
  int64_t steps = sequence ? sat_mul(dim_of(x, 1), directions) : 1;
  int64_t cells = sat_mul(sat_mul(hidden, dim_of(x, 0)), steps);
  return sat_mul(sat_mul(2 * gates, cells), sat_add(features, hidden));
}

static int64_t flops_of_attention(const ir_layer *l) {
  const ops_tensor *q = &l->inputs[0].tensor, *k = &l->inputs[1].tensor;
  return sat_mul(sat_mul(4, ops_elements(q, NULL)), dim_of(k, k->rank - 2));
}

/* Counts as an ONNX operator, with the shapes and attributes that rule asks for. */
static ops_work count_as_onnx(const ir_layer *l, const row *how, const char *onnx, arena *a) {
  int64_t n = l->n_inputs;
  const ops_tensor **inputs = ARENA_NEW(a, const ops_tensor *, n);
  ops_tensor *outputs = ARENA_NEW(a, ops_tensor, l->n_outputs);
  if (!inputs || !outputs) return (ops_work){0};
  for (int64_t i = 0; i < n; i++) inputs[i] = &l->inputs[i].tensor;
  for (int64_t i = 0; i < l->n_outputs; i++) outputs[i] = l->outputs[i].tensor;
  ops_attr attrs[2];
  int32_t n_attrs = 0;
  rule by = how ? how->rule : AS_ONNX;
  int64_t kernel[OPS_MAX_RANK];
  ops_tensor weights;
  if (by == MATRIX && n > 0 && ir_is_true(l, "transpose_a")) {
    onnx = "FusedMatMul";
    attrs[n_attrs++] = (ops_attr){.name = "transA", .type = OPS_INT, .i = 1};
  } else if ((by == GROUPED || by == GROUPED_BACK) && n > 1) {
    weights = ir_without_groups(&l->inputs[1].tensor, a);
    inputs[1] = &weights;
  } else if (by == POOL) {
    int32_t n_kernel = ir_ints(l, "kernel", kernel, OPS_MAX_RANK);
    attrs[n_attrs++] = (ops_attr){.name = "kernel_shape", .type = OPS_INTS, .n = n_kernel, .ints = kernel};
  }
  ops_node node = {.domain = strcmp(onnx, "FusedMatMul") == 0 ? "com.microsoft" : "",
                   .kind = onnx,
                   .attrs = attrs,
                   .n_attrs = n_attrs,
                   .inputs = inputs,
                   .n_inputs = (int32_t)n,
                   .outputs = outputs,
                   .n_outputs = (int32_t)l->n_outputs};
  return ops_count(&node);
}

static const row *row_of(const char *type) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].type, type) == 0) return &rows[i];
  return NULL;
}

/* Whether the inputs of a rule are available. */
static bool has_ports(const ir_layer *l, rule by) {
  int64_t inputs = by == ATTENTION                                       ? 3
                   : by == GROUPED || by == GROUPED_BACK || by == MATRIX ? 2
                   : by == AS_ONNX                                       ? 0
                                                                         : 1;
  return l->n_inputs >= inputs && (l->n_outputs >= 1 || by == AS_ONNX);
}

bool ir_is_known(const ir_layer *l) { return row_of(l->type) || ops_known("", l->type); }

ops_work ir_count(const ir_layer *l, arena *a) {
  const row *how = row_of(l->type);
  arena_mark mark = arena_get_mark(a);
  const char *onnx = how && how->onnx ? how->onnx : how && how->rule == MATRIX ? "MatMul" : how ? "" : l->type;
  ops_work work = count_as_onnx(l, how, onnx, a);
  arena_release(a, mark);
  if (!how) return work;
  if (!has_ports(l, how->rule)) {
    work.exact = false;
    return work;
  }
  int64_t flops = -1;
  switch (how->rule) {
    case EACH: flops = sat_mul(how->cost, ops_elements(&l->outputs[0].tensor, NULL)); break;
    case CONVOLUTION:
    case DECONVOLUTION:
      if (l->n_inputs == 1) flops = flops_of_old_convolution(l, how->rule == DECONVOLUTION);
      break;
    case DENSE: flops = flops_of_dense(l); break;
    case CELL: flops = flops_of_recurrent(l, how->cost, false); break;
    case SEQUENCE: flops = flops_of_recurrent(l, how->cost, true); break;
    case ATTENTION: flops = flops_of_attention(l); break;
    default: return work;
  }
  if (flops < 0) return work;
  work.flops = flops;
  work.exact = true;
  for (int64_t i = 0; i < l->n_inputs; i++) ops_bytes(&l->inputs[i].tensor, &work.exact);
  for (int64_t i = 0; i < l->n_outputs; i++) ops_bytes(&l->outputs[i].tensor, &work.exact);
  return work;
}
