/* The graph of a step of a language model, block by block:
 *
 *     x -> norm -> products -> attention or state -> product -> add -> norm -> products -> act -> product -> add
 *
 * Costs of each operator: docs/theory/models/language-models.md. */
#include "read/lm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "read/lm_caches.h"
#include "read/lm_doubts.h"
#include "read/lm_known.h"
#include "read/lm_operators.h"

enum { STATE_BYTES = 4, MASK_BYTES = 2, TOKEN_BYTES = 4, LOGIT_BYTES = 4, MAX_SET = 512, MAX_ENDS = 4 };

/* Tensors that the next operator reads. */
typedef struct value_set {
  int32_t tensor[MAX_SET], n;
  int64_t width; /* elements of a row of all of them */
} value_set;

typedef struct building {
  const lm *model;
  const lm_step *step;
  const lm_operators *o;
  situ_graph_builder *builder;
  text_buffer *notes;
  double rows;  /* tokens at once, of all streams; 0: nothing is done in this step */
  double often; /* in so many of the steps there are any, at most 1 */
  situ_error *error;
  int32_t last; /* the operator that was added last */
  int64_t unknown_shapes;
  bool tied;
  /* Of an encoder and a decoder. */
  bool encoding;             /* the operators are the encoder's */
  double source_rows;        /* tokens that it reads in this step */
  value_set encoded;         /* what it made */
  const lm_operator *shared; /* a table of both, which is made already, or NULL */
  value_set shared_rows;
  graph_end end[MAX_ENDS]; /* by the numbers of the builder */
  int32_t n_ends;
} building;

/* States a guess about the operator that was added last. */
static situ_status guess(const building *b, situ_guess_kind kind, const char *subject) {
  return builder_add_guess(b->builder, kind, subject, b->last, b->error);
}

/* Adds an operator that reads `in` and produces rows of `width` elements; *out becomes its output. */
static situ_status add(building *b, value_set *out, situ_operator op, double rows, int64_t width, const value_set *in) {
  int32_t index, tensor;
  int64_t element = b->model->activation_bytes;
  op.size = sizeof op;
  op.source_id = op.colocation = -1;
  op.inferred = true;
  double moved = rows * (double)element * ((double)(in ? in->width : 0) + (double)width);
  op.moved_bytes = sat_add(op.moved_bytes, sat_round(moved));
  if (rows <= 0) op.flops = op.moved_bytes = 0;
  TRY(builder_add_operator(b->builder, &op, &index, b->error));
  b->last = index;
  for (int32_t i = 0; in && i < in->n; i++) TRY(builder_add_use(b->builder, index, in->tensor[i], b->error));
  int64_t dims[] = {rows > 0 ? sat_round(rows < 1 ? 1 : rows) : 0, width};
  situ_tensor made = {.size = sizeof made,
                      .dtype = element == 2 ? SITU_DTYPE_F16 : SITU_DTYPE_F32,
                      .rank = 2,
                      .dims = dims,
                      .size_bytes = sat_mul(sat_mul(dims[0], width), element)};
  TRY(builder_add_tensor(b->builder, index, &made, &tensor, b->error));
  if (!out) return SITU_STATUS_OK;
  if (out->n == MAX_SET)
    return fail_with(b->error, SITU_STATUS_BAD_INPUT, op.name, "has more than %d operators beside it in a block",
                     MAX_SET);
  out->tensor[out->n++] = tensor;
  out->width = sat_add(out->width, width);
  return SITU_STATUS_OK;
}

/* States what of a matrix is guessed: its use, its type. */
static situ_status guess_weight(const building *b, const lm_operator *w) {
  const lm_place place = {.block = w->block, .op = w->name, .within = w->within};
  const char *name = w->block < 0 ? w->name : w->within; /* the same in all blocks */
  if (w->weight && (!lm_is_known(w->weight, &place) || lm_doubts_role(b->model, w)))
    TRY(guess(b, SITU_GUESS_ROLE, name));
  return w->dtype == SITU_DTYPE_UNKNOWN ? guess(b, SITU_GUESS_TYPE, name) : SITU_STATUS_OK;
}

