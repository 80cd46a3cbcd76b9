/* Tabu search over (device, order) for stream problems: moves on the critical path only, chosen by an estimate from
 * heads and tails, judged by the simulator (contention, memory and all). After Davidovic, Hansen, Mladenovic, "Variable
 * neighborhood search for multiprocessor scheduling problem with communication delays" (2001) in spirit, with moves of
 * whole same-device stretches of the path. These escape the local optima of list schedules where transfers are
 * expensive. Details: docs/theory/heuristics/tabu.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/stream/present.h"
#include "view/unit.h"

enum { MAX_MOVES = 384, TRIED = 6, SAMPLED = 96, STALE_ROUNDS = 60, SHAKEN = 4 };

typedef enum move_kind { MOVE_UNIT, MOVE_STRETCH, MOVE_EARLIER } move_kind;

/* UNIT: operator `first` with its group moves to `to`. STRETCH: path[first .. last] with their groups move to `to`.
 * EARLIER: `first` moves before the operator ahead of it on its device. */
typedef struct move {
  move_kind kind;
  int32_t first, last, to;
  int64_t estimate_ns;
} move;

typedef struct tabu {
  solve_run *run;
  const situ_problem *problem;
  const situ_graph *graph;
  rng random;
  present now;
  placement trial, chosen;
  int64_t *forbidden; /* [operator * devices + device] until that round; NULL where that is too large */
  int64_t round;
  double best_cost;
  move moves[MAX_MOVES];
  int32_t n_moves;
} tabu;

static bool is_forbidden(const tabu *s, int32_t v, int32_t d) {
  return s->forbidden && s->forbidden[(int64_t)v * s->problem->n_devices + d] > s->round;
}

/* ---- candidates ---- */

static void add_move(tabu *s, move m) {
  if (s->n_moves < MAX_MOVES) s->moves[s->n_moves++] = m;
}

/* The length of the longest path through v on d, from heads and tails of the present schedule, or if greater, the work
 * that d would have. */
static int64_t estimate_unit(const tabu *s, int32_t v, int32_t d) {
  const situ_problem *p = s->problem;
  int64_t time = problem_time_ns(p, v, d);
  int64_t way = sat_add(critical_arrival(p, s->now.where.device, s->now.finish_ns, v, d), time);
  way = sat_add(way, critical_rest(&s->now.critical, s->now.where.device, v, d));
  return max64(way, sat_add(s->now.critical.busy_ns[d], time));
}

static void list_unit_moves(tabu *s, int32_t v) {
  const situ_problem *p = s->problem;
  if (p->pin[v] >= 0) return;
  int32_t skip = p->n_devices > 16 ? (int32_t)rng_below(&s->random, p->n_devices) : 0;
  for (int32_t k = 0; k < p->n_devices && k < 16; k++) {
    int32_t d = (k + skip) % p->n_devices;
    if (d == s->now.where.device[v] || !unit_allows(p, v, d)) continue;
    add_move(s, (move){.kind = MOVE_UNIT, .first = v, .to = d, .estimate_ns = estimate_unit(s, v, d)});
  }
}

/* Adds the move of path[first .. last], all on one device, to `to`, estimated as if they ran there in sequence. */
static void add_stretch(tabu *s, int32_t first, int32_t last, int32_t to) {
  const situ_problem *p = s->problem;
  const int32_t *path = s->now.critical.path;
  if (to == s->now.where.device[path[first]]) return;
  int64_t work = 0;
  for (int32_t i = first; i <= last; i++) {
    if (!unit_allows(p, path[i], to)) return;
    work = sat_add(work, problem_time_ns(p, path[i], to));
  }
  int64_t way = sat_add(critical_arrival(p, s->now.where.device, s->now.finish_ns, path[first], to), work);
  way = sat_add(way, critical_rest(&s->now.critical, s->now.where.device, path[last], to));
  add_move(s, (move){.kind = MOVE_STRETCH,
                     .first = first,
                     .last = last,
                     .to = to,
                     .estimate_ns = max64(way, sat_add(s->now.critical.busy_ns[to], work))});
}

/* Lists moves of stretches of the path on one device to the device before or after them, or to any; and of their
 * halves. */
static void list_stretch_moves(tabu *s) {
  const situ_problem *p = s->problem;
  const critical *c = &s->now.critical;
  int32_t stretches = 0;
  for (int32_t first = 0, last; first < c->n_path && stretches < SAMPLED / 4; first = last + 1) {
    int32_t d = s->now.where.device[c->path[first]];
    for (last = first; last + 1 < c->n_path && s->now.where.device[c->path[last + 1]] == d;) last++;
    if (last == first) continue;
    stretches++;
    int32_t cut = first + (int32_t)rng_below(&s->random, last - first);
    int32_t any = (int32_t)rng_below(&s->random, p->n_devices);
    int32_t to_before = first > 0 ? s->now.where.device[c->path[first - 1]] : any;
    int32_t to_after = last + 1 < c->n_path ? s->now.where.device[c->path[last + 1]] : any;
    add_stretch(s, first, last, to_before);
    if (to_after != to_before) add_stretch(s, first, last, to_after);
    if (any != to_before && any != to_after) add_stretch(s, first, last, any);
    add_stretch(s, first, cut, to_before);
    add_stretch(s, cut + 1, last, to_after);
  }
}

