/* ai.onnx.ml: trees, linear models and what prepares their features. */
#include <string.h>

#include "ops/kind.h"

static int64_t strings_of(const ops_node *node, const char *name) {
  const ops_attr *attr = ops_find_attr(node, name);
  return attr && (attr->type == OPS_STRINGS || attr->type == OPS_INTS || attr->type == OPS_FLOATS) ? attr->n : 0;
}

static int64_t rows_of(const ops_node *node) {
  const ops_tensor *t = kind_in(node, 0);
  return kind_rank(t) == 1 ? 1 : kind_dim(t, 0);
}

/* Labels [N], as strings or integers by the attribute that is there, and scores [N, classes]. */
static situ_status infer_classifier(const kind_call *c) {
  int64_t words = strings_of(c->node, "classlabels_strings");
  int64_t numbers = strings_of(c->node, "classlabels_int64s") + strings_of(c->node, "classlabels_ints");
  int64_t n = words > 0 ? words : numbers, scores[2] = {rows_of(c->node), n > 0 ? n : -1};
  TRY(kind_put_1d(c, 0, words > 0 ? SITU_DTYPE_STRING : SITU_DTYPE_I64, scores[0]));
  return kind_put(c, 1, SITU_DTYPE_F32, 2, scores);
}

static situ_status infer_regressor(const kind_call *c) {
  int64_t targets = ops_attr_int(c->node, c->row->tag ? "targets" : "n_targets", 1);
  int64_t dims[2] = {rows_of(c->node), targets};
  if (targets < 1) return kind_fail(c, "%lld targets", (long long)targets);
  return kind_put(c, 0, SITU_DTYPE_F32, 2, dims);
}

/* All features side by side. */
static situ_status infer_vectorizer(const kind_call *c) {
  int64_t dims[2] = {rows_of(c->node), 0}, n;
  const int64_t *sizes = ops_attr_ints(c->node, "inputdimensions", &n);
  for (int32_t i = 0; i < c->node->n_inputs; i++) {
    const ops_tensor *t = kind_in(c->node, i);
    int64_t width = kind_rank(t) == 1 ? t->dims[0] : kind_rank(t) == 2 ? kind_dim(t, 1) : -1;
    if (width < 0 && sizes && i < n && sizes[i] >= 0) width = sizes[i];
    dims[1] = width < 0 || dims[1] < 0 ? -1 : sat_add(dims[1], width);
  }
  return kind_put(c, 0, SITU_DTYPE_F32, 2, dims);
}

static situ_status infer_one_hot(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t n = max64(strings_of(c->node, "cats_int64s"), strings_of(c->node, "cats_strings")), dims[OPS_MAX_RANK + 1];
  if (kind_rank(t) < 0) return kind_put(c, 0, SITU_DTYPE_F32, -1, NULL);
  memcpy(dims, t->dims ? t->dims : dims, (size_t)t->rank * sizeof *dims);
  dims[t->rank] = n > 0 ? n : -1;
  return kind_put(c, 0, SITU_DTYPE_F32, t->rank + 1, dims);
}

