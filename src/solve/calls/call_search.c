/* Simulated annealing of which operators become calls on which accelerator. A move takes an interval of a depth-first
 * topological order (a piece of a branch, a block, or a single operator), or only those of its operators that are on
 * one device, to another device. The calls simulator judges. Starts are the best plan so far, the split that linear_dp
 * makes for a pipeline, and all on the host. docs/theory/search.md. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "graph/topological.h"
#include "solve/common/repair.h"
#include "solve/common/search.h"

enum { ORDERS = 4 };

enum { SHARE = N_SEARCH_CYCLES, N_PARAMETERS };
static const solver_parameter CALL_SEARCH_PARAMETERS[N_PARAMETERS] = {
    SEARCH_CYCLES(2000, 1 << 17, 0.05, 0.0005),
    [SHARE] = {"share", 0.25, 0, 1, "part of the budget for the split of a pipeline to start from"},
};

typedef struct calls_search {
  search base;
  int32_t *order[ORDERS];
  int32_t *now, *trial;
} calls_search;

/* Makes a random neighbour of `now` in `trial`. False when nothing changes. */
static bool call_search_propose(search *s, int32_t i) {
  calls_search *x = (calls_search *)s;
  int32_t n = s->problem->n_operators;
  memcpy(x->trial, x->now, (size_t)n * sizeof *x->trial);
  const int32_t *order = x->order[search_draw(s, ORDERS)];
  int32_t length = 1, first = search_draw(s, n);
  while (length < n && search_draw(s, 4) != 0) length *= 2;
  length = 1 + search_draw(s, length < n ? length : n);
  if (first + length > n) length = n - first;
  int32_t from = search_draw(s, 2) ? x->now[order[first]] : -1;
  int32_t to = search_draw(s, s->problem->n_devices);
  if (search_draw(s, 2)) { /* to the device of the interval's neighbour */
    int32_t beside = search_draw(s, 2) && first > 0 ? first - 1 : first + length < n ? first + length : first;
    to = x->now[order[beside]];
  }
  bool changed = false;
  for (int32_t k = first; k < first + length; k++) {
    int32_t v = order[k];
    if (x->trial[v] != to && (from < 0 || x->now[v] == from)) changed |= search_put(s, x->trial, v, to);
  }
  return changed;
}

static double call_search_evaluate(search *s, double below) {
  calls_search *x = (calls_search *)s;
  simulation found = solve_try(s->run, &(placement){.device = x->trial});
  return found.excess_bytes > 0 || found.value_ns == SITU_NEVER_NS ? SEARCH_NONE : (double)found.value_ns;
}

static void call_search_accept(search *s, double cost) {
  calls_search *x = (calls_search *)s;
  int32_t *swap = x->now;
  x->now = x->trial;
  x->trial = swap;
}

/* Whether some operator has a choice of devices. */
static bool can_move(const situ_problem *p) {
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t n = 0;
    for (int32_t d = 0; d < p->n_devices && n < 2; d++) n += problem_allows(p, v, d);
    if (n > 1) return true;
  }
  return false;
}

static situ_status call_search_init(search *s) {
  calls_search *x = (calls_search *)s;
  const situ_problem *p = s->problem;
  arena *a = s->run->arena;
  if (!ARENA_ARRAYS(a, ARRAY(x->now, p->n_operators), ARRAY(x->trial, p->n_operators)))
    return fail_no_memory(s->run->error);
  for (int32_t k = 0; k < ORDERS; k++) {
    x->order[k] = ARENA_NEW(a, int32_t, p->n_operators);
    if (!x->order[k]) return fail_no_memory(s->run->error);
    for (int32_t v = 0; v < p->n_operators; v++) x->order[k][v] = v;
    if (k > 0 && !topological_deep(x->order[k], p->graph, k > 1 ? &s->random : NULL, a))
      return fail_no_memory(s->run->error);
  }
  s->ended = !can_move(p);
  return SITU_STATUS_OK;
}

static bool call_search_begin(search *s, bool restart) {
  calls_search *x = (calls_search *)s;
  const incumbent *best = s->run->incumbent;
  if (restart) {
    memcpy(x->now, best->best.device, (size_t)s->problem->n_operators * sizeof *x->now);
    s->cost = (double)best->value_ns;
  }
  s->scale = (double)max64(best->value_ns, 1);
  return true;
}

/* Starts from the best split of the same graph as a pipeline. It is no failure if there is none. */
static situ_status call_search_start(solve_run *run) {
  const situ_problem *p = run->problem;
  if (solve_done(run)) return SITU_STATUS_OK;
  situ_problem pipeline;
  double set[N_PARAMETERS];
  search_parameters_get(set, run, CALL_SEARCH_PARAMETERS, N_PARAMETERS);
  problem_view_contiguous(&pipeline, p);
  incumbent split;
  situ_status status = solver_borrow(&split, &linear_dp_solver, &pipeline, run, set[SHARE], 0);
  if (status == SITU_STATUS_OK && split.best.device) repair_offer(run, &(placement){.device = split.best.device});
  incumbent_free(&split);
  return status;
}

static const search_row CALL_SEARCH = {
    .size = sizeof(calls_search),
    .rule = SEARCH_METROPOLIS,
    .growth = 2,
    .per_restart = 2,
    .fills = true,
    .parameters = CALL_SEARCH_PARAMETERS,
    .n_parameters = N_PARAMETERS,
    .init = call_search_init,
    .begin = call_search_begin,
    .propose = call_search_propose,
    .evaluate = call_search_evaluate,
    .accept = call_search_accept,
};

const solver call_search_solver = {
    .name = "call_search",
    .title = "simulated annealing of the calls on accelerators",
    .source = "",
    .models = MODEL_CALLS,
    .anytime = true,
    .multistart = true,
    .starts = {{&single_solver, 1}, {&greedy_solver, 1}},
    .start = call_search_start,
    .search = &CALL_SEARCH,
};