/* A product with weights; of experts those that the step reaches. */
static situ_status add_product(building *b, value_set *out, const lm_operator *w, const value_set *in, double rows) {
  double experts = (double)w->experts, used = experts, read = experts, by_row = rows;
  bool routed = w->experts > 1 && w->group == LM_ROUTED;
  if (routed) {
    used = b->model->experts_used > 0 ? (double)b->model->experts_used : 1;
    if (used > experts) used = experts;
    read = lm_distinct_experts(experts, used, rows / b->often);
    by_row = rows * used;
  } else {
    used = 1;
    experts = read = 1;
  }
  int64_t width = w->out > 0 ? w->out : b->model->n_embd;
  if (w->out == 0) b->unknown_shapes++;
  situ_operator op = {.name = w->name,
                      .kind = routed ? "ExpertsMatMul" : "MatMul",
                      .dtype = w->dtype,
                      .weight_type = w->weight ? w->weight->stored : NULL,
                      .weight_bytes = w->bytes,
                      .flops = sat_round(2.0 * (double)w->elements / experts * by_row),
                      .moved_bytes = sat_round((double)w->bytes * read / experts * b->often)};
  value_set own = in ? *in : (value_set){0};
  own.width = w->in > 0 ? w->in : own.width; /* it reads one of what may be several */
  TRY(add(b, out, op, by_row, width, &own));
  if (routed && b->model->experts_used <= 0) TRY(guess(b, SITU_GUESS_STRUCTURE, "experts that a token uses"));
  if (w->out == 0) TRY(guess(b, SITU_GUESS_SHAPE, "MatMul"));
  return guess_weight(b, w);
}

/* An operator without a product, which moves its inputs, its outputs and its own small weights. */
static situ_status add_plain(building *b, value_set *out, const char *name, const char *kind, int64_t bytes,
                             const value_set *in, int64_t width, double rows) {
  value_set made = {0};
  situ_operator op = {.name = name,
                      .kind = kind,
                      .dtype = SITU_DTYPE_F32,
                      .weight_bytes = bytes,
                      .moved_bytes = bytes,
                      .flops = sat_round(rows * (double)width * 4)};
  TRY(add(b, &made, op, rows, width, in));
  *out = made;
  return SITU_STATUS_OK;
}

/* ---- one block ---- */

/* Of a part: LM_ATTENTION, LM_CROSS, or LM_DENSE for all that feeds forward. */
static bool is_of(const lm_operator *w, lm_group part) {
  return part == LM_DENSE ? w->group != LM_ATTENTION && w->group != LM_CROSS : w->group == part;
}

static lm_layer layer_of(const building *b, int32_t block) {
  const lm *m = b->model;
  if (b->encoding)
    return (lm_layer){
        .heads = m->encoder_heads, .kv_heads = m->encoder_heads, .key = m->encoder_head, .value = m->encoder_head};
  return block < b->model->n_blocks && b->model->layers ? b->model->layers[block] : (lm_layer){0};
}

/* Attention over the cache; FLOPs and bytes as docs/theory/models/language-models.md says. */
static situ_status add_attention(building *b, value_set *x, const block_part *p, lm_cache c, bool cross, int64_t small,
                                 int64_t out) {
  char name[128];
  lm_layer l = layer_of(b, p->block);
  lm_reach r = lm_reach_of(b->step, l, c, cross, b->encoding);
  double streams = (double)b->step->streams, cell = b->step->cell_bytes;
  snprintf(name, sizeof name, "%s.%s", p->prefix, cross ? "cross_attention" : "attention");
  situ_operator op = {
      .name = name,
      .kind = "Attention",
      .dtype = SITU_DTYPE_F16,
      .weight_type = b->step->cell_type ? b->step->cell_type : "f16",
      .weight_bytes = sat_add(r.cached_bytes, small),
      .split_ways = max64(l.kv_heads, 0),
      .flops = sat_round(((double)c.work * r.seen + (double)c.index_work * r.looked_at) * streams * r.tokens),
      .moved_bytes =
          sat_round(((double)c.row * r.rows + (double)c.index_row * r.indexed) * cell * streams + (double)small)};
  value_set made = {0};
  TRY(add(b, &made, op, b->rows, out, x));
  *x = made;
  return c.guessed ? guess(b, SITU_GUESS_STRUCTURE, "heads of attention") : SITU_STATUS_OK;
}

/* The recurrence of a block: its state is read and written once a step. */
static situ_status add_state(building *b, value_set *x, const block_part *p, int64_t elements, int64_t small,
                             int64_t out) {
  char name[128];
  int64_t one = sat_mul(elements, STATE_BYTES), held = sat_mul(one, b->step->caches);
  snprintf(name, sizeof name, "%s.state", p->prefix);
  situ_operator op = {.name = name,
                      .kind = "StateSpace",
                      .dtype = SITU_DTYPE_F32,
                      .weight_bytes = sat_add(held, small),
                      .flops = sat_round(6.0 * (double)elements * b->rows),
                      .moved_bytes = sat_add(sat_mul(2 * b->step->streams, one), small)};
  value_set made = {0};
  TRY(add(b, &made, op, b->rows, out, x));
  *x = made;
  bool stated = b->model->state > 0 || block_find(p, false, " shortconv conv ");
  return stated ? SITU_STATUS_OK : guess(b, SITU_GUESS_STRUCTURE, "state of recurrences");
}

