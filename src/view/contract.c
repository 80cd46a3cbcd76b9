#include "view/contract.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "base/sort.h"
#include "graph/components.h"

/* ---- F between operators ---- */

/* The edge of F for the use of a tensor of `from` by `to`. False when there is none. */
static bool constrains(const situ_problem *p, const bool *unit_is_forward, int32_t *from, int32_t *to) {
  const situ_graph *g = p->graph;
  if (g->phase[*from] != g->phase[*to]) return false;
  if (g->phase[*to] != SITU_PHASE_BACKWARD) return g->phase[*to] == SITU_PHASE_FORWARD;
  if (unit_is_forward[p->units.of[*from]] && unit_is_forward[p->units.of[*to]]) return false;
  int32_t user = *to;
  *to = *from;
  *from = user;
  return true;
}

bool constraint_graph_find(constraint_graph *f, const situ_problem *p, arena *a) {
  const situ_graph *g = p->graph;
  bool *unit_is_forward = ARENA_ZERO(a, bool, p->units.n); /* one of its operators is a forward operator */
  *f = (constraint_graph){.n = g->n_operators, .start = ARENA_ZERO(a, int32_t, (int64_t)g->n_operators + 2)};
  if (!unit_is_forward || !f->start || g->n_uses > INT32_MAX) return false;
  for (int32_t v = 0; v < f->n; v++)
    if (g->phase[v] == SITU_PHASE_FORWARD) unit_is_forward[p->units.of[v]] = true;
  for (int32_t pass = 0; pass < 2; pass++) { /* counts, then fills */
    for (int32_t v = 0; v < f->n; v++) {
      for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
        int32_t from = g->producer[g->in[i]], to = v;
        if (!constrains(p, unit_is_forward, &from, &to)) continue;
        if (pass == 0)
          csr_count(f->start, from);
        else
          f->to[csr_put(f->start, from)] = to;
      }
    }
    if (pass == 1) break;
    csr_sum(f->start, f->n);
    if (!(f->to = ARENA_NEW(a, int32_t, f->start[f->n + 1]))) return false;
  }
  return true;
}

bool constraint_graph_reverse(constraint_graph *back, const constraint_graph *f, arena *a) {
  back->n = f->n;
  return csr_transpose(&back->start, &back->to, f->start, f->to, f->n, f->n, a);
}

int32_t constraint_graph_order(int32_t *order, const constraint_graph *f, arena *scratch) {
  int32_t *waiting = ARENA_ZERO(scratch, int32_t, f->n), n = 0;
  if (!waiting) return -1;
  for (int32_t i = 0; i < f->start[f->n]; i++) waiting[f->to[i]]++;
  for (int32_t k = 0; k < f->n; k++)
    if (waiting[k] == 0) order[n++] = k;
  for (int32_t done = 0; done < n; done++)
    for (int32_t i = f->start[order[done]]; i < f->start[order[done] + 1]; i++)
      if (--waiting[f->to[i]] == 0) order[n++] = f->to[i];
  return n;
}

void constraint_graph_list(int32_t *first_on, int32_t *next_on, const int32_t *device, int32_t n_operators,
                           int32_t n_devices) {
  for (int32_t d = 0; d < n_devices; d++) first_on[d] = -1;
  for (int32_t v = n_operators - 1; v >= 0; v--) {
    next_on[v] = first_on[device[v]];
    first_on[device[v]] = v;
  }
}

void constraint_graph_depths(int64_t *depth, const constraint_graph *f, const int32_t *device, const int32_t *order,
                             int32_t n, const int32_t *first_on, const int32_t *next_on, const int32_t *n_sharing) {
  for (int32_t i = n - 1; i >= 0; i--) {
    int32_t d = order[i];
    int64_t deepest = 0;
    for (int32_t v = first_on[d]; v >= 0; v = next_on[v])
      for (int32_t k = f->start[v]; k < f->start[v + 1]; k++)
        if (device[f->to[k]] != d) deepest = max64(deepest, depth[device[f->to[k]]]);
    depth[d] = n_sharing[d] + deepest;
  }
}

