#include "graph/match.h"

#include <stdlib.h>
#include <string.h>

/* An operator by a hash of what is around it. */
typedef struct match_key {
  uint64_t hash;
  int32_t op;
} match_key;

static int compare_keys(const void *left, const void *right) {
  const match_key *a = left, *b = right;
  if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
  return (a->op > b->op) - (a->op < b->op);
}

typedef struct match_side {
  const situ_graph *graph;
  uint64_t *own, *before, *after; /* [operator] its kind and work; with all that it needs; with all that needs it */
  bool *taken;
  match_key *key;
  int32_t n_keys;
} match_side;

/* Sums do not depend on the order of neighbours. */
static void hash_structure(match_side *s) {
  const situ_graph *g = s->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    const char *kind = g->kind_name[g->kind[v]];
    uint64_t sum = 0;
    s->own[v] = hash_bytes(kind, strlen(kind), (uint64_t)g->flops[v]);
    s->own[v] = hash_number(hash_number(s->own[v], g->weight_bytes[v]), g->phase[v]);
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      sum += hash_number(s->before[g->producer[g->in[i]]], g->size_bytes[g->in[i]]);
    s->before[v] = hash_number(s->own[v], (int64_t)sum);
  }
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    uint64_t sum = 0;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        sum += hash_number(s->after[g->use[i]], g->size_bytes[t]);
    s->after[v] = hash_number(s->own[v], (int64_t)sum);
  }
}

static bool make_side(match_side *s, const situ_graph *g, arena *a) {
  int32_t n = g->n_operators;
  *s = (match_side){.graph = g};
  if (!ARENA_ARRAYS(a, ARRAY(s->own, n), ARRAY(s->before, n), ARRAY(s->after, n), ZEROS(s->taken, n), ARRAY(s->key, n)))
    return false;
  hash_structure(s);
  return true;
}

static void take(int32_t *other, match_side *mine, match_side *old, int32_t v, int32_t w) {
  other[v] = w;
  mine->taken[v] = old->taken[w] = true;
}

/* `alike`: only where kind and work are the same; else where the kind is. */
static void match_names(int32_t *other, match_side *mine, match_side *old, bool alike) {
  const situ_graph *g = mine->graph, *o = old->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t w = mine->taken[v] ? -1 : situ_graph_find(o, g->name[v]);
    if (w < 0 || old->taken[w]) continue;
    bool same = alike ? mine->own[v] == old->own[w] : strcmp(g->kind_name[g->kind[v]], o->kind_name[o->kind[w]]) == 0;
    if (same) take(other, mine, old, v, w);
  }
}

static void list_keys(match_side *s, bool before, bool after) {
  s->n_keys = 0;
  for (int32_t v = 0; v < s->graph->n_operators; v++) {
    if (s->taken[v]) continue;
    uint64_t hash = hash_number(before ? s->before[v] : 0, (int64_t)(after ? s->after[v] : 0));
    s->key[s->n_keys++] = (match_key){hash, v};
  }
  if (s->n_keys > 1) qsort(s->key, (size_t)s->n_keys, sizeof *s->key, compare_keys);
}

static void match_structure(int32_t *other, match_side *mine, match_side *old, bool before, bool after) {
  list_keys(mine, before, after);
  list_keys(old, before, after);
  for (int32_t i = 0, k = 0; i < mine->n_keys && k < old->n_keys;) {
    if (mine->key[i].hash == old->key[k].hash)
      take(other, mine, old, mine->key[i++].op, old->key[k++].op);
    else if (mine->key[i].hash < old->key[k].hash)
      i++;
    else
      k++;
  }
}

bool graph_match(int32_t *other, const situ_graph *graph, const situ_graph *old, arena *scratch) {
  match_side mine, theirs;
  if (!make_side(&mine, graph, scratch) || !make_side(&theirs, old, scratch)) return false;
  for (int32_t v = 0; v < graph->n_operators; v++) other[v] = -1;
  match_names(other, &mine, &theirs, true);
  match_structure(other, &mine, &theirs, true, true);
  match_structure(other, &mine, &theirs, true, false);
  match_structure(other, &mine, &theirs, false, true);
  match_names(other, &mine, &theirs, false);
  return true;
}
