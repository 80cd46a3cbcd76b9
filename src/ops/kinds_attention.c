/* Attention in its fused forms, with the embeddings and rotations around it.
 *
 * With B batch, N heads, S queries, T keys, H and V the widths of a head of keys and of values, one attention is 2 B N
 * S T (H + V) FLOPs of products and 7 B N S T of scale, mask and softmax. Causal masks are not subtracted: plain
 * kernels compute the masked entries too. */

#include "ops/kind.h"

enum { MULTI_HEAD, GROUP_QUERY, ONNX_ATTENTION };

/* The sizes of one attention; -1 where unknown. */
typedef struct heads {
  int64_t batch, queries, keys, past; /* keys: with the past */
  int64_t heads, kv_heads, width, value_width;
  bool by_head; /* data is [B, N, S, H], not [B, S, N H] */
} heads;

static int64_t times(int64_t x, int64_t y) { return x < 0 || y < 0 ? -1 : sat_mul(x, y); }
static int64_t over(int64_t x, int64_t y) { return x < 0 || y < 1 ? -1 : x / y; }
static int64_t plus(int64_t x, int64_t y) { return x < 0 || y < 0 ? -1 : sat_add(x, y); }

/* Whether `width` can be shared by n heads. */
static situ_status need_heads(const kind_call *c, int64_t width, int64_t n, const char *what) {
  if (n == 0 || n < -1) return kind_fail(c, "%s is %lld", what, (long long)n);
  if (width >= 0 && n > 0 && width % n != 0)
    return kind_fail(c, "a width of %lld for %lld heads", (long long)width, (long long)n);
  return SITU_STATUS_OK;
}

/* ---- com.microsoft Attention: the projection of Q, K and V inside ---- */

typedef struct projected {
  int64_t batch, steps, in, made, value, heads, past, head;
} projected;

static situ_status read_projected(const kind_call *c, projected *p) {
  const ops_tensor *x = kind_in(c->node, 0), *w = kind_in(c->node, 1);
  bool quantised = c->row->flags & KIND_QUANTISED;
  const ops_tensor *past = kind_in(c->node, quantised ? 8 : 4);
  const int64_t *sizes;
  TRY(kind_need_rank(c, 0, 3));
  TRY(kind_need_rank(c, 1, 2));
  TRY(kind_need_ints(c, "qkv_hidden_sizes", 3, &sizes));
  *p = (projected){kind_dim(x, 0),
                   kind_dim(x, 1),
                   kind_dim(x, 2),
                   kind_dim(w, 1),
                   -1,
                   ops_attr_int(c->node, "num_heads", -1),
                   past ? kind_dim(past, 3) : 0,
                   -1};
  TRY(kind_same(c, p->in, kind_dim(w, 0), "widths of input and weights", NULL));
  p->value = sizes ? sizes[2] : over(p->made, 3);
  if (p->value < -1) return kind_fail(c, "a hidden size of %lld", (long long)p->value);
  TRY(need_heads(c, p->value, p->heads, "num_heads"));
  p->head = over(p->value, p->heads);
  return SITU_STATUS_OK;
}

static situ_status infer_projected(const kind_call *c) {
  projected p;
  situ_dtype dtype = c->row->flags & KIND_QUANTISED ? kind_in_dtype(c->node, 3) : kind_in_dtype(c->node, 0);
  TRY(read_projected(c, &p));
  int64_t dims[3] = {p.batch, p.steps, p.value}, cache[5] = {2, p.batch, p.heads, plus(p.past, p.steps), p.head};
  if (ops_attr_int(c->node, "past_present_share_buffer", 0)) cache[3] = p.past;
  TRY(kind_put(c, 0, dtype, 3, dims));
  return kind_put(c, 1, dtype, 5, cache);
}

static int64_t need(int64_t size, ops_work *work) {
  if (size < 0) work->exact = false;
  return size < 0 ? 1 : size;
}

static void count_projected(const ops_node *node, const ops_kind *row, ops_work *work) {
  kind_call c = {node, row, NULL, NULL};
  projected p;
  if (read_projected(&c, &p) != SITU_STATUS_OK) {
    work->exact = false;
    return;
  }
  int64_t rows = sat_mul(need(p.batch, work), need(p.steps, work));
  int64_t keys = need(plus(p.past, p.steps), work);
  int64_t made = need(p.made, work), product = kind_mul3(2, rows, sat_mul(need(p.in, work), made));
  int64_t scores = kind_mul3(rows, need(p.heads, work), keys);
  /* Widths of all heads together: Q (like K) is half of the outputs other than V. */
  int64_t value = min64(need(p.value, work), made), query = (made - value) / 2;
  int64_t mixed = kind_mul3(2, sat_mul(rows, keys), query + value);
  work->flops = sat_add(sat_add(product, sat_mul(rows, made)), sat_add(mixed, sat_mul(7, scores)));
}