/* ---- classes ---- */

/* F between the classes of class_of, without self edges and duplicates. */
static bool merge_edges(constraint_graph *merged, const constraint_graph *f, const int32_t *class_of, int32_t n,
                        arena *a) {
  merged->n = n;
  if (!ARENA_ARRAYS(a, ZEROS(merged->start, (int64_t)n + 2), ARRAY(merged->to, f->start[f->n]))) return false;
  int32_t *start = merged->start, kept = 0;
  for (int32_t v = 0; v < f->n; v++)
    for (int32_t i = f->start[v]; i < f->start[v + 1]; i++)
      if (class_of[f->to[i]] != class_of[v]) csr_count(start, class_of[v]);
  csr_sum(start, n);
  for (int32_t v = 0; v < f->n; v++)
    for (int32_t i = f->start[v]; i < f->start[v + 1]; i++)
      if (class_of[f->to[i]] != class_of[v]) merged->to[csr_put(start, class_of[v])] = class_of[f->to[i]];
  for (int32_t c = 0, from = 0; c < n; c++) {
    int32_t end = start[c + 1], first = kept;
    sort32(merged->to + from, end - from);
    for (int32_t i = from; i < end; i++)
      if (kept == first || merged->to[kept - 1] != merged->to[i]) merged->to[kept++] = merged->to[i];
    start[c] = first;
    from = end;
  }
  start[n] = kept;
  return true;
}

bool contract_merged(contraction *c, const situ_problem *p, int32_t *key, int32_t n_keys, bool fuse, arena *a) {
  int32_t n = p->graph->n_operators, n_components;
  REQUIRE(contracts_within(key, n, 0, n_keys));
  constraint_graph f, grouped;
  unit_list classes;
  if (!constraint_graph_find(&f, p, a) || !unit_list_find(&classes, key, n, n_keys, a)) return false;
  if (fuse) {
    int32_t *component = ARENA_NEW(a, int32_t, classes.n);
    if (!component || !merge_edges(&grouped, &f, classes.of, classes.n, a) ||
        !components_find(component, &n_components, grouped.start, grouped.to, classes.n, a))
      return false;
    for (int32_t v = 0; v < n; v++) key[v] = component[classes.of[v]];
    if (!unit_list_find(&classes, key, n, n_components, a)) return false;
  }
  *c = (contraction){
      .n_classes = classes.n, .class_of = classes.of, .member_start = classes.start, .member = classes.member};
  if (!merge_edges(&c->forward, &f, c->class_of, c->n_classes, a)) return false;
  CONTRACT(contraction_check(c, n));
  return true;
}

bool contract(contraction *c, const situ_problem *p, bool fuse, arena *a) {
  int32_t *key = ARENA_COPY(a, p->units.of, int32_t, p->n_operators);
  return key && contract_merged(c, p, key, p->units.n, fuse, a);
}

void contraction_expand(const contraction *c, const int32_t *class_device, int32_t *device) {
  for (int32_t k = 0; k < c->n_classes; k++)
    for (int32_t i = c->member_start[k]; i < c->member_start[k + 1]; i++) device[c->member[i]] = class_device[k];
}

const char *contraction_check(const contraction *c, int32_t n_operators) {
  const constraint_graph *f = &c->forward;
  unit_list classes = {.n = c->n_classes, .of = c->class_of, .start = c->member_start, .member = c->member};
  EXPECT_CHECK(unit_list_check(&classes, n_operators));
  EXPECT(f->n == c->n_classes && contracts_lists(f->start, f->n, f->start[f->n]), "F has the classes as nodes");
  EXPECT(contracts_within(f->to, f->start[f->n], 0, f->n), "successors are classes");
  for (int32_t k = 0; k < f->n; k++)
    EXPECT(contracts_rise(f->to + f->start[k], f->start[k + 1] - f->start[k]), "successors ascend, none twice");
  return NULL;
}
