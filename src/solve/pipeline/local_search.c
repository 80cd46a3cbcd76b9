/* Simulated annealing of a pipeline's placement, with loads kept up to date under each move (pipeline/loads.h).
 *
 * A unit is a set of operators that stay together: a colocation group, for contiguous problems a class of contract().
 * The devices of a contiguous placement have an order in which no edge of F goes backward. A move to the next device
 * takes the dependents of the unit along, a move to the previous one its predecessors, so that the order is kept. Free
 * problems move single units or connected clusters to any device. A step is 64 tried moves. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/pipeline/loads.h"
#include "view/contract.h"
#include "view/hypergraph.h"

enum { MOVES_OF_A_STEP = 64, FIRST_CYCLE = 1 << 14, LAST_CYCLE = 1 << 22, LONGEST_MOVE = 4096, CLUSTER = 512 };
static const double HOT = 0.03, COLD = 0.0002; /* temperatures as shares of the period */

typedef struct annealing {
  solve_run *run;
  const situ_problem *problem;
  rng random;
  loads now;
  contraction units;
  constraint_graph before; /* predecessors of units in F */
  int32_t *unit_device;
  int32_t *rank;    /* [device] its place in the order; contiguous only */
  int32_t *at_rank; /* [place] device */
  int32_t *moved;   /* units of the current move */
  int32_t *seen;    /* [unit] stamp */
  int32_t stamp, n_moved;
  int64_t *waiting; /* [device] scratch */
  double level;     /* soft maximum of now */
} annealing;

static bool part_allows(const annealing *s, int32_t unit, int32_t d) {
  return problem_allows_all(s->problem, contraction_members(&s->units, unit), d);
}

static bool local_search_init(annealing *s, solve_run *run) {
  const situ_problem *p = run->problem;
  arena *a = run->arena;
  *s = (annealing){.run = run, .problem = p, .random = rng_new(run->seed)};
  bool units = contract(&s->units, p, p->contiguous, a) && constraint_graph_reverse(&s->before, &s->units.forward, a);
  if (!units || !loads_init(&s->now, p, a)) return false;
  int32_t n = s->units.n_classes;
  return ARENA_ARRAYS(a, ARRAY(s->unit_device, n), ZEROS(s->rank, p->n_devices), ARRAY(s->at_rank, p->n_devices),
                      ARRAY(s->moved, n), ZEROS(s->seen, n), ARRAY(s->waiting, p->n_devices));
}

/* Draws a random order of the devices in which no edge of F goes backward. False if there is none: the placement is not
 * contiguous. */
static bool order_devices(annealing *s) {
  const constraint_graph *f = &s->units.forward;
  int32_t n = s->problem->n_devices;
  for (int32_t d = 0; d < n; d++) {
    s->waiting[d] = 0;
    s->rank[d] = -1;
  }
  for (int32_t c = 0; c < s->units.n_classes; c++)
    for (int32_t i = f->start[c]; i < f->start[c + 1]; i++)
      s->waiting[s->unit_device[f->to[i]]] += s->unit_device[f->to[i]] != s->unit_device[c];
  for (int32_t place = 0; place < n; place++) {
    int32_t chosen = -1, ready = 0;
    for (int32_t d = 0; d < n; d++)
      if (s->rank[d] < 0 && s->waiting[d] == 0 && rng_below(&s->random, ++ready) == 0) chosen = d;
    if (chosen < 0) return false;
    s->rank[chosen] = place;
    s->at_rank[place] = chosen;
    for (int32_t c = 0; c < s->units.n_classes; c++)
      for (int32_t i = f->start[c]; s->unit_device[c] == chosen && i < f->start[c + 1]; i++)
        s->waiting[s->unit_device[f->to[i]]] -= s->unit_device[f->to[i]] != chosen;
  }
  return true;
}

static bool start_from(annealing *s, const int32_t *device) {
  for (int32_t c = 0; c < s->units.n_classes; c++)
    s->unit_device[c] = device[s->units.member[s->units.member_start[c]]];
  loads_set(&s->now, device);
  s->level = loads_settle(&s->now);
  return !s->problem->contiguous || order_devices(s);
}

/* ---- one move ---- */

static void add_unit(annealing *s, int32_t unit) {
  if (s->seen[unit] == s->stamp) return;
  s->seen[unit] = s->stamp;
  s->moved[s->n_moved++] = unit;
}

/* Free problems: the unit alone, or with a connected cluster of units of its device, of a size drawn over all scales.
 */
static void gather_cluster(annealing *s, int32_t unit) {
  const constraint_graph *f = &s->units.forward;
  int32_t size = 1, from = s->unit_device[unit];
  while (size < CLUSTER && rng_below(&s->random, 2)) size *= 2;
  for (int32_t k = 0; k < s->n_moved && s->n_moved < size; k++) {
    int32_t c = s->moved[k];
    for (int32_t i = f->start[c]; i < f->start[c + 1] && s->n_moved < size; i++)
      if (s->unit_device[f->to[i]] == from) add_unit(s, f->to[i]);
    for (int32_t i = s->before.start[c]; i < s->before.start[c + 1] && s->n_moved < size; i++)
      if (s->unit_device[s->before.to[i]] == from) add_unit(s, s->before.to[i]);
  }
}

/* The unit and, for a contiguous problem, the units that would then be on the wrong side of it: if `to` is later, the
 * dependents on devices before `to`, else the predecessors on devices after it. False if these are too many. */
