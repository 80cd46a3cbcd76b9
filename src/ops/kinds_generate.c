/* Tensors out of few numbers: fills, ranges, random numbers, unit matrices. They write bytes and compute nothing, but
 * random numbers count 10 FLOPs each (a counter-based generator and a transformation). */
#include <math.h>

#include "ops/kind.h"

/* A shape that is the value of a tensor: its rank at least, if its length is known. */
static situ_status put_shape_of(const kind_call *c, int32_t i, situ_dtype dtype, const ops_tensor *shape) {
  TRY(kind_need_rank(c, 0, 1));
  int64_t n = kind_rank(shape) == 1 ? shape->dims[0] : -1, dims[OPS_MAX_RANK];
  if (n > OPS_MAX_RANK)
    return kind_fail(c, "a shape of %lld dimensions, at most %d are allowed", (long long)n, OPS_MAX_RANK);
  for (int64_t d = 0; d < n; d++) {
    dims[d] = shape->ints ? shape->ints[d] : -1;
    if (dims[d] == OPS_UNKNOWN_INT)
      dims[d] = -1;
    else if (shape->ints && dims[d] < 0)
      return kind_fail(c, "dimension %d is %lld", (int)d, (long long)dims[d]);
  }
  return kind_put(c, i, dtype, (int32_t)n, dims);
}

static situ_status infer_fill(const kind_call *c) {
  const ops_attr *attr = ops_find_attr(c->node, "value");
  TRY(kind_need_type(c, "value", OPS_TENSOR));
  const ops_tensor *value = attr ? attr->tensor : NULL;
  if (value && kind_volume(kind_rank(value), value->dims) != 1) return kind_fail(c, "the value is not one element");
  TRY(put_shape_of(c, 0, value ? value->dtype : SITU_DTYPE_F32, kind_in(c->node, 0)));
  int64_t *ints, n;
  double *reals;
  if (value && !value->ints && !value->reals) return SITU_STATUS_OK;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  for (int64_t k = 0; k < n; k++) {
    if (ints) ints[k] = value && value->ints ? value->ints[0] : OPS_UNKNOWN_INT;
    if (reals) reals[k] = !value ? 0 : value->reals ? value->reals[0] : (double)NAN;
  }
  return SITU_STATUS_OK;
}

static situ_status range_reals(const kind_call *c, situ_dtype dtype, double start, double limit, double step) {
  double count = ceil((limit - start) / step);
  int64_t *ints, n;
  double *reals;
  if (step == 0) return kind_fail(c, "a step of 0");
  if (isnan(count) || count > 9e18) return kind_fail(c, "a range of %g elements", count);
  TRY(kind_put_1d(c, 0, dtype, count > 0 ? (int64_t)count : 0));
  TRY(kind_values(c, 0, &ints, &reals, &n));
  for (int64_t k = 0; reals && k < n; k++) reals[k] = start + (double)k * step;
  return SITU_STATUS_OK;
}

static situ_status infer_range(const kind_call *c) {
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  int64_t start, limit, step, n, *ints;
  double a, b, s, *reals;
  const ops_tensor *in[3] = {kind_in(c->node, 0), kind_in(c->node, 1), kind_in(c->node, 2)};
  if (kind_is_real(dtype) && kind_scalar_real(in[0], &a) && kind_scalar_real(in[1], &b) && kind_scalar_real(in[2], &s))
    return range_reals(c, dtype, a, b, s);
  if (!kind_scalar_int(in[0], &start) || !kind_scalar_int(in[1], &limit) || !kind_scalar_int(in[2], &step))
    return kind_put_1d(c, 0, dtype, -1);
  if (step == 0) return kind_fail(c, "a step of 0");
  int64_t reach;
  if (step == INT64_MIN || __builtin_sub_overflow(step > 0 ? limit : start, step > 0 ? start : limit, &reach))
    return kind_fail(c, "a range beyond all bounds");
  int64_t stride = step > 0 ? step : -step;
  TRY(kind_put_1d(c, 0, dtype, reach <= 0 ? 0 : (reach - 1) / stride + 1));
  TRY(kind_values(c, 0, &ints, &reals, &n));
  for (int64_t k = 0; ints && k < n; k++) ints[k] = start + k * step;
  return SITU_STATUS_OK;
}

