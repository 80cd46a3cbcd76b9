/* The costs of a layer of an OpenVINO IR. Shapes are known by then, so a kind only needs a counting rule. Most kinds
 * are counted like the equivalent ONNX operator (ops/ops.h); shapes and attributes in another form are translated
 * first. Recurrent layers count the products with their weights and hidden state. */
#include <string.h>

#include "base/checked.h"
#include "read/ir_net.h"

static int64_t product(const int64_t *values, int32_t n) {
  int64_t made = 1;
  for (int32_t i = 0; i < n; i++) made = sat_mul(made, max64(values[i], 1));
  return made;
}

static int64_t dim_of(const ops_tensor *t, int32_t axis) {
  return t->rank > axis && axis >= 0 ? max64(t->dims[axis], 1) : 1;
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
static ops_work count_as_onnx(const ir_layer *l, ir_rule by, const char *onnx, arena *a) {
  int64_t n = l->n_inputs;
  const ops_tensor **inputs = ARENA_NEW(a, const ops_tensor *, n);
  ops_tensor *outputs = ARENA_NEW(a, ops_tensor, l->n_outputs);
  if (!inputs || !outputs) return (ops_work){0};
  for (int64_t i = 0; i < n; i++) inputs[i] = &l->inputs[i].tensor;
  for (int64_t i = 0; i < l->n_outputs; i++) outputs[i] = l->outputs[i].tensor;
  ops_attr attrs[2];
  int32_t n_attrs = 0;
  int64_t kernel[OPS_MAX_RANK];
  ops_tensor weights;
  if (by == IR_MATRIX && n > 0 && ir_is_true(l, "transpose_a")) {
    onnx = "FusedMatMul";
    attrs[n_attrs++] = (ops_attr){.name = "transA", .type = OPS_INT, .i = 1};
  } else if ((by == IR_GROUPED || by == IR_GROUPED_BACK) && n > 1) {
    weights = ir_without_groups(&l->inputs[1].tensor, a);
    inputs[1] = &weights;
  } else if (by == IR_POOL) {
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

/* Whether the inputs of a rule are available. */
static bool has_ports(const ir_layer *l, ir_rule by) {
  int64_t inputs = by == IR_ATTENTION                                             ? 3
                   : by == IR_GROUPED || by == IR_GROUPED_BACK || by == IR_MATRIX ? 2
                   : by == IR_AS_ONNX                                             ? 0
                                                                                  : 1;
  return l->n_inputs >= inputs && (l->n_outputs >= 1 || by == IR_AS_ONNX);
}

bool ir_is_known(const ir_layer *l) {
  const ir_kind *kind = ir_kind_of(l->type);
  return (kind && kind->rule != IR_BY_NAME) || ops_known("", l->type);
}

ops_work ir_count(const ir_layer *l, arena *a) {
  const ir_kind *kind = ir_kind_of(l->type);
  ir_rule by = kind ? kind->rule : IR_BY_NAME;
  bool own = by == IR_EACH || by == IR_DENSE || by == IR_CELL || by == IR_SEQUENCE || by == IR_ATTENTION;
  arena_mark mark = arena_get_mark(a);
  ops_work work = count_as_onnx(l, by, own ? "" : by != IR_BY_NAME && kind->onnx ? kind->onnx : l->type, a);
  arena_release(a, mark);
  if (by == IR_BY_NAME) return work;
  if (!has_ports(l, by)) {
    work.exact = false;
    return work;
  }
  int64_t flops = -1;
  switch (by) {
    case IR_EACH: flops = sat_mul(kind->cost, ops_elements(&l->outputs[0].tensor, NULL)); break;
    case IR_CONVOLUTION:
    case IR_DECONVOLUTION:
      if (l->n_inputs == 1) flops = flops_of_old_convolution(l, by == IR_DECONVOLUTION);
      break;
    case IR_DENSE: flops = flops_of_dense(l); break;
    case IR_CELL: flops = flops_of_recurrent(l, kind->cost, false); break;
    case IR_SEQUENCE: flops = flops_of_recurrent(l, kind->cost, true); break;
    case IR_ATTENTION: flops = flops_of_attention(l); break;
    default: return work;
  }
  if (flops < 0) return work;
  work.flops = flops;
  work.exact = true;
  for (int64_t i = 0; i < l->n_inputs; i++) ops_bytes(&l->inputs[i].tensor, &work.exact);
  for (int64_t i = 0; i < l->n_outputs; i++) ops_bytes(&l->outputs[i].tensor, &work.exact);
  return work;
}
