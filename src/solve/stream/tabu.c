/* Tabu search over (device, order) for stream problems: moves on the critical path only, chosen by an estimate from
 * heads and tails, judged by the simulator (contention, memory and all). After Davidovic, Hansen, Mladenovic, "Variable
 * neighborhood search for multiprocessor scheduling problem with communication delays" (2001) in spirit, with moves of
 * whole same-device stretches of the path. These escape the local optima of list schedules where transfers are
 * expensive. Details: docs/theory/search.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/stream/current.h"
#include "view/unit.h"

enum { MAX_MOVES = 384 };

enum { TRIED, SAMPLED, SKIPPED, TENURE, DRAWN_TENURE, PATIENCE, SHAKEN, N_PARAMETERS };
static const solver_parameter TABU_PARAMETERS[N_PARAMETERS] = {
    [TRIED] = {"tried", 6, 1, MAX_MOVES, "moves of a step that are simulated"},
    [SAMPLED] = {"sampled", 96, 4, MAX_MOVES,
                 "operators of the path whose moves are listed, at most about twice as many"},
    [SKIPPED] = {"skipped", 8, 1, 1000, "one in so many listed moves is dropped, so that steps differ"},
    [TENURE] = {"tenure", 7, 0, 1e6, "steps for which a move may not be undone, at least"},
    [DRAWN_TENURE] = {"drawn_tenure", 8, 1, 1e6, "as many more may be drawn, and a tenth of the length of the path"},
    [PATIENCE] = {"patience", 60, 1, 1e9, "steps without a new best cost before a restart"},
    [SHAKEN] = {"shaken", 4, 1, 1000, "operators that a restart moves at most"},
};

typedef enum move_kind { MOVE_UNIT, MOVE_STRETCH, MOVE_EARLIER } move_kind;

/* UNIT: operator `first` with its group moves to `to`. STRETCH: path[first .. last] with their groups move to `to`.
 * EARLIER: `first` moves before the operator ahead of it on its device. */
typedef struct move {
  move_kind kind;
  int32_t first, last, to;
  int64_t estimate_ns;
} move;

typedef struct tabu {
  STREAM_SEARCH;
  placement chosen;   /* the best candidate of this step */
  int32_t best;       /* its number */
  int64_t *forbidden; /* [operator * devices + device] until that step; NULL where that is too large */
  move moves[MAX_MOVES];
  int32_t n_moves;
} tabu;

static bool is_forbidden(const tabu *x, int32_t v, int32_t d) {
  return x->forbidden && x->forbidden[(int64_t)v * x->s.problem->n_devices + d] > x->s.n_steps;
}

/* Whether v and what moves with it may be on d. */
static bool may_go(const tabu *x, int32_t v, int32_t d) {
  return problem_allows_all(x->s.problem, search_unit(&x->s, v), d);
}

/* ---- candidates ---- */

static void add_move(tabu *x, move m) {
  if (x->n_moves < MAX_MOVES) x->moves[x->n_moves++] = m;
}

/* The length of the longest path through v on d, from heads and tails of the current schedule, or if greater, the work
 * that d would have. */
static int64_t estimate_unit(const tabu *x, int32_t v, int32_t d) {
  const situ_problem *p = x->s.problem;
  int64_t time = problem_time_ns(p, v, d);
  int64_t way = sat_add(critical_arrival(p, x->now.where.device, x->now.finish_ns, v, d), time);
  way = sat_add(way, critical_rest(&x->now.critical, x->now.where.device, v, d));
  return max64(way, sat_add(x->now.critical.busy_ns[d], time));
}

static void list_unit_moves(tabu *x, int32_t v) {
  const situ_problem *p = x->s.problem;
  if (p->pin[v] >= 0) return;
  int32_t skip = p->n_devices > 16 ? search_draw(&x->s, p->n_devices) : 0;
  for (int32_t k = 0; k < p->n_devices && k < 16; k++) {
    int32_t d = (k + skip) % p->n_devices;
    if (d == x->now.where.device[v] || !may_go(x, v, d)) continue;
    add_move(x, (move){.kind = MOVE_UNIT, .first = v, .to = d, .estimate_ns = estimate_unit(x, v, d)});
  }
}

