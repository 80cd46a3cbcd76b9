/* Stream problems in which latency and period both matter, and those of several copies, whose time is close to their
 * maximum load: annealing over (device, order), where the simulator judges both for each placement. It starts from a
 * placement of low latency that splitting finds, and from one of low period that the pipeline solvers find, ordered by
 * upward rank. docs/theory/models/tradeoff.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/stream/current.h"
#include "solve/stream/list.h"
#include "solve/stream/rank.h"

enum { UNLIMITED_NS = 1000000000 }; /* limit of an anytime row when the user gives none */

enum { STRETCH = N_SEARCH_CYCLES, SHARE, N_PARAMETERS };
static const solver_parameter TRADEOFF_PARAMETERS[N_PARAMETERS] = {
    SEARCH_CYCLES(400, 1e18, 0.03, 0.00003),
    [STRETCH] = {"stretch", 12, 1, 1000000, "operators that a move takes along or passes at most"},
    [SHARE] = {"share", 0.25, 0, 1, "part of the budget for each of the two searches that find a start"},
};

typedef struct tradeoff {
  STREAM_SEARCH;
  placement best; /* of minimum cost, within the limits or not */
  int32_t *rank_order;
} tradeoff;

static void copy(const tradeoff *x, placement *to, const placement *from) {
  current_copy(to, from, x->s.problem->n_operators);
}

/* Offers a placement in three orders: by ranks, by index (copy after copy) and its own. The search starts from it if it
 * is the best so far. */
static void offer(tradeoff *x, const placement *where) {
  int32_t *orders[] = {x->rank_order, NULL, where->order};
  for (int32_t k = 0; k < (where->order ? 3 : 2); k++) {
    copy(x, &x->trial, &(placement){.device = where->device, .order = orders[k]});
    double cost = stream_search_simulate(&x->s, SEARCH_NONE);
    if (x->found.value_ns == SITU_NEVER_NS || cost >= x->s.best_cost) continue;
    if (!solve_allows(x->s.problem, x->trial.device)) continue;
    x->s.best_cost = cost;
    copy(x, &x->best, &x->trial);
  }
}

/* Repeats one copy's plan: copy after copy by falling rank, each in the gaps left by those before. */
static void repeat(tradeoff *x, const placement *one) {
  solve_run *run = x->s.run;
  const situ_problem *p = run->problem;
  int32_t all = p->n_operators, n = all / p->n_copies;
  arena_mark mark = arena_get_mark(run->arena);
  double *priority = ARENA_NEW(run->arena, double, all);
  int32_t *forced = ARENA_NEW(run->arena, int32_t, all);
  partial_schedule d;
  if (priority && forced && partial_init(&d, p, run->arena)) {
    for (int32_t k = 0; k < all; k++) {
      priority[x->rank_order[k]] = -(double)(x->rank_order[k] / n) * all - k;
      forced[k] = one->device[k % n];
    }
    if (list_schedule(&d, &(list_policy){.priority = priority, .forced = forced}, run->budget, run->arena)) {
      placement listed = partial_placement(&d);
      offer(x, &listed);
    }
  }
  arena_release(run->arena, mark);
}

/* Data parallelism alone: each copy goes whole to the device that ends it first. */
static void spread_copies(tradeoff *x) {
  const situ_problem *p = x->s.problem;
  arena *a = x->s.run->arena;
  int32_t n = p->n_operators / p->n_copies;
  int64_t *work = ARENA_ZERO(a, int64_t, p->n_devices), *load = ARENA_ZERO(a, int64_t, p->n_devices);
  for (int32_t d = 0; work && load && d < p->n_devices; d++)
    for (int32_t v = 0; v < n; v++)
      work[d] = sat_add(work[d], problem_allows(p, v, d) ? problem_time_ns(p, v, d) : SITU_NEVER_NS);
  for (int32_t copy_first = 0; work && load && copy_first < p->n_operators; copy_first += n) {
    int32_t best = 0;
    for (int32_t d = 1; d < p->n_devices; d++)
      if (sat_add(load[d], work[d]) < sat_add(load[best], work[best])) best = d;
    load[best] = sat_add(load[best], work[best]);
    for (int32_t v = 0; v < n; v++) x->now.where.device[copy_first + v] = best;
  }
  offer(x, &(placement){.device = x->now.where.device});
}

/* Lets another solver solve a view of the problem, and takes over its result; for all copies where the view is of the
 * first. */
static situ_status borrow(tradeoff *x, const situ_problem *view, const solver *row, double share) {
  solve_run *run = x->s.run;
  bool limited = run->budget->deadline_ns != INT64_MAX || run->budget->max_steps != INT64_MAX;
  if (budget_over(run->budget)) return SITU_STATUS_OK;
  arena_mark mark = arena_get_mark(run->arena);
  incumbent found;
  situ_status status = solver_borrow(&found, row, view, run, share, row->anytime && !limited ? UNLIMITED_NS : 0);
  if (status == SITU_STATUS_OK && found.best.device) {
    bool whole = view->n_operators == run->problem->n_operators;
    whole ? offer(x, &found.best) : repeat(x, &found.best);
  }
  incumbent_free(&found);
  arena_release(run->arena, mark);
  return status;
}

/* ---- the neighbourhood ---- */

