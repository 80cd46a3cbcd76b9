#include "learn/hsdag_parsing.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "base/disjoint.h"

bool parse_graph_link(parse_graph *g, tape *t) {
  g->near_start = TAPE_NEW(t, int32_t, (int64_t)g->n + 2);
  g->near = TAPE_NEW(t, int32_t, 2 * (int64_t)g->n_edges);
  g->near_edge = TAPE_NEW(t, int32_t, 2 * (int64_t)g->n_edges);
  if (!g->near_start || !g->near || !g->near_edge) return false;
  memset(g->near_start, 0, ((size_t)g->n + 2) * sizeof *g->near_start);
  for (int32_t e = 0; e < g->n_edges; e++) {
    csr_count(g->near_start, g->from[e]);
    csr_count(g->near_start, g->to[e]);
  }
  csr_sum(g->near_start, g->n);
  for (int32_t e = 0; e < g->n_edges; e++)
    for (int32_t back = 0; back < 2; back++) {
      int32_t at = csr_put(g->near_start, back ? g->to[e] : g->from[e]);
      g->near[at] = back ? g->from[e] : g->to[e];
      g->near_edge[at] = e;
    }
  CONTRACT(parse_graph_check(g));
  return true;
}

/* The position in the near lists of the edge that node v follows, or -1. `ways` is the number of scores of an edge. */
static int32_t followed(const parse_graph *g, const nn_real *score, int32_t ways, int32_t v) {
  int32_t best = -1;
  nn_real max = 0;
  for (int32_t i = g->near_start[v]; i < g->near_start[v + 1]; i++) {
    if (g->class_of[g->near[i]] != g->class_of[v]) continue;
    int64_t e = g->near_edge[i];
    nn_real here = score[ways == 2 ? 2 * e + (g->to[e] == v) : e];
    if (best >= 0 && here <= max) continue;
    best = i;
    max = here;
  }
  return best;
}

static bool new_parsing(parsing *out, const parse_graph *g, int32_t ways, tape *t) {
  *out = (parsing){.cluster_of = TAPE_NEW(t, int32_t, g->n),
                   .member_start = TAPE_NEW(t, int64_t, (int64_t)g->n + 2),
                   .member = TAPE_NEW(t, int32_t, g->n),
                   .inside_start = TAPE_NEW(t, int64_t, (int64_t)g->n + 2),
                   .inside = TAPE_NEW(t, int32_t, (int64_t)ways * g->n_edges),
                   .is_inside = TAPE_NEW(t, bool, g->n_edges)};
  return out->cluster_of && out->member_start && out->member && out->inside_start && out->inside && out->is_inside;
}

static void list_members(parsing *p, int32_t n_nodes) {
  memset(p->member_start, 0, ((size_t)p->n + 2) * sizeof *p->member_start);
  for (int32_t v = 0; v < n_nodes; v++) p->member_start[p->cluster_of[v] + 2]++;
  for (int32_t c = 0; c < p->n; c++) p->member_start[c + 2] += p->member_start[c + 1];
  for (int32_t v = 0; v < n_nodes; v++) p->member[p->member_start[p->cluster_of[v] + 1]++] = v;
}

/* ---- one round of Boruvka's algorithm ---- */

static void list_inside(parsing *p, const parse_graph *g) {
  memset(p->inside_start, 0, ((size_t)p->n + 2) * sizeof *p->inside_start);
  for (int32_t e = 0; e < g->n_edges; e++) {
    int32_t c = p->cluster_of[g->from[e]];
    p->is_inside[e] = p->cluster_of[g->to[e]] == c;
    if (p->is_inside[e]) p->inside_start[c + 2]++;
  }
  for (int32_t c = 0; c < p->n; c++) p->inside_start[c + 2] += p->inside_start[c + 1];
  for (int32_t e = 0; e < g->n_edges; e++)
    if (p->is_inside[e]) p->inside[p->inside_start[p->cluster_of[g->from[e]] + 1]++] = e;
}

