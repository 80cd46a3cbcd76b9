#include "view/contract.h"

#include <stdlib.h>
#include <string.h>

#include "base/contracts.h"

/* ---- F between operators ---- */

static bool has_forward(const situ_graph *g, int32_t v, const bool *group_has_forward) {
  int32_t group = g->colocation[v];
  return group >= 0 ? group_has_forward[group] : g->phase[v] == SITU_PHASE_FORWARD;
}

/* The edge of F that the use of a tensor of `from` by `to` gives; false when it gives none. */
static bool constrains(const situ_graph *g, const bool *group_has_forward, int32_t *from, int32_t *to) {
  if (g->phase[*from] != g->phase[*to] || g->phase[*to] == SITU_PHASE_UPDATE) return false;
  if (g->phase[*to] == SITU_PHASE_FORWARD) return true;
  if (has_forward(g, *from, group_has_forward) && has_forward(g, *to, group_has_forward)) return false;
  int32_t user = *to;
  *to = *from;
  *from = user;
  return true;
}

bool constraint_graph_find(constraint_graph *f, const situ_problem *p, arena *a) {
  const situ_graph *g = p->graph;
  bool *group_has_forward = ARENA_ZERO(a, bool, g->n_colocations);
  f->n = g->n_operators;
  f->start = ARENA_ZERO(a, int64_t, (int64_t)f->n + 2);
  f->to = NULL;
  if (!group_has_forward || !f->start) return false;
  for (int32_t v = 0; v < f->n; v++)
    if (g->colocation[v] >= 0 && g->phase[v] == SITU_PHASE_FORWARD) group_has_forward[g->colocation[v]] = true;
  for (int32_t pass = 0; pass < 2; pass++) { /* counts, then fills */
    for (int32_t v = 0; v < f->n; v++) {
      for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
        int32_t from = g->producer[g->in[i]], to = v;
        if (!constrains(g, group_has_forward, &from, &to)) continue;
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

/* ---- classes ---- */

static int ascending(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* F between the classes that class_of gives: no self edges, no edge twice. */
static bool merge_edges(constraint_graph *merged, const constraint_graph *f, const int32_t *class_of, int32_t n,
                        arena *a) {
  merged->n = n;
  merged->start = ARENA_ZERO(a, int64_t, (int64_t)n + 2);
  merged->to = ARENA_NEW(a, int32_t, f->start[f->n]);
  if (!merged->start || !merged->to) return false;
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
  s.found = ARENA_NEW(a, int32_t, f->n);
  s.low = ARENA_NEW(a, int32_t, f->n);
  s.stack = ARENA_NEW(a, int32_t, f->n);
  s.path = ARENA_NEW(a, int32_t, f->n);
  s.next = ARENA_NEW(a, int64_t, f->n);
  if (!s.found || !s.low || !s.stack || !s.path || !s.next) return false;
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

/* Numbers classes in order of their first operator: class_of[v] becomes the number of key[v]. Keys are below n_keys. */
static int32_t number_classes(int32_t *class_of, const int32_t *key, int32_t n_operators, int32_t *number,
                              int32_t n_keys) {
  int32_t n = 0;
  for (int32_t k = 0; k < n_keys; k++) number[k] = -1;
  for (int32_t v = 0; v < n_operators; v++) {
    if (number[key[v]] < 0) number[key[v]] = n++;
    class_of[v] = number[key[v]];
  }
  return n;
}

static bool list_members(contraction *c, int32_t n_operators, arena *a) {
  c->member_start = ARENA_ZERO(a, int32_t, (int64_t)c->n_classes + 2);
  c->member = ARENA_NEW(a, int32_t, n_operators);
  if (!c->member_start || !c->member) return false;
  for (int32_t v = 0; v < n_operators; v++) c->member_start[c->class_of[v] + 2]++;
  for (int32_t k = 0; k < c->n_classes; k++) c->member_start[k + 2] += c->member_start[k + 1];
  for (int32_t v = 0; v < n_operators; v++) c->member[c->member_start[c->class_of[v] + 1]++] = v;
  return true;
}

bool contract_merged(contraction *c, const situ_problem *p, const int32_t *key, int32_t n_keys, bool fuse, arena *a) {
  int32_t n = p->graph->n_operators, n_components;
  REQUIRE(contracts_within(key, n, 0, n_keys));
  c->class_of = ARENA_NEW(a, int32_t, n);
  int32_t *number = ARENA_NEW(a, int32_t, n_keys > n ? n_keys : n);
  constraint_graph f, grouped;
  if (!c->class_of || !number || !constraint_graph_find(&f, p, a)) return false;
  c->n_classes = number_classes(c->class_of, key, n, number, n_keys);
  if (fuse) {
    int32_t *component = ARENA_NEW(a, int32_t, c->n_classes), *fused = ARENA_NEW(a, int32_t, n);
    if (!component || !fused || !merge_edges(&grouped, &f, c->class_of, c->n_classes, a) ||
        !find_components(component, &n_components, &grouped, a))
      return false;
    for (int32_t v = 0; v < n; v++) fused[v] = component[c->class_of[v]];
    c->n_classes = number_classes(c->class_of, fused, n, number, n_components);
  }
  if (!merge_edges(&c->forward, &f, c->class_of, c->n_classes, a) || !list_members(c, n, a)) return false;
  CONTRACT(contraction_check(c, n));
  return true;
}

bool contract(contraction *c, const situ_problem *p, bool fuse, arena *a) {
  const situ_graph *g = p->graph;
  int32_t n = g->n_operators, *key = ARENA_NEW(a, int32_t, n);
  if (!key) return false;
  for (int32_t v = 0; v < n; v++) key[v] = g->colocation[v] >= 0 ? n + g->colocation[v] : v;
  return contract_merged(c, p, key, n + g->n_colocations, fuse, a);
}

void contraction_expand(const contraction *c, const int32_t *class_device, int32_t *device) {
  for (int32_t k = 0; k < c->n_classes; k++)
    for (int32_t i = c->member_start[k]; i < c->member_start[k + 1]; i++) device[c->member[i]] = class_device[k];
}

const char *contraction_check(const contraction *c, int32_t n_operators) {
  const constraint_graph *f = &c->forward;
  int32_t opened = 0;
  EXPECT(contracts_within(c->class_of, n_operators, 0, c->n_classes), "every operator has a class");
  for (int32_t v = 0; v < n_operators; v++) {
    EXPECT(c->class_of[v] <= opened, "classes are numbered in order of their first operator");
    opened += c->class_of[v] == opened;
  }
  EXPECT(opened == c->n_classes, "no class is empty");
  EXPECT(contracts_lists(c->member_start, c->n_classes, n_operators), "member_start lists operators by class");
  for (int32_t k = 0; k < c->n_classes; k++) {
    int32_t first = c->member_start[k], n = c->member_start[k + 1] - first;
    EXPECT(contracts_rise(c->member + first, n), "members of a class ascend");
    for (int32_t i = first; i < first + n; i++) EXPECT(c->class_of[c->member[i]] == k, "members are of their class");
  }
  EXPECT(f->n == c->n_classes && contracts_long_lists(f->start, f->n, f->start[f->n]), "F has the classes as nodes");
  EXPECT(contracts_within(f->to, f->start[f->n], 0, f->n), "successors are classes");
  for (int32_t k = 0; k < f->n; k++)
    EXPECT(contracts_rise(f->to + f->start[k], f->start[k + 1] - f->start[k]), "successors ascend, none twice");
  return NULL;
}