/* ---- The other forms: Q, K, V come projected ---- */

static int32_t past_key_of(const ops_kind *row) {
  static const int32_t at[] = {[MULTI_HEAD] = 6, [GROUP_QUERY] = 3, [ONNX_ATTENTION] = 4};
  return at[row->tag];
}

static void read_head_numbers(const ops_node *node, const ops_kind *row, const ops_tensor *q, const ops_tensor *k,
                              heads *h) {
  bool onnx = row->tag == ONNX_ATTENTION;
  h->by_head = kind_rank(q) == 4 && onnx;
  h->heads = h->by_head ? kind_dim(q, 1) : ops_attr_int(node, onnx ? "q_num_heads" : "num_heads", -1);
  h->kv_heads = h->by_head               ? kind_dim(k, 1)
                : row->tag == MULTI_HEAD ? h->heads
                                         : ops_attr_int(node, "kv_num_heads", -1);
}

static situ_status read_heads(const kind_call *c, heads *h) {
  const ops_node *node = c->node;
  const ops_tensor *q = kind_in(node, 0), *k = kind_in(node, 1), *v = kind_in(node, 2);
  const ops_tensor *past = kind_in(node, past_key_of(c->row));
  *h = (heads){.width = -1, .value_width = -1, .keys = -1};
  read_head_numbers(node, c->row, q, k, h);
  TRY(need_heads(c, -1, h->heads, "the number of heads"));
  TRY(need_heads(c, -1, h->kv_heads, "the number of heads of keys"));
  if (h->heads > 0 && h->kv_heads > 0 && h->heads % h->kv_heads != 0)
    return kind_fail(c, "%lld heads of queries for %lld of keys", (long long)h->heads, (long long)h->kv_heads);
  if (kind_rank(q) >= 0 && (q->rank < 3 || q->rank > 5)) return kind_fail(c, "queries of rank %d", (int)q->rank);
  h->batch = kind_dim(q, 0);
  h->queries = kind_dim(q, h->by_head ? 2 : 1);
  h->past = past ? kind_dim(past, 2) : 0;
  bool packed = !k && kind_rank(q) >= 3;
  int64_t fresh = h->queries;
  if (packed && q->rank == 5) { /* [B, S, N, 3, H] */
    h->width = h->value_width = kind_dim(q, 4);
  } else if (packed) { /* [B, S, (N + 2 KV) H] */
    h->width = h->value_width = over(kind_dim(q, 2), plus(h->heads, times(2, h->kv_heads)));
  } else if (h->by_head) {
    h->width = kind_dim(q, 3);
    h->value_width = kind_dim(v, 3);
    fresh = kind_dim(k, 2);
  } else {
    TRY(need_heads(c, kind_dim(q, 2), h->heads, "the number of heads"));
    h->width = over(kind_dim(q, 2), h->heads);
    bool key_by_head = kind_rank(k) == 4, pair = kind_rank(k) == 5; /* 5: [B, T, N, 2, H] */
    fresh = kind_dim(k, key_by_head ? 2 : 1);
    h->value_width = pair ? h->width : kind_rank(v) == 4 ? kind_dim(v, 3) : over(kind_dim(v, 2), h->kv_heads);
  }
  h->keys = plus(fresh, h->past);
  if (h->width < 0) h->width = past ? kind_dim(past, 3) : -1;
  return SITU_STATUS_OK;
}

/* Keys of a cache whose buffer is shared stay as many as the buffer has. */
static int64_t cached_keys(const kind_call *c, const heads *h) {
  int64_t total;
  if (c->row->tag != GROUP_QUERY) return h->keys;
  if (kind_scalar_int(kind_in(c->node, 6), &total) && total >= 0) return h->past < 0 ? -1 : max64(total, h->past);
  return h->past == 0 ? h->keys : -1;
}

static situ_status infer_attention(const kind_call *c) {
  heads h;
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  TRY(read_heads(c, &h));
  int64_t keys = cached_keys(c, &h);
  int64_t flat[3] = {h.batch, h.queries, times(h.heads, h.value_width)};
  int64_t by_head[4] = {h.batch, h.heads, h.queries, h.value_width};
  int64_t key_cache[4] = {h.batch, h.kv_heads, keys, h.width},
          value_cache[4] = {h.batch, h.kv_heads, keys, h.value_width};
  int64_t scores[4] = {h.batch, h.heads, h.queries, h.keys};
  if (kind_rank(kind_in(c->node, 0)) < 0)
    TRY(kind_put(c, 0, dtype, -1, NULL));
  else
    TRY(kind_put(c, 0, dtype, h.by_head ? 4 : 3, h.by_head ? by_head : flat));
  TRY(kind_put(c, 1, dtype, 4, key_cache));
  TRY(kind_put(c, 2, dtype, 4, value_cache));
  return kind_put(c, 3, dtype, 4, scores);
}

