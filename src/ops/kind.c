#include "ops/kind.h"

#include <string.h>

#include "base/format.h"

const ops_tensor *kind_in(const ops_node *node, int32_t i) {
  return i >= 0 && i < node->n_inputs && node->inputs[i] && !node->inputs[i]->absent ? node->inputs[i] : NULL;
}

situ_dtype kind_in_dtype(const ops_node *node, int32_t i) {
  const ops_tensor *t = kind_in(node, i);
  return t ? t->dtype : SITU_DTYPE_UNKNOWN;
}

int32_t kind_rank(const ops_tensor *t) { return t && t->rank >= 0 && (t->rank == 0 || t->dims) ? t->rank : -1; }

int64_t kind_dim(const ops_tensor *t, int32_t axis) {
  int32_t rank = kind_rank(t);
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank && t->dims[axis] >= 0 ? t->dims[axis] : -1;
}

int64_t kind_volume(int32_t rank, const int64_t *dims) {
  int64_t n = rank < 0 ? -1 : 1;
  for (int32_t d = 0; d < rank; d++) {
    if (dims[d] < 0) return -1;
    n = sat_mul(n, dims[d]);
  }
  return n;
}

int64_t kind_small(const ops_tensor *t) {
  int64_t n = t ? kind_volume(kind_rank(t), t->dims) : -1;
  return n <= OPS_MAX_VALUES ? n : -1;
}

const int64_t *kind_ints(const ops_tensor *t, int64_t *n) {
  *n = 0;
  int64_t count = kind_small(t);
  if (count < 0 || !t->ints) return NULL;
  for (int64_t k = 0; k < count; k++)
    if (t->ints[k] == OPS_UNKNOWN_INT) return NULL;
  *n = count;
  return t->ints;
}

bool kind_scalar_int(const ops_tensor *t, int64_t *value) {
  int64_t n;
  const int64_t *ints = kind_ints(t, &n);
  if (!ints || n != 1) return false;
  *value = ints[0];
  return true;
}

bool kind_scalar_real(const ops_tensor *t, double *value) {
  int64_t whole;
  if (kind_scalar_int(t, &whole)) {
    *value = (double)whole;
    return true;
  }
  if (kind_small(t) != 1 || !t->reals) return false;
  *value = t->reals[0];
  return true;
}

const int64_t *kind_list(const ops_node *node, const char *attr, int32_t input, int64_t *n, bool *present) {
  const int64_t *list = ops_attr_ints(node, attr, n);
  if (list) {
    *present = true;
    return list;
  }
  const ops_tensor *t = kind_in(node, input);
  *present = t != NULL;
  return kind_ints(t, n);
}