/* Lists swaps of two neighbours on a device, both on the path, where the later does not depend on the earlier. */
static void list_swaps(tabu *s) {
  const critical *c = &s->now.critical;
  for (int32_t i = 1; i < c->n_path && s->n_moves < MAX_MOVES; i++) {
    int32_t u = c->path[i - 1], v = c->path[i];
    if (c->before[v] != u) continue;
    int32_t low, high;
    present_range(&s->now, v, &low, &high);
    if (low > c->position[u]) continue;
    int64_t arrival = critical_arrival(s->problem, s->now.where.device, s->now.finish_ns, v, s->now.where.device[v]);
    int64_t begin = max64(arrival, c->before[u] >= 0 ? s->now.finish_ns[c->before[u]] : 0);
    int64_t way = sat_add(begin, problem_time_ns(s->problem, v, s->now.where.device[v]) + c->tail_ns[u]);
    add_move(s, (move){.kind = MOVE_EARLIER, .first = v, .estimate_ns = way});
  }
}

/* Lists operators with weights on memories that are too full, drawn at random. */
static void list_reliefs(tabu *s) {
  const situ_problem *p = s->problem;
  for (int32_t k = 0; s->now.excess_bytes > 0 && k < SAMPLED; k++) {
    int32_t v = (int32_t)rng_below(&s->random, p->n_operators), m = p->memory_of[s->now.where.device[v]];
    if (s->now.peak_bytes[m] > p->platform->memory_bytes[m] && s->graph->weight_bytes[v] > 0) list_unit_moves(s, v);
  }
}

static void list_moves(tabu *s) {
  const critical *c = &s->now.critical;
  s->n_moves = 0;
  list_stretch_moves(s);
  list_reliefs(s);
  int32_t every = c->n_path > SAMPLED ? c->n_path / SAMPLED : 1;
  int32_t first = (int32_t)rng_below(&s->random, every);
  for (int32_t i = first; i < c->n_path && s->n_moves < MAX_MOVES; i += every) list_unit_moves(s, c->path[i]);
  list_swaps(s);
}

/* ---- making a move ---- */

/* Puts v where its inputs have arrived on its new device, between its producers and its users. */
static void reposition(tabu *s, int32_t v, int32_t d) {
  int32_t from = s->now.critical.position[v], to = from, low, high;
  present_range(&s->now, v, &low, &high);
  int64_t arrival = critical_arrival(s->problem, s->now.where.device, s->now.finish_ns, v, d);
  while (to < high && s->now.start_ns[s->now.where.order[to + 1]] < arrival) to++;
  while (to > low && to <= from && s->now.start_ns[s->now.where.order[to - 1]] > arrival) to--;
  present_shift(s->trial.order, from, to);
}

static void make(tabu *s, const move *m) {
  const critical *c = &s->now.critical;
  present_copy(&s->trial, &s->now.where, s->problem->n_operators);
  if (m->kind == MOVE_EARLIER) {
    present_shift(s->trial.order, c->position[m->first], c->position[c->before[m->first]]);
  } else if (m->kind == MOVE_UNIT) {
    unit_members_put(unit_of(s->problem, m->first), s->trial.device, m->to);
    if (s->graph->colocation[m->first] < 0) reposition(s, m->first, m->to);
  } else {
    for (int32_t i = m->first; i <= m->last; i++)
      unit_members_put(unit_of(s->problem, c->path[i]), s->trial.device, m->to);
  }
}

/* Whether some operator of the move may not return yet. */
static bool move_is_forbidden(const tabu *s, const move *m) {
  if (m->kind == MOVE_UNIT) return is_forbidden(s, m->first, m->to);
  if (m->kind == MOVE_EARLIER) return is_forbidden(s, m->first, s->now.where.device[m->first]);
  for (int32_t i = m->first; i <= m->last; i++)
    if (is_forbidden(s, s->now.critical.path[i], m->to)) return true;
  return false;
}

static void forbid(tabu *s, const move *m) {
  if (!s->forbidden) return;
  int64_t until = s->round + 7 + rng_below(&s->random, 8 + s->now.critical.n_path / 10);
  int32_t first = m->kind == MOVE_STRETCH ? m->first : 0, last = m->kind == MOVE_STRETCH ? m->last : 0;
  for (int32_t i = first; i <= last; i++) {
    int32_t v = m->kind == MOVE_STRETCH ? s->now.critical.path[i]
                : m->kind == MOVE_UNIT  ? m->first
                                        : s->now.critical.before[m->first];
    s->forbidden[(int64_t)v * s->problem->n_devices + s->now.where.device[v]] = until;
  }
}

/* ---- the search ---- */

