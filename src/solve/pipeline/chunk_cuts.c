/* chunk_cuts: pipelines with several chunks of the model on each device (view/chunks.h). An order of the classes of F
 * is cut into chunks of equal time, for each number of devices that the schedule can use, the fastest ones; then cuts
 * move, one or two at a time, while that makes a step shorter, or loads and chunks more even. Kicks move several
 * cuts at random. docs/theory/heuristics/chunk_cuts.md */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/pipeline/orders.h"
#include "view/chunks.h"

enum { MAX_KICKS = 60 }; /* in a row without a better plan */

/* What a search compares, one after the other. */
typedef struct cuts_cost {
  int64_t excess_bytes, step_ns; /* all periods of a step, and as many times the longest chunk as devices fill */
  double uneven;                 /* sum of the squares of the times of all devices, and of all chunks */
} cuts_cost;

typedef struct cuts_search {
  solve_run *run;
  contraction classes;
  int32_t *order;   /* of the classes */
  int64_t *time_ns; /* [class of devices * (n_classes + 1) + place in the order] sums before it */
  int32_t *fastest; /* usable devices, the fastest first */
  int32_t n_usable;
  int32_t n_used, n_chunks, *used; /* the devices of this search, by number */
  int32_t *cut, *best_cut;         /* [chunk + 1] */
  int32_t *class_device, *device;
  rng random;
} cuts_search;

static bool is_better(const cuts_cost *a, const cuts_cost *b) {
  if (a->excess_bytes != b->excess_bytes) return a->excess_bytes < b->excess_bytes;
  return a->step_ns != b->step_ns ? a->step_ns < b->step_ns : a->uneven < b->uneven * (1 - 1e-9);
}

/* The time of everything on each class of devices, as far as it can run there, then on what is slowest. */
static void sum_times(cuts_search *s) {
  const situ_problem *p = s->run->problem;
  int32_t n = s->classes.n_classes;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t *sum = s->time_ns + (int64_t)p->class_of[d] * (n + 1);
    sum[0] = 0;
    for (int32_t i = 0; i < n; i++) {
      unit_members of = contraction_members(&s->classes, s->order[i]);
      sum[i + 1] = sum[i];
      for (int32_t m = 0; m < of.n; m++) {
        int64_t time_ns = problem_time_ns(p, of.member[m], d);
        sum[i + 1] = sat_add(sum[i + 1], time_ns == SITU_NEVER_NS ? PROBLEM_MAX_NS / p->n_operators : time_ns);
      }
    }
  }
}

static int64_t total_ns(const cuts_search *s, int32_t d) {
  int32_t n = s->classes.n_classes;
  return s->time_ns[(int64_t)s->run->problem->class_of[d] * (n + 1) + n];
}

static bool cuts_init(cuts_search *s, solve_run *run) {
  const situ_problem *p = run->problem;
  arena *a = run->arena;
  *s = (cuts_search){.run = run, .random = rng_new(run->seed ^ 0xc0c5)};
  if (!contract(&s->classes, p, true, a)) return false;
  int32_t n = s->classes.n_classes, max = p->n_devices * p->chunks + 1;
  if (!ARENA_ARRAYS(a, ARRAY(s->order, n), ARRAY(s->time_ns, (int64_t)p->n_classes * (n + 1)),
                    ARRAY(s->fastest, p->n_devices), ARRAY(s->used, p->n_devices), ARRAY(s->cut, max),
                    ARRAY(s->best_cut, max), ARRAY(s->class_device, n), ARRAY(s->device, p->n_operators)) ||
      !order_published(s->order, &s->classes, p->graph, a))
    return false;
  sum_times(s);
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->unused[d]) continue;
    int32_t at = s->n_usable++;
    for (; at > 0 && total_ns(s, s->fastest[at - 1]) > total_ns(s, d); at--) s->fastest[at] = s->fastest[at - 1];
    s->fastest[at] = d;
  }
  return true;
}