/* The norms at the front of a part. */
static situ_status add_norms(building *b, value_set *x, const block_part *p, lm_group part) {
  for (int32_t i = 0; i < p->n; i++)
    if (p->ops[i].role == LM_NORM && is_of(&p->ops[i], part))
      TRY(add_plain(b, x, p->ops[i].name, "RMSNormalization", p->ops[i].bytes, x, b->model->n_embd, b->rows));
  return SITU_STATUS_OK;
}

static situ_status add_role(building *b, value_set *out, const block_part *p, lm_group group, lm_role role,
                            const value_set *in) {
  for (int32_t i = 0; i < p->n; i++)
    if (p->ops[i].group == group && p->ops[i].role == role) TRY(add_product(b, out, &p->ops[i], in, b->rows));
  return SITU_STATUS_OK;
}

static int64_t small_bytes(const block_part *p, lm_group part) {
  int64_t sum = 0;
  for (int32_t i = 0; i < p->n; i++)
    if ((p->ops[i].role == LM_SMALL || p->ops[i].role == LM_INNER_NORM) && is_of(&p->ops[i], part))
      sum = sat_add(sum, p->ops[i].bytes);
  return sum;
}

/* The width of the tensor that a part passes to its final product. */
static int64_t inner_width(const building *b, const block_part *p, lm_group group) {
  for (int32_t i = 0; i < p->n; i++)
    if (p->ops[i].group == group && p->ops[i].role == LM_OUT && p->ops[i].in > 0) return p->ops[i].in;
  return b->model->n_embd;
}

static situ_status add_residual(building *b, value_set *x, const block_part *p, const char *part, value_set *more) {
  char name[128];
  value_set both = *more;
  if (both.n < MAX_SET) both.tensor[both.n++] = x->tensor[0];
  both.width = sat_mul(2, b->model->n_embd);
  snprintf(name, sizeof name, "%s.%s_add", p->prefix, part);
  return add_plain(b, x, name, "Add", 0, &both, b->model->n_embd, b->rows);
}

static situ_status attention_part(building *b, value_set *x, const block_part *p) {
  lm_cache c = lm_cache_of(b->model, layer_of(b, p->block), p, false, b->notes);
  int64_t state = lm_state_of(b->model, p), small = small_bytes(p, LM_ATTENTION);
  value_set in = *x, mixed = {0}, ended = {0};
  bool any = false;
  for (int32_t i = 0; i < p->n; i++) any |= is_of(&p->ops[i], LM_ATTENTION) && p->ops[i].role != LM_NORM;
  if (!any) return SITU_STATUS_OK;
  TRY(add_norms(b, &in, p, LM_ATTENTION));
  TRY(add_role(b, &mixed, p, LM_ATTENTION, LM_IN, &in));
  TRY(add_role(b, &mixed, p, LM_ATTENTION, LM_ROUTER, &in));
  if (mixed.n == 0) mixed = in;
  value_set first = mixed;
  TRY(add_role(b, &mixed, p, LM_ATTENTION, LM_MIDDLE, &first));
  int64_t width = inner_width(b, p, LM_ATTENTION);
  if (state > 0) TRY(add_state(b, &mixed, p, state, c.row > 0 ? 0 : small, width));
  if (c.row > 0) TRY(add_attention(b, &mixed, p, c, false, small, width));
  if (c.row == 0 && state == 0 && small > 0) {
    char name[128];
    snprintf(name, sizeof name, "%s.mix", p->prefix);
    TRY(add_plain(b, &mixed, name, "Mul", small, &mixed, width, b->rows));
  }
  TRY(add_role(b, &ended, p, LM_ATTENTION, LM_OUT, &mixed));
  bool projects = first.n > 0 && first.tensor[0] != in.tensor[0];
  if (c.row == 0 && state == 0 && projects) TRY(guess(b, SITU_GUESS_STRUCTURE, "how blocks mix tokens"));
  return add_residual(b, x, p, "attention", ended.n > 0 ? &ended : &mixed);
}

/* Attention of a decoder to what the encoder made. Its keys and values are made once, when that is read. */
static situ_status cross_part(building *b, value_set *x, const block_part *p) {
  lm_cache c = lm_cache_of(b->model, layer_of(b, p->block), p, true, b->notes);
  value_set in = *x, mixed = {0}, ended = {0};
  if (c.row == 0) return SITU_STATUS_OK;
  TRY(add_norms(b, &in, p, LM_CROSS));
  for (int32_t i = 0; i < p->n; i++) {
    const lm_operator *w = &p->ops[i];
    if (w->group != LM_CROSS || w->role != LM_IN) continue;
    bool once = lm_has_word(w->within, " k_proj v_proj ");
    TRY(add_product(b, &mixed, w, once ? &b->encoded : &in, once ? b->source_rows : b->rows));
  }
  TRY(add_attention(b, &mixed, p, c, true, small_bytes(p, LM_CROSS), inner_width(b, p, LM_CROSS)));
  TRY(add_role(b, &ended, p, LM_CROSS, LM_OUT, &mixed));
  return add_residual(b, x, p, "cross_attention", ended.n > 0 ? &ended : &mixed);
}

