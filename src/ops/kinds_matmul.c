/* Products of matrices: 2 M N K FLOPs for each matrix of the batch. */
#include <string.h>

#include "ops/kind.h"

/* Which input holds the second matrix, and what is made; the rest is numpy's matmul. */
enum { PLAIN, INTEGER, QLINEAR, TO_FLOAT, FUSED, WITH_BIAS };

static int32_t second_of(const ops_kind *row) { return row->tag == QLINEAR ? 3 : 1; }

static situ_dtype made_by(const ops_node *node, const ops_kind *row) {
  switch (row->tag) {
    case INTEGER: return SITU_DTYPE_I32;
    case QLINEAR: return kind_in_dtype(node, 7);
    case TO_FLOAT: return SITU_DTYPE_F32;
    default: return kind_in_dtype(node, 0);
  }
}

/* Writes the shape of t with its last two dimensions swapped when asked. */
static ops_tensor swapped(const ops_tensor *t, bool swap, int64_t *room) {
  ops_tensor made = *t;
  if (!swap || t->rank < 2) return made;
  memcpy(room, t->dims, (size_t)t->rank * sizeof *room);
  room[t->rank - 1] = t->dims[t->rank - 2];
  room[t->rank - 2] = t->dims[t->rank - 1];
  made.dims = room;
  return made;
}

static situ_status matmul_shape(const kind_call *c, const ops_tensor *x, const ops_tensor *y, int64_t *dims,
                                int32_t *rank) {
  *rank = -1;
  if (x->rank == 0 || y->rank == 0) return kind_fail(c, "a scalar is no matrix");
  TRY(kind_same(c, kind_dim(x, -1), kind_dim(y, y->rank > 1 ? -2 : 0), "inner dimensions", NULL));
  ops_tensor x_batch = {.rank = x->rank > 2 ? x->rank - 2 : 0, .dims = x->dims};
  ops_tensor y_batch = {.rank = y->rank > 2 ? y->rank - 2 : 0, .dims = y->dims};
  const ops_tensor *both[2] = {&x_batch, &y_batch};
  TRY(kind_broadcast(c, both, 2, dims, rank));
  if (x->rank > 1) dims[(*rank)++] = kind_dim(x, -2);
  if (y->rank > 1) dims[(*rank)++] = kind_dim(y, -1);
  return SITU_STATUS_OK;
}

static situ_status infer_matmul(const kind_call *c) {
  const ops_tensor *x = kind_in(c->node, 0), *y = kind_in(c->node, second_of(c->row));
  situ_dtype dtype = made_by(c->node, c->row);
  if (kind_rank(x) < 0 || kind_rank(y) < 0) return kind_put(c, 0, dtype, -1, NULL);
  bool fused = c->row->tag == FUSED;
  if (fused && (ops_attr_int(c->node, "transBatchA", 0) || ops_attr_int(c->node, "transBatchB", 0)))
    return kind_put(c, 0, dtype, -1, NULL);
  int64_t dims[OPS_MAX_RANK], x_room[OPS_MAX_RANK], y_room[OPS_MAX_RANK];
  int32_t rank;
  ops_tensor left = swapped(x, fused && ops_attr_int(c->node, "transA", 0) != 0, x_room);
  ops_tensor right = swapped(y, fused && ops_attr_int(c->node, "transB", 0) != 0, y_room);
  TRY(matmul_shape(c, &left, &right, dims, &rank));
  return kind_put(c, 0, dtype, rank, dims);
}

static void count_matmul(const ops_node *node, const ops_kind *row, ops_work *work) {
  const ops_tensor *x = kind_in(node, 0);
  bool swap = row->tag == FUSED && ops_attr_int(node, "transA", 0) && kind_rank(x) > 1;
  int64_t made = kind_out_elements(node, work);
  work->flops = kind_mul3(2, made, kind_count_dim(x, swap ? -2 : -1, work));
  if (row->tag == WITH_BIAS) work->flops = sat_add(work->flops, sat_mul(row->cost, made));
}

/* Gemm and its relatives: matrices A (input 0), B and the bias, each where the kind has them. */
typedef struct gemm_places {
  int b, bias, dtype_from;
} gemm_places;

enum { GEMM, QGEMM };

