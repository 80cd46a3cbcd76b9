/* Iterated greedy for stream problems: some operators are removed from the schedule and reinserted one at a time where
 * they and what follows them end first. The others keep their devices. The simulator judges, and annealing decides
 * whether to continue from the result. After Ruiz, Stutzle, EJOR 2007 (there for flow shops), with list scheduling as
 * the greedy part. Details: docs/theory/heuristics/iterated_greedy.md. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "solve/stream/list.h"
#include "solve/stream/present.h"
#include "view/unit.h"

enum { MIN_OUT = 4, MAX_OUT = 64, FIRST_CYCLE = 1000, WALK = 4 };
static const double OUT = 0.1;                  /* maximum fraction of the operators */
static const double HOT = 0.003, COLD = 0.0001; /* temperatures relative to the best cost */

typedef struct greedy {
  solve_run *run;
  const situ_problem *problem;
  rng random;
  partial_schedule partial;
  present now;
  double best_cost;
  double *key; /* [operator] its position in the next sequence: its present one, or near it */
  int32_t *sequence;
  int32_t *moved, n_moved; /* those of `out` with a new position */
  int32_t *forced;         /* [operator] its device; -1: removed */
  int64_t *tail_ns;        /* [operator * devices] of removed operators */
  int32_t *out, n_out;     /* removed operators */
  bool together;           /* reinsert them on one device */
} greedy;

/* ---- removal ---- */

static void take_out(greedy *s, int32_t v) {
  unit_members u = unit_of(s->problem, v);
  if (s->forced[v] < 0 || s->problem->pin[v] >= 0) return;
  unit_members_put(u, s->forced, -1);
  for (int32_t i = 0; i < u.n; i++) s->out[s->n_out++] = u.member[i];
}

/* A neighbour of v: a producer of an input, a user of an output, or next to it on its device; v itself where there is
 * none. */
static int32_t draw_neighbour(greedy *s, int32_t v) {
  const situ_graph *g = s->problem->graph;
  int64_t inputs = g->in_start[v + 1] - g->in_start[v];
  int32_t outputs = g->out_start[v + 1] - g->out_start[v], beside = -1;
  int64_t k = rng_below(&s->random, 3);
  if (k == 0 && inputs > 0) return g->producer[g->in[g->in_start[v] + rng_below(&s->random, inputs)]];
  if (k == 1 && outputs > 0) {
    int64_t t = g->out_start[v] + rng_below(&s->random, outputs), users = g->use_start[t + 1] - g->use_start[t];
    if (users > 0) return g->use[g->use_start[t] + rng_below(&s->random, users)];
  }
  if (k == 2) beside = rng_below(&s->random, 2) ? s->now.critical.before[v] : s->now.critical.after[v];
  return beside >= 0 ? beside : v;
}

/* Removes operators around v. */
static void choose_around(greedy *s, int32_t v, int32_t wanted) {
  for (int32_t k = 0; k < WALK * wanted && s->n_out < wanted; k++) take_out(s, v = draw_neighbour(s, v));
}

/* Removes operators that start at about the time of v. */
static void choose_window(greedy *s, int32_t v, int32_t wanted) {
  int32_t n = s->problem->n_operators, first = s->now.critical.position[v] - (int32_t)rng_below(&s->random, wanted);
  for (int32_t k = first < 0 ? 0 : first; k < n && k < first + wanted; k++) take_out(s, s->now.where.order[k]);
}

/* Removes consecutive operators of the critical path on one device. */
static void choose_stretch(greedy *s, int32_t at, int32_t wanted) {
  const int32_t *path = s->now.critical.path, *device = s->now.where.device;
  for (int32_t k = at; k < s->now.critical.n_path && s->n_out < wanted && device[path[k]] == device[path[at]]; k++)
    take_out(s, path[k]);
  for (int32_t k = at - 1; k >= 0 && s->n_out < wanted && device[path[k]] == device[path[at]]; k--)
    take_out(s, path[k]);
}

static void choose_out(greedy *s) {
  int32_t n = s->problem->n_operators, most = (int32_t)(OUT * n),
          at = (int32_t)rng_below(&s->random, s->now.critical.n_path);
  most = most < MIN_OUT ? MIN_OUT : most > MAX_OUT ? MAX_OUT : most;
  int32_t wanted = 1 + (int32_t)rng_below(&s->random, most), v = s->now.critical.path[at];
  memcpy(s->forced, s->now.where.device, (size_t)n * sizeof *s->forced);
  s->n_out = 0;
  s->together = false;
  switch (rng_below(&s->random, 4)) {
    case 0: choose_window(s, v, wanted); break;
    case 1:
      choose_stretch(s, at, wanted);
      s->together = true;
      break;
    default: choose_around(s, v, wanted);
  }
}

/* ---- reinsertion ---- */

/* Draws new positions for removed operators, between their producers and their users. */
static void set_keys(greedy *s) {
  const int32_t *position = s->now.critical.position, n = s->problem->n_operators;
  s->n_moved = 0;
  for (int32_t v = 0; v < n; v++) s->key[v] = position[v];
  for (int32_t i = 0; i < s->n_out; i++) {
    int32_t v = s->out[i], low, high;
    if (rng_below(&s->random, 2)) continue;
    present_range(&s->now, v, &low, &high);
    low = low > 0 ? low - 1 : 0; /* keys lie between the positions of the last producer and the first user */
    high = high < n - 1 ? high + 1 : n - 1;
    s->key[v] = low + rng_unit(&s->random) * (high - low);
    if (s->key[v] != position[v]) s->moved[s->n_moved++] = v;
  }
}