/* The last axis at the indices of input 1. */
static situ_status infer_extract(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *index = kind_in(c->node, 1);
  int64_t dims[OPS_MAX_RANK], n = index ? kind_volume(kind_rank(index), index->dims) : -1;
  if (kind_rank(t) < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  if (t->rank == 0) return kind_fail(c, "a scalar has no features");
  if (t->rank == 1) {
    int64_t row[2] = {1, n};
    return kind_put(c, 0, kind_in_dtype(c->node, 0), 2, row);
  }
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  dims[t->rank - 1] = n;
  return kind_put(c, 0, kind_in_dtype(c->node, 0), t->rank, dims);
}

/* Words to numbers or back: the type of the values, by their attribute. */
static situ_status infer_label(const kind_call *c) {
  static const struct {
    const char *name;
    situ_dtype dtype;
  } made[] = {
      {"values_strings", SITU_DTYPE_STRING}, {"values_int64s", SITU_DTYPE_I64}, {"values_floats", SITU_DTYPE_F32}};
  situ_dtype from = kind_in_dtype(c->node, 0), to = SITU_DTYPE_UNKNOWN;
  const ops_attr *tensor = ops_find_attr(c->node, "values_tensor");
  if (tensor && tensor->tensor) to = tensor->tensor->dtype;
  for (int i = 0; i < 3; i++)
    if (ops_find_attr(c->node, made[i].name)) to = made[i].dtype;
  /* CategoryMapper, and LabelEncoder in its first version, turn strings into integers and integers into strings. */
  if (to == SITU_DTYPE_UNKNOWN && from == SITU_DTYPE_STRING)
    to = SITU_DTYPE_I64;
  else if (to == SITU_DTYPE_UNKNOWN && from == SITU_DTYPE_I64)
    to = SITU_DTYPE_STRING;
  return kind_put_like(c, 0, to, kind_in(c->node, 0));
}

/* A tree has one comparison a level: its nodes over its trees, as a depth by log2. */
static void count_trees(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t n_nodes = strings_of(node, "nodes_treeids"), n_trees = 0, depth = 1, n, rows = rows_of(node);
  const int64_t *ids = ops_attr_ints(node, "nodes_treeids", &n);
  for (int64_t k = 0; k < n; k++) n_trees += k == 0 || ids[k] != ids[k - 1];
  for (int64_t k = n_nodes / max64(n_trees, 1); k > 1; k /= 2) depth++;
  if (rows < 0) work->exact = false;
  work->flops = kind_mul3(2, max64(rows, 1), sat_mul(n_trees, depth));
}

static void count_linear(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t rows = rows_of(node);
  if (rows < 0) work->exact = false;
  work->flops = kind_mul3(2, max64(rows, 1), strings_of(node, "coefficients"));
}

static const ops_kind rows[] = {
    {KIND_ML, "TreeEnsembleClassifier", infer_classifier, count_trees, 0, 0, 0},
    {KIND_ML, "TreeEnsembleRegressor", infer_regressor, count_trees, 0, 0, 0},
    {KIND_ML, "LinearClassifier", infer_classifier, count_linear, 0, 0, 0},
    {KIND_ML, "LinearRegressor", infer_regressor, count_linear, 0, 1, 0},
    {KIND_ML, "SVMClassifier", infer_classifier, count_linear, 0, 0, 0},
    {KIND_ML, "SVMRegressor", infer_regressor, count_linear, 0, 0, 0},
    {KIND_ML, "FeatureVectorizer", infer_vectorizer, kind_count_move, 0, 0, 0},
    {KIND_ML, "OneHotEncoder", infer_one_hot, kind_count_move, 0, 0, 0},
    {KIND_ML, "ArrayFeatureExtractor", infer_extract, kind_count_part, 0, 0, 0},
    {KIND_ML, "Imputer", kind_infer_same, NULL, 1, 0, 0},
    {KIND_ML, "Scaler", kind_infer_float, NULL, 2, 0, 0},
    {KIND_ML, "Normalizer", kind_infer_float, NULL, 3, 0, 0},
    {KIND_ML, "Binarizer", kind_infer_same, NULL, 1, 0, 0},
    {KIND_ML, "LabelEncoder", infer_label, NULL, 1, 0, 0},
    {KIND_ML, "CategoryMapper", infer_label, NULL, 1, 0, 0},
    {KIND_ML, "CastMap", NULL, kind_count_move, 0, 0, KIND_NOT_TENSORS},
    {KIND_ML, "DictVectorizer", NULL, kind_count_move, 0, 0, KIND_NOT_TENSORS},
    {KIND_ML, "ZipMap", kind_infer_absent, kind_count_move, 0, 0, KIND_NOT_TENSORS},
};

const ops_family ops_family_ml = {rows, sizeof rows / sizeof rows[0]};
