#include "solve/stream/list.h"

#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/heap.h"
#include "solve/common/repair.h"
#include "solve/stream/rank.h"
#include "solve/stream/sequence.h"

enum { LOOK_EVERY = 256, ALL_WAYS_UP_TO = 200000, MAX_FITS = 3 };

/* Operators whose producers are all placed, by priority. */
typedef struct ready_queue {
  ready_heap heap;
  int32_t *waiting; /* [operator] number of inputs not made yet */
} ready_queue;

static bool queue_init(ready_queue *q, const situ_graph *g, const double *priority, arena *scratch) {
  q->heap = (ready_heap){.key = priority, .at = ARENA_NEW(scratch, int32_t, (int64_t)g->n_operators + 1)};
  q->waiting = ARENA_NEW(scratch, int32_t, g->n_operators);
  if (!q->heap.at || !q->waiting) return false;
  for (int32_t v = 0; v < g->n_operators; v++) {
    q->waiting[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
    if (q->waiting[v] == 0) heap_push(&q->heap, v);
  }
  return true;
}

static void queue_release(ready_queue *q, const situ_graph *g, int32_t v) {
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      if (--q->waiting[g->use[i]] == 0) heap_push(&q->heap, g->use[i]);
}

/* The forced device of v if it is a candidate, else -1. Fills the candidates unless it is seen at once. */
static int32_t forced_device(partial_schedule *s, int32_t v, const list_policy *policy, int32_t *n) {
  int32_t forced = policy->forced ? policy->forced[v] : -1;
  if (forced >= 0 && partial_takes(s, v, forced)) return forced;
  *n = partial_candidates(s, v);
  for (int32_t i = 0; i < *n && forced >= 0; i++)
    if (s->candidates[i] == forced) return forced;
  return -1;
}

/* The device that minimises finish + tail, ties to the device listed first; -1 where no device can run v. */
static int32_t best_device(partial_schedule *s, int32_t v, const list_policy *policy) {
  const situ_problem *p = s->problem;
  int32_t n = 0, best = forced_device(s, v, policy, &n);
  int64_t best_key = 0;
  if (best >= 0) {
    if (!s->links) partial_arrive_at(s, v, best); /* otherwise partial_send does it */
    return best;
  }
  partial_arrive(s, v);
  for (int32_t i = 0; i < n; i++) {
    int32_t d = s->candidates[i];
    int64_t key = sat_add(partial_start(s, v, d, true), problem_time_ns(p, v, d));
    if (s->byte_ns) key = sat_add(key, partial_price_ns(s, v, d));
    if (policy->tail_ns) key = sat_add(key, policy->tail_ns[(int64_t)v * p->n_devices + d]);
    if (best >= 0 && key >= best_key) continue;
    best = d;
    best_key = key;
  }
  return best;
}

static bool place_best(partial_schedule *s, int32_t v, const list_policy *policy) {
  int32_t d = policy->choose ? policy->choose(policy->context, s, v) : best_device(s, v, policy);
  if (d < 0) return false;
  partial_send(s, v, d);
  partial_place(s, v, d, partial_start(s, v, d, true));
  return true;
}

/* When the last producer of v ends. */
static int64_t ready_ns(const partial_schedule *s, int32_t v) {
  const situ_graph *g = s->problem->graph;
  int64_t ready = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    ready = max64(ready, s->finish_ns[g->producer[g->in[i]]]);
  return ready;
}

/* Forgets gaps before the earliest time at which any remaining operator could be ready: those in the queue wait for
 * their producers, all others for one of these. */
static void forget_gaps(partial_schedule *s, const ready_queue *q) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t k = 0; k < q->heap.n && min > 0; k++) min = min64(min, ready_ns(s, q->heap.at[k]));
  for (int32_t d = 0; d < s->problem->n_devices && min > 0; d++) timeline_forget(&s->pool, &s->lines[d], min);
}

static bool producers_are_placed(const partial_schedule *s, int32_t v) {
  const situ_graph *g = s->problem->graph;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (s->device[g->producer[g->in[i]]] < 0) return false;
  return true;
}

/* list_schedule for a given sequence: the first ready operator in it comes next, which is nearly always the first one
 * left. */
