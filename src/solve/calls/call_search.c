/* Simulated annealing of which operators become calls on which accelerator. A move takes an interval of a depth-first
 * topological order (a piece of a branch, a block, or a single operator), or only those of its operators that are on
 * one device, to another device. The calls simulator judges. Starts are the best plan so far, the split that linear_dp
 * makes for a pipeline, and all on the host. docs/theory/heuristics/call_search.md. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "graph/topological.h"
#include "solve/common/repair.h"
#include "solve/common/solver.h"
#include "view/unit.h"

enum { ORDERS = 4, FIRST_CYCLE = 2000, LAST_CYCLE = 1 << 17 };
static const double HOT = 0.05, COLD = 0.0005;
static const double SPLIT_SHARE = 0.25; /* of the budget */

typedef struct calls_search {
  solve_run *run;
  const situ_problem *problem;
  rng random;
  int32_t *order[ORDERS];
  int32_t *now, *trial;
  int64_t value_ns;
} calls_search;

static bool call_search_init(calls_search *s, solve_run *run) {
  const situ_problem *p = run->problem;
  *s = (calls_search){.run = run, .problem = p, .random = rng_new(run->seed)};
  if (!ARENA_ARRAYS(run->arena, ARRAY(s->now, p->n_operators), ARRAY(s->trial, p->n_operators))) return false;
  for (int32_t k = 0; k < ORDERS; k++) {
    s->order[k] = ARENA_NEW(run->arena, int32_t, p->n_operators);
    if (!s->order[k]) return false;
    for (int32_t v = 0; v < p->n_operators; v++) s->order[k][v] = v;
    if (k > 0 && !topological_deep(s->order[k], p->graph, k > 1 ? &s->random : NULL, run->arena)) return false;
  }
  return true;
}

/* Makes a random neighbour of `now` in `trial`. False when nothing changes. */
static bool propose(calls_search *s) {
  const situ_problem *p = s->problem;
  int32_t n = p->n_operators;
  memcpy(s->trial, s->now, (size_t)n * sizeof *s->trial);
  const int32_t *order = s->order[rng_below(&s->random, ORDERS)];
  int32_t length = 1, first = (int32_t)rng_below(&s->random, n);
  while (length < n && rng_below(&s->random, 4) != 0) length *= 2;
  length = 1 + (int32_t)rng_below(&s->random, length < n ? length : n);
  if (first + length > n) length = n - first;
  int32_t from = rng_below(&s->random, 2) ? s->now[order[first]] : -1;
  int32_t to = (int32_t)rng_below(&s->random, p->n_devices);
  if (rng_below(&s->random, 2)) { /* to the device of the interval's neighbour */
    int32_t beside = rng_below(&s->random, 2) && first > 0 ? first - 1 : first + length < n ? first + length : first;
    to = s->now[order[beside]];
  }
  bool changed = false;
  for (int32_t k = first; k < first + length; k++) {
    int32_t v = order[k];
    if (s->trial[v] != to && (from < 0 || s->now[v] == from)) changed |= unit_put(p, s->trial, v, to);
  }
  return changed;
}

/* Tries a move. One that changes nothing costs a step too, so that steps run out even where nothing can move. */
static void try_move(calls_search *s, double temperature) {
  if (!propose(s)) {
    budget_spend(s->run->budget, 1);
    return;
  }
  simulation found = solve_try(s->run, &(placement){.device = s->trial});
  if (found.excess_bytes > 0 || found.value_ns == SITU_NEVER_NS) return;
  double worse = (double)found.value_ns - (double)s->value_ns;
  if (worse > 0 && rng_unit(&s->random) >= exp(-worse / temperature)) return;
  int32_t *swap = s->now;
  s->now = s->trial;
  s->trial = swap;
  s->value_ns = found.value_ns;
}

static void cool(calls_search *s, int64_t moves) {
  double value = (double)max64(s->run->incumbent->value_ns, 1), temperature = HOT * value;
  double factor = pow(COLD / HOT, 1.0 / (double)moves);
  for (int64_t k = 0; k < moves; k++, temperature *= factor) {
    try_move(s, temperature);
    if (k % 16 == 0 && solve_done(s->run)) return;
    if (budget_spend(s->run->budget, 0)) return;
  }
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

/* Starts from the best split of the same graph as a pipeline. It is no failure if there is none. */
static situ_status call_search_start(solve_run *run) {
  const situ_problem *p = run->problem;
  if (solve_done(run)) return SITU_STATUS_OK;
  situ_problem pipeline;
  problem_view_contiguous(&pipeline, p);
  incumbent split;
  situ_status status = solver_borrow(&split, &linear_dp_solver, &pipeline, run, SPLIT_SHARE, 0);
  if (status == SITU_STATUS_OK && split.best.device) repair_offer(run, &(placement){.device = split.best.device});
  incumbent_free(&split);
  return status;
}

static situ_status call_search_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  if (!run->incumbent->best.device || !can_move(p) || solve_done(run)) return SITU_STATUS_OK;
  calls_search *s = ARENA_ZERO(run->arena, calls_search, 1);
  if (!s || !call_search_init(s, run)) return fail_no_memory(run->error);
  int64_t moves = FIRST_CYCLE;
  for (int64_t cycle = 0; !solve_done(run); cycle++) {
    if (cycle % 2 == 0) {
      memcpy(s->now, run->incumbent->best.device, (size_t)p->n_operators * sizeof *s->now);
      s->value_ns = run->incumbent->value_ns;
    }
    int64_t left = budget_steps_left(run->budget);
    cool(s, left / 2 < moves ? left : moves); /* so that the cooling completes */
    if (cycle % 2 && moves < LAST_CYCLE) moves *= 2;
  }
  return SITU_STATUS_OK;
}

const solver call_search_solver = {
    .name = "call_search",
    .title = "simulated annealing of the calls on accelerators",
    .source = "",
    .models = MODEL_CALLS,
    .anytime = true,
    .multistart = true,
    .starts = {{&single_solver, 1}, {&greedy_solver, 1}},
    .start = call_search_start,
    .solve = call_search_solve,
};
