/* CPOP: the operators of one critical path all on the device that runs them fastest, the others where they end first,
 * in order of upward plus downward rank (Topcuoglu, Hariri, Wu, TPDS 2002). */
#include <math.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/stream/list.h"
#include "solve/stream/rank.h"

/* Ranks are floating-point sums; they count as equal within this relative difference. */
static const double EQUAL = 1e-9;

/* Marks the critical path: from the entry of maximum rank, always on to a user of the same rank. Their entries in
 * forced[] become `onto`. */
static void mark_path(int32_t *forced, const situ_problem *p, const double *rank, int32_t onto) {
  const situ_graph *g = p->graph;
  int32_t at = -1;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (g->in_start[v] == g->in_start[v + 1] && (at < 0 || rank[v] > rank[at])) at = v;
  while (at >= 0) {
    forced[at] = onto;
    int32_t next = -1;
    for (int32_t t = g->out_start[at]; t < g->out_start[at + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t x = g->use[i];
        bool same = fabs(rank[x] - rank[at]) <= EQUAL * rank[at];
        if (same && (next < 0 || rank[x] > rank[next])) next = x;
      }
    at = next;
  }
}

/* The device that runs the whole path in minimum time, or most of it where none can run it all. */
static int32_t path_device(const situ_problem *p, const int32_t *forced) {
  int64_t best_time = SITU_NEVER_NS;
  int32_t best = -1, best_served = -1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t time = 0;
    int32_t served = 0;
    for (int32_t v = 0; v < p->n_operators; v++) {
      if (forced[v] < 0 || !problem_allows(p, v, d)) continue;
      time = sat_add(time, problem_time_ns(p, v, d));
      served++;
    }
    if (served < best_served || (served == best_served && time >= best_time)) continue;
    best = d;
    best_time = time;
    best_served = served;
  }
  return best;
}

static situ_status cpop_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  int32_t n = p->n_operators;
  double *up = ARENA_NEW(run->arena, double, n), *down = ARENA_NEW(run->arena, double, n);
  int32_t *forced = ARENA_NEW(run->arena, int32_t, n);
  rank_costs costs;
  partial_schedule s;
  if (!up || !down || !forced || !partial_init(&s, p, run->arena) || !rank_costs_find(&costs, run->arena, p, RANK_MEAN))
    return fail_no_memory(run->error);
  rank_upward(up, p, &costs);
  rank_downward(down, p, &costs);
  for (int32_t v = 0; v < n; v++) {
    up[v] += down[v];
    forced[v] = -1;
  }
  mark_path(forced, p, up, 0);
  int32_t device = path_device(p, forced);
  mark_path(forced, p, up, device);
  if (list_schedule(&s, &(list_policy){.priority = up, .forced = forced}, run->budget, run->arena)) list_offer(run, &s);
  return SITU_STATUS_OK;
}

const solver cpop_solver = {
    .name = "cpop",
    .title = "critical path on a processor",
    .source = "Topcuoglu, Hariri, Wu, TPDS 2002",
    .models = MODEL_STREAM,
    .solve = cpop_solve,
};