/* Adds the move of path[first .. last], all on one device, to `to`, estimated as if they ran there in sequence. */
static void add_stretch(tabu *x, int32_t first, int32_t last, int32_t to) {
  const situ_problem *p = x->s.problem;
  const int32_t *path = x->now.critical.path;
  if (to == x->now.where.device[path[first]]) return;
  int64_t work = 0;
  for (int32_t i = first; i <= last; i++) {
    if (!may_go(x, path[i], to)) return;
    work = sat_add(work, problem_time_ns(p, path[i], to));
  }
  int64_t way = sat_add(critical_arrival(p, x->now.where.device, x->now.finish_ns, path[first], to), work);
  way = sat_add(way, critical_rest(&x->now.critical, x->now.where.device, path[last], to));
  add_move(x, (move){.kind = MOVE_STRETCH,
                     .first = first,
                     .last = last,
                     .to = to,
                     .estimate_ns = max64(way, sat_add(x->now.critical.busy_ns[to], work))});
}

/* Lists moves of stretches of the path on one device to the device before or after them, or to any; and of their
 * halves. */
static void list_stretch_moves(tabu *x) {
  const situ_problem *p = x->s.problem;
  const critical *c = &x->now.critical;
  int64_t stretches = 0, sampled = search_get(&x->s, SAMPLED);
  for (int32_t first = 0, last; first < c->n_path && stretches < sampled / 4; first = last + 1) {
    int32_t d = x->now.where.device[c->path[first]];
    for (last = first; last + 1 < c->n_path && x->now.where.device[c->path[last + 1]] == d;) last++;
    if (last == first) continue;
    stretches++;
    int32_t cut = first + search_draw(&x->s, last - first);
    int32_t any = search_draw(&x->s, p->n_devices);
    int32_t to_before = first > 0 ? x->now.where.device[c->path[first - 1]] : any;
    int32_t to_after = last + 1 < c->n_path ? x->now.where.device[c->path[last + 1]] : any;
    add_stretch(x, first, last, to_before);
    if (to_after != to_before) add_stretch(x, first, last, to_after);
    if (any != to_before && any != to_after) add_stretch(x, first, last, any);
    add_stretch(x, first, cut, to_before);
    add_stretch(x, cut + 1, last, to_after);
  }
}

/* Lists swaps of two neighbours on a device, both on the path, where the later does not depend on the earlier. */
static void list_swaps(tabu *x) {
  const critical *c = &x->now.critical;
  for (int32_t i = 1; i < c->n_path && x->n_moves < MAX_MOVES; i++) {
    int32_t u = c->path[i - 1], v = c->path[i];
    if (c->before[v] != u) continue;
    int32_t low, high;
    current_range(&x->now, v, &low, &high);
    if (low > c->position[u]) continue;
    int64_t arrival = critical_arrival(x->s.problem, x->now.where.device, x->now.finish_ns, v, x->now.where.device[v]);
    int64_t begin = max64(arrival, c->before[u] >= 0 ? x->now.finish_ns[c->before[u]] : 0);
    int64_t way = sat_add(begin, problem_time_ns(x->s.problem, v, x->now.where.device[v]) + c->tail_ns[u]);
    add_move(x, (move){.kind = MOVE_EARLIER, .first = v, .estimate_ns = way});
  }
}

/* Lists operators with weights on memories that are too full, drawn at random. */
static void list_reliefs(tabu *x) {
  const situ_problem *p = x->s.problem;
  for (int32_t k = 0; x->now.excess_bytes > 0 && k < search_get(&x->s, SAMPLED); k++) {
    int32_t v = search_draw(&x->s, p->n_operators), m = p->memory_of[x->now.where.device[v]];
    if (x->now.peak_bytes[m] > p->platform->memory_bytes[m] && x->s.problem->graph->weight_bytes[v] > 0)
      list_unit_moves(x, v);
  }
}