static bool schedule_sequence(partial_schedule *s, const list_policy *policy, budget *b, arena *scratch) {
  int32_t n = s->problem->n_operators;
  int32_t *next = ARENA_NEW(scratch, int32_t, (int64_t)n + 1); /* [position + 1] the next one left; n: none */
  bool going = next != NULL;
  for (int32_t k = 0; going && k <= n; k++) next[k] = k;
  for (int32_t placed = 1; going && next[0] < n; placed++) {
    int32_t before = 0;
    while (next[before] < n && !producers_are_placed(s, policy->sequence[next[before]])) before = next[before] + 1;
    int32_t at = next[before];
    going = at < n && place_best(s, policy->sequence[at], policy) && (placed % LOOK_EVERY || !budget_over(b));
    if (going) next[before] = next[at + 1];
  }
  return going;
}

bool list_schedule(partial_schedule *s, const list_policy *policy, budget *b, arena *scratch) {
  REQUIRE(policy->priority || policy->sequence);
  const situ_graph *g = s->problem->graph;
  arena_mark mark = arena_get_mark(scratch);
  if (policy->sequence) {
    bool done = schedule_sequence(s, policy, b, scratch);
    arena_release(scratch, mark);
    return done;
  }
  ready_queue queue;
  bool going = queue_init(&queue, g, policy->priority, scratch);
  int32_t next_look = LOOK_EVERY;
  for (int32_t placed = 1; going && queue.heap.n > 0; placed++) {
    int32_t v = heap_pop(&queue.heap);
    going = place_best(s, v, policy);
    queue_release(&queue, g, v);
    if (placed < next_look) continue;
    forget_gaps(s, &queue);
    going = going && !budget_over(b);
    next_look = placed + (queue.heap.n > LOOK_EVERY ? queue.heap.n : LOOK_EVERY);
  }
  arena_release(scratch, mark);
  return going;
}

typedef struct pair {
  int32_t v, d;
  int64_t start_ns, finish_ns;
  double merit, level;
  bool disturbs; /* the device waits for another operator */
} pair;

/* The pairs of one schedule: the ready operators considered, and the devices that wait for a favourite. */
typedef struct pairing {
  partial_schedule *partial;
  const list_pair_policy *policy;
  int32_t shortlist[LIST_SHORTLIST], n;
  bool *in_shortlist;   /* [operator]; like the next three, only where there are favourites */
  int32_t *last;        /* [device] the operator placed there last, or -1 */
  int32_t *awaited;     /* [device] the favourite it waits for, or -1 */
  int64_t *awaits_from; /* [device] since when it waits */
} pairing;

static bool pairing_init(pairing *x, partial_schedule *s, const list_pair_policy *policy, arena *scratch) {
  *x = (pairing){.partial = s, .policy = policy};
  if (!policy->favourite) return true;
  int32_t n = s->problem->n_devices;
  if (!ARENA_ARRAYS(scratch, ZEROS(x->in_shortlist, s->problem->n_operators), ARRAY(x->last, n), ARRAY(x->awaited, n),
                    ARRAY(x->awaits_from, n)))
    return false;
  for (int32_t d = 0; d < n; d++) x->last[d] = -1;
  return true;
}

static void fill_shortlist(pairing *x, ready_queue *q) {
  while (x->n < LIST_SHORTLIST && q->heap.n > 0) {
    int32_t v = x->shortlist[x->n++] = heap_pop(&q->heap);
    if (x->in_shortlist) x->in_shortlist[v] = true;
  }
}

/* Finds the devices that wait: for the favourite of the operator that ran there last, from when that is ready, unless
 * another device could start it earlier. */
static void find_awaited(pairing *x) {
  partial_schedule *s = x->partial;
  for (int32_t d = 0; d < s->problem->n_devices; d++) {
    int32_t f = x->last[d] >= 0 ? x->policy->favourite[x->last[d]] : -1;
    x->awaited[d] = -1;
    if (f < 0 || !x->in_shortlist[f]) continue;
    int32_t n = partial_candidates(s, f);
    int64_t min = SITU_NEVER_NS, here = SITU_NEVER_NS;
    partial_arrive(s, f);
    for (int32_t i = 0; i < n; i++) {
      int64_t start = partial_start(s, f, s->candidates[i], false);
      min = min64(min, start);
      if (s->candidates[i] == d) here = start;
    }
    if (here != min || here == SITU_NEVER_NS) continue;
    x->awaited[d] = f;
    x->awaits_from[d] = max64(s->lines[d].end, ready_ns(s, f));
  }
}

