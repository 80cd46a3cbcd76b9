#include "report/chart.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/sort.h"
#include "report/report.h"

/* The parts with most work get column 0, the others -1. */
static bool choose_parts(chart *c, const situ_explanation *why, arena *a) {
  keyed *rank = ARENA_NEW(a, keyed, c->n);
  if (!rank) return false;
  for (int32_t k = 0; k < c->n; k++) {
    rank[k] = (keyed){-situ_explanation_part(why, k).work_ns, k};
    c->column[k] = -1;
  }
  sort_keyed(rank, c->n);
  for (int32_t k = 0; k < c->n && k < CHART_PARTS; k++) c->column[rank[k].at] = 0;
  return true;
}

static int by_ends(const void *a, const void *b) {
  const chart_edge *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

/* What each part hands to each other. */
static bool find_edges(chart *c, const situ_explanation *why, const situ_problem *p, arena *a) {
  const situ_graph *g = p->graph;
  int32_t *seen = ARENA_NEW(a, int32_t, c->n), n = 0;
  chart_edge *all = c->edges = ARENA_NEW(a, chart_edge, g->n_uses);
  if (!seen || !all) return false;
  for (int32_t k = 0; k < c->n; k++) seen[k] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = situ_explanation_part_of(why, g->producer[t]);
    if (problem_is_everywhere(p, t) || c->column[from] < 0) continue;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = situ_explanation_part_of(why, g->use[i]);
      if (to == from || seen[to] == t || c->column[to] < 0) continue;
      seen[to] = t;
      all[n++] = (chart_edge){from, to, 1, g->size_bytes[t]};
    }
  }
  if (n > 1) qsort(all, (size_t)n, sizeof *all, by_ends);
  for (int32_t i = 0; i < n; i++) {
    chart_edge *last = c->n_edges > 0 ? &all[c->n_edges - 1] : NULL;
    if (last && by_ends(last, &all[i]) == 0)
      *last = (chart_edge){last->from, last->to, last->n_tensors + 1, sat_add(last->bytes, all[i].bytes)};
    else
      all[c->n_edges++] = all[i];
  }
  return true;
}

/* Columns: each part after all parts that it reads from. Parts may depend on each other cyclically; then the earlier
 * one goes first. */
static bool find_columns(chart *c, arena *a) {
  int32_t *waits = ARENA_ZERO(a, int32_t, c->n), *ready = ARENA_NEW(a, int32_t, c->n),
          *first = ARENA_ZERO(a, int32_t, c->n + 1);
  bool *done = ARENA_ZERO(a, bool, c->n);
  int32_t n_ready = 0, next = 0;
  if (!waits || !ready || !first || !done) return false;
  for (int32_t i = 0; i < c->n_edges; i++) {
    first[c->edges[i].from + 1] = i + 1;
    waits[c->edges[i].to]++;
  }
  for (int32_t k = 0; k < c->n; k++) first[k + 1] = first[k + 1] > first[k] ? first[k + 1] : first[k];
  for (int32_t k = c->n - 1; k >= 0; k--)
    if (waits[k] == 0) ready[n_ready++] = k;
  for (int32_t left = c->n; left > 0; left--) {
    while (n_ready == 0 && done[next]) next++;
    int32_t k = n_ready > 0 ? ready[--n_ready] : next;
    done[k] = true;
    for (int32_t i = first[k]; i < first[k + 1]; i++) {
      int32_t to = c->edges[i].to;
      if (done[to]) continue;
      if (c->column[to] <= c->column[k]) c->column[to] = c->column[k] + 1;
      if (--waits[to] == 0) ready[n_ready++] = to;
    }
  }
  return true;
}

/* A free row for each part in its column, and the lanes of the devices that have parts. */
static bool place_parts(chart *c, const situ_explanation *why, const situ_problem *p, arena *a) {
  int32_t *first, *taken;
  for (int32_t k = 0; k < c->n; k++) c->n_columns = c->column[k] >= c->n_columns ? c->column[k] + 1 : c->n_columns;
  if (!ARENA_ARRAYS(a, ARRAY(first, p->n_devices), ZEROS(taken, (int64_t)p->n_devices * c->n_columns),
                    ARRAY(c->lane, p->n_devices), ZEROS(c->rows, p->n_devices)))
    return false;
  for (int32_t d = 0; d < p->n_devices; d++) first[d] = INT32_MAX;
  for (int32_t k = 0; k < c->n; k++) {
    int32_t d = situ_explanation_part(why, k).device, column = c->column[k];
    if (column < 0) continue;
    c->row[k] = taken[(int64_t)d * c->n_columns + column]++;
    c->rows[d] = c->row[k] >= c->rows[d] ? c->row[k] + 1 : c->rows[d];
    first[d] = column < first[d] ? column : first[d];
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t at = c->n_lanes;
    if (c->rows[d] == 0) continue;
    for (; p->execution == SITU_EXECUTION_PIPELINE && at > 0 && first[c->lane[at - 1]] > first[d]; at--)
      c->lane[at] = c->lane[at - 1];
    c->lane[at] = d;
    c->n_lanes++;
  }
  return true;
}

bool chart_find(chart *out, const situ_explanation *why, const situ_plan *plan, arena *a) {
  const situ_problem *p = plan->problem;
  *out = (chart){.n = report_explanation(why).n_parts};
  return ARENA_ARRAYS(a, ZEROS(out->column, out->n), ZEROS(out->row, out->n)) && choose_parts(out, why, a) &&
         find_edges(out, why, p, a) && find_columns(out, a) && place_parts(out, why, p, a);
}
