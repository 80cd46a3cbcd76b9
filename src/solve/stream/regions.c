/* Regions: whole groups of operators move to other devices, and everything is dispatched again. Searches that move
 * single operators, or parts of the critical path, keep the coarse structure of the plan that they start from. Here a
 * connected piece or a stretch of the sequence, of any size, moves at once. Details:
 * docs/theory/search.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/stream/current.h"
#include "solve/stream/rank.h"
#include "solve/stream/sequence.h"
#include "view/level.h"

enum { DRAWS, REPEATED, PATH, CONNECTED, TOGETHER, BY_SEQUENCE, BY_TAIL, N_PARAMETERS };
static const solver_parameter REGIONS_PARAMETERS[N_PARAMETERS] = {
    [DRAWS] = {"draws", 4, 1, 64, "draws of a neighbour for each unit that a region should get"},
    [REPEATED] = {"repeated", 7, 0, 10, "tenths of the regions that are of repeated units, where there are any"},
    [PATH] = {"path", 5, 1, 100, "one in so many regions starts on the critical path"},
    [CONNECTED] = {"connected", 7, 0, 10, "tenths that are connected; the others are stretches of the sequence"},
    [TOGETHER] = {"together", 4, 1, 100, "one in so many regions has each unit on a device of its own"},
    [BY_SEQUENCE] = {"by_sequence", 11, 0, 20, "twentieths dispatched in the current sequence"},
    [BY_TAIL] = {"by_tail", 8, 0, 20, "twentieths dispatched by longest tail; the others by number"},
};

typedef struct regions {
  STREAM_SEARCH;
  double *priority; /* [operator] */
  level_list levels, repeated;
  const unit_list *units; /* of the current level */
  int32_t *unit, n;       /* units in the region */
  int32_t *in, drawn;     /* [unit] the last region that held it; the number of regions so far */
  int32_t beside;         /* the device of a unit next to the region; -1: none known */
} regions;

/* ---- Regions ---- */

static void add(regions *x, int32_t u) {
  if (x->in[u] == x->drawn) return;
  x->in[u] = x->drawn;
  x->unit[x->n++] = u;
}

/* A unit that a tensor connects to unit u; u itself if the draw finds none. */
static int32_t draw_neighbour(regions *x, int32_t u) {
  unit_members m = unit_list_members(x->units, u);
  int32_t v = m.member[search_draw(&x->s, m.n)];
  int32_t w = search_draw(&x->s, 2) == 0 ? search_draw_producer(&x->s, v) : search_draw_user(&x->s, v);
  return w >= 0 ? x->units->of[w] : u;
}

/* Adds neighbours until the region has max_units units and the device of one next to it is known. */
static void grow(regions *x, int32_t max_units) {
  for (int64_t k = 0; k < search_get(&x->s, DRAWS) * max_units && (x->n < max_units || x->beside < 0); k++) {
    int32_t u = draw_neighbour(x, x->unit[search_draw(&x->s, x->n)]);
    if (x->n < max_units) add(x, u);
    if (x->in[u] != x->drawn) x->beside = x->now.where.device[unit_list_members(x->units, u).member[0]];
  }
}

/* Draws a level: preferably one of repeated units, where there are any, or coarser units, or those of the problem. */
static void draw_level(regions *x) {
  if (x->repeated.n > 0 && search_draw(&x->s, 10) < search_get(&x->s, REPEATED)) {
    x->units = &x->repeated.of[search_draw(&x->s, x->repeated.n)];
    return;
  }
  int32_t level = search_draw(&x->s, x->levels.n + 1);
  x->units = level == 0 ? x->s.units : &x->levels.of[level - 1];
}

/* Draws a level, a size of up to a third of its units, preferably small, and a place, sometimes on the critical path.
 */
