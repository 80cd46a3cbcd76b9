/* Regions: whole groups of operators move to other devices, and everything is dispatched again. Searches that move
 * single operators, or parts of the critical path, keep the coarse structure of the plan that they start from. Here a
 * connected piece or a stretch of the sequence, of any size, moves at once. Details:
 * docs/theory/heuristics/regions.md. */
#include <math.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/stream/coarse_units.h"
#include "solve/stream/present.h"
#include "solve/stream/sequence.h"
#include "view/repeated_units.h"

enum { GROWN = 4 }; /* draws for each unit that a region should get */

typedef struct regions {
  solve_run *run;
  const situ_problem *problem;
  rng random;
  present now;
  placement trial;
  double *priority; /* [operator] */
  coarse_levels levels;
  repeated_levels repeated;
  const unit_list *units; /* of the current level */
  int32_t *unit, n;       /* units in the region */
  int32_t *in, drawn;     /* [unit] the last region that held it; the number of regions so far */
  int32_t beside;         /* the device of a unit next to the region; -1: none known */
} regions;

static int32_t draw(regions *s, int64_t n) { return (int32_t)rng_below(&s->random, n); }

/* ---- Regions ---- */

static void add(regions *s, int32_t u) {
  if (s->in[u] == s->drawn) return;
  s->in[u] = s->drawn;
  s->unit[s->n++] = u;
}

/* A unit that a tensor connects to unit u; u itself if the draw finds none. */
static int32_t draw_neighbour(regions *s, int32_t u) {
  const situ_graph *g = s->problem->graph;
  unit_members m = unit_list_members(s->units, u);
  int32_t v = m.member[draw(s, m.n)];
  int64_t n_in = g->in_start[v + 1] - g->in_start[v], n_out = g->out_start[v + 1] - g->out_start[v];
  if (draw(s, 2) == 0) return n_in > 0 ? s->units->of[g->producer[g->in[g->in_start[v] + draw(s, n_in)]]] : u;
  if (n_out == 0) return u;
  int32_t t = g->out_start[v] + draw(s, n_out);
  int64_t users = g->use_start[t + 1] - g->use_start[t];
  return users > 0 ? s->units->of[g->use[g->use_start[t] + draw(s, users)]] : u;
}

/* Adds neighbours until the region has `most` units and the device of one next to it is known. */
static void grow(regions *s, int32_t most) {
  for (int32_t k = 0; k < GROWN * most && (s->n < most || s->beside < 0); k++) {
    int32_t u = draw_neighbour(s, s->unit[draw(s, s->n)]);
    if (s->n < most) add(s, u);
    if (s->in[u] != s->drawn) s->beside = s->now.where.device[unit_list_members(s->units, u).member[0]];
  }
}

/* Draws a level: preferably one of repeated units, where there are any, or coarser units, or those of the problem. */
static void draw_level(regions *s) {
  if (s->repeated.n > 0 && draw(s, 10) < 7) {
    s->units = &s->repeated.of[draw(s, s->repeated.n)];
    return;
  }
  int32_t level = draw(s, s->levels.n + 1);
  s->units = level == 0 ? &s->problem->units : &s->levels.of[level - 1];
}

/* Draws a level, a size of up to a third of its units, preferably small, and a place, preferably on the critical
 * path. */
static void choose_region(regions *s) {
  const situ_problem *p = s->problem;
  int32_t most = 1;
  draw_level(s);
  while (most < s->units->n / 3 && draw(s, 4) != 0) most *= 2;
  present_explain(&s->now);
  const critical *c = &s->now.critical;
  int32_t v = draw(s, 5) == 0 ? c->path[draw(s, c->n_path)] : draw(s, p->n_operators);
  s->drawn++;
  s->n = 0;
  s->beside = -1;
  add(s, s->units->of[v]);
  if (draw(s, 10) >= 3)
    grow(s, most);
  else
    for (int32_t k = c->position[v]; k < p->n_operators && s->n < most; k++)
      add(s, s->units->of[s->now.where.order[k]]);
}

