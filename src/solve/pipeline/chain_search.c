/* chain_search: branch and bound over chains of stages on devices, exact for every contiguous pipeline without
 * replicas.
 *
 * A plan is a sequence of devices, each with a stage whose producers lie in it or before it. Stages grow by one class
 * at a time in rising order, so each chain is enumerated once. Symmetry is broken twice: devices with equal routes are
 * used in order, and so are consecutive stages of which neither needs the other. The loads of placed classes are exact
 * (loads.h) and only grow, so a branch ends where they reach the incumbent, or where the remaining work does not
 * fit into the remaining devices. For problems where ideal_dp has only bounds: links that several devices load,
 * memories that accelerators share. docs/theory/exact/chain_search.md.
 *
 * A step is 64 classes placed. */
#include <math.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/pipeline/loads.h"
#include "view/equal_devices.h"

enum { MAX_CLASSES = 2000, MAX_DEVICES = 64, MAX_PLACED = 1 << 22 };

typedef struct chain_search {
  solve_run *run;
  const situ_problem *problem;
  contraction classes;
  loads loads;
  int64_t max_load_ns[2];   /* [phase] of the placed classes */
  int64_t *running_bytes;   /* [memory] maximum of the placed classes */
  int32_t *class_at, *rank; /* [rank], and back: F goes upwards */
  int32_t *waiting;         /* [rank] 0 only if all predecessors are placed, and it is not */
  constraint_graph before;  /* predecessors */
  bool *used;               /* [device] */
  equal_devices equal;      /* at EQUAL_ALWAYS */
  double *price;            /* [class] its minimum time on any device */
  double *rate;             /* [device] maximum price that it takes in a nanosecond */
  double rest;              /* price of unplaced classes */
  int32_t n_placed;
  int64_t n_tried;
  int64_t max_ns; /* of plans that are searched for */
  bool stopped;
  int32_t *operator_device;
  situ_status status;
} chain_search;

static bool order_classes(chain_search *s, arena *a) {
  const constraint_graph *f = &s->classes.forward;
  if (!ARENA_ARRAYS(a, ARRAY(s->class_at, f->n), ARRAY(s->rank, f->n), ARRAY(s->waiting, f->n)) ||
      !constraint_graph_reverse(&s->before, f, a) || constraint_graph_order(s->class_at, f, a) != f->n)
    return false;
  for (int32_t k = 0; k < f->n; k++) {
    int32_t c = s->class_at[k];
    s->rank[c] = k;
    s->waiting[k] = s->before.start[c + 1] - s->before.start[c];
  }
  return true;
}

/* Time of a class on a device in all phases; SITU_NEVER_NS where it is not allowed. */
static int64_t time_on(const chain_search *s, int32_t c, int32_t d) {
  const situ_problem *p = s->problem;
  int64_t sum = 0;
  if (!s->loads.allowed[(int64_t)c * p->n_devices + d]) return SITU_NEVER_NS;
  for (int32_t phase = 0; phase < p->n_phases; phase++)
    sum = sat_add(sum, s->loads.time_ns[((int64_t)phase * s->classes.n_classes + c) * p->n_classes + p->class_of[d]]);
  return sum;
}

static void price_classes(chain_search *s) {
  int32_t n = s->classes.n_classes;
  for (int32_t c = 0; c < n; c++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t d = 0; d < s->problem->n_devices; d++) min = min64(min, time_on(s, c, d));
    s->price[c] = min == SITU_NEVER_NS ? 0 : (double)min;
    s->rest += s->price[c];
    for (int32_t d = 0; d < s->problem->n_devices; d++) {
      int64_t time_ns = time_on(s, c, d);
      if (time_ns == SITU_NEVER_NS || s->price[c] == 0) continue;
      s->rate[d] = fmax(s->rate[d], s->price[c] / (double)time_ns);
    }
  }
}

static bool chain_search_init(chain_search *s, solve_run *run) {
  arena *a = run->arena;
  const situ_problem *p = run->problem;
  if (!order_classes(s, a) || !loads_init(&s->loads, p, &s->classes, a)) return false;
  if (!ARENA_ARRAYS(a, ZEROS(s->running_bytes, p->n_memories), ZEROS(s->used, p->n_devices),
                    ZEROS(s->price, s->classes.n_classes), ZEROS(s->rate, p->n_devices),
                    ARRAY(s->operator_device, p->n_operators)) ||
      !equal_devices_find(&s->equal, p, EQUAL_ALWAYS, a))
    return false;
  price_classes(s);
  return true;
}

/* Whether the unplaced classes may fit into device d, whose stage grows, and the unused devices. */
static bool rest_fits(const chain_search *s, int32_t d) {
  double room = ((double)s->max_ns - (double)s->loads.compute_ns[d]) * s->rate[d];
  for (int32_t e = 0; e < s->problem->n_devices; e++)
    if (!s->used[e]) room += (double)s->max_ns * s->rate[e];
  return s->rest <= room * (1 + 1e-9) + 1;
}

/* The period of the placed classes. */
static int64_t period(const chain_search *s) { return s->max_load_ns[0] + s->max_load_ns[1]; }

static void offer(chain_search *s) {
  int64_t promised_ns = period(s);
  contraction_expand(&s->classes, s->loads.device, s->operator_device);
  int64_t value_ns = solve_offer(s->run, &(placement){.device = s->operator_device});
  bool too_deep = value_ns == SITU_NEVER_NS && problem_keeps_by_depth(s->problem); /* sums here are of one input */
  if (value_ns != promised_ns && !too_deep)
    s->status = fail_with(s->run->error, SITU_STATUS_INTERNAL, "chain_search", "promised %lld ns, simulated %lld ns",
                          (long long)promised_ns, (long long)value_ns);
  s->max_ns = s->run->incumbent->value_ns - 1;
  s->stopped |= s->status != SITU_STATUS_OK || solve_done(s->run);
}