static bool comes_before(const greedy *s, int32_t v, int32_t w) {
  return s->key[v] < s->key[w] || (s->key[v] == s->key[w] && v < w);
}

/* The present order with the moved operators sorted in by their keys; ties to the lower number. */
static void set_sequence(greedy *s) {
  int32_t n = s->problem->n_operators, at = 0, m = 0;
  set_keys(s);
  for (int32_t i = 1; i < s->n_moved; i++) {
    int32_t v = s->moved[i], k = i;
    for (; k > 0 && comes_before(s, v, s->moved[k - 1]); k--) s->moved[k] = s->moved[k - 1];
    s->moved[k] = v;
  }
  for (int32_t i = 0; i < n; i++) {
    int32_t v = s->now.where.order[i];
    if (s->key[v] != i) continue;
    while (m < s->n_moved && comes_before(s, s->moved[m], v)) s->sequence[at++] = s->moved[m++];
    s->sequence[at++] = v;
  }
  while (m < s->n_moved) s->sequence[at++] = s->moved[m++];
}

static void set_tails(greedy *s) {
  const situ_problem *p = s->problem;
  for (int32_t i = 0; i < s->n_out; i++)
    for (int32_t d = 0; d < p->n_devices; d++)
      s->tail_ns[(int64_t)s->out[i] * p->n_devices + d] =
          critical_rest(&s->now.critical, s->now.where.device, s->out[i], d);
}

/* Occasionally sends one of them to a random device, which the others follow or not. A stretch moves as a whole. */
static void force_some(greedy *s) {
  int32_t d = (int32_t)rng_below(&s->random, s->problem->n_devices);
  for (int32_t i = 0; i < s->n_out && s->together; i++) unit_put(s->problem, s->forced, s->out[i], d);
  if (!s->together && rng_below(&s->random, 2))
    unit_put(s->problem, s->forced, s->out[rng_below(&s->random, s->n_out)], d);
}

/* One step. False when the budget ended during it. */
static bool iterated_greedy_step(greedy *s, double temperature) {
  present_explain(&s->now);
  choose_out(s);
  if (s->n_out == 0) return !budget_spend(s->run->budget, 1);
  set_sequence(s);
  set_tails(s);
  force_some(s);
  partial_clear(&s->partial);
  list_policy policy = {.sequence = s->sequence, .tail_ns = s->tail_ns, .forced = s->forced};
  if (!list_schedule(&s->partial, &policy, s->run->budget, s->run->arena)) return false;
  placement where = partial_placement(&s->partial);
  rng ahead = s->random; /* a draw now, needed or not: stopped runs would differ otherwise */
  double slack = -temperature * log(1 - rng_unit(&ahead));
  double cost = present_try(&s->now, &where, s->now.cost + slack + 1), more = cost - s->now.cost;
  if (more > 0) s->random = ahead;
  if (more > 0 && more >= slack) return true;
  present_go_to(&s->now, &where);
  if (cost < s->best_cost) s->best_cost = cost;
  return true;
}

static bool iterated_greedy_init(greedy *s, solve_run *run) {
  const situ_problem *p = run->problem;
  int64_t n = p->n_operators;
  *s = (greedy){.run = run, .problem = p, .random = rng_new(run->seed)};
  if (!ARENA_ARRAYS(run->arena, ARRAY(s->key, n), ARRAY(s->sequence, n), ARRAY(s->moved, n), ARRAY(s->forced, n),
                    ARRAY(s->out, n), ZEROS(s->tail_ns, n * p->n_devices)) ||
      !partial_init(&s->partial, p, run->arena) || !present_init(&s->now, run, true))
    return false;
  if (p->contention == SITU_CONTENTION_LINK) partial_follow_links(&s->partial, run->arena);
  return true;
}

static situ_status iterated_greedy_solve(solve_run *run) {
  const incumbent *best = run->incumbent;
  if (solve_done(run) || run->problem->n_operators == 0 || !best->best.device) return SITU_STATUS_OK;
  greedy *s = ARENA_ZERO(run->arena, greedy, 1);
  if (!s || !iterated_greedy_init(s, run)) return fail_no_memory(run->error);
  present_go_to(&s->now, &best->best);
  s->best_cost = s->now.cost;
  for (int64_t cycle = FIRST_CYCLE; !solve_done(run); cycle *= 2) {
    if (cycle > FIRST_CYCLE) present_go_to(&s->now, &best->best);
    int64_t left = budget_steps_left(run->budget);
    if (left / 2 < cycle) cycle = left; /* so that the cooling completes */
    for (int64_t k = 0; k < cycle && !solve_done(run); k++)
      if (!iterated_greedy_step(s, s->best_cost * HOT * pow(COLD / HOT, (double)k / (double)cycle)))
        return SITU_STATUS_OK;
  }
  return SITU_STATUS_OK;
}

const solver iterated_greedy_solver = {
    .name = "iterated_greedy",
    .title = "removes part of the schedule and reinserts it, repeatedly",
    .source = "after Ruiz, Stützle, EJOR 2007",
    .models = MODEL_STREAM,
    .anytime = true,
    .multistart = true,
    .starts = {{&heft_solver, 1}, {&single_solver, 1}},
    .solve = iterated_greedy_solve,
};
