#include "solve/stream/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "base/heap.h"
#include "graph/components.h"

enum { MOVING_PASSES = 20, SEARCHED = 5000 };

/* ---- communities ---- */

/* One level of aggregation: its nodes are the communities of the level before. */
typedef struct level {
  int32_t n;
  int32_t *start, *to; /* neighbours, without the node itself */
  double *weight, *strength;
  int32_t *size; /* number of strands */
} level;

typedef struct moving {
  const level *g;
  int32_t *label, *size;
  double *strength, *reach; /* [label]; reach: weight from the current node */
  int32_t *reached;
} moving;

static bool move_node(moving *s, int32_t x, double price, int32_t max_size) {
  const level *g = s->g;
  int32_t old = s->label[x], best = old, n = 0;
  for (int32_t i = g->start[x]; i < g->start[x + 1]; i++) {
    int32_t c = s->label[g->to[i]];
    if (s->reach[c] == 0) s->reached[n++] = c;
    s->reach[c] += g->weight[i];
  }
  s->strength[old] -= g->strength[x];
  s->size[old] -= g->size[x];
  double gain = s->reach[old] - price * g->strength[x] * s->strength[old];
  for (int32_t k = 0; k < n; k++) {
    int32_t c = s->reached[k];
    double other = s->reach[c] - price * g->strength[x] * s->strength[c];
    bool better = other > gain + 1e-9 * g->strength[x];
    if (!better || s->size[c] + g->size[x] > max_size) continue;
    best = c;
    gain = other;
  }
  for (int32_t k = 0; k < n; k++) s->reach[s->reached[k]] = 0;
  s->label[x] = best;
  s->strength[best] += g->strength[x];
  s->size[best] += g->size[x];
  return best != old;
}

/* Local moving. Labels end as 0 .. n-1 in order of first node. Returns n, or -1 without memory. */
static int32_t move_all(int32_t *label, const level *g, double price, int32_t max_size, arena *a) {
  moving s = {.g = g, .label = label};
  s.size = ARENA_COPY(a, g->size, int32_t, g->n);
  s.strength = ARENA_COPY(a, g->strength, double, g->n);
  s.reach = ARENA_ZERO(a, double, g->n);
  s.reached = ARENA_NEW(a, int32_t, g->n);
  int32_t *number = ARENA_NEW(a, int32_t, g->n);
  if (!s.size || !s.strength || !s.reach || !s.reached || !number) return -1;
  for (int32_t x = 0; x < g->n; x++) label[x] = x;
  bool moved = true;
  for (int32_t pass = 0; pass < MOVING_PASSES && moved; pass++) {
    moved = false;
    for (int32_t x = 0; x < g->n; x++) moved |= move_node(&s, x, price, max_size);
  }
  return csr_number_keys(label, label, g->n, number, g->n);
}

/* Builds the level above: labels become nodes. */
static bool aggregate(level *out, const level *g, const int32_t *label, int32_t n, arena *a) {
  int32_t *first = ARENA_NEW(a, int32_t, n), *chain = ARENA_NEW(a, int32_t, g->n), *at = ARENA_NEW(a, int32_t, n);
  *out = (level){.n = n,
                 .start = ARENA_ZERO(a, int32_t, (int64_t)n + 1),
                 .to = ARENA_NEW(a, int32_t, g->start[g->n]),
                 .weight = ARENA_NEW(a, double, g->start[g->n]),
                 .strength = ARENA_ZERO(a, double, n),
                 .size = ARENA_ZERO(a, int32_t, n)};
  if (!first || !chain || !at || !out->start || !out->to || !out->weight || !out->strength || !out->size) return false;
  for (int32_t c = 0; c < n; c++) first[c] = at[c] = -1;
  for (int32_t x = g->n - 1; x >= 0; x--) {
    chain[x] = first[label[x]];
    first[label[x]] = x;
    out->strength[label[x]] += g->strength[x];
    out->size[label[x]] += g->size[x];
  }
  int32_t filled = 0;
  for (int32_t c = 0; c < n; c++) {
    out->start[c] = filled;
    for (int32_t x = first[c]; x >= 0; x = chain[x])
      for (int32_t i = g->start[x]; i < g->start[x + 1]; i++) {
        int32_t to = label[g->to[i]];
        if (to == c) continue;
        if (at[to] < out->start[c]) {
          at[to] = filled;
          out->to[filled] = to;
          out->weight[filled++] = 0;
        }
        out->weight[at[to]] += g->weight[i];
      }
  }
  out->start[n] = filled;
  return true;
}

