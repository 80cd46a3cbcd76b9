/* pipedream: the dynamic program of PipeDream (Narayanan et al., SOSP 2019), which splits a chain of layers, as
 * Tarnawski et al. (NeurIPS 2020) apply it to any graph: parallel branches are merged until a chain remains.
 *
 * The units, each divided into its forward operators and the rest, form a graph. In every biconnected component of that
 * graph, taken as undirected, the units of all nodes with an outgoing edge within the component become one class: of a
 * fork, its branches and their join, all but the join. Then a linear order of these classes is split optimally
 * (order_split.h, which also says why it is no call of chain_dp). Branches off the chain leave the order open, so two
 * depth-first orders are tried, one from each end. The published code drops the edges of some nodes, given by number,
 * in two of its models; here no model is special. docs/theory/baselines/pipedream.md says where that shows. */
#include "base/disjoint.h"
#include "base/fail.h"
#include "solve/pipeline/order_split.h"
#include "solve/pipeline/orders.h"

/* The undirected graph: node 2u holds the forward operators of unit u, node 2u + 1 the others. */
typedef struct branches {
  int32_t n_nodes;
  int64_t n_edges;
  int32_t *tail, *head; /* [edge] */
  int64_t *start, *at;  /* edges of node v: at[start[v] .. start[v + 1]) */
  int32_t *parent;      /* [unit] of the forest of merged units */
} branches;

static bool find_edges(branches *b, const situ_problem *p, arena *a) {
  const situ_graph *g = p->graph;
  b->n_nodes = 2 * p->units.n;
  if (!ARENA_ARRAYS(a, ARRAY(b->tail, g->n_uses), ARRAY(b->head, g->n_uses), ZEROS(b->start, (int64_t)b->n_nodes + 2),
                    ARRAY(b->at, 2 * g->n_uses), ARRAY(b->parent, p->units.n)))
    return false;
  disjoint_init(b->parent, p->units.n);
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t u = g->producer[t], v = g->use[i];
      int32_t tail = 2 * p->units.of[u] + (g->phase[u] != SITU_PHASE_FORWARD);
      int32_t head = 2 * p->units.of[v] + (g->phase[v] != SITU_PHASE_FORWARD);
      if (tail == head) continue;
      b->tail[b->n_edges] = tail;
      b->head[b->n_edges++] = head;
      b->start[tail + 2]++;
      b->start[head + 2]++;
    }
  for (int32_t v = 0; v < b->n_nodes; v++) b->start[v + 2] += b->start[v + 1];
  for (int64_t e = 0; e < b->n_edges; e++) {
    b->at[b->start[b->tail[e] + 1]++] = e;
    b->at[b->start[b->head[e] + 1]++] = e;
  }
  return true;
}

/* Hopcroft and Tarjan's search (CACM 16, 1973) with an explicit stack. */
typedef struct pipedream_search {
  branches *b;
  int32_t *found, *low, *path, n_found, n_path;
  int64_t *next, *came_by; /* [node] the next edge to examine; the edge by which it was reached */
  int64_t *stack, n_stack; /* edges of incomplete components */
} pipedream_search;

static void enter(pipedream_search *s, int32_t v, int64_t by) {
  s->found[v] = s->low[v] = s->n_found++;
  s->next[v] = s->b->start[v];
  s->came_by[v] = by;
  s->path[s->n_path++] = v;
}

/* The edges on the stack down to `last` form one component. Merges the units of their tails. */
static void merge_tails(pipedream_search *s, int64_t last) {
  int32_t *parent = s->b->parent, root = disjoint_root(parent, s->b->tail[last] / 2);
  int64_t e;
  do {
    e = s->stack[--s->n_stack];
    parent[disjoint_root(parent, s->b->tail[e] / 2)] = root;
  } while (e != last);
}

static void look_at(pipedream_search *s, int32_t v, int64_t e) {
  if (e == s->came_by[v]) return;
  int32_t w = s->b->tail[e] == v ? s->b->head[e] : s->b->tail[e];
  if (s->found[w] < 0) {
    s->stack[s->n_stack++] = e;
    enter(s, w, e);
  } else if (s->found[w] < s->found[v]) {
    s->stack[s->n_stack++] = e;
    if (s->found[w] < s->low[v]) s->low[v] = s->found[w];
  }
}

static bool merge_branches(branches *b, arena *a) {
  pipedream_search s = {.b = b};
  int32_t n = b->n_nodes;
  if (!ARENA_ARRAYS(a, ARRAY(s.found, n), ARRAY(s.low, n), ARRAY(s.path, n), ARRAY(s.next, n), ARRAY(s.came_by, n),
                    ARRAY(s.stack, b->n_edges)))
    return false;
  for (int32_t v = 0; v < n; v++) s.found[v] = -1;
  for (int32_t root = 0; root < n; root++) {
    if (s.found[root] < 0) enter(&s, root, -1);
    while (s.n_path > 0) {
      int32_t v = s.path[s.n_path - 1];
      if (s.next[v] < b->start[v + 1]) {
        look_at(&s, v, b->at[s.next[v]++]);
        continue;
      }
      if (--s.n_path == 0) break;
      int32_t u = s.path[s.n_path - 1];
      if (s.low[v] >= s.found[u]) merge_tails(&s, s.came_by[v]);
      if (s.low[v] < s.low[u]) s.low[u] = s.low[v];
    }
  }
  return true;
}

static situ_status pipedream_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  arena *a = run->arena;
  contraction chain;
  branches b = {0};
  if (!find_edges(&b, p, a) || !merge_branches(&b, a)) return fail_no_memory(run->error);
  int32_t *key = ARENA_NEW(a, int32_t, p->n_operators);
  for (int32_t v = 0; key && v < p->n_operators; v++) key[v] = disjoint_root(b.parent, p->units.of[v]);
  if (!key || !contract_merged(&chain, p, key, p->units.n, true, a)) return fail_no_memory(run->error);
  int32_t *order = ARENA_NEW(a, int32_t, chain.n_classes);
  order_split *split = order_split_new(run, &chain);
  if (!order || !split || !order_published(order, &chain, p->graph, a)) return fail_no_memory(run->error);
  order_split_offer(split, order, NULL);
  order_maker maker;
  if (!order_maker_init(&maker, &chain.forward, a)) return fail_no_memory(run->error);
  order_make(&maker, order, &(order_style){.backward = true});
  order_split_offer(split, order, NULL);
  return SITU_STATUS_OK;
}

const solver pipedream_solver = {
    .name = "pipedream",
    .title = "merges branches, then splits the remaining chain optimally",
    .source = "Narayanan et al. (PipeDream), SOSP 2019",
    .models = MODEL_PIPELINE,
    .solve = pipedream_solve,
};
