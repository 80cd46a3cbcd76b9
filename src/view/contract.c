#include "view/contract.h"

#include <stdlib.h>
#include <string.h>

/* ---- F between operators ---- */

/* The edge of F that the use of a tensor of `from` by `to` gives; false when it gives none. */
static bool constrains(const situ_problem *p, const bool *unit_is_forward, int32_t *from, int32_t *to) {
  const situ_graph *g = p->graph;
  if (g->phase[*from] != g->phase[*to] || g->phase[*to] == SITU_PHASE_UPDATE) return false;
  if (g->phase[*to] == SITU_PHASE_FORWARD) return true;
  if (unit_is_forward[p->units.of[*from]] && unit_is_forward[p->units.of[*to]]) return false;
  int32_t user = *to;
  *to = *from;
  *from = user;
  return true;
}

bool constraint_graph_find(constraint_graph *f, const situ_problem *p, arena *a) {
  const situ_graph *g = p->graph;
  bool *unit_is_forward = ARENA_ZERO(a, bool, p->units.n); /* some operator of it is */
  f->n = g->n_operators;
  f->start = ARENA_ZERO(a, int64_t, (int64_t)f->n + 2);
  f->to = NULL;
  if (!unit_is_forward || !f->start) return false;
  for (int32_t v = 0; v < f->n; v++)
    if (g->phase[v] == SITU_PHASE_FORWARD) unit_is_forward[p->units.of[v]] = true;
  for (int32_t pass = 0; pass < 2; pass++) { /* counts, then fills */
    for (int32_t v = 0; v < f->n; v++) {
      for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
        int32_t from = g->producer[g->in[i]], to = v;
        if (!constrains(p, unit_is_forward, &from, &to)) continue;
        if (pass == 0)
          f->start[from + 2]++;
        else
          f->to[f->start[from + 1]++] = to;
      }
    }
    if (pass == 1) break;
    for (int32_t v = 0; v < f->n; v++) f->start[v + 2] += f->start[v + 1];
    if (!(f->to = ARENA_NEW(a, int32_t, f->start[f->n + 1]))) return false;
  }
  return true;
}

bool constraint_graph_reverse(constraint_graph *back, const constraint_graph *f, arena *a) {
  back->n = f->n;
  if (!ARENA_ARRAYS(a, ZEROS(back->start, (int64_t)f->n + 2), ARRAY(back->to, f->start[f->n]))) return false;
  for (int64_t i = 0; i < f->start[f->n]; i++) back->start[f->to[i] + 2]++;
  for (int32_t c = 0; c < f->n; c++) back->start[c + 2] += back->start[c + 1];
  for (int32_t c = 0; c < f->n; c++)
    for (int64_t i = f->start[c]; i < f->start[c + 1]; i++) back->to[back->start[f->to[i] + 1]++] = c;
  return true;
}

/* ---- classes ---- */