/* ---- scratch memory ----
 *
 * The compute buffers of llama.cpp, fitted to those that it reports (docs/theory/models/language-models.md): what a
 * micro-batch has in flight at its peak, between the products of a feed-forward part. */

/* The tokens to reserve for: those of a micro-batch that caches can hold. */
static int64_t micro_batch(const building *b) {
  if (b->encoding) return sat_mul(b->step->source, b->step->caches); /* all at once */
  int64_t max_tokens = lm_most_tokens(b->step),
          all = b->step->cells > 0 ? sat_mul(b->step->cells, b->step->caches) : max_tokens;
  return min64(max_tokens, all);
}

/* The elements of a token that a group's products make, and what joins them. */
static int64_t made_by(const building *b, const block_part *p, lm_group group) {
  int64_t made = 0, inner = inner_width(b, p, group);
  for (int32_t i = 0; i < p->n; i++) {
    const lm_operator *w = &p->ops[i];
    if (w->group == group && (w->role == LM_IN || w->role == LM_MIDDLE)) made = sat_add(made, w->out);
  }
  return made > inner ? sat_add(made, inner) : made; /* an activation without a gate changes its input */
}

static int64_t in_flight(const building *b, const block_part *p) {
  int64_t n_embd = b->model->n_embd, used = max64(b->model->experts_used, 1), routed = made_by(b, p, LM_ROUTED);
  int64_t peak = max64(made_by(b, p, LM_DENSE), made_by(b, p, LM_SHARED));
  if (routed > 0) { /* outputs of experts take the place of what is no longer needed, if they fit */
    bool fits = n_embd <= sat_mul(2, inner_width(b, p, LM_ROUTED));
    peak = max64(peak, sat_mul(used, fits ? routed : sat_add(routed, n_embd)));
  }
  return peak;
}

/* The masks of attention, of all blocks: with and without a window. They are tensors of llama.cpp alone. */
static int64_t mask_bytes(const building *b) {
  lm_layer whole = {0}, slides = {0};
  for (int32_t k = 0; k < b->model->n_blocks; k++)
    if (b->model->layers[k].window > 0) slides = b->model->layers[k];
  if (!b->model->masks || b->step->both_ways || b->step->cells == 0) return 0;
  int64_t cells = sat_add(lm_cells_of(b->step, whole), slides.window > 0 ? lm_cells_of(b->step, slides) : 0);
  return sat_mul(sat_mul(cells, micro_batch(b)), MASK_BYTES);
}

static int64_t scratch_bytes(const building *b, const block_part *p) {
  int64_t n_embd = b->model->n_embd, mixed = max64(inner_width(b, p, LM_ATTENTION), n_embd);
  int64_t elements = sat_add(in_flight(b, p), sat_add(sat_mul(2, n_embd), mixed));
  return sat_add(sat_mul(sat_mul(micro_batch(b), b->model->activation_bytes), elements), mask_bytes(b));
}

/* What pipelining over devices adds: three more copies of the masks, and four of two tensors that come from the device
 * before. */
static int64_t pipelining_bytes(const building *b) {
  if (!b->model->masks || b->step->both_ways) return 0;
  int64_t one = sat_mul(sat_mul(micro_batch(b), b->model->activation_bytes), b->model->n_embd);
  return sat_add(sat_mul(8, one), sat_mul(3, mask_bytes(b)));
}

/* Gate, up, what joins them, down: of the dense part, of routed and of shared experts. The scratch memory is that of
 * the first of them, beside the tensors that the step itself has there. */
