/* What engines run without touching the data: new shapes of old tensors, shapes as values, constants. */
#include <string.h>

#include "ops/kind.h"

/* Values pass through unchanged. */
static situ_status view(const kind_call *c, int32_t rank, const int64_t *dims) {
  TRY(kind_put(c, 0, kind_in_dtype(c->node, 0), rank, dims));
  return kind_keep_values(c, 0, kind_in(c->node, 0));
}

static situ_status infer_identity(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  return view(c, kind_rank(t), t ? t->dims : NULL);
}

/* The size of the one dimension to infer (-1, or none). Copied dimensions cancel out, known or not. */
static situ_status reshape_rest(const kind_call *c, const ops_tensor *t, int32_t rank, int64_t *dims,
                                const bool *copied, int32_t found) {
  int64_t have = 1, known = 1;
  if (kind_rank(t) < 0) return SITU_STATUS_OK;
  for (int32_t d = 0; d < t->rank; d++) {
    if (d < rank && copied[d]) continue;
    if (t->dims[d] < 0) return SITU_STATUS_OK;
    have = sat_mul(have, t->dims[d]);
  }
  for (int32_t d = 0; d < rank; d++) {
    if (d == found || copied[d]) continue;
    if (dims[d] < 0) return SITU_STATUS_OK;
    known = sat_mul(known, dims[d]);
  }
  if (have == INT64_MAX || known == INT64_MAX) return SITU_STATUS_OK;
  bool empty = false; /* a copied 0 makes every number of elements fit */
  for (int32_t d = 0; d < rank; d++) empty = empty || (copied[d] && dims[d] <= 0);
  if (found < 0 && have != known && !empty)
    return kind_fail(c, "%lld elements cannot take a shape of %lld (copied dimensions aside)", (long long)have,
                     (long long)known);
  if (found < 0) return SITU_STATUS_OK;
  if (known == 0 ? have != 0 : have % known != 0)
    return kind_fail(c, "%lld elements cannot be split by %lld", (long long)have, (long long)known);
  dims[found] = known == 0 ? 0 : have / known;
  return SITU_STATUS_OK;
}

static situ_status infer_reshape(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *shape = kind_in(c->node, 1);
  int64_t n, dims[OPS_MAX_RANK];
  const int64_t *wanted = ops_attr_ints(c->node, "shape", &n);
  TRY(kind_need_type(c, "shape", OPS_INTS));
  if (!wanted) TRY(kind_need_rank(c, 1, 1));
  if (!wanted && (n = kind_small(shape)) >= 0) wanted = shape->ints;
  if (n < 0 && shape && kind_rank(shape) == 1 && shape->dims[0] > OPS_MAX_RANK) n = shape->dims[0];
  if (n > OPS_MAX_RANK) return kind_fail(c, "a shape of %lld dimensions, at most 64 are allowed", (long long)n);
  if (n < 0) return view(c, -1, NULL);
  bool allow_zero = ops_attr_int(c->node, "allowzero", 0) != 0;
  bool copied[OPS_MAX_RANK] = {false};
  int32_t found = -1;
  for (int32_t d = 0; d < n; d++) {
    dims[d] = wanted ? wanted[d] : OPS_UNKNOWN_INT;
    if (dims[d] == -1) {
      if (found >= 0) return kind_fail(c, "two dimensions of the shape are -1");
      found = d;
    } else if (dims[d] == 0 && !allow_zero) {
      if (kind_rank(t) >= 0 && d >= t->rank)
        return kind_fail(c, "dimension %d is to be copied from a tensor of rank %d", (int)d, (int)t->rank);
      copied[d] = true;
      dims[d] = kind_dim(t, d);
    } else if (dims[d] == OPS_UNKNOWN_INT) {
      dims[d] = -1;
    } else if (dims[d] < 0) {
      return kind_fail(c, "dimension %d of the shape is %lld", (int)d, (long long)dims[d]);
    }
  }
  TRY(reshape_rest(c, t, (int32_t)n, dims, copied, found));
  return view(c, (int32_t)n, dims);
}

static situ_status infer_flatten(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t dims[2] = {-1, -1};
  if (kind_rank(t) < 0) return view(c, 2, dims);
  TRY(kind_need_type(c, "axis", OPS_INT));
  int64_t axis = ops_attr_int(c->node, "axis", 1);
  if (axis < -t->rank || axis > t->rank)
    return kind_fail(c, "axis %lld is outside of a tensor of rank %d", (long long)axis, (int)t->rank);
  if (axis < 0) axis += t->rank;
  dims[0] = kind_volume((int32_t)axis, t->dims);
  dims[1] = kind_volume(t->rank - (int32_t)axis, t->dims ? t->dims + axis : NULL);
  return view(c, 2, dims);
}

