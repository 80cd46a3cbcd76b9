/* Stream problems in which latency and period both matter, and those of several copies, whose time is close to their
 * maximum load: annealing over (device, order), where the simulator judges both for each placement. It starts from a
 * placement of low latency that splitting finds, and from one of low period that the pipeline solvers find, ordered by
 * upward rank. docs/theory/models/tradeoff.md. */
#include <math.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/stream/list.h"
#include "solve/stream/present.h"
#include "solve/stream/rank.h"
#include "view/unit.h"

enum { UNLIMITED_NS = 1000000000 }; /* limit of an anytime row when the user gives none */
enum { FIRST_ROUND = 400, LONGEST_STRETCH = 12 };

typedef struct tradeoff {
  solve_run *run;
  const situ_problem *problem;
  rng random;
  present now;
  placement trial, best; /* best: of minimum cost, within the limits or not */
  double best_cost;
  int32_t *rank_order;
} tradeoff;

static void copy(const tradeoff *s, placement *to, const placement *from) {
  present_copy(to, from, s->problem->n_operators);
}

/* Offers a placement in three orders: by ranks, by index (copy after copy) and its own. The search starts from it if it
 * is the best so far. */
static void offer(tradeoff *s, const placement *where) {
  int32_t *orders[] = {s->rank_order, NULL, where->order};
  for (int32_t k = 0; k < (where->order ? 3 : 2); k++) {
    copy(s, &s->trial, &(placement){.device = where->device, .order = orders[k]});
    simulation found = solve_try(s->run, &s->trial);
    double cost = present_cost(&s->now, &found);
    if (cost >= s->best_cost || !solve_allows(s->problem, s->trial.device)) continue;
    s->best_cost = cost;
    copy(s, &s->best, &s->trial);
  }
}

/* Repeats one copy's plan: copy after copy by falling rank, each in the gaps left by those before. */
static void repeat(tradeoff *s, const placement *one) {
  solve_run *run = s->run;
  int32_t all = s->problem->n_operators, n = all / s->problem->n_copies;
  arena_mark mark = arena_get_mark(run->arena);
  double *priority = ARENA_NEW(run->arena, double, all);
  int32_t *forced = ARENA_NEW(run->arena, int32_t, all);
  partial_schedule d;
  if (priority && forced && partial_init(&d, s->problem, run->arena)) {
    for (int32_t k = 0; k < all; k++) {
      priority[s->rank_order[k]] = -(double)(s->rank_order[k] / n) * all - k;
      forced[k] = one->device[k % n];
    }
    if (list_schedule(&d, &(list_policy){.priority = priority, .forced = forced}, run->budget, run->arena)) {
      placement listed = partial_placement(&d);
      offer(s, &listed);
    }
  }
  arena_release(run->arena, mark);
}

/* Data parallelism alone: each copy goes whole to the device that ends it first. */
static void spread_copies(tradeoff *s) {
  const situ_problem *p = s->problem;
  int32_t n = p->n_operators / p->n_copies;
  int64_t *work = ARENA_ZERO(s->run->arena, int64_t, p->n_devices),
          *load = ARENA_ZERO(s->run->arena, int64_t, p->n_devices);
  for (int32_t d = 0; work && load && d < p->n_devices; d++)
    for (int32_t v = 0; v < n; v++)
      work[d] = sat_add(work[d], problem_allows(p, v, d) ? problem_time_ns(p, v, d) : SITU_NEVER_NS);
  for (int32_t copy_first = 0; work && load && copy_first < p->n_operators; copy_first += n) {
    int32_t best = 0;
    for (int32_t d = 1; d < p->n_devices; d++)
      if (sat_add(load[d], work[d]) < sat_add(load[best], work[best])) best = d;
    load[best] = sat_add(load[best], work[best]);
    for (int32_t v = 0; v < n; v++) s->now.where.device[copy_first + v] = best;
  }
  offer(s, &(placement){.device = s->now.where.device});
}

/* Lets another solver solve a view of the problem, and takes over its result; for all copies where the view is of the
 * first. */
static situ_status borrow(tradeoff *s, const situ_problem *view, const solver *row, double share) {
  solve_run *run = s->run;
  bool limited = run->budget->deadline_ns != INT64_MAX || run->budget->max_steps != INT64_MAX;
  if (budget_over(run->budget)) return SITU_STATUS_OK;
  arena_mark mark = arena_get_mark(run->arena);
  incumbent found;
  situ_status status = solver_borrow(&found, row, view, run, share, row->anytime && !limited ? UNLIMITED_NS : 0);
  if (status == SITU_STATUS_OK && found.best.device) {
    bool whole = view->n_operators == s->problem->n_operators;
    whole ? offer(s, &found.best) : repeat(s, &found.best);
  }
  incumbent_free(&found);
  arena_release(run->arena, mark);
  return status;
}

/* ---- annealing ---- */