static gemm_places places_of(const ops_kind *row) {
  return row->tag == QGEMM ? (gemm_places){3, 6, 8} : (gemm_places){1, 2, 0};
}

static situ_status infer_gemm(const kind_call *c) {
  gemm_places at = places_of(c->row);
  const ops_tensor *x = kind_in(c->node, 0), *y = kind_in(c->node, at.b), *bias = kind_in(c->node, at.bias);
  TRY(kind_need_rank(c, 0, 2));
  TRY(kind_need_rank(c, at.b, 2));
  TRY(kind_need_type(c, "transA", OPS_INT));
  TRY(kind_need_type(c, "transB", OPS_INT));
  bool flip_x = ops_attr_int(c->node, "transA", 0) != 0, flip_y = ops_attr_int(c->node, "transB", 0) != 0;
  TRY(kind_same(c, kind_dim(x, flip_x ? 0 : 1), kind_dim(y, flip_y ? 1 : 0), "inner dimensions", NULL));
  int64_t dims[2] = {kind_dim(x, flip_x ? 1 : 0), kind_dim(y, flip_y ? 0 : 1)};
  for (int32_t d = 1; d <= 2 && d <= kind_rank(bias); d++) {
    int64_t own = kind_dim(bias, -d), whole = dims[2 - d];
    if (own > 1 && whole >= 0 && own != whole)
      return kind_fail(c, "a bias of %lld does not fit a result of %lld", (long long)own, (long long)whole);
  }
  if (kind_rank(bias) > 2) return kind_fail(c, "a bias of rank %d, at most 2 is allowed", (int)bias->rank);
  situ_dtype dtype = kind_in_dtype(c->node, at.dtype_from);
  if (c->row->tag == QGEMM && dtype == SITU_DTYPE_UNKNOWN) dtype = SITU_DTYPE_F32;
  return kind_put(c, 0, dtype, 2, dims);
}

static void count_gemm(const ops_node *node, const ops_kind *row, ops_work *work) {
  const ops_tensor *x = kind_in(node, 0);
  int64_t made = kind_out_elements(node, work);
  work->flops = kind_mul3(2, made, kind_count_dim(x, ops_attr_int(node, "transA", 0) ? 0 : 1, work));
  int extra = row->cost + (kind_in(node, places_of(row).bias) != NULL);
  work->flops = sat_add(work->flops, sat_mul(extra, made));
}

