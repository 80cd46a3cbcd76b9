/* Many elements into few along axes: sums and their like, best indices, sorting. FLOPs go by input elements. */
#include <math.h>
#include <string.h>

#include "ops/kind.h"

enum { OTHER, SUM, PROD, MAX, MIN, MEAN };

/* ---- Reductions ---- */

/* Which axes are reduced: *known false when an input says so and its values are not known. */
static situ_status reduced_axes(const kind_call *c, const ops_tensor *t, bool *flags, bool *known, bool *nothing) {
  int64_t n;
  bool given;
  TRY(kind_need_type(c, "axes", OPS_INTS));
  const int64_t *axes = kind_list(c->node, "axes", 1, &n, &given);
  *known = !given || axes;
  *nothing = false;
  if (!*known) return SITU_STATUS_OK;
  if (n > 0) return kind_axes(c, axes, n, t->rank, flags);
  *nothing = ops_attr_int(c->node, "noop_with_empty_axes", 0) != 0;
  for (int32_t d = 0; d < t->rank; d++) flags[d] = !*nothing;
  return SITU_STATUS_OK;
}

static int64_t join_int(int tag, int64_t x, int64_t y) {
  int64_t z;
  if (x == OPS_UNKNOWN_INT || y == OPS_UNKNOWN_INT) return OPS_UNKNOWN_INT;
  switch (tag) {
    case SUM: return __builtin_add_overflow(x, y, &z) ? OPS_UNKNOWN_INT : z;
    case PROD: return __builtin_mul_overflow(x, y, &z) ? OPS_UNKNOWN_INT : z;
    case MAX: return max64(x, y);
    case MIN: return min64(x, y);
    default: return OPS_UNKNOWN_INT;
  }
}

static double join_real(int tag, double x, double y) {
  switch (tag) {
    case SUM:
    case MEAN: return x + y;
    case PROD: return x * y;
    case MAX: return fmax(x, y);
    case MIN: return fmin(x, y);
    default: return (double)NAN;
  }
}

/* Element k of the input falls to the output element whose index lacks the reduced axes. */
static situ_status reduce_values(const kind_call *c, const ops_tensor *t, const bool *flags) {
  int64_t n_in = kind_small(t), n, *ints;
  double *reals;
  if (c->row->tag == OTHER || n_in < 1 || (!t->ints && !t->reals) || c->node->n_outputs < 1) return SITU_STATUS_OK;
  if (c->row->tag == MEAN && t->ints) return SITU_STATUS_OK;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  if ((ints && !t->ints) || (reals && !t->reals)) {
    c->node->outputs[0].ints = NULL, c->node->outputs[0].reals = NULL;
    return SITU_STATUS_OK;
  }
  bool seen[OPS_MAX_VALUES];
  memset(seen, 0, (size_t)n * sizeof *seen);
  for (int64_t k = 0; n > 0 && k < n_in; k++) {
    int64_t rest = k, at = 0, step = 1;
    for (int32_t d = t->rank - 1; d >= 0; rest /= t->dims[d--]) {
      if (flags[d]) continue;
      at += rest % t->dims[d] * step;
      step *= t->dims[d];
    }
    if (ints) ints[at] = seen[at] ? join_int(c->row->tag, ints[at], t->ints[k]) : t->ints[k];
    if (reals) reals[at] = seen[at] ? join_real(c->row->tag, reals[at], t->reals[k]) : t->reals[k];
    seen[at] = true;
  }
  for (int64_t k = 0; reals && c->row->tag == MEAN && k < n; k++) reals[k] /= (double)(n_in / n);
  return SITU_STATUS_OK;
}

static situ_status put_reduced(const kind_call *c, situ_dtype dtype, const ops_tensor *t, const bool *flags,
                               bool keep) {
  int64_t dims[OPS_MAX_RANK];
  int32_t rank = 0;
  for (int32_t d = 0; d < t->rank; d++) {
    if (!flags[d])
      dims[rank++] = t->dims[d];
    else if (keep)
      dims[rank++] = 1;
  }
  return kind_put(c, 0, dtype, rank, dims);
}

static situ_status infer_reduce(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  bool flags[OPS_MAX_RANK], known, nothing, keep = ops_attr_int(c->node, "keepdims", 1) != 0;
  if (kind_rank(t) < 0) return kind_put(c, 0, dtype, -1, NULL);
  TRY(reduced_axes(c, t, flags, &known, &nothing));
  if (known) {
    TRY(put_reduced(c, dtype, t, flags, keep || nothing));
    return reduce_values(c, t, flags);
  }
  int64_t dims[OPS_MAX_RANK], n_axes = kind_dim(kind_in(c->node, 1), 0);
  for (int32_t d = 0; d < t->rank; d++) dims[d] = -1;
  if (keep) return kind_put(c, 0, dtype, t->rank, dims);
  bool open = n_axes < 1 || n_axes > t->rank; /* an empty list means all axes or none */
  return kind_put(c, 0, dtype, open ? -1 : t->rank - (int32_t)n_axes, dims);
}

static situ_status infer_arg(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  if (kind_rank(t) < 0) return kind_put(c, 0, SITU_DTYPE_I64, -1, NULL);
  int32_t axis;
  bool flags[OPS_MAX_RANK] = {false};
  TRY(kind_axis_attr(c, 0, t->rank, &axis));
  flags[axis] = true;
  return put_reduced(c, SITU_DTYPE_I64, t, flags, ops_attr_int(c->node, "keepdims", 1) != 0);
}