static void count_attention(const ops_node *node, const ops_kind *row, ops_work *work) {
  kind_call c = {node, row, NULL, NULL};
  heads h;
  if (read_heads(&c, &h) != SITU_STATUS_OK) {
    work->exact = false;
    return;
  }
  int64_t keys = h.keys, total;
  if (row->tag == GROUP_QUERY && kind_scalar_int(kind_in(node, 6), &total) && total > 0) keys = total;
  int64_t scores =
      sat_mul(kind_mul3(need(h.batch, work), need(h.heads, work), need(h.queries, work)), need(keys, work));
  work->flops = kind_mul3(2, scores, sat_add(need(h.width, work), need(h.value_width, work)));
  work->flops = sat_add(work->flops, sat_mul(7, scores));
}

/* ---- Around it ---- */

/* Rows of two or three tables, added and normalised; output 1 is the index of the mask, output 2 the sum. */
static situ_status put_embedded(const kind_call *c, situ_dtype dtype) {
  const ops_tensor *ids = kind_in(c->node, 0), *table = kind_in(c->node, 2);
  TRY(kind_need_rank(c, 0, 2));
  TRY(kind_need_rank(c, 2, 2));
  int64_t dims[3] = {kind_dim(ids, 0), kind_dim(ids, 1), kind_dim(table, 1)};
  TRY(kind_put(c, 0, dtype, 3, dims));
  TRY(kind_put_1d(c, 1, SITU_DTYPE_I32, dims[0]));
  return kind_put(c, 2, dtype, 3, dims);
}

static situ_status infer_embed(const kind_call *c) { return put_embedded(c, kind_in_dtype(c->node, 2)); }

static situ_status infer_quantised_embed(const kind_call *c) { return put_embedded(c, SITU_DTYPE_F32); }

/* The tables are read by rows: as many bytes as are written for each table, not the whole tables. */
static void count_embed(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t n_tables = (kind_in(node, 2) != NULL) + (kind_in(node, 3) != NULL) + (kind_in(node, 4) != NULL);
  int64_t made = kind_out_elements(node, work);
  bool ignored = true;
  work->read_bytes = sat_mul(n_tables, node->n_outputs > 0 ? ops_bytes(&node->outputs[0], &ignored) : 0);
  for (int32_t i = 0; i < 2; i++)
    if (kind_in(node, i)) work->read_bytes = sat_add(work->read_bytes, ops_bytes(node->inputs[i], &ignored));
  work->flops = sat_mul(row->cost + n_tables - 1, made);
}

/* [B, S, N H] with num_heads, or by heads. */
static situ_status infer_rotary(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  if (kind_rank(t) >= 0 && t->rank != 3 && t->rank != 4) return kind_fail(c, "an input of rank %d", (int)t->rank);
  return kind_infer_same(c);
}

/* Local and global attention of a window on both sides of each position. */
static void count_longformer(const ops_node *node, const ops_kind *row, ops_work *work) {
  const ops_tensor *x = kind_in(node, 0);
  int64_t elements = kind_in_elements(node, 0, work), width = kind_count_dim(x, 2, work);
  int64_t window = min64(sat_mul(2, max64(ops_attr_int(node, "window", 1), 1)), kind_count_dim(x, 1, work));
  work->flops = sat_add(kind_mul3(6, elements, width), kind_mul3(4, elements, window));
}

static const ops_kind rows[] = {
    {KIND_ONNX, "Attention", infer_attention, count_attention, 0, ONNX_ATTENTION, 0},
    {KIND_ONNX, "RotaryEmbedding", infer_rotary, NULL, 3, 0, 0},
    {KIND_MS, "RotaryEmbedding", infer_rotary, NULL, 3, 0, 0},
    {KIND_MS, "Attention", infer_projected, count_projected, 0, 0, 0},
    {KIND_MS, "QAttention", infer_projected, count_projected, 0, 0, KIND_QUANTISED},
    {KIND_MS, "MultiHeadAttention", infer_attention, count_attention, 0, MULTI_HEAD, 0},
    {KIND_MS, "GroupQueryAttention", infer_attention, count_attention, 0, GROUP_QUERY, 0},
    {KIND_MS, "LongformerAttention", kind_infer_same, count_longformer, 0, 0, 0},
    {KIND_MS, "EmbedLayerNormalization", infer_embed, count_embed, 8, 0, KIND_OF_OUTPUT},
    {KIND_MS, "QEmbedLayerNormalization", infer_quantised_embed, count_embed, 10, 0, KIND_OF_OUTPUT},
};

const ops_family ops_family_attention = {rows, sizeof rows / sizeof rows[0]};