int32_t modules_communities(int32_t *label, const strand_graph *u, double resolution, int32_t max_size, arena *a) {
  REQUIRE(max_size >= 1 && resolution >= 0);
  level g = {.n = u->n, .start = u->near_start, .to = u->near, .weight = u->weight, .strength = u->strength};
  int32_t *above;
  if (!ARENA_ARRAYS(a, ARRAY(g.size, u->n), ARRAY(above, u->n))) return -1;
  for (int32_t x = 0; x < u->n; x++) {
    g.size[x] = 1;
    label[x] = x;
  }
  double price = u->total > 0 ? resolution / u->total : 0;
  for (;;) {
    level next;
    int32_t n = move_all(above, &g, price, max_size, a);
    if (n < 0) return -1;
    for (int32_t x = 0; x < u->n; x++) label[x] = above[label[x]];
    if (n == g.n) return n;
    if (!aggregate(&next, &g, above, n, a)) return -1;
    g = next;
  }
}

/* ---- modules grown along edges ---- */

typedef struct growing {
  const strand_graph *g;
  int32_t *piece_of, *first, *last, *chain; /* [strand] its piece; [piece] its strands, chained */
  int32_t *size;                            /* [piece] number of strands */
  int32_t *seen, *stack, stamp;
} growing;

/* Whether a path leads from piece a through a third one to piece b, or the search for one is too long. */
static bool leads_around(growing *s, int32_t a, int32_t b) {
  const strand_graph *g = s->g;
  int32_t n = 0, searched = 0;
  s->stamp++;
  s->stack[n++] = a;
  s->seen[a] = s->stamp;
  while (n > 0) {
    int32_t piece = s->stack[--n];
    for (int32_t u = s->first[piece]; u >= 0; u = s->chain[u])
      for (int32_t i = g->next_start[u]; i < g->next_start[u + 1]; i++) {
        int32_t to = s->piece_of[g->next[i]];
        if (to == b && piece != a) return true;
        if (++searched > SEARCHED) return true;
        if (to == b || s->seen[to] == s->stamp) continue;
        s->seen[to] = s->stamp;
        s->stack[n++] = to;
      }
  }
  return false;
}

static void merge_pieces(growing *s, int32_t a, int32_t b) {
  for (int32_t u = s->first[b]; u >= 0; u = s->chain[u]) s->piece_of[u] = a;
  s->chain[s->last[a]] = s->first[b];
  s->last[a] = s->last[b];
  s->size[a] += s->size[b];
}

typedef struct heavy_edge {
  double weight;
  int32_t from, to;
} heavy_edge;

COMPARATOR(by_weight, heavy_edge, DOWN(weight) UP(from) UP(to))

/* Lists all directed edges, the heaviest first. Returns how many. */
static int32_t list_edges(heavy_edge *edges, const strand_graph *g) {
  int32_t n = 0;
  for (int32_t u = 0; u < g->n; u++)
    for (int32_t i = g->near_start[u]; i < g->near_start[u + 1]; i++)
      if (g->near[i] > u) edges[n++] = (heavy_edge){g->weight[i], u, g->near[i]};
  if (n > 0) qsort(edges, (size_t)n, sizeof *edges, by_weight);
  return n;
}

static bool start_growing(growing *s, const strand_graph *g, arena *a) {
  *s = (growing){.g = g};
  int32_t **arrays[] = {&s->piece_of, &s->first, &s->last, &s->chain, &s->size, &s->seen, &s->stack};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
    if (!(*arrays[i] = ARENA_ZERO(a, int32_t, g->n))) return false;
  for (int32_t u = 0; u < g->n; u++) {
    s->piece_of[u] = s->first[u] = s->last[u] = u;
    s->chain[u] = -1;
    s->size[u] = 1;
  }
  return true;
}