static bool is_better(const pair *a, const pair *b) {
  if (b->v < 0) return true;
  if (a->merit != b->merit) return a->merit > b->merit;
  if (a->level != b->level) return a->level > b->level;
  if (a->v != b->v || a->disturbs != b->disturbs) return a->v == b->v && b->disturbs;
  return a->finish_ns < b->finish_ns;
}

/* Replaces `best` by the best device of operator v, if that is better under the rule. A waiting device takes another
 * operator only when that is urgent: when no device could make it wait longer. */
static void consider(pair *best, pairing *x, int32_t v) {
  partial_schedule *s = x->partial;
  double level = x->policy->level[v];
  int32_t n = partial_candidates(s, v);
  int64_t urgent = 0;
  partial_arrive(s, v);
  for (int32_t i = 0; x->policy->favourite && i < n; i++)
    urgent = max64(urgent, partial_start(s, v, s->candidates[i], false));
  for (int32_t i = 0; i < n; i++) {
    int32_t d = s->candidates[i];
    int64_t start = partial_start(s, v, d, false), time = problem_time_ns(s->problem, v, d);
    bool disturbs = x->policy->favourite && x->awaited[d] >= 0 && x->awaited[d] != v && start >= x->awaits_from[d];
    if (disturbs) start = urgent;
    pair now = {.v = v,
                .d = d,
                .start_ns = start,
                .finish_ns = sat_add(start, time),
                .merit = -(double)start,
                .level = level,
                .disturbs = disturbs};
    if (x->policy->rule == LIST_DYNAMIC_LEVEL) now.merit += level + x->policy->mean[v] - (double)time;
    if (is_better(&now, best)) *best = now;
  }
}

static void take(pairing *x, int32_t at, pair *best) {
  partial_schedule *s = x->partial;
  if (s->links) {
    partial_arrive(s, best->v);
    partial_send(s, best->v, best->d);
    best->start_ns = max64(best->start_ns, partial_start(s, best->v, best->d, false));
  }
  partial_place(s, best->v, best->d, best->start_ns);
  x->shortlist[at] = x->shortlist[--x->n];
  if (!x->policy->favourite) return;
  x->in_shortlist[best->v] = false;
  x->last[best->d] = best->v;
}

bool list_pairs(partial_schedule *s, const list_pair_policy *policy, budget *b, arena *scratch) {
  REQUIRE(policy->level && (policy->rule != LIST_DYNAMIC_LEVEL || policy->mean));
  const situ_graph *g = s->problem->graph;
  arena_mark mark = arena_get_mark(scratch);
  ready_queue queue;
  pairing x;
  bool going = queue_init(&queue, g, policy->level, scratch) && pairing_init(&x, s, policy, scratch);
  for (int32_t turn = 1; going && (x.n > 0 || queue.heap.n > 0); turn++) {
    fill_shortlist(&x, &queue);
    if (policy->favourite) find_awaited(&x);
    pair best = {.v = -1};
    int32_t at = 0;
    for (int32_t i = 0; i < x.n; i++) {
      int32_t before = best.v;
      consider(&best, &x, x.shortlist[i]);
      if (best.v != before) at = i;
    }
    going = best.v >= 0 && (turn % LOOK_EVERY != 0 || !budget_over(b));
    if (!going) break;
    take(&x, at, &best);
    queue_release(&queue, g, best.v);
  }
  arena_release(scratch, mark);
  return going;
}

int64_t list_offer(solve_run *run, partial_schedule *s) {
  CONTRACT(partial_check(s));
  placement where = partial_placement(s);
  return repair_offer(run, &where);
}

/* Makes one schedule by upward rank. False when the budget or memory ended. */
static bool make_schedule(solve_run *run, partial_schedule *s, double *rank, rank_weight way, const int32_t *forced) {
  arena_mark mark = arena_get_mark(run->arena);
  rank_costs costs;
  bool going = rank_costs_find(&costs, run->arena, run->problem, way);
  if (going && !s->byte_ns) rank_upward(rank, run->problem, &costs);
  if (going && s->byte_ns) { /* by time: what nobody waits for would come last, and hold its inputs */
    rank_downward(rank, run->problem, &costs);
    for (int32_t v = 0; v < run->problem->n_operators; v++) rank[v] = -rank[v];
  }
  arena_release(run->arena, mark);
  if (!going) return false;
  partial_clear(s);
  return list_schedule(s, &(list_policy){.priority = rank, .forced = forced}, run->budget, run->arena);
}

