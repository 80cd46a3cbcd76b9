/* Items: operators that no allowed plan parts. Colocation groups; and in a contiguous pipeline groups that lie on one
 * circle of the graph F of docs/model.md, since F with the devices merged must not have a cycle. The circles are
 * found by two searches (S. R. Kosaraju 1978, in Aho, Hopcroft, Ullman, Data Structures and Algorithms, 1983). Groups
 * are fewer than 2 * SITU_MAX_OPERATORS and edges at most SITU_MAX_USES, so int32_t counts them; times saturate. */
#include "base/checked.h"
#include "check/check_certificate.h"

/* A graph over groups as a list of edges by their origin. */
typedef struct group_graph {
  int64_t *start;
  int32_t *to;
} group_graph;

static int32_t group_of(const situ_graph *g, int32_t v) {
  return g->colocation[v] >= 0 ? g->colocation[v] : g->n_colocations + v;
}

/* Edges of F, or of F turned round; `forward` says which groups have a forward operator. */
static bool find_edges(group_graph *out, const situ_graph *g, const bool *forward, bool turned, arena *a) {
  int64_t n = (int64_t)g->n_colocations + g->n_operators;
  *out = (group_graph){.start = ARENA_ZERO(a, int64_t, n + 2), .to = ARENA_NEW(a, int32_t, g->n_uses)};
  if (!out->start || !out->to) return false;
  for (int pass = 0; pass < 2; pass++) { /* counts, then fills */
    for (int32_t t = 0; t < g->n_tensors; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t u = g->producer[t], w = g->use[i], from = group_of(g, u), to = group_of(g, w);
        if (g->phase[u] != g->phase[w] || g->phase[u] > SITU_PHASE_BACKWARD) continue;
        bool backward = g->phase[u] == SITU_PHASE_BACKWARD;
        if (backward && forward[from] && forward[to]) continue;
        if (backward != turned) {
          from = to;
          to = group_of(g, u);
        }
        if (pass == 0)
          out->start[from + 2]++;
        else
          out->to[out->start[from + 1]++] = to;
      }
    for (int64_t k = 0; k < n && pass == 0; k++) out->start[k + 2] += out->start[k + 1];
  }
  return true;
}

typedef struct walk {
  const group_graph *f;
  int32_t *label; /* [group] -1: not seen */
  int32_t *path;
  int64_t *next;
} walk;

/* Labels all that `root` reaches and that has no label; appends it to `done` in the order in which it is left. */
static void walk_from(walk *w, int32_t root, int32_t label, int32_t *done, int32_t *n_done) {
  int32_t depth = 0;
  if (w->label[root] >= 0) return;
  w->label[root] = label;
  w->next[root] = w->f->start[root];
  w->path[depth++] = root;
  while (depth > 0) {
    int32_t v = w->path[depth - 1];
    if (w->next[v] == w->f->start[v + 1]) {
      depth--;
      if (done) done[(*n_done)++] = v;
      continue;
    }
    int32_t x = w->f->to[w->next[v]++];
    if (w->label[x] >= 0) continue;
    w->label[x] = label;
    w->next[x] = w->f->start[x];
    w->path[depth++] = x;
  }
}

/* label[group]: equal for groups on one circle. */
static bool join_circles(int32_t *label, const situ_graph *g, arena *a) {
  int32_t n = g->n_colocations + g->n_operators, n_done = 0;
  bool *forward = ARENA_ZERO(a, bool, n);
  int32_t *done = ARENA_NEW(a, int32_t, n);
  walk w = {.label = label, .path = ARENA_NEW(a, int32_t, n), .next = ARENA_NEW(a, int64_t, n)};
  group_graph f, turned;
  if (!forward || !done || !w.path || !w.next) return false;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->phase[v] == SITU_PHASE_FORWARD) forward[group_of(g, v)] = true;
  if (!find_edges(&f, g, forward, false, a) || !find_edges(&turned, g, forward, true, a)) return false;
  for (int32_t k = 0; k < n; k++) label[k] = -1;
  w.f = &f;
  for (int32_t k = 0; k < n; k++) walk_from(&w, k, 0, done, &n_done);
  for (int32_t k = 0; k < n; k++) label[k] = -1;
  w.f = &turned;
  for (int32_t i = n - 1; i >= 0; i--) walk_from(&w, done[i], done[i], NULL, NULL);
  return true;
}