static bool grow(int32_t *label, const strand_graph *g, const int32_t *community, int32_t max_size, arena *a) {
  growing s;
  heavy_edge *edges = ARENA_NEW(a, heavy_edge, g->near_start[g->n]);
  if (!edges || !start_growing(&s, g, a)) return false;
  int32_t n = list_edges(edges, g);
  for (int32_t across = 0; across < 2; across++)
    for (int32_t i = 0; i < n; i++) {
      heavy_edge e = edges[i];
      int32_t x = s.piece_of[e.from], y = s.piece_of[e.to];
      if (x == y || (!across && community[e.from] != community[e.to]) || s.size[x] + s.size[y] > max_size) continue;
      if (!leads_around(&s, x, y)) merge_pieces(&s, x, y);
    }
  memcpy(label, s.piece_of, (size_t)g->n * sizeof *label);
  return true;
}

/* ---- segments of an order ---- */

/* F(j) = max over i of F(i) + W(i, j) - gamma K(i, j)^2 / 2 total, where W is the weight inside a segment and K its
 * strength. Strands with different `apart` are in different segments; NULL: no such constraint. */
static bool divide(int32_t *label, const strand_graph *g, const int32_t *order, const int32_t *apart,
                   const module_rules *rules, arena *a) {
  double *best;
  int32_t *from, *place;
  if (!ARENA_ARRAYS(a, ARRAY(best, (int64_t)g->n + 1), ARRAY(from, (int64_t)g->n + 1), ARRAY(place, g->n)))
    return false;
  for (int32_t k = 0; k < g->n; k++) place[order[k]] = k;
  best[0] = 0;
  double price = g->total > 0 ? rules->resolution / (2 * g->total) : 0;
  for (int32_t j = 1; j <= g->n; j++) {
    double inside = 0, strength = 0;
    from[j] = -1;
    for (int32_t i = j - 1; i >= 0 && j - i <= rules->max_size; i--) {
      int32_t u = order[i];
      if (apart && apart[u] != apart[order[j - 1]]) break;
      strength += g->strength[u];
      for (int32_t k = g->near_start[u]; k < g->near_start[u + 1]; k++)
        if (place[g->near[k]] > i && place[g->near[k]] < j) inside += g->weight[k];
      double value = best[i] + inside - price * strength * strength;
      if (from[j] >= 0 && value <= best[j]) continue;
      best[j] = value;
      from[j] = i;
    }
  }
  for (int32_t j = g->n; j > 0; j = from[j])
    for (int32_t i = from[j]; i < j; i++) label[order[i]] = from[j];
  return true;
}

/* ---- final steps of every method ---- */

/* The graph of labels: the strands of each, chained, and how many edges come in from other labels. */
typedef struct quotient {
  const strand_graph *g;
  int32_t n;
  int32_t *first, *chain, *waiting;
} quotient;

static bool quotient_find(quotient *q, const strand_graph *g, const int32_t *label, arena *a) {
  *q = (quotient){.g = g,
                  .n = g->n,
                  .first = ARENA_NEW(a, int32_t, g->n),
                  .chain = ARENA_NEW(a, int32_t, g->n),
                  .waiting = ARENA_ZERO(a, int32_t, g->n)};
  if (!q->first || !q->chain || !q->waiting) return false;
  for (int32_t c = 0; c < g->n; c++) q->first[c] = -1;
  for (int32_t u = g->n - 1; u >= 0; u--) {
    q->chain[u] = q->first[label[u]];
    q->first[label[u]] = u;
    for (int32_t i = g->next_start[u]; i < g->next_start[u + 1]; i++)
      q->waiting[label[g->next[i]]] += label[g->next[i]] != label[u];
  }
  return true;
}

/* Renumbers labels, whose quotient is acyclic, so that edges ascend, ties by first strand. *n: their number. */
static bool number_up(int32_t *label, const strand_graph *g, int32_t *n, arena *a) {
  quotient q;
  double *key = ARENA_NEW(a, double, g->n);
  int32_t *number = ARENA_NEW(a, int32_t, g->n);
  ready_heap ready = {.key = key, .at = ARENA_NEW(a, int32_t, (int64_t)g->n + 1)};
  if (!key || !number || !ready.at || !quotient_find(&q, g, label, a)) return false;
  for (int32_t c = 0; c < g->n; c++) {
    key[c] = -(double)q.first[c];
    if (q.first[c] >= 0 && q.waiting[c] == 0) heap_push(&ready, c);
  }
  *n = 0;
  while (ready.n > 0) {
    int32_t c = heap_pop(&ready);
    number[c] = (*n)++;
    for (int32_t u = q.first[c]; u >= 0; u = q.chain[u])
      for (int32_t i = g->next_start[u]; i < g->next_start[u + 1]; i++) {
        int32_t to = label[g->next[i]];
        if (to != c && --q.waiting[to] == 0) heap_push(&ready, to);
      }
  }
  for (int32_t u = 0; u < g->n; u++) label[u] = number[label[u]];
  return true;
}