static int64_t chunk_ns(const cuts_search *s, int32_t c, int32_t from, int32_t to) {
  const situ_problem *p = s->run->problem;
  int32_t d = s->used[chunk_rank(p, s->n_used, c)];
  const int64_t *sum = s->time_ns + (int64_t)p->class_of[d] * (s->classes.n_classes + 1);
  return sum[to] - sum[from];
}

/* Whether chunks of at most so long are enough; each has a class at least. */
static bool fill_chunks(cuts_search *s, int64_t max_ns) {
  int32_t n = s->classes.n_classes, at = 0;
  s->cut[0] = 0;
  for (int32_t c = 0; c < s->n_chunks; c++) {
    int32_t end = at + 1, last = n - (s->n_chunks - 1 - c);
    while (end < last && chunk_ns(s, c, at, end + 1) <= max_ns) end++;
    s->cut[c + 1] = at = end;
  }
  return at == n;
}

static void cut_evenly(cuts_search *s) {
  int64_t low = 0, high = PROBLEM_MAX_NS;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (fill_chunks(s, middle))
      high = middle;
    else
      low = middle + 1;
  }
  fill_chunks(s, high);
  s->cut[s->n_chunks] = s->classes.n_classes;
}

/* A step of the budget. */
static cuts_cost weigh(cuts_search *s) {
  const situ_problem *p = s->run->problem;
  cuts_cost cost = {.step_ns = SITU_NEVER_NS, .excess_bytes = INT64_MAX};
  int64_t longest_ns = 0;
  for (int32_t c = 0; c < s->n_chunks; c++) {
    int32_t d = s->used[chunk_rank(p, s->n_used, c)];
    for (int32_t i = s->cut[c]; i < s->cut[c + 1]; i++) s->class_device[s->order[i]] = d;
  }
  contraction_expand(&s->classes, s->class_device, s->device);
  budget_spend(s->run->budget, 1);
  if (!solve_allows(p, s->device)) return cost;
  simulation found = simulator_run(s->run->simulator, &(placement){.device = s->device}, true);
  if (found.value_ns == SITU_NEVER_NS) return cost;
  cost.excess_bytes = found.excess_bytes;
  for (int32_t i = 0; i < s->n_used; i++) {
    double load = (double)found.load_ns[s->used[i]];
    cost.uneven += load * load;
  }
  for (int32_t c = 0; c < s->n_chunks; c++) {
    int64_t time_ns = chunk_ns(s, c, s->cut[c], s->cut[c + 1]);
    cost.uneven += (double)time_ns * (double)time_ns;
    longest_ns = max64(longest_ns, time_ns);
  }
  cost.step_ns = sat_add(sat_mul(p->micro_batches, found.value_ns), sat_mul(s->n_used - 1, longest_ns));
  return cost;
}

static bool keeps_order(const cuts_search *s, int32_t c) {
  return s->cut[c - 1] < s->cut[c] && s->cut[c] < s->cut[c + 1];
}

/* Moves cut c by `by`, and with it the cut `also`, if that is another one, by as much back; keeps what is better. */
static bool try_move(cuts_search *s, int32_t c, int32_t also, int32_t by, cuts_cost *now) {
  s->cut[c] += by;
  if (also != c) s->cut[also] -= by;
  if (keeps_order(s, c) && keeps_order(s, also)) {
    cuts_cost cost = weigh(s);
    if (is_better(&cost, now)) {
      *now = cost;
      return true;
    }
  }
  s->cut[c] -= by;
  if (also != c) s->cut[also] += by;
  return false;
}

static void descend(cuts_search *s, cuts_cost *now) {
  int32_t n_cuts = s->n_chunks - 1, max = s->classes.n_classes / s->n_chunks + 1;
  for (bool better = true; better && !solve_done(s->run);) {
    better = false;
    for (int32_t by = 1; by <= max; by *= 2)
      for (int32_t c = 1; c <= n_cuts && !solve_done(s->run); c++)
        for (int32_t sign = -1; sign <= 1; sign += 2) {
          while (!solve_done(s->run) && try_move(s, c, c, sign * by, now)) better = true;
          for (int32_t also = 1; also <= n_cuts && !solve_done(s->run); also++)
            if (also != c) better |= try_move(s, c, also, sign * by, now);
        }
  }
}

