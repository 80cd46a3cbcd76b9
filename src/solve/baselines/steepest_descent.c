/* The local search of the published evaluation (Tarnawski et al., NeurIPS 2020): from random placements of colocation
 * groups, fused where they reach each other, on the accelerators, the best move of one group, until none gains more
 * than 10 ns (1e-5 ms, as published). It has ten restarts, uses no host, and looks at neither memory nor contiguity.
 * Here a move is evaluated on pin counts (solve/pipeline/partition.h), there all loads are computed anew. */
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/pipeline/partition.h"
#include "view/contract.h"

enum { RESTARTS = 10, MIN_GAIN_NS = 10 };

/* A device for unit u, uniform among the accelerators, or where none may have it among all devices; -1 if none may. */
static int32_t draw(const hypergraph *h, int32_t u, rng *r) {
  const situ_problem *p = h->problem;
  for (int hosts = 0; hosts < 2; hosts++) {
    int32_t chosen = -1, seen = 0;
    for (int32_t d = 0; d < h->n_devices; d++)
      if (problem_is_host(p, d) == (hosts == 1) && partition_allows(h, u, d) && rng_below(r, ++seen) == 0) chosen = d;
    if (chosen >= 0) return chosen;
  }
  return -1;
}

/* The maximum load without devices a and b. */
static int64_t load_of_others(const partition *s, int32_t a, int32_t b) {
  int64_t max = 0;
  for (int32_t d = 0; d < s->h->n_devices; d++) {
    int64_t load = d == a || d == b ? 0 : partition_load(s, &s->sums[d]);
    if (load > max) max = load;
  }
  return max;
}

/* Makes the move after which the maximum load is smallest; false where that gains too little. */
static bool descend(partition *s) {
  const hypergraph *h = s->h;
  int64_t before = partition_period(s), best = before - MIN_GAIN_NS;
  int32_t unit = -1, to = -1;
  partition_change change = {0};
  for (int32_t from = 0; from < h->n_devices; from++) {
    for (int32_t d = 0; d < h->n_devices; d++) {
      int64_t others = d == from || problem_is_host(h->problem, d) ? before : load_of_others(s, from, d);
      if (others >= best) continue;
      for (int32_t i = 0; i < partition_n_units(s, from); i++) {
        int32_t u = partition_unit(s, from, i);
        if (!partition_allows(h, u, d)) continue;
        partition_change c;
        partition_weigh(s, u, d, &c);
        int64_t a = partition_load(s, &c.from), b = partition_load(s, &c.to), max = a > b ? a : b;
        if (others > max) max = others;
        if (max >= best) continue;
        best = max;
        unit = u;
        to = d;
        change = c;
      }
    }
  }
  if (unit >= 0) partition_move(s, unit, to, &change);
  return unit >= 0;
}

static situ_status steepest_descent_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  arena *a = run->arena;
  hypergraph units, h;
  contraction classes;
  partition s;
  int32_t *into = ARENA_NEW(a, int32_t, p->units.n), *device = ARENA_NEW(a, int32_t, p->n_operators);
  if (!into || !device || !hypergraph_find(&units, p, true, a) || !contract(&classes, p, true, a))
    return fail_no_memory(run->error);
  for (int32_t v = 0; v < p->n_operators; v++) into[units.unit_of[v]] = classes.class_of[v];
  if (p->n_operators == 0 || !hypergraph_fits(&units)) return SITU_STATUS_OK;
  if (!hypergraph_merge(&h, &units, into, classes.n_classes, a) || !partition_init(&s, &h, a))
    return fail_no_memory(run->error);
  rng r = rng_new(run->seed);
  int32_t *start = ARENA_NEW(a, int32_t, h.n_units);
  if (!start) return fail_no_memory(run->error);
  for (int32_t k = 0; k < RESTARTS && !solve_done(run); k++) {
    for (int32_t u = 0; u < h.n_units; u++)
      if ((start[u] = draw(&h, u, &r)) < 0) return SITU_STATUS_OK;
    partition_set(&s, start);
    while (descend(&s) && !budget_spend(run->budget, 1)) continue;
    for (int32_t v = 0; v < p->n_operators; v++) device[v] = s.device[h.unit_of[v]];
    solve_offer(run, &(placement){.device = device});
  }
  return SITU_STATUS_OK;
}

static bool steepest_descent_serves(const situ_problem *p) { return !p->contiguous && hypergraph_serves(p); }

const solver steepest_descent_solver = {
    .name = "steepest_descent",
    .title = "best single moves from ten random placements",
    .source = "Tarnawski et al., NeurIPS 2020",
    .models = MODEL_PIPELINE,
    .serves = steepest_descent_serves,
    .solve = steepest_descent_solve,
};