/* Merges labels on a common cycle of the quotient. */
static bool merge_cycles(int32_t *label, const strand_graph *g, arena *a) {
  int32_t *start, *to, *component, n;
  if (!ARENA_ARRAYS(a, ZEROS(start, (int64_t)g->n + 2), ARRAY(to, g->next_start[g->n]), ARRAY(component, g->n)))
    return false;
  for (int32_t u = 0; u < g->n; u++) start[label[u] + 2] += g->next_start[u + 1] - g->next_start[u];
  csr_sum(start, g->n);
  for (int32_t u = 0; u < g->n; u++)
    for (int32_t i = g->next_start[u]; i < g->next_start[u + 1]; i++) to[csr_put(start, label[u])] = label[g->next[i]];
  if (!components_find(component, &n, start, to, g->n, a)) return false;
  for (int32_t u = 0; u < g->n; u++) label[u] = component[label[u]];
  return true;
}

/* Cuts labels that are too large along the order of numbers. The quotient stays acyclic: edges still ascend. */
static bool cut_to_size(int32_t *label, const strand_graph *g, const module_rules *rules, arena *a) {
  int32_t n, *start, *order, *whole;
  if (!number_up(label, g, &n, a) || !csr_by_key(&start, &order, label, g->n, n, a)) return false;
  if (!(whole = ARENA_COPY(a, label, int32_t, g->n))) return false;
  module_rules loose = *rules;
  loose.resolution = 0; /* labels that fit stay whole */
  return divide(label, g, order, whole, &loose, a);
}

bool modules_find(modules *out, const strand_graph *g, const module_rules *rules, arena *a) {
  REQUIRE(rules->max_size >= 1 && rules->resolution >= 0);
  REQUIRE(rules->way == MODULES_GROWN || (rules->order && contracts_permutation(rules->order, g->n)));
  *out = (modules){.of = ARENA_NEW(a, int32_t, g->n)};
  if (!out->of) return false;
  bool made = false;
  if (rules->way == MODULES_ORDERED) {
    made = divide(out->of, g, rules->order, NULL, rules, a);
  } else if (rules->way == MODULES_MERGED) {
    made = modules_communities(out->of, g, rules->resolution, rules->max_size, a) >= 0 && merge_cycles(out->of, g, a) &&
           cut_to_size(out->of, g, rules, a);
  } else {
    int32_t *community = ARENA_NEW(a, int32_t, g->n);
    made = community && modules_communities(community, g, rules->resolution, g->n, a) >= 0 &&
           grow(out->of, g, community, rules->max_size, a);
  }
  if (!made || !number_up(out->of, g, &out->n, a) || !csr_by_key(&out->start, &out->strand, out->of, g->n, out->n, a))
    return false;
  CONTRACT(modules_check(out, g));
  return true;
}

const char *modules_check(const modules *m, const strand_graph *g) {
  EXPECT(contracts_within(m->of, g->n, 0, m->n), "every strand is in a module");
  EXPECT(contracts_lists(m->start, m->n, g->n), "start lists strands by module");
  for (int32_t k = 0; k < m->n; k++) {
    int32_t first = m->start[k], n = m->start[k + 1] - first;
    EXPECT(n > 0 && contracts_rise(m->strand + first, n), "no module is empty; strands ascend");
    for (int32_t i = first; i < first + n; i++) EXPECT(m->of[m->strand[i]] == k, "strands are of their module");
  }
  for (int32_t u = 0; u < g->n; u++)
    for (int32_t i = g->next_start[u]; i < g->next_start[u + 1]; i++)
      EXPECT(m->of[u] <= m->of[g->next[i]], "numbers of modules are topological");
  return NULL;
}
