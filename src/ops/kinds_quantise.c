/* Quantisation, and the quantised twins of plain kinds that ONNX Runtime makes. Scales and zero points come between the
 * tensors; products and windows with quantised operands are in the families of their plain kinds. */
#include <string.h>

#include "ops/kind.h"

/* The type is that of the zero point, or stated (operator set 21). */
static situ_status infer_quantise(const kind_call *c) {
  situ_dtype dtype = kind_dtype_attr(c->node, "output_dtype", kind_in_dtype(c->node, 2));
  if (dtype == SITU_DTYPE_UNKNOWN && !kind_in(c->node, 2)) dtype = SITU_DTYPE_U8;
  return kind_put_like(c, 0, dtype, kind_in(c->node, 0));
}

static situ_status infer_dynamic(const kind_call *c) {
  TRY(kind_put_like(c, 0, SITU_DTYPE_U8, kind_in(c->node, 0)));
  TRY(kind_put_scalar(c, 1, SITU_DTYPE_F32));
  return kind_put_scalar(c, 2, SITU_DTYPE_U8);
}

/* A, its scale and zero point, B, its scale and zero point, ... */
static situ_status infer_join(const kind_call *c) {
  const ops_tensor *both[2] = {kind_in(c->node, 0), kind_in(c->node, 3)};
  int64_t dims[OPS_MAX_RANK];
  int32_t rank;
  TRY(kind_broadcast(c, both, 2, dims, &rank));
  return kind_put(c, 0, kind_in_dtype(c->node, 0), rank, dims);
}

/* Scale and zero point of the output, then each input with its own. */
static situ_status infer_concat(const kind_call *c) {
  const ops_tensor *first = kind_in(c->node, 2);
  int64_t dims[OPS_MAX_RANK];
  int32_t axis;
  situ_dtype dtype = kind_in_dtype(c->node, 2);
  if (kind_rank(first) < 0) return kind_put(c, 0, dtype, -1, NULL);
  TRY(kind_axis_attr(c, 1, first->rank, &axis));
  memcpy(dims, first->dims, (size_t)first->rank * sizeof *dims);
  for (int32_t i = 5; i < c->node->n_inputs; i += 3) {
    const ops_tensor *t = kind_in(c->node, i);
    TRY(kind_need_rank(c, i, first->rank));
    for (int32_t d = 0; d < first->rank; d++) {
      if (d != axis)
        TRY(kind_same(c, dims[d], kind_dim(t, d), "dimensions", &dims[d]));
      else
        dims[d] = dims[d] < 0 || kind_dim(t, d) < 0 ? -1 : sat_add(dims[d], kind_dim(t, d));
    }
  }
  return kind_put(c, 0, dtype, first->rank, dims);
}

#define TWIN(name, cost) \
  { KIND_MS, name, kind_infer_same, NULL, cost, 0, KIND_QUANTISED }

/* clang-format off */
static const ops_kind rows[] = {
    {KIND_ONNX, "QuantizeLinear", infer_quantise, NULL, 4, 0, 0},
    {KIND_ONNX, "DequantizeLinear", kind_infer_scale, NULL, 2, 0, KIND_OF_OUTPUT},
    {KIND_ONNX, "DynamicQuantizeLinear", infer_dynamic, NULL, 6, 0, 0},
    {KIND_MS, "QuantizeLinear", infer_quantise, NULL, 4, 0, 0},
    {KIND_MS, "DequantizeLinear", kind_infer_scale, NULL, 2, 0, KIND_OF_OUTPUT},
    {KIND_MS, "QLinearAdd", infer_join, NULL, 5, 0, KIND_QUANTISED},
    {KIND_MS, "QLinearMul", infer_join, NULL, 5, 0, KIND_QUANTISED},
    {KIND_MS, "QLinearConcat", infer_concat, kind_count_move, 0, 0, KIND_QUANTISED},
    TWIN("QLinearSigmoid", 1), TWIN("QLinearLeakyRelu", 1), TWIN("QLinearSoftmax", 5),
};
/* clang-format on */

const ops_family ops_family_quantise = {rows, sizeof rows / sizeof rows[0]};
