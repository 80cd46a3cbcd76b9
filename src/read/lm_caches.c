#include "read/lm_caches.h"

#include <math.h>

#include "base/checked.h"

enum { PAD_CELLS = 256 };

const lm_operator *block_find(const block_part *p, bool cross, const char *words) {
  for (int32_t i = 0; i < p->n; i++)
    if ((p->ops[i].group == LM_CROSS) == cross && p->ops[i].role != LM_NORM && p->ops[i].role != LM_INNER_NORM &&
        lm_has_word(p->ops[i].within, words))
      return &p->ops[i];
  return NULL;
}

/* What an indexer of sparse attention adds: a key of each token, met by each of its heads. */
static void add_indexer(lm_cache *c, const lm *m, const block_part *p) {
  if (m->index_top <= 0 || !block_find(p, false, " indexer ")) return;
  c->index_row = m->index_key;
  c->index_work = sat_mul(2 * m->index_heads, m->index_key);
  c->top = m->index_top;
}

lm_cache lm_cache_of(const lm *m, lm_layer l, const block_part *p, bool cross, text_buffer *notes) {
  if (l.recurrent && !cross) return (lm_cache){0};
  const lm_operator *k = block_find(p, cross, lm_keys), *v = block_find(p, cross, lm_values),
                    *q = block_find(p, cross, lm_queries);
  const lm_operator *latent = block_find(p, cross, lm_latent), *full = block_find(p, cross, " attn_kv_b ");
  const lm_operator *fused = block_find(p, cross, lm_fused);
  bool linear = block_find(p, cross, " ssm_conv1d ssm_a ssm_alpha ssm_beta ssm_ba linear_attn A_log mamba ") != NULL;
  lm_cache c = {0};
  if (latent && m->latent_rank > 0 && !full) {
    c.row = latent->out;
    c.work = sat_mul(2 * l.heads, sat_add(latent->out, m->latent_rank));
    add_indexer(&c, m, p);
    return c;
  }
  if (!k && !latent && (!fused || linear)) return c;
  int64_t value = l.value > 0 ? l.value : l.key;
  c.guessed = l.heads <= 0 || l.key <= 0;
  c.row = sat_mul(l.kv_heads, l.key + value);
  c.work = sat_mul(2 * l.heads, l.key + value);
  if (latent) c.row = sat_mul(l.heads, l.key + value);
  int64_t shape = k && v ? sat_add(k->out, v->out) : k ? sat_mul(2, k->out) : 0;
  if (c.row == 0 && fused) c.row = fused->out - m->n_embd;
  if (c.work == 0) c.work = sat_mul(4, q ? q->out : m->n_embd);
  bool differs = shape > 0 && c.row > 0 && shape != c.row;
  c.guessed |= differs;
  if (differs && notes && p->block < 1)
    text_add(notes,
             "the cache of block %d takes %lld elements of a token by the hyper-parameters, %lld by the shapes; the "
             "former is used\n",
             (int)p->block, (long long)c.row, (long long)shape);
  if (c.row <= 0) c.row = shape;
  return c;
}

int64_t lm_state_of(const lm *m, const block_part *p) {
  const lm_operator *k = block_find(p, false, " time_mix_key time_mix_receptance ");
  if (block_find(p, false, " ssm_conv1d ssm_a ssm_in A_log ") && m->state > 0)
    return sat_add(sat_mul(m->conv > 0 ? m->conv - 1 : 0, sat_add(m->inner, sat_mul(2 * m->groups, m->state))),
                   sat_mul(m->state, m->inner));
  if (block_find(p, false, " shortconv conv ") && m->conv > 0 && m->state == 0) return sat_mul(m->n_embd, m->conv - 1);
  if (k) return sat_mul(m->n_embd, 2 + (m->state > 0 ? m->state : 64));
  return 0;
}

int64_t lm_most_tokens(const lm_step *step) { return step->micro_batch > 0 ? step->micro_batch : LM_MICRO_BATCH; }

int64_t lm_cells_of(const lm_step *s, lm_layer l) {
  int64_t cells = s->cells;
  if (l.window > 0) cells = min64(cells, sat_add(l.window, lm_most_tokens(s)));
  return (cells + PAD_CELLS - 1) / PAD_CELLS * PAD_CELLS; /* cells are at most 2^28 */
}

lm_reach lm_reach_of(const lm_step *s, lm_layer l, lm_cache c, bool cross, bool encodes) {
  double source = (double)s->source, tokens = (double)s->tokens, before = s->context;
  int64_t row = sat_round(ceil((double)sat_add(c.row, c.index_row) * s->cell_bytes));
  if (encodes) return (lm_reach){.tokens = source, .seen = source, .rows = 2 * source};
  if (cross)
    return (lm_reach){
        .tokens = tokens, .seen = source, .rows = source, .cached_bytes = sat_mul(sat_mul(s->source, s->caches), row)};
  lm_reach r = {.tokens = tokens, .seen = before + (tokens + 1) / 2, .rows = before + tokens};
  if (s->both_ways) r.seen = tokens;
  if (l.window > 0 && r.seen > (double)l.window) r.seen = (double)l.window;
  if (l.window > 0 && r.rows > (double)l.window + tokens) r.rows = (double)l.window + tokens;
  r.looked_at = r.seen;
  r.indexed = r.rows + tokens;
  if (c.top > 0 && r.seen > (double)c.top) r.seen = (double)c.top;
  if (c.top > 0 && r.rows > (double)c.top * tokens) r.rows = (double)c.top * tokens;
  r.rows += tokens;
  r.cached_bytes = l.shares_cache ? 0 : sat_mul(sat_mul(lm_cells_of(s, l), s->caches), row);
  return r;
}
