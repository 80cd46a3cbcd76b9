#include "stages/stage_choice.h"

#include <stdlib.h>

#include "base/checked.h"

static const int64_t MAX_NODES = 1 << 20;

typedef struct sums {
  int64_t ns, bytes;
} sums;

/* A question. Time and memory are weighed: ns * time + bytes * memory. All sums are below 2^63, all weights 2^126. */
typedef struct question {
  stage_choice *c;
  sums limit;
  sums weights;
  __int128 max_weight; /* of all that is within the limit */
  int64_t n_nodes;
} question;

bool stage_choice_make(stage_choice *c, int32_t n, int32_t n_variants, arena *a) {
  return ARENA_ARRAYS(a, ARRAY(c->start, n + 1), ARRAY(c->variant, n_variants), ARRAY(c->pick, n), ARRAY(c->rank, n),
                      ARRAY(c->rest, n + 1), ARRAY(c->rest_ns, n + 1), ARRAY(c->rest_bytes, n + 1));
}

static __int128 weigh(const question *q, int64_t ns, int64_t bytes) {
  return (__int128)q->weights.ns * ns + (__int128)q->weights.bytes * bytes;
}

static __int128 weight_of(const question *q, int32_t w) {
  return weigh(q, q->c->variant[w].time_ns, q->c->variant[w].size_bytes);
}

/* Takes in each layer the variant that weighs least, of equal ones the smallest, then the fastest. */
static sums take_lightest(const question *q) {
  stage_choice *c = q->c;
  sums all = {0};
  for (int32_t v = 0; v < c->n; v++) {
    int32_t best = c->start[v];
    for (int32_t w = best + 1; w < c->start[v + 1]; w++) {
      __int128 less = weight_of(q, best) - weight_of(q, w);
      int64_t smaller = c->variant[best].size_bytes - c->variant[w].size_bytes;
      int64_t faster = c->variant[best].time_ns - c->variant[w].time_ns;
      if (less > 0 || (less == 0 && (smaller > 0 || (smaller == 0 && faster > 0)))) best = w;
    }
    c->pick[v] = best - c->start[v];
    all.ns += c->variant[best].time_ns;
    all.bytes += c->variant[best].size_bytes;
  }
  return all;
}

static bool fits(const question *q, sums all) { return all.ns <= q->limit.ns && all.bytes <= q->limit.bytes; }

/* Begins with the line through the fastest choice, which is too large, and the smallest, which is too slow; then
 * through the lightest choice for it and that of the two beyond the other limit, until nothing is lighter. These are
 * the best weights, Lagrange multipliers: without a choice if even the lightest one weighs too much. */
static choice_answer find_weights(question *q, sums fast, sums small) {
  for (;;) {
    q->weights = (sums){.ns = fast.bytes - small.bytes, .bytes = small.ns - fast.ns};
    q->max_weight = weigh(q, q->limit.ns, q->limit.bytes);
    sums light = take_lightest(q);
    if (fits(q, light)) return CHOICE_FOUND;
    __int128 weight = weigh(q, light.ns, light.bytes);
    if (weight > q->max_weight) return CHOICE_NONE;
    if (weight == weigh(q, fast.ns, fast.bytes)) return CHOICE_GAVE_UP;
    if (light.bytes > q->limit.bytes)
      fast = light;
    else
      small = light;
  }
}

static int compare_ranks(const void *left, const void *right) {
  const choice_rank *a = left, *b = right;
  if (a->gap != b->gap) return a->gap < b->gap ? 1 : -1;
  if (a->time_ns != b->time_ns) return a->time_ns < b->time_ns ? 1 : -1;
  if (a->size_bytes != b->size_bytes) return a->size_bytes < b->size_bytes ? 1 : -1;
  return (a->layer > b->layer) - (a->layer < b->layer);
}

