/* m-SCT: small communication times with memory (Hanen, Munier, "An approximation algorithm for scheduling dependent
 * tasks on m processors with small communication delays", 1995; Jeon et al., "Baechi", SoCC 2020). A linear program
 * chooses for each operator a favourite consumer, which takes its output without a transfer. Then operators start as
 * early as possible, except that a device waits for a favourite (solve/stream/list.h).
 *
 * The program: minimise W over x of each edge (0: favourite, 1: the transfer is paid) and start times s with
 *     s_u + p_u + c_uv x_uv <= s_v,   s_u + p_u <= W,   0 <= x <= 1,
 *     sum over consumers v of (1 - x_uv) <= 1,   sum over producers u of (1 - x_uv) <= 1.
 * With unequal devices p is the minimum time of the operator, and c the minimum time of the transfer between two
 * devices. Operators in a chain form one node, and so do those of a unit that lead to one consumer in it (Baechi's
 * fusion). x is rounded by the maximum-weight matching on 1 - x, so that the last two kinds of rows hold. */
#include "base/compare.h"
#include "base/fail.h"
#include "lp/lp.h"
#include "solve/stream/baechi.h"

#ifdef SITU_LP

#include <math.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/csr.h"
#include "graph/neighbours.h"
#include "solve/stream/matching.h"
#include "solve/stream/rank.h"

enum {
  MAX_PIVOTS = 20000,
  MAX_EDGES = 50000, /* of the program; above this, no operator has a favourite */
  PARTS_OF_TIME = 8, /* one program gets this fraction of the time left */
  WHOLE = 1 << 30    /* weight in the matching for 1 - x = 1 */
};

/* An edge between two nodes of the program, and the largest of its tensors. */
typedef struct edge {
  int32_t from, to;           /* nodes */
  int32_t producer, consumer; /* operators */
  double transfer_ns, largest_ns;
} edge;

typedef struct favourites {
  const situ_problem *problem;
  int32_t *node; /* [operator] */
  int32_t n_nodes, n_edges;
  double *work_ns; /* [node] */
  edge *edges;     /* sorted by ends */
  double scale;    /* nanoseconds in a unit of time */
} favourites;

/* Finds the nodes. An operator with one consumer forms one node with it if that has no other producer, or is in the
 * same unit. No other path connects the two, so nodes form no cycle. */
static void find_nodes(favourites *x, const unit_list *units) {
  const situ_graph *g = x->problem->graph;
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    int32_t w = neighbours_only_user(g, v);
    bool one = w >= 0 && (neighbours_only_producer(g, w) == v || units->of[v] == units->of[w]);
    x->node[v] = one ? x->node[w] : x->n_nodes++;
  }
}

COMPARATOR(by_ends, edge, UP(from) UP(to) UP(producer) UP(consumer))

/* Merges edges between the same nodes: sums the cost of their tensors, and keeps the ends of the most expensive one. */
static void merge_edges(favourites *x) {
  int32_t n = 0;
  if (x->n_edges > 0) qsort(x->edges, (size_t)x->n_edges, sizeof *x->edges, by_ends);
  for (int32_t i = 0; i < x->n_edges; i++) {
    edge *last = &x->edges[n - 1], *next = &x->edges[i];
    if (n == 0 || last->from != next->from || last->to != next->to) {
      x->edges[n++] = *next;
      continue;
    }
    last->transfer_ns += next->transfer_ns;
    if (next->largest_ns <= last->largest_ns) continue;
    last->largest_ns = next->largest_ns;
    last->producer = next->producer;
    last->consumer = next->consumer;
  }
  x->n_edges = n;
}