static bool count(chain_search *s) {
  if (++s->n_tried % 64 == 0) s->stopped |= budget_spend(s->run->budget, 1) || s->n_tried >= MAX_PLACED;
  return !s->stopped;
}

/* Whether an unused device equal to d comes before it. */
static bool has_free_twin(const chain_search *s, int32_t d) {
  const device_type *type = &s->equal.types[s->equal.type_of[d]];
  for (int32_t i = 0; type->devices[i] < d; i++)
    if (!s->used[type->devices[i]]) return true;
  return false;
}

/* Whether class c needs a class of device d. */
static bool needs(const chain_search *s, int32_t c, int32_t d) {
  for (int32_t i = s->before.start[c]; i < s->before.start[c + 1]; i++)
    if (s->loads.device[s->before.to[i]] == d) return true;
  return false;
}

/* The stage that grows: its device and the one before it (-1: none). It is in_order if its device has the higher number
 * or it needs the stage before it; otherwise the two could be exchanged, and only the other order is searched. */
typedef struct stage {
  int32_t device, previous;
  bool in_order;
} stage;

static void grow(chain_search *s, stage at, int32_t first_rank);

static void go_on(chain_search *s, stage at, int32_t rank) {
  bool whole = s->n_placed == s->classes.n_classes;
  if (whole && at.in_order) offer(s);
  if (whole) return;
  grow(s, at, rank + 1);
  for (int32_t e = 0; e < s->problem->n_devices && !s->stopped && at.in_order; e++) {
    if (s->used[e] || has_free_twin(s, e)) continue;
    s->used[e] = true;
    if (rest_fits(s, e)) grow(s, (stage){e, at.device, e > at.device}, 0);
    s->used[e] = false;
  }
}

/* Adds each class of at least that rank that may be next in the stage, and searches on. Skipped ranks are left to later
 * stages. */
static void grow(chain_search *s, stage at, int32_t first_rank) {
  const constraint_graph *f = &s->classes.forward;
  int32_t d = at.device;
  for (int32_t rank = first_rank, n = f->n; rank < n; rank++) {
    if (s->waiting[rank] > 0) continue;
    if (s->stopped) return;
    int32_t c = s->class_at[rank];
    if (!s->loads.allowed[(int64_t)c * s->problem->n_devices + d] || !count(s)) continue;
    int32_t m = s->problem->memory_of[d];
    int64_t running = s->running_bytes[m], load[2] = {s->max_load_ns[0], s->max_load_ns[1]};
    double rest = s->rest;
    loads_move(&s->loads, c, d);
    loads_raise(&s->loads, s->max_load_ns);
    s->running_bytes[m] = max64(running, s->loads.running_bytes[c]);
    bool fits = sat_add(s->loads.used_bytes[m], s->running_bytes[m]) <= s->problem->platform->memory_bytes[m];
    s->rest -= s->price[c];
    s->n_placed++;
    s->waiting[rank] = 1;
    for (int32_t i = f->start[c]; i < f->start[c + 1]; i++) s->waiting[s->rank[f->to[i]]]--;
    if (fits && period(s) <= s->max_ns && rest_fits(s, d))
      go_on(s, (stage){d, at.previous, at.in_order || needs(s, c, at.previous)}, rank);
    for (int32_t i = f->start[c]; i < f->start[c + 1]; i++) s->waiting[s->rank[f->to[i]]]++;
    s->waiting[rank] = 0;
    s->n_placed--;
    s->rest = rest;
    s->running_bytes[m] = running;
    s->max_load_ns[0] = load[0];
    s->max_load_ns[1] = load[1];
    loads_move(&s->loads, c, -1);
  }
}

static situ_status chain_search_solve(solve_run *run) {
  chain_search *s = ARENA_NEW(run->arena, chain_search, 1);
  if (!s) return fail_no_memory(run->error);
  *s = (chain_search){.run = run, .problem = run->problem, .max_ns = run->incumbent->value_ns - 1};
  if (!contract(&s->classes, run->problem, true, run->arena)) return fail_no_memory(run->error);
  if (s->classes.n_classes > MAX_CLASSES) return SITU_STATUS_OK;
  if (!chain_search_init(s, run)) return fail_no_memory(run->error);
  for (int32_t d = 0; d < s->problem->n_devices && !s->stopped; d++) {
    if (has_free_twin(s, d)) continue;
    s->used[d] = true;
    grow(s, (stage){d, -1, true}, 0);
    s->used[d] = false;
  }
  solve_count(run, "chain_search.placed", s->n_tried);
  if (s->status == SITU_STATUS_OK && !s->stopped) solve_bound(run, run->incumbent->value_ns, "chain_search");
  return s->status;
}

static bool chain_search_serves(const situ_problem *p) {
  return p->contiguous && !p->replicate && p->n_devices <= MAX_DEVICES && p->n_operators > 0 && loads_serve(p);
}

const solver chain_search_solver = {
    .name = "chain_search",
    .title = "branch and bound over chains of stages on devices",
    .source = "Land, Doig, Econometrica 1960",
    .models = MODEL_PIPELINE,
    .exact = true,
    .serves = chain_search_serves,
    .solve = chain_search_solve,
};