/* The device of an operator that shares a tensor with v, or a random one. */
static int32_t draw_device(tradeoff *s, int32_t v) {
  const situ_graph *g = s->problem->graph;
  int64_t n_in = g->in_start[v + 1] - g->in_start[v];
  if (rng_below(&s->random, 3) == 0) return (int32_t)rng_below(&s->random, s->problem->n_devices);
  if (n_in > 0 && rng_below(&s->random, 2)) {
    int32_t t = g->in[g->in_start[v] + rng_below(&s->random, n_in)];
    return s->now.where.device[g->producer[t]];
  }
  int32_t t = g->out_start[v];
  if (t == g->out_start[v + 1] || g->use_start[t] == g->use_start[t + 1])
    return (int32_t)rng_below(&s->random, s->problem->n_devices);
  return s->now.where.device[g->use[g->use_start[t] + rng_below(&s->random, g->use_start[t + 1] - g->use_start[t])]];
}

/* Moves the operator at one position to another, between its producers and its users. */
static bool shift(tradeoff *s, int32_t from) {
  int32_t far = 1 + (int32_t)rng_below(&s->random, LONGEST_STRETCH), low, high;
  bool back = rng_below(&s->random, 2);
  present_explain(&s->now);
  present_range(&s->now, s->now.where.order[from], &low, &high);
  int32_t to = back ? (from - far > low ? from - far : low) : (from + far < high ? from + far : high);
  present_shift(s->trial.order, from, to);
  return to != from;
}

/* One change of trial, which equals now: an operator or a stretch of the order moves to another device, or a shift. */
static bool change(tradeoff *s) {
  int32_t n = s->problem->n_operators, at = (int32_t)rng_below(&s->random, n), v = s->now.where.order[at];
  int32_t what = (int32_t)rng_below(&s->random, 8);
  if (what == 0) return shift(s, at);
  int32_t d = draw_device(s, v), from = s->now.where.device[v], last = at;
  if (d == from) return false;
  if (what < 3) last = at + (int32_t)rng_below(&s->random, LONGEST_STRETCH);
  bool moved = false;
  for (int32_t k = at; k <= last && k < n; k++)
    if (s->now.where.device[s->now.where.order[k]] == from)
      moved |= unit_put(s->problem, s->trial.device, s->now.where.order[k], d);
  return moved;
}

/* A round of cooling from the best placement: from a few percent of the value to almost nothing. */
static void cool(tradeoff *s, int32_t moves) {
  present_go_to(&s->now, &s->best);
  copy(s, &s->trial, &s->best);
  double heat = 0.03 * s->best_cost, factor = pow(1e-3, 1.0 / moves);
  for (int32_t k = 0; k < moves && !solve_done(s->run); k++, heat *= factor) {
    if (!change(s)) {
      budget_spend(s->run->budget, k % 8 == 0);
      continue;
    }
    simulation found = solve_try(s->run, &s->trial);
    double cost = present_cost(&s->now, &found);
    if (cost > s->now.cost && rng_unit(&s->random) >= exp((s->now.cost - cost) / (heat + 1e-9))) {
      copy(s, &s->trial, &s->now.where);
      continue;
    }
    present_settle(&s->now, &s->trial, &found);
    if (cost >= s->best_cost) continue;
    s->best_cost = cost;
    copy(s, &s->best, &s->trial);
  }
}

static bool tradeoff_init(tradeoff *s, solve_run *run) {
  const situ_problem *p = run->problem;
  int32_t n = p->n_operators;
  *s = (tradeoff){.run = run, .problem = p, .random = rng_new(run->seed), .best_cost = 1e299};
  rank_costs costs;
  double *rank = ARENA_NEW(run->arena, double, n);
  s->rank_order = ARENA_NEW(run->arena, int32_t, n);
  if (!rank || !s->rank_order || !present_init(&s->now, run, true) || !present_room(&s->trial, run) ||
      !present_room(&s->best, run) || !rank_costs_find(&costs, run->arena, p, RANK_MEAN))
    return false;
  rank_upward(rank, p, &costs);
  s->now.price = present_price(p, SITU_NEVER_NS); /* the same for any incumbent */
  return rank_order(s->rank_order, run->arena, rank, n);
}

static situ_status tradeoff_solve(solve_run *run) {
  if (run->problem->n_operators == 0) return SITU_STATUS_OK;
  tradeoff *s = ARENA_NEW(run->arena, tradeoff, 1);
  situ_problem latency, pipeline;
  if (!s || !tradeoff_init(s, run)) return fail_no_memory(run->error);
  situ_graph graph;
  problem_view_latency(&latency, run->problem);
  problem_view_pipeline(&pipeline, run->problem);
  problem_view_copy(&latency, &graph);
  problem_view_copy(&pipeline, &graph);
  if (run->incumbent->best.device) offer(s, &run->incumbent->best);
  if (run->problem->n_copies > 1) spread_copies(s);
  TRY(borrow(s, &latency, &single_solver, 1));
  TRY(borrow(s, &latency, &heft_solver, 1));
  TRY(borrow(s, &pipeline, &local_search_solver, 0.25));
  TRY(borrow(s, &latency, &splitting_solver, 0.25));
  for (int32_t moves = FIRST_ROUND; s->best_cost < 1e299 && !solve_done(run); moves += moves / 2) cool(s, moves);
  return SITU_STATUS_OK;
}

static bool tradeoff_serves(const situ_problem *p) { return problem_has_period(p) || p->n_copies > 1; }

const solver tradeoff_solver = {
    .name = "tradeoff",
    .title = "simulated annealing between minimum latency and minimum period",
    .source = "",
    .models = MODEL_STREAM,
    .periods = true,
    .anytime = true,
    .serves = tradeoff_serves,
    .solve = tradeoff_solve,
};