/* Operator sets before 6 name the type in words. */
situ_dtype kind_dtype_attr(const ops_node *node, const char *name, situ_dtype default_value) {
  static const char *const words[] = {"UNDEFINED", "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
                                      "INT64",     "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
  const ops_attr *attr = ops_find_attr(node, name);
  if (attr && attr->type == OPS_INT) return attr->i == 0 ? default_value : ops_onnx_dtype(attr->i);
  if (attr && attr->type == OPS_STRING && attr->s)
    for (int i = 1; i < (int)(sizeof words / sizeof words[0]); i++)
      if (strcmp(words[i], attr->s) == 0) return ops_onnx_dtype(i);
  return default_value;
}

bool kind_is_real(situ_dtype dtype) { return dtype >= SITU_DTYPE_F64 && dtype <= SITU_DTYPE_F8; }

static bool is_whole(situ_dtype dtype) { return dtype >= SITU_DTYPE_I64 && dtype <= SITU_DTYPE_BOOL; }

situ_status kind_fail(const kind_call *c, const char *format, ...) {
  char text[400];
  FORMAT_INTO(text, format);
  return fail_with(c->error, SITU_STATUS_BAD_INPUT, NULL, "%.80s: %s", c->node->kind ? c->node->kind : "?", text);
}

situ_status kind_need_type(const kind_call *c, const char *name, ops_attr_type type) {
  static const char *const words[] = {"an integer", "a float", "a string", "integers", "floats", "strings", "a tensor"};
  const ops_attr *attr = ops_find_attr(c->node, name);
  if (!attr || attr->type == type) return SITU_STATUS_OK;
  return kind_fail(c, "attribute %s should be %s", name, words[type]);
}

situ_status kind_need_ints(const kind_call *c, const char *name, int64_t n, const int64_t **values) {
  int64_t found;
  TRY(kind_need_type(c, name, OPS_INTS));
  *values = ops_attr_ints(c->node, name, &found);
  if (*values && n >= 0 && found != n)
    return kind_fail(c, "attribute %s has %lld values where %lld are expected", name, (long long)found, (long long)n);
  return SITU_STATUS_OK;
}

situ_status kind_axis(const kind_call *c, int64_t axis, int32_t rank, int32_t *out) {
  if (axis < -(int64_t)rank || axis >= rank)
    return kind_fail(c, "axis %lld is outside of a tensor of rank %d", (long long)axis, (int)rank);
  *out = (int32_t)(axis < 0 ? axis + rank : axis);
  return SITU_STATUS_OK;
}

situ_status kind_axis_attr(const kind_call *c, int64_t default_value, int32_t rank, int32_t *out) {
  TRY(kind_need_type(c, "axis", OPS_INT));
  return kind_axis(c, ops_attr_int(c->node, "axis", default_value), rank, out);
}

situ_status kind_axes(const kind_call *c, const int64_t *axes, int64_t n, int32_t rank, bool *flags) {
  memset(flags, 0, (size_t)rank * sizeof *flags);
  for (int64_t k = 0; k < n; k++) {
    int32_t axis = 0;
    TRY(kind_axis(c, axes[k], rank, &axis));
    if (flags[axis]) return kind_fail(c, "axis %lld is named twice", (long long)axes[k]);
    flags[axis] = true;
  }
  return SITU_STATUS_OK;
}

situ_status kind_need_rank(const kind_call *c, int32_t input, int32_t rank) {
  int32_t found = kind_rank(kind_in(c->node, input));
  if (found < 0 || found == rank) return SITU_STATUS_OK;
  return kind_fail(c, "input %d has rank %d where %d is expected", (int)input, (int)found, (int)rank);
}

situ_status kind_same(const kind_call *c, int64_t x, int64_t y, const char *what, int64_t *both) {
  if (x >= 0 && y >= 0 && x != y) return kind_fail(c, "%s %lld and %lld differ", what, (long long)x, (long long)y);
  if (both) *both = x >= 0 ? x : y;
  return SITU_STATUS_OK;
}

situ_status kind_put(const kind_call *c, int32_t i, situ_dtype dtype, int32_t rank, const int64_t *dims) {
  if (i < 0 || i >= c->node->n_outputs || c->node->outputs[i].absent) return SITU_STATUS_OK;
  ops_tensor *out = &c->node->outputs[i];
  if (dtype != SITU_DTYPE_UNKNOWN) out->dtype = dtype;
  if (rank < 0) return SITU_STATUS_OK;
  if (rank > OPS_MAX_RANK)
    return kind_fail(c, "output %d has %d dimensions, at most %d are allowed", (int)i, (int)rank, OPS_MAX_RANK);
  int64_t *copy = ARENA_NEW(c->a, int64_t, rank);
  if (!copy) return fail_no_memory(c->error);
  for (int32_t d = 0; d < rank; d++) {
    if (dims[d] == INT64_MAX) return kind_fail(c, "dimension %d of output %d is too large", (int)d, (int)i);
    copy[d] = dims[d] >= 0 ? dims[d] : out->rank == rank ? out->dims[d] : -1;
  }
  out->rank = rank;
  out->dims = copy;
  return SITU_STATUS_OK;
}

situ_status kind_put_like(const kind_call *c, int32_t i, situ_dtype dtype, const ops_tensor *shape) {
  return kind_put(c, i, dtype, kind_rank(shape), shape ? shape->dims : NULL);
}

situ_status kind_put_scalar(const kind_call *c, int32_t i, situ_dtype dtype) { return kind_put(c, i, dtype, 0, NULL); }

situ_status kind_put_1d(const kind_call *c, int32_t i, situ_dtype dtype, int64_t n) {
  return kind_put(c, i, dtype, 1, &n);
}

static void kind_put_absent(const kind_call *c, int32_t i) {
  if (i >= 0 && i < c->node->n_outputs) c->node->outputs[i].absent = true;
}

situ_status kind_values(const kind_call *c, int32_t i, int64_t **ints, double **reals, int64_t *n) {
  *ints = NULL, *reals = NULL, *n = 0;
  if (i < 0 || i >= c->node->n_outputs || c->node->outputs[i].absent) return SITU_STATUS_OK;
  ops_tensor *out = &c->node->outputs[i];
  int64_t count = kind_small(out);
  if (count < 0 || (!kind_is_real(out->dtype) && !is_whole(out->dtype))) return SITU_STATUS_OK;
  if (kind_is_real(out->dtype))
    out->reals = *reals = ARENA_NEW(c->a, double, count);
  else
    out->ints = *ints = ARENA_NEW(c->a, int64_t, count);
  if (!*ints && !*reals) return fail_no_memory(c->error);
  *n = count;
  return SITU_STATUS_OK;
}

/* Whether the values of t can go to output i without conversion. */
static bool can_move(const kind_call *c, int32_t i, const ops_tensor *t) {
  if (i < 0 || i >= c->node->n_outputs || kind_small(t) < 0) return false;
  situ_dtype dtype = c->node->outputs[i].dtype;
  return (t->ints && is_whole(dtype)) || (t->reals && kind_is_real(dtype));
}

situ_status kind_keep_values(const kind_call *c, int32_t i, const ops_tensor *t) {
  if (!can_move(c, i, t) || kind_small(&c->node->outputs[i]) != kind_small(t)) return SITU_STATUS_OK;
  c->node->outputs[i].ints = t->ints;
  c->node->outputs[i].reals = t->reals;
  return SITU_STATUS_OK;
}

situ_status kind_pick_values(const kind_call *c, int32_t i, const ops_tensor *t, const int64_t *source) {
  if (!can_move(c, i, t)) return SITU_STATUS_OK;
  int64_t *ints, n, limit = kind_small(t);
  double *reals;
  TRY(kind_values(c, i, &ints, &reals, &n));
  for (int64_t k = 0; k < n; k++) {
    bool inside = source[k] >= 0 && source[k] < limit;
    if (ints) ints[k] = inside ? t->ints[source[k]] : 0;
    if (reals) reals[k] = inside ? t->reals[source[k]] : 0;
  }
  return SITU_STATUS_OK;
}

situ_status kind_stride_values(const kind_call *c, int32_t i, const ops_tensor *t, int64_t offset,
                               const int64_t *strides) {
  if (!can_move(c, i, t)) return SITU_STATUS_OK;
  const ops_tensor *out = &c->node->outputs[i];
  int64_t source[OPS_MAX_VALUES], n = kind_small(out);
  for (int64_t k = 0; k < n; k++) {
    source[k] = offset;
    int64_t rest = k;
    for (int32_t d = out->rank - 1; d >= 0; rest /= out->dims[d--]) source[k] += rest % out->dims[d] * strides[d];
  }
  return kind_pick_values(c, i, t, source);
}

void kind_strides(int32_t rank, const int64_t *dims, int64_t *strides) {
  int64_t step = 1;
  for (int32_t d = rank - 1; d >= 0; d--) {
    strides[d] = step;
    step = sat_mul(step, dims[d]);
  }
}

situ_status kind_broadcast(const kind_call *c, const ops_tensor *const *tensors, int32_t n, int64_t *dims,
                           int32_t *rank) {
  *rank = 0;
  for (int32_t i = 0; i < n; i++) {
    if (!tensors[i] || tensors[i]->absent) continue;
    if (kind_rank(tensors[i]) < 0) {
      *rank = -1;
      return SITU_STATUS_OK;
    }
    if (tensors[i]->rank > *rank) *rank = tensors[i]->rank;
  }
  for (int32_t d = 0; d < *rank; d++) dims[d] = 1;
  for (int32_t i = 0; i < n; i++) {
    const ops_tensor *t = tensors[i];
    if (!t || t->absent) continue;
    int64_t *at = dims + (*rank - t->rank);
    for (int32_t d = 0; d < t->rank; d++) {
      int64_t x = at[d], y = t->dims[d];
      if (x == y || y == 1) continue;
      if (x > 1 && y >= 0) /* 0 and -1 give way to nothing but 1 */
        return kind_fail(c, "dimensions %lld and %lld cannot be broadcast", (long long)x, (long long)y);
      if (x == 0 && y > 1) return kind_fail(c, "dimensions 0 and %lld cannot be broadcast", (long long)y);
      if (x == 1 || (x == -1 && y >= 0)) at[d] = y;
    }
  }
  return SITU_STATUS_OK;
}

/* ---- Rules that many kinds share ---- */

situ_status kind_infer_same(const kind_call *c) {
  return kind_put_like(c, 0, kind_in_dtype(c->node, 0), kind_in(c->node, 0));
}

situ_status kind_infer_each_same(const kind_call *c) {
  for (int32_t i = 0; i < c->node->n_outputs; i++) {
    TRY(kind_put_like(c, i, kind_in_dtype(c->node, i), kind_in(c->node, i)));
    TRY(kind_keep_values(c, i, kind_in(c->node, i)));
  }
  return SITU_STATUS_OK;
}

situ_status kind_infer_bool(const kind_call *c) { return kind_put_like(c, 0, SITU_DTYPE_BOOL, kind_in(c->node, 0)); }

situ_status kind_infer_float(const kind_call *c) { return kind_put_like(c, 0, SITU_DTYPE_F32, kind_in(c->node, 0)); }

situ_status kind_infer_scale(const kind_call *c) {
  return kind_put_like(c, 0, kind_in_dtype(c->node, 1), kind_in(c->node, 0));
}

situ_status kind_infer_broadcast(const kind_call *c) {
  int64_t dims[OPS_MAX_RANK];
  int32_t rank;
  TRY(kind_broadcast(c, c->node->inputs, c->node->n_inputs, dims, &rank));
  return kind_put(c, 0, kind_in_dtype(c->node, 0), rank, dims);
}

situ_status kind_infer_absent(const kind_call *c) {
  for (int32_t i = 0; i < c->node->n_outputs; i++) kind_put_absent(c, i);
  return SITU_STATUS_OK;
}

int64_t kind_in_elements(const ops_node *node, int32_t i, ops_work *work) {
  const ops_tensor *t = kind_in(node, i);
  return t ? ops_elements(t, &work->exact) : 0;
}

int64_t kind_out_elements(const ops_node *node, ops_work *work) {
  return node->n_outputs > 0 && !node->outputs[0].absent ? ops_elements(&node->outputs[0], &work->exact) : 0;
}

int64_t kind_count_dim(const ops_tensor *t, int32_t axis, ops_work *work) {
  int64_t dim = kind_dim(t, axis);
  if (dim < 0) work->exact = false;
  return dim < 0 ? 1 : dim;
}

void kind_count_each(const ops_node *node, const ops_kind *row, ops_work *work) {
  work->flops = sat_mul(row->cost, kind_out_elements(node, work));
}

void kind_count_inputs(const ops_node *node, const ops_kind *row, ops_work *work) {
  work->flops = sat_mul(row->cost, kind_in_elements(node, 0, work));
}

void kind_count_nary(const ops_node *node, const ops_kind *row, ops_work *work) {
  work->flops = sat_mul(max64(node->n_inputs - 1, 0) * row->cost, kind_out_elements(node, work));
}

void kind_count_view(const ops_node *node, const ops_kind *row, ops_work *work) {
  work->flops = work->read_bytes = work->written_bytes = 0;
  work->exact = true;
}

void kind_count_move(const ops_node *node, const ops_kind *row, ops_work *work) { work->flops = 0; }

void kind_count_part(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t rest = 0;
  bool ignored = true;
  for (int32_t i = 1; i < node->n_inputs; i++)
    if (kind_in(node, i)) rest = sat_add(rest, ops_bytes(node->inputs[i], &ignored));
  work->flops = 0;
  work->read_bytes = sat_add(work->written_bytes, rest);
}