static situ_status feed_group(building *b, value_set *ended, const block_part *p, lm_group group, const value_set *in,
                              int64_t *workspace) {
  static const char *const names[] = {[LM_DENSE] = "ffn_act", [LM_ROUTED] = "experts_act", [LM_SHARED] = "shared_act"};
  char name[128];
  value_set inner = {0};
  double rows = b->rows;
  TRY(add_role(b, &inner, p, group, LM_IN, in));
  TRY(add_role(b, &inner, p, group, LM_MIDDLE, in));
  if (inner.n == 0) return add_role(b, ended, p, group, LM_OUT, in);
  if (group == LM_ROUTED) rows *= (double)max64(b->model->experts_used, 1);
  int64_t width = inner_width(b, p, group);
  double held =
      (double)b->model->activation_bytes * (rows * (double)(inner.width + width) + b->rows * (double)b->model->n_embd);
  snprintf(name, sizeof name, "%s.%s", p->prefix, names[group]);
  situ_operator op = {.name = name,
                      .kind = group == LM_ROUTED ? "ExpertsMul" : "Mul",
                      .dtype = SITU_DTYPE_F32,
                      .workspace_bytes = max64(0, *workspace - sat_round(held)),
                      .flops = sat_round(rows * (double)width * 5)};
  *workspace = 0;
  value_set act = {0};
  TRY(add(b, &act, op, rows, width, &inner));
  return add_role(b, ended, p, group, LM_OUT, &act);
}

/* Routed experts: the router passes them their inputs as one tensor, and their outputs are weighted and added.
 * llama.cpp does both on the device of the router, wherever the experts are, so separating experts from their layer
 * costs one hand-over there and one back. */
static situ_status routed_part(building *b, value_set *ended, const block_part *p, const value_set *in,
                               int64_t *workspace) {
  char name[128];
  value_set chosen = *in, parts = {0};
  int32_t n_experts = 0;
  int64_t used = max64(b->model->experts_used, 1), width = b->model->n_embd;
  for (int32_t i = 0; i < p->n; i++) n_experts += p->ops[i].group == LM_ROUTED && p->ops[i].role != LM_ROUTER;
  TRY(add_role(b, &chosen, p, LM_DENSE, LM_ROUTER, in));
  TRY(add_role(b, &chosen, p, LM_ROUTED, LM_ROUTER, in));
  if (n_experts == 0) return SITU_STATUS_OK;
  snprintf(name, sizeof name, "%s.experts_choice", p->prefix);
  TRY(add_plain(b, &chosen, name, "TopK", 0, &chosen, sat_add(width, used), b->rows));
  TRY(feed_group(b, &parts, p, LM_ROUTED, &chosen, workspace));
  if (parts.n == 0) return SITU_STATUS_OK;
  snprintf(name, sizeof name, "%s.experts_sum", p->prefix);
  parts.width = sat_mul(used, width);
  TRY(add_plain(b, &parts, name, "Sum", 0, &parts, width, b->rows));
  if (ended->n == MAX_SET) return SITU_STATUS_OK;
  ended->tensor[ended->n++] = parts.tensor[0];
  ended->width = sat_add(ended->width, width);
  return SITU_STATUS_OK;
}

static situ_status feed_forward_part(building *b, value_set *x, const block_part *p) {
  value_set in = *x, ended = {0};
  bool any = false;
  for (int32_t i = 0; i < p->n; i++) any |= is_of(&p->ops[i], LM_DENSE) && p->ops[i].role != LM_NORM;
  if (!any) return SITU_STATUS_OK;
  int64_t workspace = scratch_bytes(b, p);
  TRY(add_norms(b, &in, p, LM_DENSE));
  TRY(feed_group(b, &ended, p, LM_DENSE, &in, &workspace));
  TRY(routed_part(b, &ended, p, &in, &workspace));
  value_set shared = in;
  TRY(add_role(b, &shared, p, LM_SHARED, LM_ROUTER, &in));
  TRY(feed_group(b, &ended, p, LM_SHARED, &shared, &workspace));
  return add_residual(b, x, p, "ffn", ended.n > 0 ? &ended : &in);
}

/* ---- the whole ---- */

static bool is_table(const lm_operator *w) { return w->block < 0 && w->out > 0 && lm_is_table(w->name); }
static bool is_head(const lm_operator *w) {
  bool named = strcmp(w->name, "output") == 0 || lm_has_word(w->name, " lm_head embed_out proj_out ");
  return named && w->in > 0 && !lm_has_word(w->name, " dense ");
}

/* Of two tables of tokens the larger one. */
static const lm_operator *larger(const lm_operator *table, const lm_operator *w) {
  return lm_is_of_tokens(w->name) && (!table || w->elements > table->elements) ? w : table;
}

/* What is done to embeddings before the first block. */
static bool is_front(const lm_operator *w) {
  if (w->block >= 0 || is_table(w) || is_head(w)) return false;
  return (w->role == LM_NORM && strstr(w->name, "emb")) || lm_has_word(w->name, " project_in embeddings_project ");
}

/* Operator `op` is an end of the step, `often` times in it: it reads `rows` tokens, or makes so many rows of logits of
 * `width` elements. */
