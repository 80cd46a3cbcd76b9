/* Sequences, optionals and strings. Values that are not tensors are marked absent; their bytes are not counted. */
#include <string.h>

#include "ops/kind.h"

static situ_status infer_length(const kind_call *c) { return kind_put_scalar(c, 0, SITU_DTYPE_I64); }

static situ_status infer_has_element(const kind_call *c) { return kind_put_scalar(c, 0, SITU_DTYPE_BOOL); }

/* An optional of a tensor is taken for the tensor itself. */
static situ_status infer_get_element(const kind_call *c) { return kind_infer_same(c); }

static situ_status infer_words(const kind_call *c) {
  int64_t dims[OPS_MAX_RANK];
  const ops_tensor *t = kind_in(c->node, 0);
  if (kind_rank(t) < 1) return kind_put(c, 0, SITU_DTYPE_STRING, -1, NULL);
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  dims[t->rank - 1] = -1; /* words that are left out */
  return kind_put(c, 0, SITU_DTYPE_STRING, t->rank, dims);
}

static situ_status infer_split_words(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t dims[OPS_MAX_RANK + 1];
  TRY(kind_put_like(c, 1, SITU_DTYPE_I64, t));
  if (kind_rank(t) < 0) return kind_put(c, 0, SITU_DTYPE_STRING, -1, NULL);
  for (int32_t d = 0; d < t->rank; d++) dims[d] = t->dims[d];
  dims[t->rank] = -1;
  return kind_put(c, 0, SITU_DTYPE_STRING, t->rank + 1, dims);
}

/* Counts of n-grams: [C] or [N, C] words to [n] or [N, n], n the largest of the indices, plus 1. */
static situ_status infer_tf_idf(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t n, width = 0, dims[2];
  const int64_t *indexes = ops_attr_ints(c->node, "ngram_indexes", &n);
  for (int64_t k = 0; k < n; k++) width = max64(width, sat_add(indexes[k], 1));
  if (kind_rank(t) > 2) return kind_fail(c, "an input of rank %d", (int)t->rank);
  if (!indexes || kind_rank(t) < 1) return kind_put(c, 0, SITU_DTYPE_F32, -1, NULL);
  dims[0] = kind_dim(t, 0);
  dims[t->rank - 1] = width;
  return kind_put(c, 0, SITU_DTYPE_F32, t->rank, dims);
}

#define NO_TENSOR(name, infer) \
  { KIND_ONNX, name, infer, kind_count_move, 0, 0, KIND_NOT_TENSORS }

static const ops_kind rows[] = {
    NO_TENSOR("SequenceEmpty", kind_infer_absent),
    NO_TENSOR("SequenceConstruct", kind_infer_absent),
    NO_TENSOR("SequenceInsert", kind_infer_absent),
    NO_TENSOR("SequenceErase", kind_infer_absent),
    NO_TENSOR("SequenceMap", kind_infer_absent),
    NO_TENSOR("SequenceAt", NULL),
    NO_TENSOR("SequenceLength", infer_length),
    NO_TENSOR("SplitToSequence", kind_infer_absent),
    NO_TENSOR("ConcatFromSequence", NULL),
    NO_TENSOR("Optional", kind_infer_absent),
    NO_TENSOR("OptionalGetElement", infer_get_element),
    NO_TENSOR("OptionalHasElement", infer_has_element),
    NO_TENSOR("StringNormalizer", infer_words),
    NO_TENSOR("StringSplit", infer_split_words),
    NO_TENSOR("StringConcat", kind_infer_broadcast),
    NO_TENSOR("RegexFullMatch", kind_infer_bool),
    NO_TENSOR("TfIdfVectorizer", infer_tf_idf),
};

const ops_family ops_family_sequence = {rows, sizeof rows / sizeof rows[0]};