static bool build(favourites *x, const situ_problem *p, const unit_list *units, arena *a) {
  const situ_graph *g = p->graph;
  rank_costs costs;
  *x = (favourites){.problem = p, .node = ARENA_NEW(a, int32_t, p->n_operators)};
  x->work_ns = ARENA_ZERO(a, double, p->n_operators);
  x->edges = ARENA_NEW(a, edge, g->n_uses);
  if (!x->node || !x->work_ns || !x->edges || !rank_costs_find(&costs, a, p, RANK_MIN)) return false;
  find_nodes(x, units);
  for (int32_t v = 0; v < g->n_operators; v++) {
    x->work_ns[x->node[v]] += costs.work[v];
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t w = g->use[i];
        if (x->node[w] == x->node[v]) continue;
        double c = costs.transfer[t];
        x->edges[x->n_edges++] = (edge){x->node[v], x->node[w], v, w, c, c};
      }
  }
  merge_edges(x);
  double all_ns = 0;
  for (int32_t k = 0; k < x->n_nodes; k++) all_ns += x->work_ns[k];
  x->scale = all_ns > 0 ? all_ns / 1000 : 1;
  return true;
}

/* ---- the linear program: columns x of edges, s of nodes, W ---- */

typedef struct rows {
  int32_t n, n_entries, *start, *column;
  double *coefficient, *lower, *upper;
} rows;

static void put(rows *r, int32_t column, double coefficient) {
  r->column[r->n_entries] = column;
  r->coefficient[r->n_entries++] = coefficient;
}

static void end_row(rows *r, double lower) {
  r->lower[r->n] = lower;
  r->upper[r->n++] = HUGE_VAL;
  r->start[r->n] = r->n_entries;
}

static void fill_rows(rows *r, const favourites *x, const int32_t *in_start, const int32_t *in_edge) {
  int32_t m = x->n_edges, n = x->n_nodes;
  for (int32_t e = 0; e < m; e++) { /* s_v - s_u - c x >= p_u */
    const edge *at = &x->edges[e];
    put(r, m + at->to, 1);
    put(r, m + at->from, -1);
    put(r, e, -at->transfer_ns / x->scale);
    end_row(r, x->work_ns[at->from] / x->scale);
  }
  for (int32_t e = 0, end; e < m; e = end) { /* one favourite consumer */
    for (end = e + 1; end < m && x->edges[end].from == x->edges[e].from;) end++;
    for (int32_t i = e; end - e > 1 && i < end; i++) put(r, i, 1);
    if (end - e > 1) end_row(r, end - e - 1);
  }
  for (int32_t k = 0; k < n; k++) {
    int32_t degree = in_start[k + 1] - in_start[k];
    if (degree < 2) continue;
    for (int32_t i = in_start[k]; i < in_start[k + 1]; i++) put(r, in_edge[i], 1);
    end_row(r, degree - 1);
  }
  for (int32_t k = 0, e = 0; k < n; k++) { /* W - s >= p, where nothing follows */
    bool last = e == m || x->edges[e].from != k;
    while (e < m && x->edges[e].from == k) e++;
    if (!last) continue;
    put(r, m + n, 1);
    put(r, m + k, -1);
    end_row(r, x->work_ns[k] / x->scale);
  }
}

static bool add_rows(lp *model, const favourites *x, arena *a) {
  int32_t m = x->n_edges, n = x->n_nodes, max = m + 3 * n;
  int64_t entries = 5 * (int64_t)m + 2 * (int64_t)n;
  rows r = {.start = ARENA_ZERO(a, int32_t, (int64_t)max + 1),
            .column = ARENA_NEW(a, int32_t, entries),
            .coefficient = ARENA_NEW(a, double, entries),
            .lower = ARENA_NEW(a, double, max),
            .upper = ARENA_NEW(a, double, max)};
  int32_t *in_start = ARENA_ZERO(a, int32_t, (int64_t)n + 2), *in_edge = ARENA_NEW(a, int32_t, m);
  if (!r.start || !r.column || !r.coefficient || !r.lower || !r.upper || !in_start || !in_edge) return false;
  for (int32_t e = 0; e < m; e++) csr_count(in_start, x->edges[e].to);
  csr_sum(in_start, n);
  for (int32_t e = 0; e < m; e++) in_edge[csr_put(in_start, x->edges[e].to)] = e;
  fill_rows(&r, x, in_start, in_edge);
  return lp_add_rows(model, r.n, r.start, r.column, r.coefficient, r.lower, r.upper);
}