static void add_end(building *b, int32_t op, double rows, int64_t width, double often) {
  int64_t n = sat_round(ceil(rows));
  if (b->n_ends < MAX_ENDS)
    b->end[b->n_ends++] = (graph_end){.op = op,
                                      .leaves = width > 0,
                                      .token_bytes = sat_mul(n, TOKEN_BYTES),
                                      .result_bytes = sat_mul(sat_mul(n, width), LOGIT_BYTES),
                                      .often = often};
}

/* Rows of a table, one for each token. */
static situ_status add_gather(building *b, value_set *made, const lm_operator *w, double tokens) {
  int64_t rows = w->out > 0 ? w->out : 1, width = w->in > 0 ? w->in : b->model->n_embd;
  situ_operator op = {.name = w->name,
                      .kind = "Gather",
                      .dtype = w->dtype,
                      .weight_bytes = w->bytes,
                      .moved_bytes = sat_round(tokens * (double)w->bytes / (double)rows)};
  TRY(add(b, made, op, tokens, width, NULL));
  return guess_weight(b, w);
}

/* The convolutions of an encoder that listens: the first one meets twice as many frames, the second one halves them. */
static situ_status add_sound(building *b, value_set *made) {
  for (int32_t i = 0; b->encoding && i < b->o->start[0]; i++) {
    const lm_operator *w = &b->o->all[i];
    double frames = lm_has_word(w->name, " conv1 ") ? 2 * b->rows : b->rows;
    situ_operator op = {.name = w->name,
                        .kind = "Conv",
                        .dtype = w->dtype,
                        .weight_bytes = w->bytes,
                        .flops = sat_round(2.0 * (double)w->elements * frames),
                        .moved_bytes = w->bytes};
    value_set projected = {0};
    if (!lm_has_word(w->name, " conv1 conv2 ")) continue;
    TRY(add(b, &projected, op, frames, b->model->n_embd, made->n > 0 ? made : NULL));
    *made = projected;
  }
  return SITU_STATUS_OK;
}

/* Gathers rows of the tables of embeddings, one for each token, and makes the input of the first block of them. */
static situ_status add_embeddings(building *b, value_set *x, const lm_operator **table) {
  value_set made = b->shared_rows;
  char sum[64];
  int32_t reads_tokens = -1;
  *table = b->shared;
  TRY(add_sound(b, &made));
  for (int32_t i = 0; i < b->o->start[0]; i++) {
    const lm_operator *w = &b->o->all[i];
    if (!is_table(w) || w == b->shared) continue;
    *table = larger(*table, w);
    TRY(add_gather(b, &made, w, b->rows));
    if (*table == w) reads_tokens = b->last;
  }
  if (made.n == 0) {
    situ_operator op = {.name = "input", .kind = "Gather", .dtype = SITU_DTYPE_F32};
    TRY(add(b, &made, op, b->rows, b->model->n_embd, NULL));
    reads_tokens = b->last;
    TRY(guess(b, SITU_GUESS_STRUCTURE, "embedding of tokens"));
  }
  if (reads_tokens >= 0) add_end(b, reads_tokens, b->rows, 0, b->rows > 0);
  snprintf(sum, sizeof sum, "%sembeddings_add", b->encoding ? "encoder." : "");
  if (made.n > 1) TRY(add_plain(b, &made, sum, "Add", 0, &made, b->model->n_embd, b->rows));
  for (int32_t i = 0; i < b->o->start[0]; i++) {
    const lm_operator *w = &b->o->all[i];
    value_set wider = {0};
    if (!is_front(w)) continue;
    if (w->in == 0)
      TRY(add_plain(b, &made, w->name, "RMSNormalization", w->bytes, &made, b->model->n_embd, b->rows));
    else
      TRY(add_product(b, &wider, w, &made, b->rows));
    if (w->in > 0) made = wider;
  }
  *x = made;
  return SITU_STATUS_OK;
}

/* Adds what is outside of blocks and behind them, but the head, which it finds. */
static situ_status add_tail(building *b, value_set *x, const lm_operator **head, bool *predicts) {
  for (int32_t i = 0; i < b->o->start[0]; i++) {
    const lm_operator *w = &b->o->all[i];
    bool once = lm_has_word(w->name, " pooler seq_relationship "); /* of the first token of a text */
    if (is_front(w) || (b->encoding && lm_has_word(w->name, " conv1 conv2 "))) continue;
    *predicts |=
        lm_has_word(w->name, " predictions generator_predictions lm_head vocab_transform vocab_projector head.dense ");
    if (is_head(w))
      *head = w;
    else if (w->role == LM_NORM)
      TRY(add_plain(b, x, w->name, "RMSNormalization", w->bytes, x, b->model->n_embd, b->rows));
    else if (!is_table(w) && w->role != LM_SMALL && w->in > 0)
      TRY(add_product(b, x, w, x, once ? (double)b->step->streams : b->rows));
    else if (!is_table(w))
      TRY(add_plain(b, x, w->name, "Mul", w->bytes, x, b->model->n_embd, b->rows));
  }
  return SITU_STATUS_OK;
}

