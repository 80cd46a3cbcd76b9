#include "solve/stream/matching.h"

#include "base/contracts.h"

/* Prices left[u], right[v] >= 0 with left[u] + right[v] >= weight, equal on matched edges. Unmatched right vertices,
 * and left vertices that were tried and stayed unmatched, have price 0. This proves that the matching has maximum
 * weight (Egervary). */
typedef struct label {
  int64_t distance;
  int32_t v;
} label;

typedef struct matching_search {
  const matching_graph *g;
  int32_t *mate, *mate_of_right;
  int64_t *left, *right;
  int32_t *from;       /* [right] the left vertex before it on the path */
  int64_t *distance;   /* [right] final where settled */
  int32_t *settled_in; /* [right] the last root that reached it */
  int32_t *settled, n_settled;
  label *heap; /* at most one entry for each edge of the tree */
  int64_t n_heap;
} matching_search;

static void push(matching_search *s, label entry) {
  int64_t at = s->n_heap++;
  for (; at > 0 && entry.distance < s->heap[(at - 1) / 2].distance; at = (at - 1) / 2)
    s->heap[at] = s->heap[(at - 1) / 2];
  s->heap[at] = entry;
}

static label pop(matching_search *s) {
  label top = s->heap[0], last = s->heap[--s->n_heap];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < s->n_heap; at = child) {
    if (child + 1 < s->n_heap && s->heap[child + 1].distance < s->heap[child].distance) child++;
    if (s->heap[child].distance >= last.distance) break;
    s->heap[at] = s->heap[child];
  }
  s->heap[at] = last;
  return top;
}

static void reach_from(matching_search *s, int32_t root, int32_t u, int64_t distance) {
  const matching_graph *g = s->g;
  for (int64_t i = g->start[u]; i < g->start[u + 1]; i++) {
    int32_t v = g->to[i];
    int64_t there = distance + s->left[u] + s->right[v] - g->weight[i];
    bool known = s->settled_in[v] == root || s->settled_in[v] == -2 - root;
    if (known && there >= s->distance[v]) continue;
    s->settled_in[v] = -2 - root; /* reached, not settled */
    s->distance[v] = there;
    s->from[v] = u;
    push(s, (label){there, v});
  }
}

/* Augments along the path from right vertex v back to the root: each left vertex on it changes its mate. */
static void augment(matching_search *s, int32_t root, int32_t v) {
  for (;;) {
    int32_t u = s->from[v], next = s->mate[u];
    s->mate[u] = v;
    s->mate_of_right[v] = u;
    if (u == root) return;
    v = next;
  }
}

/* Matches `root`, or finds a vertex that stays unmatched. */
static void add(matching_search *s, int32_t root) {
  int64_t length = s->left[root]; /* of the best way so far: the root stays unmatched */
  int32_t loser = root, winner = -1;
  s->n_heap = s->n_settled = 0;
  reach_from(s, root, root, 0);
  while (s->n_heap > 0) {
    label next = pop(s);
    if (next.distance >= length) break;
    if (s->settled_in[next.v] == root) continue;
    s->settled_in[next.v] = root;
    if (s->mate_of_right[next.v] < 0) {
      length = next.distance;
      winner = next.v;
      break;
    }
    s->settled[s->n_settled++] = next.v;
    int32_t u = s->mate_of_right[next.v];
    if (next.distance + s->left[u] < length) {
      length = next.distance + s->left[u];
      loser = u;
    }
    reach_from(s, root, u, next.distance);
  }
  s->left[root] -= length;
  for (int32_t i = 0; i < s->n_settled; i++) {
    int32_t v = s->settled[i];
    s->right[v] += length - s->distance[v];
    s->left[s->mate_of_right[v]] -= length - s->distance[v];
  }
  if (winner >= 0) {
    augment(s, root, winner);
  } else if (loser != root) {
    int32_t freed = s->mate[loser];
    s->mate[loser] = -1;
    augment(s, root, freed);
  }
}

bool matching_find(int32_t *mate, const matching_graph *g, arena *scratch) {
  REQUIRE(contracts_long_lists(g->start, g->n_left, g->start[g->n_left]));
  REQUIRE(contracts_within(g->to, g->start[g->n_left], 0, g->n_right) &&
          contracts_amounts(g->weight, g->start[g->n_left]));
  arena_mark mark = arena_get_mark(scratch);
  matching_search s = {.g = g, .mate = mate};
  bool room =
      ARENA_ARRAYS(scratch, ARRAY(s.mate_of_right, g->n_right), ZEROS(s.left, g->n_left), ZEROS(s.right, g->n_right),
                   ARRAY(s.from, g->n_right), ARRAY(s.distance, g->n_right), ARRAY(s.settled_in, g->n_right),
                   ARRAY(s.settled, g->n_right), ARRAY(s.heap, g->start[g->n_left] + 1));
  for (int32_t v = 0; room && v < g->n_right; v++) s.mate_of_right[v] = s.settled_in[v] = -1;
  for (int32_t u = 0; room && u < g->n_left; u++) {
    mate[u] = -1;
    for (int64_t i = g->start[u]; i < g->start[u + 1]; i++)
      if (g->weight[i] > s.left[u]) s.left[u] = g->weight[i];
  }
  for (int32_t u = 0; room && u < g->n_left; u++) add(&s, u);
  arena_release(scratch, mark);
  return room;
}