/* Moves the `TRIED` most promising moves to the front, in order. */
static int32_t select_moves(tabu *s) {
  int32_t n = 0;
  for (; n < TRIED && n < s->n_moves; n++) {
    int32_t best = n;
    for (int32_t i = n + 1; i < s->n_moves; i++)
      if (s->moves[i].estimate_ns < s->moves[best].estimate_ns) best = i;
    move swap = s->moves[n];
    s->moves[n] = s->moves[best];
    s->moves[best] = swap;
  }
  return n;
}

/* One round: makes the best of the tried moves, even if it is worse. False when there was none. */
static bool tabu_step(tabu *s) {
  double best_cost = PRESENT_NONE;
  int32_t best = -1, n = 0, drop = 0;
  present_explain(&s->now);
  list_moves(s);
  for (int32_t i = 0; i < s->n_moves; i++) /* skips one in eight, so that rounds differ */
    if (rng_below(&s->random, 8) != 0) s->moves[drop++] = s->moves[i];
  s->n_moves = drop;
  n = select_moves(s);
  for (int32_t i = 0; i < n && !solve_done(s->run); i++) {
    make(s, &s->moves[i]);
    double most = move_is_forbidden(s, &s->moves[i]) && s->best_cost < best_cost ? s->best_cost : best_cost;
    double cost = present_try(&s->now, &s->trial, most);
    if (cost >= most) continue;
    best = i;
    best_cost = cost;
    placement swap = s->chosen;
    s->chosen = s->trial;
    s->trial = swap;
  }
  if (best < 0) return false;
  forbid(s, &s->moves[best]);
  present_go_to(&s->now, &s->chosen);
  return true;
}

/* Moves a few random operators of the path, or their neighbours, to random devices. */
static void shake(tabu *s) {
  if (s->run->incumbent->best.device) present_go_to(&s->now, &s->run->incumbent->best);
  int32_t times = 1 + (int32_t)rng_below(&s->random, SHAKEN);
  for (int32_t k = 0; k < times; k++) {
    present_explain(&s->now);
    int32_t v = k % 2 ? (int32_t)rng_below(&s->random, s->problem->n_operators)
                      : s->now.critical.path[rng_below(&s->random, s->now.critical.n_path)];
    int32_t d = (int32_t)rng_below(&s->random, s->problem->n_devices);
    if (s->problem->pin[v] >= 0 || !unit_allows(s->problem, v, d)) continue;
    move m = {.kind = MOVE_UNIT, .first = v, .to = d};
    make(s, &m);
    simulation found = solve_try(s->run, &s->trial);
    if (found.value_ns != SITU_NEVER_NS) present_settle(&s->now, &s->trial, &found);
  }
}

static bool tabu_init(tabu *s, solve_run *run) {
  const situ_problem *p = run->problem;
  int32_t n = p->n_operators;
  *s = (tabu){.run = run, .problem = p, .graph = p->graph, .random = rng_new(run->seed)};
  if ((int64_t)n * p->n_devices <= (int64_t)1 << 25)
    s->forbidden = ARENA_ZERO(run->arena, int64_t, (int64_t)n * p->n_devices);
  return present_init(&s->now, run, true) && present_room(&s->trial, run) && present_room(&s->chosen, run);
}

/* A start without any plan: each operator on the first device that may run it. */
static bool anywhere(tabu *s, placement *where) {
  for (int32_t v = 0; v < s->problem->n_operators; v++) {
    int32_t d = 0;
    while (d < s->problem->n_devices && !unit_allows(s->problem, v, d)) d++;
    if (d == s->problem->n_devices) return false;
    where->device[v] = d;
  }
  return true;
}

static situ_status tabu_solve(solve_run *run) {
  if (solve_done(run) || run->problem->n_operators == 0) return SITU_STATUS_OK;
  tabu *s = ARENA_ZERO(run->arena, tabu, 1);
  if (!s || !tabu_init(s, run)) return fail_no_memory(run->error);
  if (run->incumbent->best.device) {
    present_go_to(&s->now, &run->incumbent->best);
  } else {
    if (!anywhere(s, &s->chosen)) return SITU_STATUS_OK;
    present_go_to(&s->now, &(placement){.device = s->chosen.device});
  }
  s->best_cost = s->now.cost;
  int32_t stale = 0;
  for (; !solve_done(run); s->round++) {
    int64_t steps = run->budget->steps;
    bool moved = tabu_step(s);
    stale = s->now.cost < s->best_cost ? 0 : stale + 1;
    if (s->now.cost < s->best_cost) s->best_cost = s->now.cost;
    if (moved && stale < STALE_ROUNDS) continue;
    shake(s);
    stale = 0;
    if (run->budget->steps == steps) budget_spend(run->budget, 1); /* ends even where nothing can move */
  }
  return SITU_STATUS_OK;
}

const solver tabu_solver = {
    .name = "tabu",
    .title = "tabu search on the critical path",
    .source = "after Davidovic, Hansen, Mladenovic, 2001",
    .models = MODEL_STREAM,
    .anytime = true,
    .multistart = true,
    .starts = {{&heft_solver, 1}, {&single_solver, 1}},
    .solve = tabu_solve,
};