/* ---- Choosing ---- */

static situ_status infer_topk(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  int64_t k = ops_attr_int(c->node, "k", -1), dims[OPS_MAX_RANK];
  TRY(kind_need_type(c, "k", OPS_INT));
  if (k < 0 && !kind_scalar_int(kind_in(c->node, 1), &k))
    k = -1;
  else if (k < 0)
    return kind_fail(c, "k is %lld", (long long)k);
  if (kind_rank(t) < 0) {
    TRY(kind_put(c, 0, dtype, -1, NULL));
    return kind_put(c, 1, SITU_DTYPE_I64, -1, NULL);
  }
  int32_t axis;
  TRY(kind_axis_attr(c, -1, t->rank, &axis));
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  if (k >= 0 && dims[axis] >= 0 && k > dims[axis])
    return kind_fail(c, "the best %lld of %lld", (long long)k, (long long)dims[axis]);
  dims[axis] = k;
  TRY(kind_put(c, 0, dtype, t->rank, dims));
  return kind_put(c, 1, SITU_DTYPE_I64, t->rank, dims);
}

/* Comparisons of a selection with a heap of k along each line: log2(k) + 1 for each input element. */
static void count_topk(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t k = ops_attr_int(node, "k", -1), each = 1;
  if (k < 0 && !kind_scalar_int(kind_in(node, 1), &k)) work->exact = false;
  for (; k > 1; k /= 2) each++;
  work->flops = sat_mul(each, kind_in_elements(node, 0, work));
}

static situ_status infer_cumulate(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t axis;
  int32_t found;
  if (kind_rank(t) >= 0 && kind_scalar_int(kind_in(c->node, 1), &axis)) TRY(kind_axis(c, axis, t->rank, &found));
  return kind_infer_same(c);
}

static situ_status infer_unique(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t dims[OPS_MAX_RANK];
  int32_t axis, rank = kind_rank(t);
  for (int32_t i = 1; i < 4; i++) TRY(kind_put_1d(c, i, SITU_DTYPE_I64, -1));
  if (!ops_find_attr(c->node, "axis")) return kind_put_1d(c, 0, kind_in_dtype(c->node, 0), -1);
  if (rank < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  TRY(kind_axis_attr(c, 0, rank, &axis));
  memcpy(dims, t->dims, (size_t)rank * sizeof *dims);
  dims[axis] = -1;
  return kind_put(c, 0, kind_in_dtype(c->node, 0), rank, dims);
}

/* Indices of elements that are not 0: one column each. */
static situ_status infer_non_zero(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t dims[2] = {kind_rank(t), -1}, small = kind_small(t), n_found = 0, n;
  const int64_t *whole = kind_ints(t, &n);
  bool known = small >= 0 && t->rank > 0 && (whole || t->reals);
  if (!known) return kind_put(c, 0, SITU_DTYPE_I64, 2, dims);
  for (int64_t k = 0; k < small; k++) n_found += whole ? whole[k] != 0 : t->reals[k] != 0;
  dims[1] = n_found;
  TRY(kind_put(c, 0, SITU_DTYPE_I64, 2, dims));
  int64_t *ints;
  double *reals;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  for (int64_t k = 0, column = 0; n > 0 && k < small; k++) {
    if (whole ? whole[k] == 0 : t->reals[k] == 0) continue;
    int64_t rest = k;
    for (int32_t d = t->rank - 1; d >= 0; rest /= t->dims[d--]) ints[d * n_found + column] = rest % t->dims[d];
    column++;
  }
  return SITU_STATUS_OK;
}

#define REDUCE(domain, name, tag, cost) \
  { domain, name, infer_reduce, kind_count_inputs, cost, tag, 0 }

static const ops_kind rows[] = {
    REDUCE(KIND_ONNX, "ReduceSum", SUM, 1),
    REDUCE(KIND_ONNX, "ReduceMean", MEAN, 1),
    REDUCE(KIND_ONNX, "ReduceMax", MAX, 1),
    REDUCE(KIND_ONNX, "ReduceMin", MIN, 1),
    REDUCE(KIND_ONNX, "ReduceProd", PROD, 1),
    REDUCE(KIND_ONNX, "ReduceL1", OTHER, 2),
    REDUCE(KIND_ONNX, "ReduceL2", OTHER, 2),
    REDUCE(KIND_ONNX, "ReduceSumSquare", OTHER, 2),
    REDUCE(KIND_ONNX, "ReduceLogSum", OTHER, 1),
    REDUCE(KIND_ONNX, "ReduceLogSumExp", OTHER, 5),
    REDUCE(KIND_MS, "ReduceSumTraining", SUM, 1),
    REDUCE(KIND_MS, "ReduceSumInteger", OTHER, 1),
    {KIND_ONNX, "ArgMax", infer_arg, kind_count_inputs, 1, 0, 0},
    {KIND_ONNX, "ArgMin", infer_arg, kind_count_inputs, 1, 0, 0},
    {KIND_ONNX, "TopK", infer_topk, count_topk, 0, 0, 0},
    {KIND_ONNX, "CumSum", infer_cumulate, NULL, 1, 0, 0},
    {KIND_ONNX, "CumProd", infer_cumulate, NULL, 1, 0, 0},
    {KIND_ONNX, "Unique", infer_unique, kind_count_inputs, 1, 0, 0},
    {KIND_ONNX, "NonZero", infer_non_zero, kind_count_inputs, 1, 0, 0},
};

const ops_family ops_family_reduce = {rows, sizeof rows / sizeof rows[0]};