/* Norm, product with the vocabulary, and whatever else is outside of blocks. Without a head of its own a model that
 * predicts tokens has that of its table; encoders predict where they have other parts of a head. */
static situ_status add_head(building *b, value_set *x, const lm_operator *table) {
  const lm_operator *head = NULL;
  bool predicts = false, whole = b->step->both_ways;
  double rows = (double)b->step->streams * b->step->head_rows;
  TRY(add_tail(b, x, &head, &predicts));
  for (int32_t i = 0; whole && i < b->o->start[0]; i++)
    predicts &= is_table(&b->o->all[i]) || !table || b->o->all[i].out != table->out;
  lm_operator tied = {0};
  if (!head && table && (predicts || !whole)) {
    tied = *table;
    tied.name = strcmp(table->name, "token_embd") == 0 ? "output" : whole ? "lm_head.decoder" : "lm_head";
    head = &tied;
    b->tied = true;
    if (b->notes) text_add(b->notes, "the head shares the weights of the embedding; they are counted in both\n");
  }
  if (b->encoding) return SITU_STATUS_OK;
  if (!head) return b->step->both_ways ? SITU_STATUS_OK : guess(b, SITU_GUESS_STRUCTURE, "head");
  /* A step that needs it now and then reads its weights so often. */
  double often = b->step->head_rows < 1 ? b->step->head_rows : 1;
  situ_operator op = {.name = head->name,
                      .kind = "MatMul",
                      .dtype = head->dtype,
                      .weight_bytes = head->bytes,
                      .flops = sat_round(2.0 * (double)head->elements * rows),
                      .moved_bytes = sat_round((double)head->bytes * often)};
  int64_t words = head->out > 0 ? head->out : b->model->vocab;
  TRY(add(b, NULL, op, rows, words, x));
  add_end(b, b->last, often > 0 ? rows / often : 0, words, often);
  return guess_weight(b, head);
}

/* From here on only tokens count whose logits are wanted: of a prompt the last one, in the last of its micro-batches.
 */
static void crop(building *b) {
  double wanted = b->step->head_rows;
  if (b->step->both_ways || b->rows <= 0 || wanted <= 0 || wanted >= (double)b->step->tokens) return;
  b->rows = (double)b->step->streams * wanted;
  b->often = wanted < 1 ? wanted : 1;
}

static situ_status add_block(building *b, value_set *x, int32_t block) {
  const lm_operators *o = b->o;
  block_part p = {.ops = o->all + o->start[block], .n = o->start[block + 1] - o->start[block], .block = block};
  if (p.n == 0) return SITU_STATUS_OK;
  snprintf(p.prefix, sizeof p.prefix, "%.80s.%d", o->stack, (int)block);
  int32_t before = b->last;
  TRY(attention_part(b, x, &p));
  TRY(cross_part(b, x, &p));
  if (b->model->crops_last && !b->encoding && block == o->n_blocks - 1) crop(b);
  TRY(feed_forward_part(b, x, &p));
  const char *doubt = lm_doubts_block(b->model, p.ops, p.n);
  for (int32_t v = before + 1; doubt && v <= b->last; v++)
    TRY(builder_add_guess(b->builder, SITU_GUESS_STRUCTURE, doubt, v, b->error));
  return SITU_STATUS_OK;
}

static void tell(const building *b) {
  char size[TEXT_UNIT_BYTES];
  if (!b->notes) return;
  if (b->o->skipped_bytes > 0)
    text_add(b->notes, "%s of weights for inputs other than text are ignored\n", text_size(size, b->o->skipped_bytes));
  if (b->o->beyond_bytes > 0)
    text_add(b->notes, "%s of weights after the last block, which predict further tokens, are ignored\n",
             text_size(size, b->o->beyond_bytes));
  if (b->unknown_shapes > 0)
    text_add(b->notes, "%lld matrix products have unknown dimensions, assumed to be as wide as the model\n",
             (long long)b->unknown_shapes);
}

/* The table of tokens of both encoder and decoder: one named so, or that of the decoder where the encoder, which reads
 * text, has none. */