static void copy_cuts(const cuts_search *s, int32_t *to, const int32_t *from) {
  for (int32_t c = 0; c <= s->n_chunks; c++) to[c] = from[c];
}

static void kick(cuts_search *s) {
  int32_t n = s->n_chunks - 1, max = s->classes.n_classes / s->n_chunks + 1;
  for (int32_t k = 0; k < 3; k++) {
    int32_t c = 1 + (int32_t)rng_below(&s->random, n), by = (int32_t)rng_below(&s->random, 2 * max + 1) - max;
    s->cut[c] += by;
    if (!keeps_order(s, c)) s->cut[c] -= by;
  }
}

/* The n fastest devices, by number. */
static void use(cuts_search *s, int32_t n) {
  const situ_problem *p = s->run->problem;
  s->n_used = 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    for (int32_t i = 0; i < n; i++)
      if (s->fastest[i] == d) s->used[s->n_used++] = d;
  s->n_chunks = n * p->chunks;
}

static void search_devices(cuts_search *s, int32_t n) {
  use(s, n);
  cut_evenly(s);
  cuts_cost best = weigh(s), now = best;
  descend(s, &best);
  copy_cuts(s, s->best_cut, s->cut);
  for (int32_t kicks = 0; kicks < MAX_KICKS && !solve_done(s->run); kicks++) {
    kick(s);
    now = weigh(s);
    descend(s, &now);
    if (is_better(&now, &best)) {
      best = now;
      kicks = 0;
      copy_cuts(s, s->best_cut, s->cut);
    }
    copy_cuts(s, s->cut, s->best_cut);
  }
  weigh(s);
  solve_offer(s->run, &(placement){.device = s->device});
}

static cuts_cost weigh_evenly(cuts_search *s, int32_t n) {
  use(s, n);
  cut_evenly(s);
  cuts_cost cost = weigh(s);
  solve_offer(s->run, &(placement){.device = s->device});
  return cost;
}

/* The number of devices that promises most of those that are left; 0 if none is. */
static int32_t find_best(const cuts_cost *even, const bool *left, int32_t n_usable) {
  int32_t best = 0;
  for (int32_t n = n_usable; n > 1; n--)
    if (left[n] && (best == 0 || is_better(&even[n], &even[best]))) best = n;
  return best;
}

static situ_status chunk_cuts_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  cuts_search *s = ARENA_ZERO(run->arena, cuts_search, 1);
  if (!s || !cuts_init(s, run)) return fail_no_memory(run->error);
  cuts_cost *even =
      ARENA_ZERO(run->arena, cuts_cost, s->n_usable + 1); /* [number of devices] of chunks of equal work */
  bool *left = ARENA_ZERO(run->arena, bool, s->n_usable + 1);
  if (!even || !left) return fail_no_memory(run->error);
  for (int32_t n = s->n_usable; n > 1 && !solve_done(run); n--) {
    left[n] = (p->schedule == SITU_SCHEDULE_ZB_V || p->micro_batches % n == 0) && s->classes.n_classes >= n * p->chunks;
    if (left[n]) even[n] = weigh_evenly(s, n);
  }
  for (int32_t best; (best = find_best(even, left, s->n_usable)) > 0 && !solve_done(run); left[best] = false)
    search_devices(s, best);
  return SITU_STATUS_OK;
}

static bool chunk_cuts_serves(const situ_problem *p) { return p->chunks > 0; }

const solver chunk_cuts_solver = {
    .name = "chunk_cuts",
    .title = "an order of the operators cut into several chunks for each device",
    .source = "for the schedules of Narayanan et al., SC 2021, and Qi et al., ICLR 2024",
    .models = MODEL_PIPELINE,
    .chunks = true,
    .serves = chunk_cuts_serves,
    .solve = chunk_cuts_solve,
};