static int ascending(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* F between the classes that class_of gives: no self edges, no edge twice. */
static bool merge_edges(constraint_graph *merged, const constraint_graph *f, const int32_t *class_of, int32_t n,
                        arena *a) {
  merged->n = n;
  if (!ARENA_ARRAYS(a, ZEROS(merged->start, (int64_t)n + 2), ARRAY(merged->to, f->start[f->n]))) return false;
  int64_t *start = merged->start;
  for (int32_t v = 0; v < f->n; v++)
    for (int64_t i = f->start[v]; i < f->start[v + 1]; i++) start[class_of[v] + 2] += class_of[f->to[i]] != class_of[v];
  for (int32_t c = 0; c < n; c++) start[c + 2] += start[c + 1];
  for (int32_t v = 0; v < f->n; v++)
    for (int64_t i = f->start[v]; i < f->start[v + 1]; i++)
      if (class_of[f->to[i]] != class_of[v]) merged->to[start[class_of[v] + 1]++] = class_of[f->to[i]];
  int64_t kept = 0, from = 0;
  for (int32_t c = 0; c < n; c++) {
    int64_t end = start[c + 1], first = kept;
    qsort(merged->to + from, (size_t)(end - from), sizeof *merged->to, ascending);
    for (int64_t i = from; i < end; i++)
      if (kept == first || merged->to[kept - 1] != merged->to[i]) merged->to[kept++] = merged->to[i];
    start[c] = first;
    from = end;
  }
  start[n] = kept;
  return true;
}

/* Tarjan's strongly connected components (SIAM J. Comput. 1, 1972) with a stack of its own: component[v]. */
typedef struct component_search {
  const constraint_graph *f;
  int32_t *component, *found, *low, *stack, *path;
  int64_t *next;
  int32_t n_found, n_stack, n_path, n_components;
} component_search;

static void enter(component_search *s, int32_t v) {
  s->found[v] = s->low[v] = s->n_found++;
  s->next[v] = s->f->start[v];
  s->stack[s->n_stack++] = s->path[s->n_path++] = v;
}

static void leave(component_search *s, int32_t v) {
  if (--s->n_path > 0 && s->low[v] < s->low[s->path[s->n_path - 1]]) s->low[s->path[s->n_path - 1]] = s->low[v];
  if (s->low[v] != s->found[v]) return;
  int32_t w;
  do {
    w = s->stack[--s->n_stack];
    s->component[w] = s->n_components;
  } while (w != v);
  s->n_components++;
}

static bool find_components(int32_t *component, int32_t *n_components, const constraint_graph *f, arena *a) {
  component_search s = {.f = f, .component = component};
  if (!ARENA_ARRAYS(a, ARRAY(s.found, f->n), ARRAY(s.low, f->n), ARRAY(s.stack, f->n), ARRAY(s.path, f->n),
                    ARRAY(s.next, f->n)))
    return false;
  for (int32_t v = 0; v < f->n; v++) component[v] = s.found[v] = -1;
  for (int32_t root = 0; root < f->n; root++) {
    if (s.found[root] < 0) enter(&s, root);
    while (s.n_path > 0) {
      int32_t v = s.path[s.n_path - 1];
      if (s.next[v] == f->start[v + 1]) {
        leave(&s, v);
        continue;
      }
      int32_t w = f->to[s.next[v]++];
      if (s.found[w] < 0)
        enter(&s, w);
      else if (component[w] < 0 && s.found[w] < s.low[v])
        s.low[v] = s.found[w];
    }
  }
  *n_components = s.n_components;
  return true;
}

bool contract_merged(contraction *c, const situ_problem *p, int32_t *key, int32_t n_keys, bool fuse, arena *a) {
  int32_t n = p->graph->n_operators, n_components;
  constraint_graph f, grouped;
  unit_list classes;
  if (!constraint_graph_find(&f, p, a) || !unit_list_find(&classes, key, n, n_keys, a)) return false;
  if (fuse) {
    int32_t *component = ARENA_NEW(a, int32_t, classes.n);
    if (!component || !merge_edges(&grouped, &f, classes.of, classes.n, a) ||
        !find_components(component, &n_components, &grouped, a))
      return false;
    for (int32_t v = 0; v < n; v++) key[v] = component[classes.of[v]];
    if (!unit_list_find(&classes, key, n, n_components, a)) return false;
  }
  *c = (contraction){
      .n_classes = classes.n, .class_of = classes.of, .member_start = classes.start, .member = classes.member};
  return merge_edges(&c->forward, &f, c->class_of, c->n_classes, a);
}

bool contract(contraction *c, const situ_problem *p, bool fuse, arena *a) {
  int32_t *key = ARENA_COPY(a, p->units.of, int32_t, p->n_operators);
  return key && contract_merged(c, p, key, p->units.n, fuse, a);
}

void contraction_expand(const contraction *c, const int32_t *class_device, int32_t *device) {
  for (int32_t k = 0; k < c->n_classes; k++)
    for (int32_t i = c->member_start[k]; i < c->member_start[k + 1]; i++) device[c->member[i]] = class_device[k];
}