/* ---- Trials ---- */

static int32_t draw_device(regions *s) {
  return s->beside >= 0 && draw(s, 2) ? s->beside : draw(s, s->problem->n_devices);
}

/* Takes the present devices, with the region moved: all of it to one device, or occasionally each unit to its own. */
static void move_region(regions *s) {
  const situ_problem *p = s->problem;
  bool together = draw(s, 4) != 0;
  int32_t to = draw_device(s);
  present_copy(&s->trial, &s->now.where, p->n_operators);
  for (int32_t i = 0; i < s->n; i++) {
    unit_members m = unit_list_members(s->units, s->unit[i]);
    if (problem_allows_all(p, m, to))
      for (int32_t k = 0; k < m.n; k++) s->trial.device[m.member[k]] = to;
    if (!together) to = draw_device(s);
  }
}

/* Sets what runs first among ready operators: as in the present sequence, by longest time to the end, or by number. */
static void set_priority(regions *s) {
  int32_t n = s->problem->n_operators, by = draw(s, 20);
  if (by < 11)
    for (int32_t k = 0; k < n; k++) s->priority[s->now.where.order[k]] = -(double)k;
  else if (by < 19)
    rank_tail(s->priority, s->problem, s->trial.device);
  else
    for (int32_t v = 0; v < n; v++) s->priority[v] = -(double)v;
}

/* One trial, kept if it is better. Its dispatch is one step; if it seems better it is simulated with memory, which is
 * another. False without memory. */
static bool try_region(regions *s) {
  choose_region(s);
  move_region(s);
  set_priority(s);
  int64_t time_ns = sequence_by(s->trial.order, s->priority, s->run->simulator, s->problem, s->trial.device,
                                sat_round(ceil(s->now.cost)), s->run->arena);
  if (time_ns < 0) return false;
  if (budget_spend(s->run->budget, 1) || (double)time_ns >= s->now.cost) return true;
  simulation found = solve_try(s->run, &s->trial);
  if (found.value_ns < SITU_NEVER_NS && present_cost(&s->now, &found) < s->now.cost)
    present_settle(&s->now, &s->trial, &found);
  return true;
}

/* Levels are indexed by operator numbers, so the space for the finest serves all. */
static bool regions_init(regions *s, solve_run *run) {
  const situ_problem *p = run->problem;
  rank_costs costs;
  *s = (regions){.run = run, .problem = p, .random = rng_new(run->seed)};
  return ARENA_ARRAYS(run->arena, ARRAY(s->priority, p->n_operators), ARRAY(s->unit, p->units.n),
                      ZEROS(s->in, p->units.n)) &&
         rank_costs_find(&costs, run->arena, p, RANK_MEAN) && coarse_levels_find(&s->levels, p, &costs, run->arena) &&
         repeated_levels_find(&s->repeated, p, run->arena) && present_init(&s->now, run, true) &&
         present_room(&s->trial, run);
}

static situ_status regions_solve(solve_run *run) {
  if (solve_done(run) || run->problem->n_operators == 0 || !run->incumbent->best.device) return SITU_STATUS_OK;
  regions *s = ARENA_ZERO(run->arena, regions, 1);
  if (!s || !regions_init(s, run)) return fail_no_memory(run->error);
  present_go_to(&s->now, &run->incumbent->best);
  while (!solve_done(run))
    if (!try_region(s)) return fail_no_memory(run->error);
  return SITU_STATUS_OK;
}

static bool regions_serves(const situ_problem *p) { return p->n_devices > 1; }

const solver regions_solver = {
    .name = "regions",
    .title = "moves whole groups of operators and schedules everything again",
    .source = "",
    .models = MODEL_STREAM,
    .anytime = true,
    .multistart = true,
    .serves = regions_serves,
    .starts = {{&heft_solver, 0.3}, {&single_solver, 1}},
    .solve = regions_solve,
};