static void list_moves(tabu *x) {
  const critical *c = &x->now.critical;
  x->n_moves = 0;
  list_stretch_moves(x);
  list_reliefs(x);
  int32_t sampled = (int32_t)search_get(&x->s, SAMPLED), every = c->n_path > sampled ? c->n_path / sampled : 1;
  int32_t first = search_draw(&x->s, every);
  for (int32_t i = first; i < c->n_path && x->n_moves < MAX_MOVES; i += every) list_unit_moves(x, c->path[i]);
  list_swaps(x);
}

/* ---- making a move ---- */

/* Puts v where its inputs have arrived on its new device, between its producers and its users. */
static void reposition(tabu *x, int32_t v, int32_t d) {
  int32_t from = x->now.critical.position[v], to = from, low, high;
  current_range(&x->now, v, &low, &high);
  int64_t arrival = critical_arrival(x->s.problem, x->now.where.device, x->now.finish_ns, v, d);
  while (to < high && x->now.start_ns[x->now.where.order[to + 1]] < arrival) to++;
  while (to > low && to <= from && x->now.start_ns[x->now.where.order[to - 1]] > arrival) to--;
  current_shift(x->trial.order, from, to);
}

static void make(tabu *x, const move *m) {
  const critical *c = &x->now.critical;
  current_copy(&x->trial, &x->now.where, x->s.problem->n_operators);
  if (m->kind == MOVE_EARLIER) {
    current_shift(x->trial.order, c->position[m->first], c->position[c->before[m->first]]);
  } else if (m->kind == MOVE_UNIT) {
    unit_members_put(search_unit(&x->s, m->first), x->trial.device, m->to);
    if (x->s.problem->graph->colocation[m->first] < 0) reposition(x, m->first, m->to);
  } else {
    for (int32_t i = m->first; i <= m->last; i++)
      unit_members_put(search_unit(&x->s, c->path[i]), x->trial.device, m->to);
  }
}

/* Whether some operator of the move may not return yet. */
static bool move_is_forbidden(const tabu *x, const move *m) {
  if (m->kind == MOVE_UNIT) return is_forbidden(x, m->first, m->to);
  if (m->kind == MOVE_EARLIER) return is_forbidden(x, m->first, x->now.where.device[m->first]);
  for (int32_t i = m->first; i <= m->last; i++)
    if (is_forbidden(x, x->now.critical.path[i], m->to)) return true;
  return false;
}

static void forbid(tabu *x, const move *m) {
  if (!x->forbidden) return;
  int64_t until = x->s.n_steps + search_get(&x->s, TENURE) +
                  search_draw(&x->s, search_get(&x->s, DRAWN_TENURE) + x->now.critical.n_path / 10);
  int32_t first = m->kind == MOVE_STRETCH ? m->first : 0, last = m->kind == MOVE_STRETCH ? m->last : 0;
  for (int32_t i = first; i <= last; i++) {
    int32_t v = m->kind == MOVE_STRETCH ? x->now.critical.path[i]
                : m->kind == MOVE_UNIT  ? m->first
                                        : x->now.critical.before[m->first];
    x->forbidden[(int64_t)v * x->s.problem->n_devices + x->now.where.device[v]] = until;
  }
}

/* ---- the search ---- */

/* Moves the most promising moves to the front, in order. */
static int32_t select_moves(tabu *x) {
  int32_t n = 0, tried = (int32_t)search_get(&x->s, TRIED);
  for (; n < tried && n < x->n_moves; n++) {
    int32_t best = n;
    for (int32_t i = n + 1; i < x->n_moves; i++)
      if (x->moves[i].estimate_ns < x->moves[best].estimate_ns) best = i;
    move swap = x->moves[n];
    x->moves[n] = x->moves[best];
    x->moves[best] = swap;
  }
  return n;
}