/* The best schedule of a row, whose devices are redispatched where it is not the best plan. */
typedef struct own_best {
  int64_t value_ns;
  int32_t *device; /* NULL: not kept */
} own_best;

/* Likewise, and offers it. */
static bool schedule_by_rank(solve_run *run, partial_schedule *s, double *rank, rank_weight way, const int32_t *forced,
                             own_best *best) {
  bool made = make_schedule(run, s, rank, way, forced);
  int64_t value_ns = made ? list_offer(run, s) : SITU_NEVER_NS;
  if (value_ns >= best->value_ns || !best->device) return made;
  best->value_ns = value_ns;
  memcpy(best->device, s->device, (size_t)s->problem->n_operators * sizeof *s->device);
  return made;
}

/* What comes after an earlier plan in its own order may come before it when redispatched, as that plan was. */
static situ_status redispatch(solve_run *run, const own_best *best) {
  if (!best->device || best->value_ns == SITU_NEVER_NS || best->value_ns == run->incumbent->value_ns || solve_done(run))
    return SITU_STATUS_OK;
  placement where = {.device = best->device, .order = ARENA_NEW(run->arena, int32_t, run->problem->n_operators)};
  if (!where.order || !sequence_find(where.order, run->simulator, run->problem, where.device, run->arena))
    return fail_no_memory(run->error);
  solve_offer(run, &where);
  return SITU_STATUS_OK;
}

/* ---- Prices of memory ---- */

/* Sets prices such that all of a limited memory costs `share` of the total time. */
static void set_prices(double *byte_ns, const situ_problem *p, double share, int64_t time_ns) {
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t limit = p->platform->memory_bytes[m];
    byte_ns[m] = limit == SITU_UNLIMITED_BYTES ? 0 : share * (double)time_ns / (double)max64(limit, 1);
  }
}

/* Reserves on each memory as much as temporary tensors took in the current schedule. Whether that is more than before
 * on a memory that was too full. */
static bool spare_more(solve_run *run, partial_schedule *s, int64_t *spare_bytes) {
  const situ_problem *p = run->problem;
  placement where = partial_placement(s);
  simulation found = solve_try(run, &where);
  bool more = false;
  for (int32_t m = 0; m < p->n_memories && found.peak_bytes; m++) {
    int64_t over = found.peak_bytes[m] - p->platform->memory_bytes[m], passing = found.peak_bytes[m] - s->weights[m];
    if (over <= 0 || passing <= spare_bytes[m]) continue;
    spare_bytes[m] = passing;
    more = true;
  }
  return more;
}

typedef struct price_search {
  double *rank, *byte_ns; /* [operator], [memory] */
  int64_t *spare_bytes;   /* [memory] */
  const int32_t *forced;
  int64_t time_ns, best_ns;
  double best_share;
} price_search;

/* Makes a schedule, and while temporary tensors do not fit, repeats it with more memory reserved. False when the budget
 * or memory ended. */
static bool schedule_to_fit(solve_run *run, partial_schedule *s, const price_search *x, rank_weight way,
                            int64_t *value_ns) {
  *value_ns = SITU_NEVER_NS;
  for (int32_t k = 0; k < MAX_FITS; k++) {
    if (!make_schedule(run, s, x->rank, way, x->forced)) return false;
    if (!spare_more(run, s, x->spare_bytes)) break;
  }
  *value_ns = list_offer(run, s);
  return true;
}

/* Tries a share, and keeps it as the best if it is. */
static bool try_price(solve_run *run, partial_schedule *s, price_search *x, double share) {
  int64_t value_ns;
  set_prices(x->byte_ns, run->problem, share, x->time_ns);
  if (!schedule_to_fit(run, s, x, RANK_MEAN, &value_ns)) return false;
  if (value_ns >= x->best_ns) return true;
  x->best_ns = value_ns;
  x->best_share = share;
  return true;
}

/* Schedules of a large problem with binding memory, at prices of memory. Without prices, what comes first fills the
 * fastest devices, and everything later has to do without them. Then the other ways of ranking at the best price. */
