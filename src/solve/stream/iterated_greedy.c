/* Iterated greedy for stream problems: some operators are removed from the schedule and reinserted one at a time where
 * they and what follows them end first. The others keep their devices. The simulator judges, and annealing decides
 * whether to continue from the result. After Ruiz, Stutzle, EJOR 2007 (there for flow shops), with list scheduling as
 * the greedy part. Details: docs/theory/search.md. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/stream/current.h"
#include "solve/stream/list.h"

enum { MAX_OUT = N_SEARCH_CYCLES, PART_OUT, WALK, N_PARAMETERS };
enum { MIN_OUT = 4 }; /* operators that may be removed at least */
static const solver_parameter ITERATED_GREEDY_PARAMETERS[N_PARAMETERS] = {
    SEARCH_CYCLES(1000, 1e18, 0.003, 0.0001),
    [MAX_OUT] = {"max_out", 64, 1, 1000000, "operators that are removed at most"},
    [PART_OUT] = {"part_out", 0.1, 0, 1, "maximum fraction of the operators that is removed"},
    [WALK] = {"walk", 4, 1, 100, "steps of the walk among neighbours for each operator to remove"},
};

typedef struct greedy {
  STREAM_SEARCH;
  partial_schedule partial;
  double *key; /* [operator] its position in the next sequence: its current one, or near it */
  int32_t *sequence;
  int32_t *moved, n_moved; /* those of `out` with a new position */
  int32_t *forced;         /* [operator] its device; -1: removed */
  int64_t *tail_ns;        /* [operator * devices] of removed operators */
  int32_t *out, n_out;     /* removed operators */
  bool together;           /* reinsert them on one device */
} greedy;

/* ---- removal ---- */

static void take_out(greedy *x, int32_t v) {
  unit_members u = search_unit(&x->s, v);
  if (x->forced[v] < 0 || x->s.problem->pin[v] >= 0) return;
  for (int32_t i = 0; i < u.n; i++) {
    x->forced[u.member[i]] = -1;
    x->out[x->n_out++] = u.member[i];
  }
}

/* A neighbour of v: a producer of an input, a user of an output, or next to it on its device; v itself where there is
 * none. */
static int32_t draw_neighbour(greedy *x, int32_t v) {
  const critical *c = &x->now.critical;
  int32_t kind = search_draw(&x->s, 3), w;
  if (kind == 0)
    w = search_draw_producer(&x->s, v);
  else if (kind == 1)
    w = search_draw_user(&x->s, v);
  else
    w = search_draw(&x->s, 2) ? c->before[v] : c->after[v];
  return w >= 0 ? w : v;
}

/* Removes operators around v. */
static void choose_around(greedy *x, int32_t v, int32_t wanted) {
  int64_t draws = search_get(&x->s, WALK) * wanted;
  for (int64_t k = 0; k < draws && x->n_out < wanted; k++) take_out(x, v = draw_neighbour(x, v));
}

/* Removes operators that start at about the time of v. */
static void choose_window(greedy *x, int32_t v, int32_t wanted) {
  int32_t n = x->s.problem->n_operators, first = x->now.critical.position[v] - search_draw(&x->s, wanted);
  for (int32_t k = first < 0 ? 0 : first; k < n && k < first + wanted; k++) take_out(x, x->now.where.order[k]);
}

/* Removes consecutive operators of the critical path on one device. */
static void choose_stretch(greedy *x, int32_t at, int32_t wanted) {
  const critical *c = &x->now.critical;
  const int32_t *path = c->path, *device = x->now.where.device;
  for (int32_t k = at; k < c->n_path && x->n_out < wanted && device[path[k]] == device[path[at]]; k++)
    take_out(x, path[k]);
  for (int32_t k = at - 1; k >= 0 && x->n_out < wanted && device[path[k]] == device[path[at]]; k--)
    take_out(x, path[k]);
}

static void choose_out(greedy *x) {
  const critical *c = &x->now.critical;
  int32_t n = x->s.problem->n_operators, at = search_draw(&x->s, c->n_path);
  int64_t max_out = (int32_t)(x->s.set[PART_OUT] * n);
  max_out = max64(MIN_OUT, min64(search_get(&x->s, MAX_OUT), max_out));
  int32_t wanted = 1 + search_draw(&x->s, max_out), v = c->path[at];
  memcpy(x->forced, x->now.where.device, (size_t)n * sizeof *x->forced);
  x->n_out = 0;
  x->together = false;
  switch (search_draw(&x->s, 4)) {
    case 0: choose_window(x, v, wanted); break;
    case 1:
      choose_stretch(x, at, wanted);
      x->together = true;
      break;
    default: choose_around(x, v, wanted);
  }
}

/* ---- reinsertion ---- */

