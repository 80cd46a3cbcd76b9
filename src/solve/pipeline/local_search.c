/* Simulated annealing of a pipeline's placement, with loads kept up to date under each move (pipeline/loads.h).
 *
 * A unit is a set of operators that stay together: a colocation group, for contiguous problems a class of contract().
 * The devices of a contiguous placement have an order in which no edge of F goes backward. A move to the next device
 * takes the dependents of the unit along, a move to the previous one its predecessors, so that the order is kept. Free
 * problems move single units or connected clusters to any device. A step is 64 tried moves. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/search.h"
#include "solve/pipeline/loads.h"
#include "view/contract.h"
#include "view/hypergraph.h"

enum { LONGEST_MOVE = 4096, CLUSTER = 512 }; /* units that move at once, at most */

static const solver_parameter LOCAL_SEARCH_PARAMETERS[] = {SEARCH_CYCLES(1 << 14, 1 << 22, 0.03, 0.0002)};

typedef struct annealing {
  search base; /* its cost is the soft maximum of now */
  loads now;
  contraction classes;
  constraint_graph before;  /* predecessors of units in F */
  int32_t *operator_device; /* scratch */
  int32_t *rank;            /* [device] its place in the order; contiguous only */
  int32_t *at_rank;         /* [place] device */
  int32_t *moved;           /* units of the current move */
  int32_t *seen;            /* [unit] stamp */
  int32_t stamp, n_moved;
  int32_t *from_of; /* [unit of the move] its device before */
  int64_t *waiting; /* [device] scratch */
} annealing;

static situ_status local_search_init(search *s) {
  annealing *x = (annealing *)s;
  const situ_problem *p = s->problem;
  arena *a = s->run->arena;
  bool good = contract(&x->classes, p, p->contiguous, a) &&
              constraint_graph_reverse(&x->before, &x->classes.forward, a) && loads_init(&x->now, p, &x->classes, a);
  int32_t n = x->classes.n_classes;
  if (!good || !ARENA_ARRAYS(a, ARRAY(x->operator_device, p->n_operators), ZEROS(x->rank, p->n_devices),
                             ARRAY(x->at_rank, p->n_devices), ARRAY(x->moved, n), ARRAY(x->from_of, n),
                             ZEROS(x->seen, n), ARRAY(x->waiting, p->n_devices)))
    return fail_no_memory(s->run->error);
  return SITU_STATUS_OK;
}

/* Draws a random order of the devices in which no edge of F goes backward. False if there is none: the placement is not
 * contiguous. */
static bool order_devices(annealing *x) {
  const constraint_graph *f = &x->classes.forward;
  int32_t n = x->base.problem->n_devices;
  for (int32_t d = 0; d < n; d++) {
    x->waiting[d] = 0;
    x->rank[d] = -1;
  }
  for (int32_t c = 0; c < x->classes.n_classes; c++)
    for (int32_t i = f->start[c]; i < f->start[c + 1]; i++)
      x->waiting[x->now.device[f->to[i]]] += x->now.device[f->to[i]] != x->now.device[c];
  for (int32_t place = 0; place < n; place++) {
    int32_t chosen = -1, ready = 0;
    for (int32_t d = 0; d < n; d++)
      if (x->rank[d] < 0 && x->waiting[d] == 0 && search_draw(&x->base, ++ready) == 0) chosen = d;
    if (chosen < 0) return false;
    x->rank[chosen] = place;
    x->at_rank[place] = chosen;
    for (int32_t c = 0; c < x->classes.n_classes; c++)
      for (int32_t i = f->start[c]; x->now.device[c] == chosen && i < f->start[c + 1]; i++)
        x->waiting[x->now.device[f->to[i]]] -= x->now.device[f->to[i]] != chosen;
  }
  return true;
}

static bool start_from(annealing *x, const int32_t *device) {
  for (int32_t c = 0; c < x->classes.n_classes; c++)
    x->from_of[c] = device[x->classes.member[x->classes.member_start[c]]];
  loads_set(&x->now, x->from_of);
  x->base.cost = loads_settle(&x->now);
  return !x->base.problem->contiguous || order_devices(x);
}

/* ---- one move ---- */

static void add_unit(annealing *x, int32_t unit) {
  if (x->seen[unit] == x->stamp) return;
  x->seen[unit] = x->stamp;
  x->moved[x->n_moved++] = unit;
}

/* Free problems: the unit alone, or with a connected cluster of units of its device, of a size drawn over all scales.
 */
static void gather_cluster(annealing *x, int32_t unit) {
  const constraint_graph *f = &x->classes.forward;
  int32_t size = 1, from = x->now.device[unit];
  while (size < CLUSTER && search_draw(&x->base, 2)) size *= 2;
  for (int32_t k = 0; k < x->n_moved && x->n_moved < size; k++) {
    int32_t c = x->moved[k];
    for (int32_t i = f->start[c]; i < f->start[c + 1] && x->n_moved < size; i++)
      if (x->now.device[f->to[i]] == from) add_unit(x, f->to[i]);
    for (int32_t i = x->before.start[c]; i < x->before.start[c + 1] && x->n_moved < size; i++)
      if (x->now.device[x->before.to[i]] == from) add_unit(x, x->before.to[i]);
  }
}