static bool gather(annealing *s, int32_t unit, int32_t to) {
  s->stamp++;
  s->n_moved = 0;
  add_unit(s, unit);
  if (!s->problem->contiguous) {
    gather_cluster(s, unit);
    return true;
  }
  int32_t goal = s->rank[to];
  bool later = goal > s->rank[s->unit_device[unit]];
  const constraint_graph *way = later ? &s->units.forward : &s->before;
  for (int32_t k = 0; k < s->n_moved; k++) {
    if (s->n_moved > LONGEST_MOVE) return false;
    for (int32_t i = way->start[s->moved[k]]; i < way->start[s->moved[k] + 1]; i++) {
      int32_t rank = s->rank[s->unit_device[way->to[i]]];
      if (later ? rank < goal : rank > goal) add_unit(s, way->to[i]);
    }
  }
  return true;
}

/* Draws a unit and a device for it. False if the pair makes no move. */
static bool propose(annealing *s, int32_t *unit, int32_t *to) {
  const situ_problem *p = s->problem;
  *unit = (int32_t)rng_below(&s->random, s->units.n_classes);
  if (p->pin[s->units.member[s->units.member_start[*unit]]] >= 0) return false;
  int32_t from = s->unit_device[*unit];
  if (p->contiguous && rng_below(&s->random, 4) != 0) {
    int32_t place = s->rank[from] + (rng_below(&s->random, 2) ? 1 : -1);
    if (place < 0 || place >= p->n_devices) return false;
    *to = s->at_rank[place];
  } else if (rng_below(&s->random, 3) == 0) { /* where a neighbour is */
    const situ_graph *g = p->graph;
    int32_t v = s->units.member[s->units.member_start[*unit]];
    if (g->in_start[v] == g->in_start[v + 1]) return false;
    int64_t i = g->in_start[v] + rng_below(&s->random, g->in_start[v + 1] - g->in_start[v]);
    *to = s->now.device[g->producer[g->in[i]]];
  } else {
    *to = (int32_t)rng_below(&s->random, p->n_devices);
  }
  return *to != from && !p->unused[*to];
}

static void move_units(annealing *s, const int32_t *to_of, int32_t to) {
  for (int32_t k = 0; k < s->n_moved; k++) {
    int32_t unit = s->moved[k], d = to_of ? to_of[k] : to;
    s->unit_device[unit] = d;
    for (int32_t i = s->units.member_start[unit]; i < s->units.member_start[unit + 1]; i++)
      loads_move(&s->now, s->units.member[i], d);
  }
}

/* Tries one move at a temperature; keeps or undoes it. Returns whether it was kept. */
static bool try_move(annealing *s, double temperature, int32_t *from_of) {
  int32_t unit, to;
  if (!propose(s, &unit, &to) || !gather(s, unit, to)) return false;
  for (int32_t k = 0; k < s->n_moved; k++) {
    if (!part_allows(s, s->moved[k], to)) return false;
    from_of[k] = s->unit_device[s->moved[k]];
  }
  move_units(s, NULL, to);
  double level = loads_settle(&s->now);
  double worse = level - s->level;
  bool keep = worse <= 0 || rng_unit(&s->random) < exp(-worse / temperature);
  if (keep && loads_fit(&s->now, s->problem->memory_of[to])) {
    s->level = level;
    return true;
  }
  move_units(s, from_of, 0);
  s->level = loads_settle(&s->now);
  return false;
}

/* Cools once from HOT to COLD over that many moves. */
static void cool(annealing *s, int64_t moves, int32_t *from_of) {
  solve_run *run = s->run;
  double period = (double)max64(run->incumbent->value_ns, 1);
  double temperature = HOT * period, factor = pow(COLD / HOT, (double)MOVES_OF_A_STEP / (double)moves);
  for (int64_t done = 0; done < moves; done += MOVES_OF_A_STEP, temperature *= factor) {
    for (int32_t k = 0; k < MOVES_OF_A_STEP; k++) {
      if (!try_move(s, temperature, from_of) || loads_period(&s->now) >= run->incumbent->value_ns) continue;
      solve_try(run, &(placement){.device = s->now.device});
    }
    if (s->problem->contiguous && rng_below(&s->random, 32) == 0) order_devices(s);
    if (budget_spend(run->budget, 1) || run->incumbent->value_ns <= run->incumbent->lower_bound_ns) return;
  }
}

static situ_status local_search_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  if (!run->incumbent->best.device || p->n_operators == 0 || solve_done(run)) return SITU_STATUS_OK;
  annealing *s = ARENA_ZERO(run->arena, annealing, 1);
  if (!s || !local_search_init(s, run)) return fail_no_memory(run->error);
  int32_t *from_of = ARENA_NEW(run->arena, int32_t, s->units.n_classes);
  if (!from_of) return fail_no_memory(run->error);
  int64_t moves = FIRST_CYCLE;
  for (int64_t cycle = 0; !solve_done(run); cycle++) {
    if ((cycle % 2 == 0 || cycle == 0) && !start_from(s, run->incumbent->best.device)) break;
    int64_t left = min64(budget_steps_left(run->budget), INT64_MAX / MOVES_OF_A_STEP) * MOVES_OF_A_STEP;
    cool(s, left / 2 < moves ? left : moves, from_of); /* so that it ends cold */
    if (cycle % 2 && moves < LAST_CYCLE) moves *= 2;
  }
  return SITU_STATUS_OK;
}

/* free_search is better where its loads are exact. */
static bool local_search_serves(const situ_problem *p) { return loads_serve(p) && !hypergraph_serves(p); }

const solver local_search_solver = {
    .name = "local_search",
    .title = "simulated annealing of a pipeline, with incremental loads",
    .source = "Kirkpatrick, Gelatt, Vecchi, 1983",
    .models = MODEL_PIPELINE,
    .anytime = true,
    .multistart = true,
    .serves = local_search_serves,
    .starts = {{&single_solver, 1}, {&m_topo_solver, 1}},
    .solve = local_search_solve,
};