bool parse_level(parsing *out, const parse_graph *g, const nn_real *score, const nn_real *min, tape *t) {
  int32_t *into = TAPE_NEW(t, int32_t, g->n);
  if (!into || !new_parsing(out, g, 1, t)) return false;
  disjoint_init(into, g->n);
  for (int32_t v = 0; v < g->n; v++) {
    int32_t at = followed(g, score, 1, v);
    if (at >= 0 && (!min || score[g->near_edge[at]] > min[v]))
      disjoint_join(into, v, g->near[at]); /* the first node is the root */
  }
  out->n = disjoint_number(out->cluster_of, into, g->n);
  list_members(out, g->n);
  list_inside(out, g);
  CONTRACT(parsing_check(out, g));
  return true;
}

/* ---- the released procedure ---- */

typedef struct followed_edge {
  nn_real score;
  int32_t node, to;
} followed_edge;

COMPARATOR(by_score, followed_edge, DOWN(score) UP(node))

typedef struct grower {
  const parse_graph *g;
  parsing *out;
  int32_t *to;           /* [node] the node that it follows, or -1 */
  int32_t *heads, *next; /* [node] lists of a node's followers, ended by -1 */
  bool *left;            /* [node] whether its edge is still unexamined */
  int32_t *set, *stamp;  /* the nodes of the growing cluster; [node] the last cluster it was in */
  int64_t n_inside;
} grower;

static bool grower_init(grower *w, const parse_graph *g, parsing *out, tape *t) {
  *w = (grower){g,
                out,
                TAPE_NEW(t, int32_t, g->n),
                TAPE_NEW(t, int32_t, g->n),
                TAPE_NEW(t, int32_t, g->n),
                TAPE_NEW(t, bool, g->n),
                TAPE_NEW(t, int32_t, g->n),
                TAPE_NEW(t, int32_t, g->n),
                0};
  if (!w->to || !w->heads || !w->next || !w->left || !w->set || !w->stamp) return false;
  for (int32_t v = 0; v < g->n; v++) w->heads[v] = w->stamp[v] = -1;
  memset(out->is_inside, 0, (size_t)g->n_edges * sizeof *out->is_inside);
  return true;
}

/* Grows the cluster of the edge u -> v by all nodes that follow into it. */
static void grow(grower *w, int32_t u) {
  parsing *out = w->out;
  int32_t c = out->n++, n = 2, v = w->to[u];
  w->set[0] = u;
  w->set[1] = v;
  w->stamp[u] = w->stamp[v] = c;
  w->left[u] = false;
  for (int32_t i = 0; i < n; i++)
    for (int32_t x = w->heads[w->set[i]]; x >= 0; x = w->next[x]) {
      if (!w->left[x]) continue;
      w->left[x] = false;
      if (w->stamp[x] == c) continue; /* v itself */
      w->stamp[x] = c;
      w->set[n++] = x;
    }
  out->inside_start[c] = w->n_inside;
  for (int32_t i = 0; i < n; i++) {
    int32_t x = w->set[i];
    out->cluster_of[x] = c;
    for (int32_t k = w->g->near_start[x]; k < w->g->near_start[x + 1]; k++) {
      int32_t e = w->g->near_edge[k];
      if (w->g->from[e] != x || w->stamp[w->g->to[e]] != c) continue;
      out->is_inside[e] = true;
      out->inside[w->n_inside++] = 2 * e;
      out->inside[w->n_inside++] = 2 * e + 1;
    }
  }
  out->inside_start[c + 1] = w->n_inside;
}

bool parse_level_published(parsing *out, const parse_graph *g, const nn_real *score, tape *t) {
  grower w;
  followed_edge *sorted = TAPE_NEW(t, followed_edge, g->n);
  if (!sorted || !new_parsing(out, g, 2, t) || !grower_init(&w, g, out, t)) return false;
  int32_t n = 0;
  out->inside_start[0] = 0;
  for (int32_t v = 0; v < g->n; v++) {
    int32_t at = followed(g, score, 2, v);
    w.left[v] = at >= 0;
    if (at < 0) { /* a cluster of one */
      out->cluster_of[v] = out->n++;
      out->inside_start[out->n] = 0;
      continue;
    }
    int64_t e = g->near_edge[at];
    w.to[v] = g->near[at];
    w.next[v] = w.heads[w.to[v]];
    w.heads[w.to[v]] = v;
    sorted[n++] = (followed_edge){score[2 * e + (g->to[e] == v)], v, w.to[v]};
  }
  if (n > 1) qsort(sorted, (size_t)n, sizeof *sorted, by_score);
  for (int32_t i = 0; i < n; i++)
    if (w.left[sorted[i].node]) grow(&w, sorted[i].node);
  list_members(out, g->n);
  CONTRACT(parsing_check(out, g));
  return true;
}

