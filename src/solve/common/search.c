#include "solve/common/search.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "view/unit.h"

/* ---- one step ---- */

/* Cheaper than solve_done, which reads the clock. */
static bool is_over(const search *s) {
  const incumbent *best = s->run->incumbent;
  return s->ended || s->status != SITU_STATUS_OK || best->value_ns <= best->lower_bound_ns ||
         budget_spend(s->run->budget, 0);
}

/* Proposes, evaluates and accepts or rejects one neighbour. */
static bool try_neighbour(search *s) {
  const search_row *row = s->row;
  if (!row->propose(s, 0)) return false;
  rng ahead = s->random; /* a draw now, needed or not: else evaluations that stop early would change later draws */
  bool threshold = row->rule == SEARCH_THRESHOLD;
  double highest = threshold ? search_threshold(&ahead, s->temperature) : 0, below = SEARCH_NONE;
  if (row->rule == SEARCH_BETTER) below = s->cost;
  if (threshold) below = s->cost + highest + 1;
  double cost = row->evaluate(s, below), rise = cost - s->cost;
  if (threshold && rise > 0) s->random = ahead;
  bool accepted =
      rise < 0 || (rise == 0 && row->rule != SEARCH_BETTER) || (threshold && rise < highest) ||
      (row->rule == SEARCH_METROPOLIS && cost < SEARCH_NONE && search_metropolis(&s->random, rise, s->temperature));
  if (accepted) {
    row->accept(s, cost);
    s->cost = cost;
  } else if (row->reject) {
    row->reject(s);
  }
  return true;
}

/* Goes to the best of the candidates. One that is tabu must be better than all before it (aspiration). */
static bool try_candidates(search *s) {
  const search_row *row = s->row;
  double best_cost = SEARCH_NONE;
  int32_t n = row->list(s);
  for (int32_t i = 0; i < n && !is_over(s); i++) {
    if (!row->propose(s, i)) continue;
    double below = row->is_tabu(s, i) && s->best_cost < best_cost ? s->best_cost : best_cost;
    double cost = row->evaluate(s, below);
    if (cost >= below) continue;
    best_cost = cost;
    row->choose(s, i);
  }
  if (best_cost == SEARCH_NONE) return false;
  row->accept(s, best_cost);
  s->cost = best_cost;
  return true;
}

static bool sweep(search *s) {
  s->row->sweep(s);
  return true;
}

/* `moves`: of the cycle so far. */
static void step(search *s, int64_t moves) {
  const search_row *row = s->row;
  int64_t before = s->run->budget->steps;
  bool moved = row->sweep ? sweep(s) : row->rule == SEARCH_BEST ? try_candidates(s) : try_neighbour(s);
  s->n_stale = s->cost < s->best_cost ? 0 : s->n_stale + 1;
  if (s->cost < s->best_cost) s->best_cost = s->cost;
  if (row->perturb && (!moved || (s->patience > 0 && s->n_stale >= s->patience))) {
    row->perturb(s);
    s->n_stale = 0;
  }
  s->n_steps++;
  if (s->run->budget->steps == before) /* steps end even where nothing can move */
    budget_spend(s->run->budget, row->unchanged <= 1 || moves % row->unchanged == 0);
}

/* ---- cycles ---- */

static int64_t moves_of_a_step(const search *s) { return s->row->sweep ? SEARCH_SWEEP : 1; }

void search_cycle(search *s, int64_t n_moves) {
  REQUIRE(n_moves >= 0 && s->hot >= 0 && s->cold >= 0);
  for (int64_t moves = 0; moves < n_moves && !is_over(s); moves += moves_of_a_step(s)) {
    if (s->hot > 0) s->temperature = s->scale * (s->hot * pow(s->cold / s->hot, (double)moves / (double)n_moves));
    step(s, moves);
  }
}

