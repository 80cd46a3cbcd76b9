#include "solve/stream/rank.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>

/* Counts the ordered pairs of different devices for each kind of route; pairs that share a memory have kind 0. */
static bool count_pairs(double *pairs, const situ_problem *p) {
  double all = 0;
  for (int32_t a = 0; a < p->n_devices; a++)
    for (int32_t b = 0; b < p->n_devices; b++) {
      if (a == b || p->unused[a] || p->unused[b]) continue;
      pairs[p->device_kind[(int64_t)a * p->n_devices + b]]++;
      all++;
    }
  for (int32_t k = 0; k < p->n_kinds && all > 0; k++) pairs[k] /= all;
  return all > 0;
}

static double work_of(const situ_problem *p, const double *devices, int32_t v, rank_weight weight) {
  double sum = 0, squares = 0, min = HUGE_VAL, max = 0, n = 0;
  for (int32_t k = 0; k < p->n_classes; k++) {
    int64_t time = p->time_ns[(int64_t)v * p->n_classes + k];
    if (time == SITU_NEVER_NS || devices[k] == 0) continue;
    double w = (double)time;
    n += devices[k];
    sum += devices[k] * w;
    squares += devices[k] * w * w;
    if (w < min) min = w;
    if (w > max) max = w;
  }
  if (n == 0) return 0;
  if (weight == RANK_MIN) return min;
  if (weight == RANK_MAX) return max;
  double mean = sum / n;
  if (weight != RANK_SPREAD) return mean;
  double variance = squares / n - mean * mean;
  return mean + (variance > 0 ? sqrt(variance) : 0);
}

/* The mean transfer time of tensors of one row of the table. */
static double transfer_of(const situ_problem *p, const double *pairs, const int64_t *row, rank_weight weight) {
  if (weight == RANK_NO_TRANSFER) return 0;
  double sum = 0, min = HUGE_VAL, max = 0;
  for (int32_t k = 0; k < p->n_kinds; k++) {
    if (pairs[k] == 0) continue;
    double c = (double)row[k];
    sum += pairs[k] * c;
    if (c < min) min = c;
    if (c > max) max = c;
  }
  if (weight == RANK_MIN) return isinf(min) ? 0 : min;
  return weight == RANK_MAX ? max : sum;
}

bool rank_costs_find(rank_costs *out, arena *a, const situ_problem *p, rank_weight weight) {
  const situ_costs *c = p->costs;
  double *pairs, *devices, *of_row;
  if (!ARENA_ARRAYS(a, ARRAY(out->work, p->n_operators), ARRAY(out->transfer, p->graph->n_tensors),
                    ZEROS(pairs, p->n_kinds), ZEROS(devices, p->n_classes), ARRAY(of_row, c->n_rows)))
    return false;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (!p->unused[d]) devices[p->class_of[d]]++;
  for (int32_t v = 0; v < p->n_operators; v++) out->work[v] = work_of(p, devices, v, weight);
  bool several = count_pairs(pairs, p);
  for (int32_t r = 0; r < c->n_rows; r++)
    of_row[r] = several ? transfer_of(p, pairs, c->transfer_rows + (int64_t)r * c->n_kinds, weight) : 0;
  for (int32_t t = 0; t < p->graph->n_tensors; t++) out->transfer[t] = of_row[costs_row(c, t)];
  return true;
}

void rank_upward(double *rank, const situ_problem *p, const rank_costs *costs) {
  const situ_graph *g = p->graph;
  for (int32_t v = p->n_operators - 1; v >= 0; v--) {
    double max = 0;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        double way = costs->transfer[t] + rank[g->use[i]];
        if (way > max) max = way;
      }
    rank[v] = costs->work[v] + max;
  }
}

void rank_downward(double *rank, const situ_problem *p, const rank_costs *costs) {
  const situ_graph *g = p->graph;
  for (int32_t v = 0; v < p->n_operators; v++) {
    rank[v] = 0;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t t = g->in[i], u = g->producer[t];
      double way = rank[u] + costs->work[u] + costs->transfer[t];
      if (way > rank[v]) rank[v] = way;
    }
  }
}

typedef struct ranked {
  double rank;
  int32_t v;
} ranked;

COMPARATOR(by_rank, ranked, DOWN(rank) UP(v))

bool rank_order(int32_t *order, arena *scratch, const double *rank, int32_t n) {
  arena_mark mark = arena_get_mark(scratch);
  ranked *all = ARENA_NEW(scratch, ranked, n);
  if (!all) return false;
  for (int32_t v = 0; v < n; v++) all[v] = (ranked){rank[v], v};
  if (n > 0) qsort(all, (size_t)n, sizeof *all, by_rank);
  for (int32_t k = 0; k < n; k++) order[k] = all[k].v;
  arena_release(scratch, mark);
  return true;
}

void rank_tail(double *tail, const situ_problem *p, const int32_t *device) {
  const situ_graph *g = p->graph;
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    double longest = 0;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t w = g->use[i];
        double way = (double)problem_transfer_ns(p, t, device[v], device[w]) + tail[w];
        if (way > longest) longest = way;
      }
    tail[v] = longest + (double)problem_time_ns(p, v, device[v]);
  }
}