/* The device of an operator that shares a tensor with v, or a random one. */
static int32_t draw_device(tradeoff *x, int32_t v) {
  const situ_graph *g = x->s.problem->graph;
  int32_t w = -1, t = g->out_start[v];
  if (search_draw(&x->s, 3) == 0) return search_draw(&x->s, x->s.problem->n_devices);
  if (g->in_start[v + 1] > g->in_start[v] && search_draw(&x->s, 2))
    w = search_draw_producer(&x->s, v);
  else if (t < g->out_start[v + 1])
    w = search_draw_user_of(&x->s, t);
  return w >= 0 ? x->now.where.device[w] : search_draw(&x->s, x->s.problem->n_devices);
}

/* Moves the operator at one position to another, between its producers and its users. */
static bool shift(tradeoff *x, int32_t from) {
  int32_t far = 1 + search_draw(&x->s, search_get(&x->s, STRETCH)), low, high;
  bool back = search_draw(&x->s, 2);
  current_explain(&x->now);
  current_range(&x->now, x->now.where.order[from], &low, &high);
  int32_t to = back ? (from - far > low ? from - far : low) : (from + far < high ? from + far : high);
  current_shift(x->trial.order, from, to);
  return to != from;
}

/* One change of the trial, which equals the current schedule: an operator or a stretch of the order moves to another
 * device, or a shift. */
static bool tradeoff_propose(search *s, int32_t i) {
  tradeoff *x = (tradeoff *)s;
  const placement *now = &x->now.where;
  int32_t n = s->problem->n_operators, at = search_draw(s, n), v = now->order[at], what = search_draw(s, 8);
  if (what == 0) return shift(x, at);
  int32_t d = draw_device(x, v), from = now->device[v], last = at;
  if (d == from) return false;
  if (what < 3) last = at + search_draw(s, search_get(s, STRETCH));
  bool moved = false;
  for (int32_t k = at; k <= last && k < n; k++)
    if (now->device[now->order[k]] == from) moved |= search_put(s, x->trial.device, now->order[k], d);
  return moved;
}

static void tradeoff_accept(search *s, double cost) {
  tradeoff *x = (tradeoff *)s;
  stream_search_settle(s, cost);
  if (cost < s->best_cost) copy(x, &x->best, &x->trial);
}

static void tradeoff_reject(search *s) {
  tradeoff *x = (tradeoff *)s;
  copy(x, &x->trial, &x->now.where);
}

/* Each cycle starts from the best. */
static bool tradeoff_begin(search *s, bool restart) {
  tradeoff *x = (tradeoff *)s;
  if (s->best_cost == SEARCH_NONE) return false;
  current_go_to(&x->now, &x->best);
  copy(x, &x->trial, &x->best);
  s->cost = x->now.cost;
  s->scale = s->best_cost;
  return true;
}

/* ---- the start ---- */

static bool order_by_rank(tradeoff *x, solve_run *run) {
  const situ_problem *p = run->problem;
  rank_costs costs;
  double *rank = ARENA_NEW(run->arena, double, p->n_operators);
  x->rank_order = ARENA_NEW(run->arena, int32_t, p->n_operators);
  if (!rank || !x->rank_order || !rank_costs_find(&costs, run->arena, p, RANK_MEAN)) return false;
  rank_upward(rank, p, &costs);
  return rank_order(x->rank_order, run->arena, rank, p->n_operators);
}

static situ_status tradeoff_init(search *s) {
  tradeoff *x = (tradeoff *)s;
  solve_run *run = s->run;
  TRY(stream_search_init(s, true));
  if (!current_new_placement(&x->best, run) || !order_by_rank(x, run)) return fail_no_memory(run->error);
  x->now.price = current_price(s->problem, SITU_NEVER_NS); /* the same for any incumbent */
  situ_problem latency, pipeline;
  situ_graph graph;
  problem_view_latency(&latency, run->problem);
  problem_view_pipeline(&pipeline, run->problem);
  problem_view_copy(&latency, &graph);
  problem_view_copy(&pipeline, &graph);
  if (run->incumbent->best.device) offer(x, &run->incumbent->best);
  if (run->problem->n_copies > 1) spread_copies(x);
  TRY(borrow(x, &latency, &single_solver, 1));
  TRY(borrow(x, &latency, &heft_solver, 1));
  TRY(borrow(x, &pipeline, &local_search_solver, s->set[SHARE]));
  return borrow(x, &latency, &splitting_solver, s->set[SHARE]);
}

static const search_row TRADEOFF = {
    .size = sizeof(tradeoff),
    .rule = SEARCH_METROPOLIS,
    .growth = 1.5,
    .unchanged = 8,
    .parameters = TRADEOFF_PARAMETERS,
    .n_parameters = N_PARAMETERS,
    .constructs = true,
    .init = tradeoff_init,
    .begin = tradeoff_begin,
    .propose = tradeoff_propose,
    .evaluate = stream_search_simulate,
    .accept = tradeoff_accept,
    .reject = tradeoff_reject,
};

static bool tradeoff_serves(const situ_problem *p) { return problem_has_period(p) || p->n_copies > 1; }

const solver tradeoff_solver = {
    .name = "tradeoff",
    .title = "simulated annealing between minimum latency and minimum period",
    .source = "",
    .models = MODEL_STREAM,
    .periods = true,
    .anytime = true,
    .serves = tradeoff_serves,
    .search = &TRADEOFF,
};