/* The length of a cycle, so that it ends cold. */
static int64_t cycle_length(const search *s, int64_t length) {
  int64_t per_step = moves_of_a_step(s), left = budget_steps_left(s->run->budget);
  if (!s->row->fills || left == INT64_MAX) return length;
  left = sat_mul(left, per_step);
  return left / 2 < length ? left : length;
}

static int64_t grown(const search *s, int64_t length) {
  bool grows = s->row->growth > 1 && length < search_get(s, SEARCH_LONGEST) && length < INT64_MAX / 4;
  return grows ? (int64_t)((double)length * s->row->growth) : length;
}

static void run_cycles(search *s) {
  const search_row *row = s->row;
  int64_t length = row->growth > 0 ? search_get(s, SEARCH_FIRST) : INT64_MAX, per_restart = max64(1, row->per_restart);
  for (int64_t cycle = 0; !solve_done(s->run) && !is_over(s); cycle++) {
    if (!row->begin(s, cycle % per_restart == 0)) return;
    if (s->best_cost == SEARCH_NONE) s->best_cost = s->cost;
    search_cycle(s, cycle_length(s, length));
    if (cycle % per_restart == per_restart - 1) length = grown(s, length);
  }
}

void search_parameters_get(double *values, const solve_run *run, const solver_parameter *parameters, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    values[k] = parameters[k].default_value;
    for (const solver_setting *of = run->settings; of && of->solver; of++)
      if (strcmp(of->solver, run->solver) == 0 && strcmp(of->parameter, parameters[k].name) == 0) values[k] = of->value;
    ENSURE(values[k] >= parameters[k].min && values[k] <= parameters[k].max);
  }
}

situ_status search_init(search *s, const search_row *row, solve_run *run, rng random) {
  double *set = ARENA_NEW(run->arena, double, row->n_parameters);
  if (!set) return fail_no_memory(run->error);
  search_parameters_get(set, run, row->parameters, row->n_parameters);
  *s = (search){.row = row,
                .run = run,
                .problem = run->problem,
                .units = solve_units(run),
                .random = random,
                .set = set,
                .cost = SEARCH_NONE,
                .best_cost = SEARCH_NONE};
  if (row->growth > 0) {
    s->hot = set[SEARCH_HOT];
    s->cold = set[SEARCH_COLD];
  }
  return row->init(s);
}

situ_status search_run(solve_run *run, const search_row *row) {
  if (solve_done(run) || run->problem->n_operators == 0 || (!run->incumbent->best.device && !row->constructs))
    return SITU_STATUS_OK;
  search *s = arena_zero(run->arena, 1, row->size);
  if (!s) return fail_no_memory(run->error);
  situ_status status = search_init(s, row, run, rng_new(run->seed));
  if (status == SITU_STATUS_OK) {
    run_cycles(s);
    status = s->status;
  }
  if (row->finish) row->finish(s);
  return status;
}

/* ---- draws ---- */

int32_t search_draw_producer(search *s, int32_t v) {
  const situ_graph *g = s->problem->graph;
  int64_t n = g->in_start[v + 1] - g->in_start[v];
  return n > 0 ? g->producer[g->in[g->in_start[v] + rng_below(&s->random, n)]] : -1;
}

int32_t search_draw_user_of(search *s, int32_t t) {
  const situ_graph *g = s->problem->graph;
  int64_t n = g->use_start[t + 1] - g->use_start[t];
  return n > 0 ? g->use[g->use_start[t] + rng_below(&s->random, n)] : -1;
}

int32_t search_draw_user(search *s, int32_t v) {
  const situ_graph *g = s->problem->graph;
  int64_t n = g->out_start[v + 1] - g->out_start[v];
  return n > 0 ? search_draw_user_of(s, g->out_start[v] + search_draw(s, n)) : -1;
}

bool search_put(const search *s, int32_t *device, int32_t v, int32_t d) {
  unit_members u = search_unit(s, v);
  if (!problem_allows_all(s->problem, u, d)) return false;
  unit_members_put(u, device, d);
  return true;
}