/* Layers in the order of the search: the one whose other variants weigh most first. */
static void rank_layers(question *q) {
  stage_choice *c = q->c;
  for (int32_t v = 0; v < c->n; v++) {
    int32_t best = c->start[v] + c->pick[v];
    choice_rank *r = &c->rank[v];
    *r = (choice_rank){
        .gap = -1, .time_ns = c->variant[best].time_ns, .size_bytes = c->variant[best].size_bytes, .layer = v};
    for (int32_t w = c->start[v]; w < c->start[v + 1]; w++) {
      __int128 gap = weight_of(q, w) - weight_of(q, best);
      if (w != best && (r->gap < 0 || gap < r->gap)) r->gap = gap;
    }
  }
  qsort(c->rank, (size_t)c->n, sizeof *c->rank, compare_ranks);
  c->rest[c->n] = c->rest_ns[c->n] = c->rest_bytes[c->n] = 0;
  for (int32_t i = c->n - 1; i >= 0; i--) {
    int32_t v = c->rank[i].layer;
    int64_t ns = INT64_MAX, bytes = INT64_MAX;
    for (int32_t w = c->start[v]; w < c->start[v + 1]; w++) {
      ns = min64(ns, c->variant[w].time_ns);
      bytes = min64(bytes, c->variant[w].size_bytes);
    }
    c->rest[i] = c->rest[i + 1] + weight_of(q, c->start[v] + c->pick[v]);
    c->rest_ns[i] = c->rest_ns[i + 1] + ns;
    c->rest_bytes[i] = c->rest_bytes[i + 1] + bytes;
  }
}

/* Whether two layers have the same variants: then the order of their picks does not matter. */
static bool are_alike(const stage_choice *c, int32_t a, int32_t b) {
  int32_t n = c->start[a + 1] - c->start[a];
  if (c->start[b + 1] - c->start[b] != n) return false;
  for (int32_t i = 0; i < n; i++) {
    const choice_variant *v = &c->variant[c->start[a] + i], *w = &c->variant[c->start[b] + i];
    if (v->time_ns != w->time_ns || v->size_bytes != w->size_bytes) return false;
  }
  return true;
}

/* Picks for the layers from rank i on, after picks of these sums. */
static choice_answer branch(question *q, int32_t i, sums before) {
  stage_choice *c = q->c;
  if (before.ns + c->rest_ns[i] > q->limit.ns || before.bytes + c->rest_bytes[i] > q->limit.bytes ||
      weigh(q, before.ns, before.bytes) + c->rest[i] > q->max_weight)
    return CHOICE_NONE;
  if (i == c->n) return CHOICE_FOUND;
  if (++q->n_nodes > MAX_NODES) return CHOICE_GAVE_UP;
  int32_t v = c->rank[i].layer, n = c->start[v + 1] - c->start[v];
  int32_t first = i > 0 && are_alike(c, v, c->rank[i - 1].layer) ? c->pick[c->rank[i - 1].layer] : 0;
  for (int32_t k = first; k < n; k++) {
    const choice_variant *variant = &c->variant[c->start[v] + k];
    c->pick[v] = k;
    choice_answer answer = branch(q, i + 1, (sums){before.ns + variant->time_ns, before.bytes + variant->size_bytes});
    if (answer != CHOICE_NONE) return answer;
  }
  return CHOICE_NONE;
}

choice_answer stage_choice_find(stage_choice *c, int64_t n_kept, int64_t max_ns, int64_t memory_bytes) {
  question q = {.c = c, .limit = {.ns = max_ns, .bytes = memory_bytes}, .weights = {.ns = 1}};
  for (int32_t w = c->start[0]; w < c->start[c->n]; w++) /* what is too large is so by a byte */
    c->variant[w].size_bytes =
        min64(sat_add(sat_mul(n_kept, c->variant[w].kept_bytes), c->variant[w].fixed_bytes), memory_bytes + 1);
  sums fast = take_lightest(&q);
  if (fast.ns > max_ns) return CHOICE_NONE;
  if (fits(&q, fast)) return CHOICE_FOUND;
  q.weights = (sums){.bytes = 1};
  sums small = take_lightest(&q);
  if (small.bytes > memory_bytes) return CHOICE_NONE;
  if (fits(&q, small)) return CHOICE_FOUND;
  choice_answer answer = find_weights(&q, fast, small);
  if (answer != CHOICE_GAVE_UP) return answer;
  rank_layers(&q);
  return branch(&q, 0, (sums){0});
}