static situ_status infer_eye(const kind_call *c) {
  TRY(kind_need_rank(c, 0, 2));
  return kind_put_like(c, 0, kind_dtype_attr(c->node, "dtype", kind_in_dtype(c->node, 0)), kind_in(c->node, 0));
}

static situ_status infer_one_hot(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  situ_dtype dtype = kind_in_dtype(c->node, 2);
  int64_t depth, dims[OPS_MAX_RANK + 1];
  double real;
  int32_t axis;
  if (!kind_scalar_int(kind_in(c->node, 1), &depth))
    depth = kind_scalar_real(kind_in(c->node, 1), &real) && real >= 0 && real < 9e18 ? (int64_t)real : -1;
  else if (depth < 0)
    return kind_fail(c, "a depth of %lld", (long long)depth);
  if (kind_rank(t) < 0) return kind_put(c, 0, dtype, -1, NULL);
  TRY(kind_axis_attr(c, -1, t->rank + 1, &axis));
  for (int32_t d = 0, from = 0; d <= t->rank; d++) dims[d] = d == axis ? depth : t->dims[from++];
  return kind_put(c, 0, dtype, t->rank + 1, dims);
}

/* The shape is an attribute. */
static situ_status infer_random(const kind_call *c) {
  const int64_t *shape;
  int64_t n;
  TRY(kind_need_ints(c, "shape", -1, &shape));
  ops_attr_ints(c->node, "shape", &n);
  if (n > OPS_MAX_RANK) return kind_fail(c, "a shape of %lld dimensions", (long long)n);
  for (int64_t d = 0; d < n; d++)
    if (shape[d] < 0) return kind_fail(c, "dimension %d is %lld", (int)d, (long long)shape[d]);
  return kind_put(c, 0, kind_dtype_attr(c->node, "dtype", SITU_DTYPE_F32), shape ? (int32_t)n : -1, shape);
}

static situ_status infer_random_like(const kind_call *c) {
  return kind_put_like(c, 0, kind_dtype_attr(c->node, "dtype", kind_in_dtype(c->node, 0)), kind_in(c->node, 0));
}

static situ_status infer_multinomial(const kind_call *c) {
  TRY(kind_need_rank(c, 0, 2));
  int64_t dims[2] = {kind_dim(kind_in(c->node, 0), 0), ops_attr_int(c->node, "sample_size", 1)};
  if (dims[1] < 0) return kind_fail(c, "a sample of %lld", (long long)dims[1]);
  return kind_put(c, 0, kind_dtype_attr(c->node, "dtype", SITU_DTYPE_I32), 2, dims);
}

static const ops_kind rows[] = {
    {KIND_ONNX, "ConstantOfShape", infer_fill, kind_count_move, 0, 0, KIND_OF_OUTPUT},
    {KIND_ONNX, "Range", infer_range, NULL, 1, 0, 0},
    {KIND_ONNX, "EyeLike", infer_eye, kind_count_move, 0, 0, KIND_OF_OUTPUT},
    {KIND_ONNX, "OneHot", infer_one_hot, kind_count_move, 0, 0, KIND_OF_OUTPUT},
    {KIND_ONNX, "RandomNormal", infer_random, NULL, 10, 0, KIND_RANDOM},
    {KIND_ONNX, "RandomUniform", infer_random, NULL, 10, 0, KIND_RANDOM},
    {KIND_ONNX, "RandomNormalLike", infer_random_like, NULL, 10, 0, KIND_RANDOM | KIND_OF_OUTPUT},
    {KIND_ONNX, "RandomUniformLike", infer_random_like, NULL, 10, 0, KIND_RANDOM | KIND_OF_OUTPUT},
    {KIND_ONNX, "Bernoulli", infer_random_like, NULL, 10, 0, KIND_RANDOM | KIND_OF_OUTPUT},
    {KIND_ONNX, "Multinomial", infer_multinomial, NULL, 10, 0, KIND_RANDOM},
};

const ops_family ops_family_generate = {rows, sizeof rows / sizeof rows[0]};