static lp *make_model(const favourites *x, arena *a) {
  int32_t m = x->n_edges, n = x->n_nodes;
  double *cost, *lower, *upper;
  if (!ARENA_ARRAYS(a, ZEROS(cost, m + n + 1), ZEROS(lower, m + n + 1), ARRAY(upper, m + n + 1))) return NULL;
  for (int32_t i = 0; i <= m + n; i++) upper[i] = i < m ? 1 : HUGE_VAL;
  cost[m + n] = 1;
  lp *model = lp_new(m + n + 1, cost, lower, upper);
  if (!model || add_rows(model, x, a)) return model;
  lp_free(model);
  return NULL;
}

/* Rounds x to favourites: the maximum-weight matching on 1 - x; among equals, the one that saves the most transfer
 * time. */
static bool round_edges(int32_t *favourite, const favourites *x, const double *values, arena *a) {
  int32_t m = x->n_edges, n = x->n_nodes;
  double dearest = 1;
  int64_t *start, *weight;
  int32_t *to, *which, *mate;
  if (!ARENA_ARRAYS(a, ZEROS(start, (int64_t)n + 1), ARRAY(weight, m), ARRAY(to, m), ARRAY(which, m), ARRAY(mate, n)))
    return false;
  for (int32_t e = 0; e < m; e++) dearest = fmax(dearest, x->edges[e].transfer_ns);
  int32_t kept = 0, at = 0;
  for (int32_t k = 0; k < n; k++) {
    for (; at < m && x->edges[at].from == k; at++) {
      int64_t whole = sat_round((1 - fmin(fmax(values[at], 0), 1)) * WHOLE);
      if (whole < WHOLE / 1000) continue;
      weight[kept] = whole * 1024 + (int64_t)(x->edges[at].transfer_ns / dearest * 1023);
      to[kept] = x->edges[at].to;
      which[kept++] = at;
    }
    start[k + 1] = kept;
  }
  if (!matching_find(mate, &(matching_graph){n, n, start, to, weight}, a)) return false;
  for (int32_t k = 0; k < n; k++)
    for (int64_t i = start[k]; i < start[k + 1]; i++)
      if (to[i] == mate[k]) favourite[x->edges[which[i]].producer] = x->edges[which[i]].consumer;
  return true;
}

static double seconds_for(const budget *b) {
  if (b->deadline_ns == INT64_MAX) return 1e9; /* pivots are counted instead */
  return fmax(0.001, (double)(b->deadline_ns - clock_now_ns()) / (1e9 * PARTS_OF_TIME));
}

/* Finds the favourites of chains, then those that the program chooses. */
static situ_status find(int32_t *favourite, solve_run *run, const unit_list *units) {
  const situ_problem *p = run->problem;
  favourites x;
  if (!build(&x, p, units, run->arena)) return fail_no_memory(run->error);
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t w = neighbours_only_user(p->graph, v);
    favourite[v] = w >= 0 && x.node[v] == x.node[w] ? w : -1;
  }
  if (x.n_edges == 0 || x.n_edges > MAX_EDGES || lp_missing()) return SITU_STATUS_OK;
  lp *model = make_model(&x, run->arena);
  if (!model) return fail_no_memory(run->error);
  lp_begin_dual(model);
  lp_limit_pivots(model, MAX_PIVOTS);
  if (lp_solve(model, seconds_for(run->budget))) solve_count(run, "m_sct_programs_solved", 1);
  bool room = round_edges(favourite, &x, lp_values(model), run->arena);
  lp_free(model);
  return room ? SITU_STATUS_OK : fail_no_memory(run->error);
}

static situ_status m_sct_solve(solve_run *run) { return baechi_solve(run, find); }
#endif

const solver m_sct_solver = {
    .name = "m_sct",
    .title = "memory-aware small communication times: a device waits for its favourite",
    .source = "Hanen, Munier 1995; Jeon et al. (Baechi), SoCC 2020",
    .models = MODEL_STREAM,
#ifdef SITU_LP
    .solve = m_sct_solve,
#else
    .missing = "situ was built without the library Clp (coinor-libcbc-dev)",
#endif
};