/* Draws new positions for removed operators, between their producers and their users. */
static void set_keys(greedy *x) {
  const int32_t *position = x->now.critical.position, n = x->s.problem->n_operators;
  x->n_moved = 0;
  for (int32_t v = 0; v < n; v++) x->key[v] = position[v];
  for (int32_t i = 0; i < x->n_out; i++) {
    int32_t v = x->out[i], low, high;
    if (search_draw(&x->s, 2)) continue;
    current_range(&x->now, v, &low, &high);
    low = low > 0 ? low - 1 : 0; /* keys lie between the positions of the last producer and the first user */
    high = high < n - 1 ? high + 1 : n - 1;
    x->key[v] = low + rng_unit(&x->s.random) * (high - low);
    if (x->key[v] != position[v]) x->moved[x->n_moved++] = v;
  }
}

static bool comes_before(const greedy *x, int32_t v, int32_t w) {
  return x->key[v] < x->key[w] || (x->key[v] == x->key[w] && v < w);
}

/* The current order with the moved operators sorted in by their keys; ties to the lower number. */
static void set_sequence(greedy *x) {
  int32_t n = x->s.problem->n_operators, at = 0, m = 0;
  set_keys(x);
  for (int32_t i = 1; i < x->n_moved; i++) {
    int32_t v = x->moved[i], k = i;
    for (; k > 0 && comes_before(x, v, x->moved[k - 1]); k--) x->moved[k] = x->moved[k - 1];
    x->moved[k] = v;
  }
  for (int32_t i = 0; i < n; i++) {
    int32_t v = x->now.where.order[i];
    if (x->key[v] != i) continue;
    while (m < x->n_moved && comes_before(x, x->moved[m], v)) x->sequence[at++] = x->moved[m++];
    x->sequence[at++] = v;
  }
  while (m < x->n_moved) x->sequence[at++] = x->moved[m++];
}

static void set_tails(greedy *x) {
  const situ_problem *p = x->s.problem;
  for (int32_t i = 0; i < x->n_out; i++)
    for (int32_t d = 0; d < p->n_devices; d++)
      x->tail_ns[(int64_t)x->out[i] * p->n_devices + d] =
          critical_rest(&x->now.critical, x->now.where.device, x->out[i], d);
}

/* Occasionally sends one of them to a random device, which the others follow or not. A stretch moves as a whole. */
static void force_some(greedy *x) {
  int32_t d = search_draw(&x->s, x->s.problem->n_devices);
  for (int32_t i = 0; i < x->n_out && x->together; i++) search_put(&x->s, x->forced, x->out[i], d);
  if (!x->together && search_draw(&x->s, 2)) search_put(&x->s, x->forced, x->out[search_draw(&x->s, x->n_out)], d);
}

static bool iterated_greedy_propose(search *s, int32_t i) {
  greedy *x = (greedy *)s;
  current_explain(&x->now);
  choose_out(x);
  if (x->n_out == 0) return false;
  set_sequence(x);
  set_tails(x);
  force_some(x);
  partial_clear(&x->partial);
  list_policy policy = {.sequence = x->sequence, .tail_ns = x->tail_ns, .forced = x->forced};
  s->ended = !list_schedule(&x->partial, &policy, s->run->budget, s->run->arena);
  if (s->ended) return false;
  x->trial = partial_placement(&x->partial);
  return true;
}

/* Temperatures follow the best cost at once. */
static void iterated_greedy_accept(search *s, double cost) {
  stream_search_go_to(s, cost);
  s->scale = fmin(s->scale, cost);
}

static situ_status iterated_greedy_init(search *s) {
  greedy *x = (greedy *)s;
  const situ_problem *p = s->problem;
  arena *a = s->run->arena;
  int64_t n = p->n_operators;
  if (!ARENA_ARRAYS(a, ARRAY(x->key, n), ARRAY(x->sequence, n), ARRAY(x->moved, n), ARRAY(x->forced, n),
                    ARRAY(x->out, n), ZEROS(x->tail_ns, n * p->n_devices)) ||
      !partial_init_units(&x->partial, p, s->units, a))
    return fail_no_memory(s->run->error);
  if (p->contention == SITU_CONTENTION_LINK) partial_follow_links(&x->partial, a);
  return stream_search_init(s, true);
}

static const search_row ITERATED_GREEDY = {
    .size = sizeof(greedy),
    .rule = SEARCH_THRESHOLD,
    .growth = 2,
    .fills = true,
    .parameters = ITERATED_GREEDY_PARAMETERS,
    .n_parameters = N_PARAMETERS,
    .init = iterated_greedy_init,
    .begin = stream_search_begin,
    .propose = iterated_greedy_propose,
    .evaluate = stream_search_try,
    .accept = iterated_greedy_accept,
};

const solver iterated_greedy_solver = {
    .name = "iterated_greedy",
    .title = "removes part of the schedule and reinserts it, repeatedly",
    .source = "after Ruiz, Stützle, EJOR 2007",
    .models = MODEL_STREAM,
    .anytime = true,
    .multistart = true,
    .starts = {{&heft_solver, 1}, {&single_solver, 1}},
    .search = &ITERATED_GREEDY,
};
