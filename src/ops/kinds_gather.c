/* Elements picked and put by indices. Gathering reads the rows that it picks, not the table; scattering writes a copy
 * of the data with the updates in it. */
#include <string.h>

#include "ops/kind.h"

static situ_status gather_values(const kind_call *c, const ops_tensor *t, const ops_tensor *index, int32_t axis) {
  int64_t n_index, source[OPS_MAX_VALUES], rows = t->dims[axis], run = 1;
  const int64_t *at = kind_ints(index, &n_index);
  const ops_tensor *out = &c->node->outputs[0];
  int64_t n = kind_small(out);
  if (!at || kind_small(t) < 0 || n < 0) return SITU_STATUS_OK;
  for (int32_t d = axis + 1; d < t->rank; d++) run *= t->dims[d];
  for (int64_t k = 0; k < n; k++) {
    int64_t inner = k % run, row = at[k / run % n_index], outer = k / run / n_index;
    if (row < 0) row += rows;
    if (row < 0 || row >= rows)
      return kind_fail(c, "index %lld of %lld", (long long)at[k / run % n_index], (long long)rows);
    source[k] = (outer * rows + row) * run + inner;
  }
  return kind_pick_values(c, 0, t, source);
}

static situ_status infer_gather(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *index = kind_in(c->node, 1);
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  int64_t dims[2 * OPS_MAX_RANK];
  int32_t axis, rank = 0;
  if (kind_rank(t) < 0) return kind_put(c, 0, dtype, -1, NULL);
  if (t->rank < 1) return kind_fail(c, "a scalar has no rows");
  TRY(kind_axis_attr(c, 0, t->rank, &axis));
  if (kind_rank(index) < 0) return kind_put(c, 0, dtype, -1, NULL);
  for (int32_t d = 0; d < axis; d++) dims[rank++] = t->dims[d];
  for (int32_t d = 0; d < index->rank; d++) dims[rank++] = index->dims[d];
  for (int32_t d = axis + 1; d < t->rank; d++) dims[rank++] = t->dims[d];
  TRY(kind_put(c, 0, dtype, rank, dims));
  if (c->node->n_outputs < 1) return SITU_STATUS_OK;
  return gather_values(c, t, index, axis);
}

/* The shape of the indices; data and indices have one rank. */
static situ_status infer_gather_elements(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *index = kind_in(c->node, 1);
  int32_t axis;
  if (kind_rank(t) >= 0 && kind_rank(index) >= 0) TRY(kind_need_rank(c, 1, t->rank));
  if (kind_rank(t) >= 0) TRY(kind_axis_attr(c, 0, t->rank, &axis));
  return kind_put_like(c, 0, kind_in_dtype(c->node, 0), index);
}

static situ_status infer_gather_nd(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *index = kind_in(c->node, 1);
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  int64_t batch = ops_attr_int(c->node, "batch_dims", 0), dims[2 * OPS_MAX_RANK], depth = kind_dim(index, -1);
  if (kind_rank(t) < 0 || kind_rank(index) < 0) return kind_put(c, 0, dtype, -1, NULL);
  if (t->rank < 1 || index->rank < 1) return kind_fail(c, "a scalar among data and indices");
  if (batch < 0 || batch >= index->rank || batch >= t->rank)
    return kind_fail(c, "batch_dims is %lld", (long long)batch);
  if (depth < 0) return kind_put(c, 0, dtype, -1, NULL);
  if (depth > t->rank - batch)
    return kind_fail(c, "indices of depth %lld in a tensor of rank %d", (long long)depth, (int)t->rank);
  int32_t rank = 0;
  for (int32_t d = 0; d < index->rank - 1; d++) dims[rank++] = index->dims[d];
  for (int32_t d = (int32_t)(depth + batch); d < t->rank; d++) dims[rank++] = t->dims[d];
  return kind_put(c, 0, dtype, rank, dims);
}

static situ_status infer_scatter(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *index = kind_in(c->node, 1), *update = kind_in(c->node, 2);
  int32_t axis;
  if (kind_rank(t) >= 0) TRY(kind_axis_attr(c, 0, t->rank, &axis));
  if (kind_rank(t) >= 0) TRY(kind_need_rank(c, 1, t->rank));
  if (kind_rank(index) >= 0) TRY(kind_need_rank(c, 2, index->rank));
  for (int32_t d = 0; d < kind_rank(index); d++)
    TRY(kind_same(c, kind_dim(index, d), kind_dim(update, d), "dimensions of indices and updates", NULL));
  return kind_infer_same(c);
}