static situ_status add_shared(building *b, const lm_operators *encoder, const lm_operators *decoder) {
  bool own = false, listens = false;
  const lm_operator *found = NULL;
  for (int32_t i = 0; i < encoder->start[0]; i++) {
    own |= is_table(&encoder->all[i]) && lm_has_word(encoder->all[i].name, " embed_tokens ");
    listens |= lm_has_word(encoder->all[i].name, " conv1 ");
  }
  if (own || listens) return SITU_STATUS_OK;
  for (int32_t i = 0; i < decoder->start[0]; i++)
    if (is_table(&decoder->all[i])) found = larger(found, &decoder->all[i]);
  if (!found) return SITU_STATUS_OK;
  double rows = b->step->encodes ? b->source_rows : b->rows;
  b->shared = found;
  TRY(add_gather(b, &b->shared_rows, found, rows));
  add_end(b, b->last, rows, 0, rows > 0);
  return SITU_STATUS_OK;
}

/* The encoder, whose last output all blocks of the decoder read. */
static situ_status add_encoder(building *b, const lm_operators *encoder, const lm_operators *decoder) {
  const lm_step *s = b->step;
  const lm_operator *table;
  double rows = b->rows;
  value_set x = {0};
  b->source_rows = s->encodes ? (double)s->streams * (double)s->source : 0;
  TRY(add_shared(b, encoder, decoder));
  b->encoding = true;
  b->o = encoder;
  b->rows = b->source_rows;
  TRY(add_embeddings(b, &x, &table));
  for (int32_t k = 0; k < encoder->n_blocks; k++) TRY(add_block(b, &x, k));
  TRY(add_head(b, &x, NULL));
  b->encoded = x;
  b->encoding = false;
  b->o = decoder;
  b->rows = rows;
  return SITU_STATUS_OK;
}

/* Takes over the architecture and the ends; operators of the graph have other numbers than they had in the builder. */
static bool take_over(situ_graph *g, const building *b) {
  const char *architecture = b->model->architecture;
  if (architecture && !(g->architecture = arena_string(g->arena, architecture))) return false;
  g->end = ARENA_COPY(g->arena, b->end, graph_end, b->n_ends);
  if (!g->end && b->n_ends > 0) return false;
  g->n_ends = b->n_ends;
  for (int32_t i = 0; i < b->n_ends; i++)
    for (int32_t v = 0; v < g->n_operators; v++)
      if (g->built_index[v] == b->end[i].op) g->end[i].op = v;
  return true;
}

situ_status lm_build(situ_graph **out, const lm *model, const lm_step *step, text_buffer *notes, situ_error *error) {
  arena *a = arena_new();
  lm_operators o, encoder;
  building b = {.model = model, .step = step, .o = &o, .notes = notes, .error = error, .often = 1};
  const lm_operator *table;
  value_set x = {0};
  *out = NULL;
  b.rows = step->encodes ? 0 : (double)step->streams * (double)step->tokens;
  situ_status status = a ? lm_operators_find(&o, model, false, a, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK && model->encoder) status = lm_operators_find(&encoder, model, true, a, error);
  if (status == SITU_STATUS_OK) status = situ_graph_builder_new(&b.builder, model->model, error);
  if (status == SITU_STATUS_OK && model->doubted)
    status = builder_add_guess(b.builder, SITU_GUESS_STRUCTURE, "architecture", GUESS_OF_ALL, error);
  if (status == SITU_STATUS_OK && model->absent_blocks > 0)
    status = builder_add_guess(b.builder, SITU_GUESS_STRUCTURE, "blocks that are absent", GUESS_OF_ALL, error);
  if (status == SITU_STATUS_OK && model->encoder) status = add_encoder(&b, &encoder, &o);
  if (status == SITU_STATUS_OK) status = add_embeddings(&b, &x, &table);
  for (int32_t k = 0; status == SITU_STATUS_OK && k < o.n_blocks; k++) status = add_block(&b, &x, k);
  if (status == SITU_STATUS_OK) status = add_head(&b, &x, table);
  if (status == SITU_STATUS_OK) status = situ_graph_freeze(out, b.builder, error);
  if (status == SITU_STATUS_OK && !take_over(*out, &b)) {
    situ_graph_free(*out);
    *out = NULL;
    status = fail_no_memory(error);
  }
  if (status == SITU_STATUS_OK) {
    (*out)->cache_tokens = sat_mul(step->cells, step->caches);
    (*out)->cache_type = step->cell_type;
    (*out)->streams = step->caches;
    (*out)->prompt = step->prompt;
    (*out)->generate = step->generate;
    (*out)->micro_batch = lm_most_tokens(step);
    (*out)->step_tokens = step->encodes ? 0 : sat_mul(step->streams, step->tokens);
    (*out)->n_ahead = model->n_ahead > o.n_beyond ? model->n_ahead : o.n_beyond;
    (*out)->tied_head = b.tied;
    (*out)->pipelining_bytes = pipelining_bytes(&b);
    (*out)->has_idle = step->source > 0;
  }
  if (status == SITU_STATUS_OK) tell(&b);
  situ_graph_builder_free(b.builder);
  arena_free(a);
  return status;
}
