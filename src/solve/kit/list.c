#include "solve/kit/list.h"

#include "base/checked.h"
#include "base/fail.h"
#include "solve/kit/heap.h"
#include "solve/kit/rank.h"
#include "solve/kit/repair.h"

enum { LOOK_EVERY = 256 };

/* Operators whose producers are all placed, by priority. */
typedef struct ready_queue {
  ready_heap heap;
  int32_t *waiting; /* [operator] inputs that are not made yet */
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

/* The forced device of v if that is a candidate, or -1. */
static int32_t forced_device(const draft *s, int32_t v, int32_t n, const list_policy *policy) {
  for (int32_t i = 0; i < n && policy->forced; i++)
    if (s->candidates[i] == policy->forced[v]) return s->candidates[i];
  return -1;
}

/* Where finish + tail is least, ties to the device listed first; -1 where no device can run it. */
static int32_t best_device(draft *s, int32_t v, const list_policy *policy) {
  const situ_problem *p = s->problem;
  int32_t n = draft_candidates(s, v), best = forced_device(s, v, n, policy);
  int64_t best_key = 0;
  if (best >= 0) {
    draft_arrive_at(s, v, best);
    return best;
  }
  draft_arrive(s, v);
  for (int32_t i = 0; i < n; i++) {
    int32_t d = s->candidates[i];
    int64_t key = sat_add(draft_start(s, v, d, true), problem_time_ns(p, v, d));
    if (policy->tail_ns) key = sat_add(key, policy->tail_ns[(int64_t)v * p->n_devices + d]);
    if (best >= 0 && key >= best_key) continue;
    best = d;
    best_key = key;
  }
  return best;
}

static bool place_best(draft *s, int32_t v, const list_policy *policy) {
  int32_t d = best_device(s, v, policy);
  if (d < 0) return false;
  draft_send(s, v, d);
  draft_place(s, v, d, draft_start(s, v, d, true));
  return true;
}

/* Forgets gaps before the least time at which any operator that is left could be ready: those in the queue wait for their
 * producers at least, all others for one of these. */
static void forget_gaps(draft *s, const ready_queue *q) {
  const situ_graph *g = s->problem->graph;
  int64_t least = SITU_NEVER_NS;
  for (int32_t k = 0; k < q->heap.n && least > 0; k++) {
    int32_t v = q->heap.at[k];
    int64_t ready = 0;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) ready = max64(ready, s->finish_ns[g->producer[g->in[i]]]);
    least = min64(least, ready);
  }
  for (int32_t d = 0; d < s->problem->n_devices && least > 0; d++) timeline_forget(&s->pool, &s->lines[d], least);
}

bool list_schedule(draft *s, const list_policy *policy, budget *b, arena *scratch) {
  const situ_graph *g = s->problem->graph;
  arena_mark mark = arena_get_mark(scratch);
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
  int64_t start_ns;
  double merit, level;
} pair;

/* The best device of operator v under the rule, if that is better than `best`. */
static void consider(pair *best, draft *s, list_pair_rule rule, int32_t v, double level, double mean) {
  int32_t n = draft_candidates(s, v);
  draft_arrive(s, v);
  for (int32_t i = 0; i < n; i++) {
    int32_t d = s->candidates[i];
    int64_t start = draft_start(s, v, d, false);
    double merit = -(double)start;
    if (rule == LIST_DYNAMIC_LEVEL) merit += level + mean - (double)problem_time_ns(s->problem, v, d);
    if (best->v >= 0 && (merit < best->merit || (merit == best->merit && level <= best->level))) continue;
    *best = (pair){.v = v, .d = d, .start_ns = start, .merit = merit, .level = level};
  }
}

bool list_pairs(draft *s, list_pair_rule rule, const double *level, const double *mean, budget *b, arena *scratch) {
  const situ_graph *g = s->problem->graph;
  arena_mark mark = arena_get_mark(scratch);
  ready_queue queue;
  int32_t window[LIST_WINDOW], n = 0;
  bool going = queue_init(&queue, g, level, scratch);
  for (int32_t turn = 1; going && (n > 0 || queue.heap.n > 0); turn++) {
    while (n < LIST_WINDOW && queue.heap.n > 0) window[n++] = heap_pop(&queue.heap);
    pair best = {.v = -1};
    int32_t at = 0;
    for (int32_t i = 0; i < n; i++) {
      int32_t before = best.v;
      consider(&best, s, rule, window[i], level[window[i]], mean[window[i]]);
      if (best.v != before) at = i;
    }
    going = best.v >= 0 && (turn % LOOK_EVERY != 0 || !budget_over(b));
    if (!going) break;
    if (s->links) {
      draft_arrive(s, best.v);
      draft_send(s, best.v, best.d);
      best.start_ns = draft_start(s, best.v, best.d, false);
    }
    draft_place(s, best.v, best.d, best.start_ns);
    window[at] = window[--n];
    queue_release(&queue, g, best.v);
  }
  arena_release(scratch, mark);
  return going;
}

void list_offer(solve_run *run, draft *s) {
  placement where = draft_placement(s);
  repair_offer(run, &where);
}

situ_status list_solve_pairs(solve_run *run, list_pair_rule rule) {
  const situ_problem *p = run->problem;
  double *level = ARENA_NEW(run->arena, double, p->n_operators);
  rank_costs costs;
  draft s;
  if (!level || !draft_init(&s, p, run->arena) || !rank_costs_find(&costs, run->arena, p, RANK_NO_TRANSFER))
    return fail_no_memory(run->error);
  rank_upward(level, p, &costs);
  if (list_pairs(&s, rule, level, costs.work, run->budget, run->arena)) list_offer(run, &s);
  return SITU_STATUS_OK;
}