/* The unit and, for a contiguous problem, the units that would then be on the wrong side of it: if `to` is later, the
 * dependents on devices before `to`, else the predecessors on devices after it. False if these are too many. */
static bool gather(annealing *x, int32_t unit, int32_t to) {
  x->stamp++;
  x->n_moved = 0;
  add_unit(x, unit);
  if (!x->base.problem->contiguous) {
    gather_cluster(x, unit);
    return true;
  }
  int32_t goal = x->rank[to];
  bool later = goal > x->rank[x->now.device[unit]];
  const constraint_graph *way = later ? &x->classes.forward : &x->before;
  for (int32_t k = 0; k < x->n_moved; k++) {
    if (x->n_moved > LONGEST_MOVE) return false;
    for (int32_t i = way->start[x->moved[k]]; i < way->start[x->moved[k] + 1]; i++) {
      int32_t rank = x->rank[x->now.device[way->to[i]]];
      if (later ? rank < goal : rank > goal) add_unit(x, way->to[i]);
    }
  }
  return true;
}

/* Draws a unit and a device for it. False if the pair makes no move. */
static bool propose(annealing *x, int32_t *unit, int32_t *to) {
  const situ_problem *p = x->base.problem;
  *unit = search_draw(&x->base, x->classes.n_classes);
  if (p->pin[x->classes.member[x->classes.member_start[*unit]]] >= 0) return false;
  int32_t from = x->now.device[*unit];
  if (p->contiguous && search_draw(&x->base, 4) != 0) {
    int32_t place = x->rank[from] + (search_draw(&x->base, 2) ? 1 : -1);
    if (place < 0 || place >= p->n_devices) return false;
    *to = x->at_rank[place];
  } else if (search_draw(&x->base, 3) == 0) { /* where a neighbour is */
    int32_t u = search_draw_producer(&x->base, x->classes.member[x->classes.member_start[*unit]]);
    if (u < 0) return false;
    *to = x->now.device[x->classes.class_of[u]];
  } else {
    *to = search_draw(&x->base, p->n_devices);
  }
  return *to != from && !p->unused[*to];
}

static void move_units(annealing *x, const int32_t *to_of, int32_t to) {
  for (int32_t k = 0; k < x->n_moved; k++) loads_move(&x->now, x->moved[k], to_of ? to_of[k] : to);
}

/* Tries one move; keeps or undoes it. Returns whether it was kept. */
static bool try_move(annealing *x) {
  search *s = &x->base;
  int32_t unit, to;
  if (!propose(x, &unit, &to) || !gather(x, unit, to)) return false;
  for (int32_t k = 0; k < x->n_moved; k++) {
    if (!x->now.allowed[(int64_t)x->moved[k] * s->problem->n_devices + to]) return false;
    x->from_of[k] = x->now.device[x->moved[k]];
  }
  move_units(x, NULL, to);
  double cost = loads_settle(&x->now), rise = cost - s->cost;
  bool keep = rise <= 0 || search_metropolis(&s->random, rise, s->temperature);
  if (keep && loads_fit(&x->now, s->problem->memory_of[to])) {
    s->cost = cost;
    return true;
  }
  move_units(x, x->from_of, 0);
  s->cost = loads_settle(&x->now);
  return false;
}

static void local_search_sweep(search *s) {
  annealing *x = (annealing *)s;
  for (int32_t k = 0; k < SEARCH_SWEEP; k++) {
    if (!try_move(x) || loads_period(&x->now) >= s->run->incumbent->value_ns) continue;
    contraction_expand(&x->classes, x->now.device, x->operator_device);
    solve_try(s->run, &(placement){.device = x->operator_device});
  }
  if (s->problem->contiguous && search_draw(s, 32) == 0) order_devices(x);
  budget_spend(s->run->budget, 1);
}

static bool local_search_begin(search *s, bool restart) {
  s->scale = (double)max64(s->run->incumbent->value_ns, 1);
  return !restart || start_from((annealing *)s, s->run->incumbent->best.device);
}

static const search_row LOCAL_SEARCH = {
    .size = sizeof(annealing),
    .rule = SEARCH_METROPOLIS,
    .growth = 2,
    .per_restart = 2,
    .fills = true,
    .parameters = LOCAL_SEARCH_PARAMETERS,
    .n_parameters = N_SEARCH_CYCLES,
    .init = local_search_init,
    .begin = local_search_begin,
    .sweep = local_search_sweep,
};

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
    .search = &LOCAL_SEARCH,
};