bool check_items_find(check_items *out, const judge *j) {
  const situ_graph *g = j->graph;
  arena *a = j->scratch;
  int32_t n = g->n_operators, n_groups = g->n_colocations + n;
  int32_t *label = ARENA_NEW(a, int32_t, n_groups), *number = ARENA_NEW(a, int32_t, n_groups);
  out->of = ARENA_NEW(a, int32_t, n);
  out->start = ARENA_ZERO(a, int32_t, (int64_t)n + 2);
  out->member = ARENA_NEW(a, int32_t, n);
  out->n = 0;
  if (!label || !number || !out->of || !out->start || !out->member) return false;
  for (int32_t k = 0; k < n_groups; k++) {
    label[k] = k;
    number[k] = -1;
  }
  bool contiguous = j->problem->execution == SITU_EXECUTION_PIPELINE && j->problem->contiguous;
  if (contiguous && !join_circles(label, g, a)) return false;
  for (int32_t v = 0; v < n; v++) {
    int32_t *item = &number[label[group_of(g, v)]];
    if (*item < 0) *item = out->n++;
    out->of[v] = *item;
    out->start[*item + 2]++;
  }
  for (int32_t i = 0; i < out->n; i++) out->start[i + 2] += out->start[i + 1];
  for (int32_t v = 0; v < n; v++) out->member[out->start[out->of[v] + 1]++] = v;
  return true;
}

/* Of group edges those between items. */
bool check_edges_find(check_edges *f, int32_t *order, const check_items *items, const judge *j) {
  const situ_graph *g = j->graph;
  int32_t n_groups = g->n_colocations + g->n_operators, n = 0;
  bool *forward = ARENA_ZERO(j->scratch, bool, n_groups);
  int32_t *item_of = ARENA_NEW(j->scratch, int32_t, n_groups), *waits = ARENA_ZERO(j->scratch, int32_t, items->n);
  group_graph all;
  *f = (check_edges){.start = ARENA_ZERO(j->scratch, int64_t, (int64_t)items->n + 2),
                     .to = ARENA_NEW(j->scratch, int32_t, g->n_uses)};
  if (!forward || !item_of || !waits || !f->start || !f->to) return false;
  for (int32_t k = 0; k < n_groups; k++) item_of[k] = -1; /* of no operator */
  for (int32_t v = 0; v < g->n_operators; v++) {
    item_of[group_of(g, v)] = items->of[v];
    forward[group_of(g, v)] |= g->phase[v] == SITU_PHASE_FORWARD;
  }
  if (!find_edges(&all, g, forward, false, j->scratch)) return false;
  for (int pass = 0; pass < 2; pass++) { /* counts, then fills */
    for (int32_t k = 0; k < n_groups; k++)
      for (int64_t e = all.start[k]; e < all.start[k + 1]; e++) {
        int32_t from = item_of[k], to = item_of[all.to[e]];
        if (from == to) continue;
        if (pass == 0) {
          f->start[from + 2]++;
          waits[to]++;
        } else
          f->to[f->start[from + 1]++] = to;
      }
    for (int32_t i = 0; i < items->n && pass == 0; i++) f->start[i + 2] += f->start[i + 1];
  }
  for (int32_t i = 0; i < items->n; i++)
    if (waits[i] == 0) order[n++] = i;
  for (int32_t done = 0; done < n; done++)
    for (int64_t e = f->start[order[done]]; e < f->start[order[done] + 1]; e++)
      if (--waits[f->to[e]] == 0) order[n++] = f->to[e];
  return true;
}

/* Whether a pipeline keeps tensor t for another phase, for each input in flight. */
bool check_is_stashed(const situ_graph *g, int32_t t) {
  bool later = false;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) later |= g->phase[g->use[i]] != SITU_PHASE_FORWARD;
  return later && g->phase[g->producer[t]] == SITU_PHASE_FORWARD;
}

int64_t check_held_bytes(const judge *j, int32_t v) {
  const situ_graph *g = j->graph;
  const situ_problem *p = j->problem;
  bool stashes = p->execution == SITU_EXECUTION_PIPELINE && !p->of_stream;
  int64_t sum = g->weight_bytes[v];
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1] && stashes; t++)
    if (check_is_stashed(g, t)) sum = sat_add(sum, sat_mul(p->in_flight, g->size_bytes[t]));
  return sum;
}

bool check_may_run(const judge *j, int32_t v, int32_t d) {
  const situ_problem *p = j->problem;
  if (judge_time_ns(j, v, d) == SITU_NEVER_NS) return false;
  return p->pin[v] >= 0 ? p->pin[v] == d : !p->unused[d];
}

int64_t check_item_time(const check_items *items, const judge *j, int32_t item, int32_t d) {
  int64_t sum = 0;
  for (int32_t i = items->start[item]; i < items->start[item + 1]; i++) {
    int32_t v = items->member[i];
    if (!check_may_run(j, v, d)) return SITU_NEVER_NS;
    sum = sat_add(sum, judge_time_ns(j, v, d));
  }
  return sum;
}