static int32_t tabu_list(search *s) {
  tabu *x = (tabu *)s;
  int32_t kept = 0;
  current_explain(&x->now);
  list_moves(x);
  for (int32_t i = 0; i < x->n_moves; i++)
    if (search_draw(s, search_get(s, SKIPPED)) != 0) x->moves[kept++] = x->moves[i];
  x->n_moves = kept;
  return select_moves(x);
}

static bool tabu_propose(search *s, int32_t i) {
  tabu *x = (tabu *)s;
  make(x, &x->moves[i]);
  return true;
}

static bool tabu_is_tabu(search *s, int32_t i) {
  tabu *x = (tabu *)s;
  return move_is_forbidden(x, &x->moves[i]);
}

static void tabu_choose(search *s, int32_t i) {
  tabu *x = (tabu *)s;
  placement swap = x->chosen;
  x->chosen = x->trial;
  x->trial = swap;
  x->best = i;
}

static void tabu_accept(search *s, double cost) {
  tabu *x = (tabu *)s;
  forbid(x, &x->moves[x->best]);
  current_go_to(&x->now, &x->chosen);
}

/* Moves a few random operators of the path of the best plan, or others, to random devices. */
static void tabu_perturb(search *s) {
  tabu *x = (tabu *)s;
  if (s->run->incumbent->best.device) current_go_to(&x->now, &s->run->incumbent->best);
  int32_t times = 1 + search_draw(s, search_get(s, SHAKEN));
  for (int32_t k = 0; k < times; k++) {
    current_explain(&x->now);
    int32_t v =
        k % 2 ? search_draw(s, s->problem->n_operators) : x->now.critical.path[search_draw(s, x->now.critical.n_path)];
    int32_t d = search_draw(s, s->problem->n_devices);
    if (s->problem->pin[v] >= 0 || !may_go(x, v, d)) continue;
    make(x, &(move){.kind = MOVE_UNIT, .first = v, .to = d});
    x->found = solve_try(s->run, &x->trial);
    if (x->found.value_ns != SITU_NEVER_NS) current_settle(&x->now, &x->trial, &x->found);
  }
  s->cost = x->now.cost;
}

static situ_status tabu_init(search *s) {
  tabu *x = (tabu *)s;
  int64_t n_cells = (int64_t)s->problem->n_operators * s->problem->n_devices;
  if (n_cells <= (int64_t)1 << 25) x->forbidden = ARENA_ZERO(s->run->arena, int64_t, n_cells);
  s->patience = search_get(s, PATIENCE);
  TRY(stream_search_init(s, true));
  return current_new_placement(&x->chosen, s->run) ? SITU_STATUS_OK : fail_no_memory(s->run->error);
}

/* From the best plan; without any each operator goes to the first device that may run it. */
static bool tabu_begin(search *s, bool restart) {
  tabu *x = (tabu *)s;
  if (s->run->incumbent->best.device) return stream_search_begin(s, restart);
  for (int32_t v = 0; v < s->problem->n_operators; v++) {
    int32_t d = 0;
    while (d < s->problem->n_devices && !may_go(x, v, d)) d++;
    if (d == s->problem->n_devices) return false;
    x->chosen.device[v] = d;
  }
  current_go_to(&x->now, &(placement){.device = x->chosen.device});
  s->cost = x->now.cost;
  return true;
}

static const search_row TABU = {
    .size = sizeof(tabu),
    .rule = SEARCH_BEST,
    .parameters = TABU_PARAMETERS,
    .n_parameters = N_PARAMETERS,
    .constructs = true,
    .init = tabu_init,
    .begin = tabu_begin,
    .list = tabu_list,
    .propose = tabu_propose,
    .evaluate = stream_search_try,
    .accept = tabu_accept,
    .is_tabu = tabu_is_tabu,
    .choose = tabu_choose,
    .perturb = tabu_perturb,
};

const solver tabu_solver = {
    .name = "tabu",
    .title = "tabu search on the critical path",
    .source = "after Davidovic, Hansen, Mladenovic, 2001",
    .models = MODEL_STREAM,
    .anytime = true,
    .multistart = true,
    .starts = {{&heft_solver, 1}, {&single_solver, 1}},
    .search = &TABU,
};