static situ_status infer_squeeze(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t n, dims[OPS_MAX_RANK];
  int32_t rank = 0;
  bool given, flags[OPS_MAX_RANK], all_known = true;
  TRY(kind_need_type(c, "axes", OPS_INTS));
  const int64_t *axes = kind_list(c->node, "axes", 1, &n, &given);
  if (kind_rank(t) < 0 || (given && !axes)) return view(c, -1, NULL);
  if (given) TRY(kind_axes(c, axes, n, t->rank, flags));
  for (int32_t d = 0; d < t->rank; d++) {
    if (!given) flags[d] = t->dims[d] == 1;
    if (!given && t->dims[d] < 0) all_known = false;
    if (!flags[d])
      dims[rank++] = t->dims[d];
    else if (t->dims[d] > 1 || t->dims[d] == 0)
      return kind_fail(c, "dimension %d to be dropped is %lld, not 1", (int)d, (long long)t->dims[d]);
  }
  return view(c, all_known ? rank : -1, dims);
}

static situ_status infer_unsqueeze(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t n, dims[OPS_MAX_RANK];
  bool given, flags[OPS_MAX_RANK];
  TRY(kind_need_type(c, "axes", OPS_INTS));
  const int64_t *axes = kind_list(c->node, "axes", 1, &n, &given);
  if (!axes || kind_rank(t) < 0) return view(c, -1, NULL);
  if (n + t->rank > OPS_MAX_RANK) return kind_fail(c, "more than %d dimensions", OPS_MAX_RANK);
  int32_t rank = t->rank + (int32_t)n;
  TRY(kind_axes(c, axes, n, rank, flags));
  for (int32_t d = 0, from = 0; d < rank; d++) dims[d] = flags[d] ? 1 : t->dims[from++];
  return view(c, rank, dims);
}

/* Training only when the third input says so (operator set 12) or is_test is 0 (before 7). */
static bool trains(const ops_node *node) {
  int64_t mode;
  if (kind_in(node, 2)) return !kind_scalar_int(kind_in(node, 2), &mode) || mode != 0;
  return ops_find_attr(node, "is_test") && ops_attr_int(node, "is_test", 0) == 0;
}

static situ_status infer_dropout(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  bool random = trains(c->node);
  if (random)
    for (int32_t i = 0; i < c->node->n_outputs; i++) c->node->outputs[i].constant = false;
  situ_dtype mask = c->node->opset < 10 ? kind_in_dtype(c->node, 0) : SITU_DTYPE_BOOL;
  TRY(kind_put_like(c, 1, mask, t));
  return random ? kind_infer_same(c) : infer_identity(c);
}

static void count_dropout(const ops_node *node, const ops_kind *row, ops_work *work) {
  if (trains(node))
    kind_count_each(node, row, work);
  else
    kind_count_view(node, row, work);
}

static situ_status infer_shape(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int32_t rank = kind_rank(t);
  if (rank < 0) return kind_put_1d(c, 0, SITU_DTYPE_I64, -1);
  TRY(kind_need_type(c, "start", OPS_INT));
  TRY(kind_need_type(c, "end", OPS_INT));
  int64_t start = ops_attr_int(c->node, "start", 0), end = ops_attr_int(c->node, "end", rank), n;
  if (start < 0) start += rank;
  if (end < 0) end += rank;
  start = max64(0, min64(start, rank));
  end = max64(start, min64(end, rank));
  TRY(kind_put_1d(c, 0, SITU_DTYPE_I64, end - start));
  int64_t *ints;
  double *reals;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  bool all = true;
  for (int64_t k = 0; k < n; k++) {
    ints[k] = t->dims[start + k] >= 0 ? t->dims[start + k] : OPS_UNKNOWN_INT;
    all = all && ints[k] != OPS_UNKNOWN_INT;
  }
  /* A shape is constant when it is known, whatever the values of its tensor are. */
  if (c->node->n_outputs > 0 && n == end - start && all) c->node->outputs[0].constant = true;
  return SITU_STATUS_OK;
}