/* Weights packed in few bits: the attributes N and K say their shape. */
static situ_status infer_matmul_bits(const kind_call *c) {
  const ops_tensor *x = kind_in(c->node, 0);
  TRY(kind_need_type(c, "N", OPS_INT));
  TRY(kind_need_type(c, "K", OPS_INT));
  int64_t n = ops_attr_int(c->node, "N", -1), k = ops_attr_int(c->node, "K", -1);
  if (kind_rank(x) < 1 || n < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  TRY(kind_same(c, kind_dim(x, -1), k, "inner dimensions", NULL));
  int64_t dims[OPS_MAX_RANK];
  memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
  dims[x->rank - 1] = n;
  return kind_put(c, 0, kind_in_dtype(c->node, 0), x->rank, dims);
}

/* ---- Einsum ---- */

/* The letters of an equation with the sizes that the operands give them; dots are the dimensions of an ellipsis, from
 * the right. */
typedef struct letters {
  int64_t size[128];
  int64_t dots[OPS_MAX_RANK];
  int32_t n_dots;
  int32_t uses[128];
} letters;

static situ_status learn(const kind_call *c, int64_t *size, int64_t dim, char letter) {
  if (dim < 0 || *size == dim) return SITU_STATUS_OK;
  if (*size > 1 && dim != 1) return kind_fail(c, "index %c is %lld and %lld", letter, (long long)*size, (long long)dim);
  if (*size <= 1) *size = dim;
  return SITU_STATUS_OK;
}

static bool is_letter(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

/* Reads the term at *text for one operand, up to the comma or the arrow. */
static situ_status read_term(const kind_call *c, const char **text, const ops_tensor *t, letters *l, bool *known) {
  const char *at = *text;
  int32_t n_letters = 0, axis = 0, rank = kind_rank(t);
  for (; *at && *at != ',' && *at != '-'; at++) n_letters += is_letter(*at);
  if (rank < 0) *known = false;
  if (rank >= 0 && n_letters > rank)
    return kind_fail(c, "a term of %d indices for a tensor of rank %d", (int)n_letters, (int)rank);
  bool dotted = false;
  for (at = *text; *at && *at != ',' && *at != '-'; at++) {
    if (is_letter(*at)) {
      l->uses[(unsigned char)*at]++;
      if (rank >= 0) TRY(learn(c, &l->size[(unsigned char)*at], kind_dim(t, axis++), *at));
    } else if (*at == '.') {
      if (strncmp(at, "...", 3) != 0 || dotted) return kind_fail(c, "a term with stray dots");
      dotted = true;
      at += 2;
      int32_t n = rank - n_letters;
      if (n > l->n_dots) l->n_dots = n;
      for (int32_t d = n - 1; d >= 0; d--) TRY(learn(c, &l->dots[d], kind_dim(t, axis++), '.'));
    } else if (*at != ' ') {
      return kind_fail(c, "'%c' in an equation", *at);
    }
  }
  if (rank >= 0 && !dotted && n_letters != rank)
    return kind_fail(c, "a term of %d indices for a tensor of rank %d", (int)n_letters, (int)rank);
  *text = at;
  return SITU_STATUS_OK;
}

static situ_status read_equation(const kind_call *c, letters *l, const char **right, bool *known) {
  memset(l, 0, sizeof *l);
  for (int i = 0; i < 128; i++) l->size[i] = -1;
  for (int i = 0; i < OPS_MAX_RANK; i++) l->dots[i] = -1;
  TRY(kind_need_type(c, "equation", OPS_STRING));
  const char *text = ops_attr_string(c->node, "equation", NULL);
  *known = text != NULL;
  if (!text) return SITU_STATUS_OK;
  for (int32_t i = 0; i < c->node->n_inputs; i++) {
    TRY(read_term(c, &text, kind_in(c->node, i), l, known));
    bool last = i + 1 == c->node->n_inputs;
    if (last ? *text == ',' : *text != ',')
      return kind_fail(c, "an equation whose terms are not %d operands", (int)c->node->n_inputs);
    if (!last) text++;
  }
  if (*text == '-' && text[1] != '>') return kind_fail(c, "an equation without '->'");
  *right = *text == '-' ? text + 2 : NULL;
  return SITU_STATUS_OK;
}

static situ_status infer_einsum(const kind_call *c) {
  letters l;
  const char *right = NULL;
  bool known;
  int64_t dims[OPS_MAX_RANK];
  int32_t rank = 0;
  TRY(read_equation(c, &l, &right, &known));
  if (!known) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  if (!right) { /* without an arrow: the ellipsis, then the indices used once, in order of the alphabet */
    for (int32_t d = l.n_dots - 1; d >= 0; d--) dims[rank++] = l.dots[d];
    for (int ch = 0; ch < 128; ch++)
      if (l.uses[ch] == 1 && rank < OPS_MAX_RANK) dims[rank++] = l.size[ch];
    return kind_put(c, 0, kind_in_dtype(c->node, 0), rank, dims);
  }
  for (; *right; right++) {
    if (*right == ' ') continue;
    int32_t more = *right == '.' ? l.n_dots : 1;
    if (rank + more > OPS_MAX_RANK) return kind_fail(c, "a result of more than %d dimensions", OPS_MAX_RANK);
    if (*right == '.') {
      if (strncmp(right, "...", 3) != 0) return kind_fail(c, "a result with stray dots");
      for (int32_t d = l.n_dots - 1; d >= 0; d--) dims[rank++] = l.dots[d];
      right += 2;
    } else if (is_letter(*right) && l.uses[(unsigned char)*right] > 0) {
      dims[rank++] = l.size[(unsigned char)*right];
    } else {
      return kind_fail(c, "'%c' in the result of an equation", *right);
    }
  }
  return kind_put(c, 0, kind_in_dtype(c->node, 0), rank, dims);
}

/* Twice the product of all index extents; once when there is but one operand (a trace, a sum, a transposition). */
static void count_einsum(const ops_node *node, const ops_kind *row, ops_work *work) {
  kind_call c = {node, row, NULL, NULL};
  letters l;
  const char *right = NULL;
  bool known;
  if (read_equation(&c, &l, &right, &known) != SITU_STATUS_OK || !known) {
    work->exact = false;
    work->flops = kind_out_elements(node, work);
    return;
  }
  int64_t volume = 1;
  for (int ch = 0; ch < 128; ch++) {
    if (l.uses[ch] && l.size[ch] < 0) work->exact = false;
    if (l.uses[ch] && l.size[ch] >= 0) volume = sat_mul(volume, l.size[ch]);
  }
  for (int32_t d = 0; d < l.n_dots; d++) {
    if (l.dots[d] < 0)
      work->exact = false;
    else
      volume = sat_mul(volume, l.dots[d]);
  }
  work->flops = sat_mul(node->n_inputs > 1 ? 2 : 1, volume);
}

/* ---- Small linear algebra on the last two dimensions ---- */

static situ_status need_square(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  if (kind_rank(t) >= 0 && t->rank < 2) return kind_fail(c, "a tensor of rank %d is no matrix", (int)t->rank);
  return kind_same(c, kind_dim(t, -1), kind_dim(t, -2), "sides of a square matrix", NULL);
}

static situ_status infer_det(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  TRY(need_square(c));
  return kind_put(c, 0, kind_in_dtype(c->node, 0), kind_rank(t) < 0 ? -1 : t->rank - 2, t ? t->dims : NULL);
}

static situ_status infer_inverse(const kind_call *c) {
  TRY(need_square(c));
  return kind_infer_same(c);
}

/* N^3 * 2/3 by elimination for a determinant, 2 N^3 for an inverse. */
static void count_square(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t side = kind_count_dim(kind_in(node, 0), -1, work);
  work->flops = sat_mul(kind_in_elements(node, 0, work), sat_mul(row->cost, side)) / 3;
}

static const ops_kind rows[] = {
    {KIND_ONNX, "MatMul", infer_matmul, count_matmul, 0, PLAIN, 0},
    {KIND_ONNX, "Gemm", infer_gemm, count_gemm, 0, GEMM, 0},
    {KIND_ONNX, "Einsum", infer_einsum, count_einsum, 0, 0, 0},
    {KIND_ONNX, "MatMulInteger", infer_matmul, count_matmul, 0, INTEGER, KIND_QUANTISED},
    {KIND_ONNX, "QLinearMatMul", infer_matmul, count_matmul, 0, QLINEAR, KIND_QUANTISED},
    {KIND_ONNX, "Det", infer_det, count_square, 2, 0, 0},
    {KIND_MS, "Inverse", infer_inverse, count_square, 6, 0, 0},
    {KIND_MS, "FusedMatMul", infer_matmul, count_matmul, 0, FUSED, 0},
    {KIND_MS, "TransposeMatMul", infer_matmul, count_matmul, 0, FUSED, 0},
    {KIND_MS, "FusedMatMulActivation", infer_matmul, count_matmul, 0, FUSED, 0},
    {KIND_MS, "GemmFastGelu", infer_matmul, count_matmul, 9, WITH_BIAS, 0},
    {KIND_MS, "FusedGemm", infer_gemm, count_gemm, 1, GEMM, 0},
    {KIND_MS, "GemmFloat8", infer_gemm, count_gemm, 0, GEMM, 0},
    {KIND_MS, "QGemm", infer_gemm, count_gemm, 0, QGEMM, KIND_QUANTISED},
    {KIND_MS, "MatMulInteger16", infer_matmul, count_matmul, 0, INTEGER, 0},
    {KIND_MS, "MatMulIntegerToFloat", infer_matmul, count_matmul, 3, TO_FLOAT, KIND_QUANTISED},
    {KIND_MS, "DynamicQuantizeMatMul", infer_matmul, count_matmul, 5, TO_FLOAT, KIND_QUANTISED},
    {KIND_MS, "MatMulNBits", infer_matmul_bits, count_matmul, 0, PLAIN, 0},
    {KIND_MS, "MatMulBnb4", infer_matmul_bits, count_matmul, 0, PLAIN, 0},
    {KIND_MS, "MatMulFpQ4", infer_matmul_bits, count_matmul, 0, PLAIN, 0},
};

const ops_family ops_family_matmul = {rows, sizeof rows / sizeof rows[0]};