/* Small data: runs of the update replace runs of the data. Sums and other reductions are not tracked. */
static situ_status scatter_values(const kind_call *c, const ops_tensor *t, const ops_tensor *index,
                                  const ops_tensor *update) {
  int64_t n_index, own[OPS_MAX_RANK], depth = index->dims[index->rank - 1], n, *ints, run = 1;
  double *reals;
  const int64_t *at = kind_ints(index, &n_index);
  if (!at || depth < 1 || kind_small(t) < 0 || kind_small(update) < 0) return SITU_STATUS_OK;
  if (!((t->ints && update->ints) || (t->reals && update->reals))) return SITU_STATUS_OK;
  if (strcmp(ops_attr_string(c->node, "reduction", "none"), "none") != 0) return SITU_STATUS_OK;
  kind_strides(t->rank, t->dims, own);
  for (int32_t d = (int32_t)depth; d < t->rank; d++) run *= t->dims[d];
  if (kind_small(update) != n_index / depth * run) return SITU_STATUS_OK;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  if (ints && t->ints) memcpy(ints, t->ints, (size_t)n * sizeof *ints);
  if (reals && t->reals) memcpy(reals, t->reals, (size_t)n * sizeof *reals);
  for (int64_t k = 0; n > 0 && k < n_index / depth; k++) {
    int64_t to = 0;
    for (int64_t d = 0; d < depth; d++) {
      int64_t row = at[k * depth + d], dim = t->dims[d];
      if (row < -dim || row >= dim) return kind_fail(c, "index %lld of %lld", (long long)row, (long long)dim);
      to += (row < 0 ? row + dim : row) * own[d];
    }
    if (ints && update->ints) memcpy(ints + to, update->ints + k * run, (size_t)run * sizeof *ints);
    if (reals && update->reals) memcpy(reals + to, update->reals + k * run, (size_t)run * sizeof *reals);
  }
  return SITU_STATUS_OK;
}

static situ_status infer_scatter_nd(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *index = kind_in(c->node, 1), *update = kind_in(c->node, 2);
  int32_t rank = kind_rank(t), n = kind_rank(index);
  int64_t depth = kind_dim(index, -1);
  TRY(kind_infer_same(c));
  if (n == 0) return kind_fail(c, "indices are a scalar");
  if (rank < 0 || n < 0 || depth < 0) return SITU_STATUS_OK;
  if (depth > rank) return kind_fail(c, "indices of depth %lld in a tensor of rank %d", (long long)depth, (int)rank);
  TRY(kind_need_rank(c, 2, n - 1 + rank - (int32_t)depth));
  for (int32_t d = 0; d < kind_rank(update); d++) {
    int64_t expected = d < n - 1 ? index->dims[d] : t->dims[depth + d - (n - 1)];
    TRY(kind_same(c, update->dims[d], expected, "dimensions of updates and data", NULL));
  }
  if (c->node->n_outputs < 1 || kind_rank(update) < 0 || c->node->outputs[0].dtype != t->dtype) return SITU_STATUS_OK;
  bool real = kind_is_real(t->dtype);
  return (real ? t->reals != NULL : t->ints != NULL) ? scatter_values(c, t, index, update) : SITU_STATUS_OK;
}

static const ops_kind rows[] = {
    {KIND_ONNX, "Gather", infer_gather, kind_count_part, 0, 0, 0},
    {KIND_ONNX, "GatherElements", infer_gather_elements, kind_count_part, 0, 0, 0},
    {KIND_ONNX, "GatherND", infer_gather_nd, kind_count_part, 0, 0, 0},
    {KIND_MS, "GatherND", infer_gather_nd, kind_count_part, 0, 0, 0},
    {KIND_ONNX, "Scatter", infer_scatter, kind_count_move, 0, 0, 0},
    {KIND_ONNX, "ScatterElements", infer_scatter, kind_count_move, 0, 0, 0},
    {KIND_ONNX, "ScatterND", infer_scatter_nd, kind_count_move, 0, 0, 0},
    {KIND_ONNX, "TensorScatter", kind_infer_same, kind_count_move, 0, 0, 0},
};

const ops_family ops_family_gather = {rows, sizeof rows / sizeof rows[0]};