static situ_status infer_size(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t *ints, n, size = t ? kind_volume(kind_rank(t), t->dims) : -1;
  double *reals;
  TRY(kind_put_scalar(c, 0, SITU_DTYPE_I64));
  if (size < 0 || size == INT64_MAX) return SITU_STATUS_OK;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  if (n == 1) {
    ints[0] = size;
    c->node->outputs[0].constant = true;
  }
  return SITU_STATUS_OK;
}

static situ_status constant_numbers(const kind_call *c, situ_dtype dtype, int32_t rank, int64_t n,
                                    const ops_attr *attr) {
  int64_t *ints, room;
  double *reals;
  TRY(kind_put(c, 0, dtype, rank, &n));
  TRY(kind_values(c, 0, &ints, &reals, &room));
  for (int64_t k = 0; k < room; k++) {
    if (ints) ints[k] = rank == 0 ? attr->i : attr->ints[k];
    if (reals) reals[k] = rank == 0 ? attr->f : attr->floats[k];
  }
  return SITU_STATUS_OK;
}

static situ_status infer_constant(const kind_call *c) {
  const ops_node *node = c->node;
  for (int32_t k = 0; k < node->n_attrs; k++) {
    const ops_attr *attr = &node->attrs[k];
    if (!attr->name || strncmp(attr->name, "value", 5) != 0) continue;
    if (attr->n < 0) return kind_fail(c, "attribute %.40s has a negative length", attr->name);
    switch (attr->type) {
      case OPS_TENSOR:
        if (!attr->tensor) continue;
        if (attr->tensor->rank > OPS_MAX_RANK)
          return kind_fail(c, "the value has %d dimensions", (int)attr->tensor->rank);
        for (int32_t d = 0; d < kind_rank(attr->tensor); d++)
          if (attr->tensor->dims[d] < 0) return kind_fail(c, "the value has a negative dimension");
        TRY(kind_put_like(c, 0, attr->tensor->dtype, attr->tensor));
        return kind_keep_values(c, 0, attr->tensor);
      case OPS_INT: return constant_numbers(c, SITU_DTYPE_I64, 0, 1, attr);
      case OPS_FLOAT: return constant_numbers(c, SITU_DTYPE_F32, 0, 1, attr);
      case OPS_INTS: return constant_numbers(c, SITU_DTYPE_I64, 1, attr->ints ? attr->n : 0, attr);
      case OPS_FLOATS: return constant_numbers(c, SITU_DTYPE_F32, 1, attr->floats ? attr->n : 0, attr);
      case OPS_STRING: return kind_put_scalar(c, 0, SITU_DTYPE_STRING);
      case OPS_STRINGS: return kind_put_1d(c, 0, SITU_DTYPE_STRING, attr->n);
      default: continue;
    }
  }
  return SITU_STATUS_OK;
}

/* Passes the outputs of the forward part to the user and receives their gradients; outputs without a gradient are
 * named. */
static situ_status infer_yield(const kind_call *c) {
  int64_t n;
  const int64_t *skipped = ops_attr_ints(c->node, "non_differentiable_outputs", &n);
  for (int32_t i = 0, out = 0; i < c->node->n_inputs; i++) {
    bool skip = false;
    for (int64_t k = 0; k < n; k++) skip = skip || skipped[k] == i;
    if (!skip) TRY(kind_put_like(c, out++, kind_in_dtype(c->node, i), kind_in(c->node, i)));
  }
  return SITU_STATUS_OK;
}

#define VIEW(domain, name, infer) \
  { domain, name, infer, kind_count_view, 0, 0, 0 }

static const ops_kind rows[] = {
    VIEW(KIND_ONNX, "Reshape", infer_reshape),
    VIEW(KIND_ONNX, "Flatten", infer_flatten),
    VIEW(KIND_ONNX, "Squeeze", infer_squeeze),
    VIEW(KIND_ONNX, "Unsqueeze", infer_unsqueeze),
    VIEW(KIND_ONNX, "Identity", infer_identity),
    VIEW(KIND_ONNX, "Shape", infer_shape),
    VIEW(KIND_ONNX, "Size", infer_size),
    VIEW(KIND_ONNX, "Constant", infer_constant),
    {KIND_ONNX, "Dropout", infer_dropout, count_dropout, 2, 0, 0},
    {KIND_MS, "YieldOp", infer_yield, kind_count_view, 0, 0, KIND_RANDOM},
    VIEW(KIND_MS, "PassThrough", kind_infer_each_same),
};

const ops_family ops_family_view = {rows, sizeof rows / sizeof rows[0]};