static void draw_region(regions *x) {
  int32_t n = x->s.problem->n_operators, max_units = 1;
  draw_level(x);
  while (max_units < x->units->n / 3 && search_draw(&x->s, 4) != 0) max_units *= 2;
  current_explain(&x->now);
  const critical *c = &x->now.critical;
  int32_t v =
      search_draw(&x->s, search_get(&x->s, PATH)) == 0 ? c->path[search_draw(&x->s, c->n_path)] : search_draw(&x->s, n);
  x->drawn++;
  x->n = 0;
  x->beside = -1;
  add(x, x->units->of[v]);
  if (search_draw(&x->s, 10) >= 10 - search_get(&x->s, CONNECTED))
    grow(x, max_units);
  else
    for (int32_t k = c->position[v]; k < n && x->n < max_units; k++) add(x, x->units->of[x->now.where.order[k]]);
}

/* ---- Neighbours ---- */

static int32_t draw_device(regions *x) {
  return x->beside >= 0 && search_draw(&x->s, 2) ? x->beside : search_draw(&x->s, x->s.problem->n_devices);
}

/* Takes the current devices, with the region moved: all of it to one device, or occasionally each unit to its own. */
static void move_region(regions *x) {
  bool together = search_draw(&x->s, search_get(&x->s, TOGETHER)) != 0;
  int32_t to = draw_device(x);
  current_copy(&x->trial, &x->now.where, x->s.problem->n_operators);
  for (int32_t i = 0; i < x->n; i++) {
    unit_members m = unit_list_members(x->units, x->unit[i]);
    if (problem_allows_all(x->s.problem, m, to))
      for (int32_t k = 0; k < m.n; k++) x->trial.device[m.member[k]] = to;
    if (!together) to = draw_device(x);
  }
}

/* Sets what runs first among ready operators: as in the current sequence, by longest time to the end, or by number. */
static void set_priority(regions *x) {
  int32_t n = x->s.problem->n_operators, by = search_draw(&x->s, 20);
  int64_t by_sequence = search_get(&x->s, BY_SEQUENCE);
  if (by < by_sequence)
    for (int32_t k = 0; k < n; k++) x->priority[x->now.where.order[k]] = -(double)k;
  else if (by < by_sequence + search_get(&x->s, BY_TAIL))
    rank_tail(x->priority, x->s.problem, x->trial.device);
  else
    for (int32_t v = 0; v < n; v++) x->priority[v] = -(double)v;
}

static bool regions_propose(search *s, int32_t i) {
  regions *x = (regions *)s;
  draw_region(x);
  move_region(x);
  set_priority(x);
  return true;
}

/* A dispatch is one step; if it seems better it is simulated with memory, which is another. */
static double regions_evaluate(search *s, double below) {
  regions *x = (regions *)s;
  solve_run *run = s->run;
  int64_t time_ns = sequence_by(x->trial.order, x->priority, run->simulator, s->problem, x->trial.device,
                                sat_round(ceil(below)), run->arena);
  if (time_ns < 0) s->status = fail_no_memory(run->error);
  if (time_ns < 0 || budget_spend(run->budget, 1) || (double)time_ns >= below) return SEARCH_NONE;
  return stream_search_simulate(s, below);
}

/* Levels are indexed by operator numbers, so the space for the finest serves all. */
static situ_status regions_init(search *s) {
  regions *x = (regions *)s;
  const situ_problem *p = s->problem;
  arena *a = s->run->arena;
  rank_costs costs;
  if (!ARENA_ARRAYS(a, ARRAY(x->priority, p->n_operators), ARRAY(x->unit, p->units.n), ZEROS(x->in, p->units.n)) ||
      !rank_costs_find(&costs, a, p, RANK_MEAN))
    return fail_no_memory(s->run->error);
  level_request request = {.fine = s->units, .work_ns = costs.work, .transfer_ns = costs.transfer};
  if (!level_traffic.find(&x->levels, p, &request, a) || !level_repeats.find(&x->repeated, p, &request, a))
    return fail_no_memory(s->run->error);
  return stream_search_init(s, true);
}

static const search_row REGIONS = {
    .size = sizeof(regions),
    .rule = SEARCH_BETTER,
    .parameters = REGIONS_PARAMETERS,
    .n_parameters = N_PARAMETERS,
    .init = regions_init,
    .begin = stream_search_begin,
    .propose = regions_propose,
    .evaluate = regions_evaluate,
    .accept = stream_search_settle,
};

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
    .search = &REGIONS,
};