static situ_status list_at_prices(solve_run *run, partial_schedule *s, double *rank, const int32_t *forced) {
  const situ_problem *p = run->problem;
  price_search x = {.rank = rank, .forced = forced, .best_ns = SITU_NEVER_NS};
  if (!ARENA_ARRAYS(run->arena, ZEROS(x.byte_ns, p->n_memories), ZEROS(x.spare_bytes, p->n_memories)))
    return fail_no_memory(run->error);
  for (int32_t d = 0; d < p->n_devices; d++) x.time_ns = max64(x.time_ns, s->lines[d].end);
  if (p->contention != SITU_CONTENTION_NONE) partial_follow_links(s, run->arena);
  s->byte_ns = x.byte_ns;
  s->spare_bytes = x.spare_bytes;
  static const double shares[] = {8, 1, 64}; /* the one that is best most often comes first */
  for (size_t k = 0; k < sizeof shares / sizeof *shares && (k == 0 || !solve_done(run)); k++)
    if (!try_price(run, s, &x, shares[k])) return SITU_STATUS_OK;
  set_prices(x.byte_ns, p, x.best_share, x.time_ns);
  int64_t value_ns;
  for (int32_t way = RANK_MEAN + 1; p->n_operators <= ALL_WAYS_UP_TO && way < N_RANK_WEIGHTS && !solve_done(run); way++)
    if (!schedule_to_fit(run, s, &x, (rank_weight)way, &value_ns)) break;
  return SITU_STATUS_OK;
}

/* Schedules without the memory that was exceeded most, then without one more, until a plan fits. The bytes of live
 * tensors are not known in advance. */
static situ_status leave_out_full(solve_run *run, partial_schedule *s, double *rank) {
  const situ_problem *p = run->problem;
  bool *closed = ARENA_ZERO(run->arena, bool, p->n_memories);
  if (!closed) return fail_no_memory(run->error);
  s->closed = closed;
  for (int32_t k = 1; k < p->n_memories && !run->incumbent->best.device && !solve_done(run); k++) {
    simulation found = solve_try(run, &(placement){.device = s->device, .order = s->order});
    int32_t full = -1;
    int64_t worst = 0;
    for (int32_t m = 0; m < p->n_memories && found.peak_bytes; m++) {
      int64_t limit = p->platform->memory_bytes[m];
      if (closed[m] || limit == SITU_UNLIMITED_BYTES || found.peak_bytes[m] - limit <= worst) continue;
      worst = found.peak_bytes[m] - limit;
      full = m;
    }
    if (full < 0) break;
    closed[full] = true;
    if (!schedule_by_rank(run, s, rank, RANK_MEAN, NULL, &(own_best){0})) break;
  }
  s->closed = NULL;
  return SITU_STATUS_OK;
}

situ_status list_by_rank(solve_run *run, const int32_t *forced) {
  const situ_problem *p = run->problem;
  double *rank = ARENA_NEW(run->arena, double, p->n_operators);
  own_best best = {.value_ns = SITU_NEVER_NS};
  partial_schedule s;
  if (!rank || !partial_init_units(&s, p, solve_units(run), run->arena)) return fail_no_memory(run->error);
  if (solve_is_large(p) && !(best.device = ARENA_NEW(run->arena, int32_t, p->n_operators)))
    return fail_no_memory(run->error);
  bool contended = p->contention != SITU_CONTENTION_NONE;
  if (run->brief && contended && partial_follow_links(&s, run->arena)) { /* mostly the better of two schedules */
    int64_t start_ns = clock_now_ns();
    if (!schedule_by_rank(run, &s, rank, RANK_MEAN, forced, &best)) return SITU_STATUS_OK;
    s.links = false;
    if (solve_done(run) || budget_time_left(run->budget) < clock_now_ns() - start_ns) return redispatch(run, &best);
    if (run->brief_is_all) *run->brief_is_all = p->n_operators > ALL_WAYS_UP_TO;
  }
  int32_t ways = p->n_operators <= ALL_WAYS_UP_TO && !run->brief ? N_RANK_WEIGHTS : 1;
  for (int32_t way = 0; way < ways && (way == 0 || !solve_done(run)); way++) {
    if (!schedule_by_rank(run, &s, rank, (rank_weight)way, forced, &best)) return SITU_STATUS_OK;
    if (solve_is_large(p) && s.short_of_room) return list_at_prices(run, &s, rank, forced);
    if (way == 0 && !forced && !run->incumbent->best.device) TRY(leave_out_full(run, &s, rank));
  }
  bool links = !run->brief && contended && !solve_done(run) && partial_follow_links(&s, run->arena);
  for (int32_t way = 0; links && way < ways && !solve_done(run); way++)
    if (!schedule_by_rank(run, &s, rank, (rank_weight)way, forced, &best)) break;
  return redispatch(run, &best);
}