/* ---- the coarser graph ---- */

bool parse_pool(parse_graph *out, const parse_graph *g, const parsing *p, tape *t) {
  int32_t *last = TAPE_NEW(t, int32_t, p->n);
  *out = (parse_graph){.n = p->n,
                       .from = TAPE_NEW(t, int32_t, g->n_edges),
                       .to = TAPE_NEW(t, int32_t, g->n_edges),
                       .class_of = TAPE_NEW(t, int32_t, p->n)};
  if (!last || !out->from || !out->to || !out->class_of) return false;
  for (int32_t c = 0; c < p->n; c++) last[c] = -1;
  for (int32_t c = 0; c < p->n; c++) {
    out->class_of[c] = g->class_of[p->member[p->member_start[c]]];
    for (int64_t i = p->member_start[c]; i < p->member_start[c + 1]; i++)
      for (int32_t k = g->near_start[p->member[i]]; k < g->near_start[p->member[i] + 1]; k++) {
        int32_t to = p->cluster_of[g->near[k]];
        if (to <= c || p->is_inside[g->near_edge[k]] || last[to] == c) continue;
        last[to] = c;
        out->from[out->n_edges] = c;
        out->to[out->n_edges++] = to;
      }
  }
  return parse_graph_link(out, t);
}

/* ---- contracts ---- */

const char *parse_graph_check(const parse_graph *g) {
  EXPECT(contracts_within(g->from, g->n_edges, 0, g->n) && contracts_within(g->to, g->n_edges, 0, g->n), "ends exist");
  for (int32_t e = 0; e < g->n_edges; e++) {
    EXPECT(g->from[e] < g->to[e], "edges go from the lower to the higher node");
    EXPECT(e == 0 || g->from[e - 1] <= g->from[e], "edges ascend by their lower node");
  }
  EXPECT(contracts_lists(g->near_start, g->n, 2 * (int64_t)g->n_edges), "near_start lists neighbours by node");
  EXPECT(contracts_within(g->near_edge, 2 * (int64_t)g->n_edges, 0, g->n_edges), "neighbours are over edges");
  for (int32_t v = 0; v < g->n; v++)
    for (int32_t i = g->near_start[v]; i < g->near_start[v + 1]; i++) {
      int32_t e = g->near_edge[i];
      EXPECT(g->near[i] == (g->from[e] == v ? g->to[e] : g->from[e]), "a neighbour is the other end of its edge");
      EXPECT(g->from[e] == v || g->to[e] == v, "edges near a node have it as an end");
    }
  return NULL;
}

const char *parsing_check(const parsing *p, const parse_graph *g) {
  EXPECT(contracts_within(p->cluster_of, g->n, 0, p->n), "every node is in a cluster");
  EXPECT(contracts_long_lists(p->member_start, p->n, g->n), "member_start lists nodes by cluster");
  EXPECT(contracts_long_lists(p->inside_start, p->n, p->inside_start[p->n]), "inside_start lists scores by cluster");
  for (int32_t c = 0; c < p->n; c++) {
    int64_t first = p->member_start[c], n = p->member_start[c + 1] - first;
    EXPECT(contracts_rise(p->member + first, n), "members ascend");
    for (int64_t i = first; i < first + n; i++) {
      EXPECT(p->cluster_of[p->member[i]] == c, "members are of their cluster");
      EXPECT(g->class_of[p->member[i]] == g->class_of[p->member[first]], "a cluster is of one class");
    }
  }
  return NULL;
}
