/* potential: free pipelines whose memories are short, or that are so large that a search tries each unit a few times.
 *
 * Each load and each memory has a price that grows exponentially with how full it is; units go, in sweeps along the
 * network, to the device where the sum of all prices is minimum (Plotkin, Shmoys, Tardos, 1995). Prices are mild at
 * first and steep at the end. docs/theory/heuristics/potential.md. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/pipeline/cooling.h"
#include "solve/pipeline/partition.h"

enum { MAX_TRIED = 6, N_STRANGERS = 2, MIN_SWEEPS = 8, N_SWEEPS = 3, N_MEMORY_TIMES = 3 };
static const double MILD = 2, STEEP = 200; /* exponents of the first and of the last sweep of a descent */
/* Descents: all with few sweeps first. The exponents of memories are so much steeper; each makes another plan. */
static const int32_t SWEEPS[N_SWEEPS] = {24, 96, 384};
static const double MEMORY_TIMES[N_MEMORY_TIMES] = {8, 4, 16};

typedef struct potential {
  solve_run *run;
  hypergraph h;
  partition now;
  double steepness, memory_steepness; /* of the prices */
  double period_ns;                   /* the load that counts as full */
  double *price;                      /* [device] of all that it holds */
  int32_t *best;                      /* [unit] the best partition that fits */
  int32_t *operator_device;
  int64_t best_ns, n_moves, n_tried;
  int64_t n_sweeps, start_ns; /* sweeps so far, since when */
} potential;

static inline double full(double steepness, double part) { return exp(steepness * (part - 1)); }

static double price_of(const potential *s, int32_t d, const device_sums *sums) {
  double compute = (double)sums->compute_ns, in = (double)sums->in_ns, out = (double)sums->out_ns, price;
  double x = s->steepness, period = s->period_ns;
  if (s->h.greatest)
    price = full(x, compute / period) + full(x, in / period) + full(x, out / period);
  else
    price = full(x, (compute + in + out) / period);
  if (s->h.memory_is_free) return price;
  double bytes = (double)sums->bytes + (sums->greatest < 0 ? 0 : (double)s->h.footprint_bytes[sums->greatest]);
  return price + full(s->memory_steepness, bytes / ((double)s->h.limit_bytes[d] + 1));
}

/* ---- one unit ---- */

/* The devices that a unit may try: all, or those of its neighbours and some that change from unit to unit. */
static int32_t candidates(const potential *s, int32_t unit, int32_t *tried) {
  const hypergraph *h = &s->h;
  int32_t n = 0;
  if (h->n_devices <= MAX_TRIED) {
    for (int32_t d = 0; d < h->n_devices; d++) tried[n++] = d;
    return n;
  }
  for (int64_t d = unit + s->n_moves; n < N_STRANGERS; d += h->n_devices / N_STRANGERS)
    tried[n++] = (int32_t)(d % h->n_devices);
  for (int32_t i = h->touch_start[unit]; i < h->touch_start[unit + 1] && n < MAX_TRIED; i++) {
    int32_t e = h->touch[i].edge;
    int32_t other = h->pin[h->touch[i].produces ? h->pin_start[e + 1] - 1 : h->pin_start[e]];
    tried[n++] = s->now.device[other];
  }
  return n;
}

/* Moves a unit to where all prices together are minimum. */
static void settle(potential *s, int32_t unit) {
  int32_t from = s->now.device[unit], tried[MAX_TRIED], n = candidates(s, unit, tried), to = from;
  partition_change change, best_change;
  double less = 0, from_price = 0, to_price = 0;
  for (int32_t k = 0; k < n; k++) {
    int32_t d = tried[k];
    if (d == from || !partition_allows(&s->h, unit, d)) continue;
    partition_weigh(&s->now, unit, d, &change);
    double left = price_of(s, from, &change.from), there = price_of(s, d, &change.to);
    double more = left + there - s->price[from] - s->price[d];
    if (more >= less) continue;
    less = more;
    to = d;
    best_change = change;
    from_price = left;
    to_price = there;
  }
  if (to == from) return;
  partition_move(&s->now, unit, to, &best_change);
  s->price[from] = from_price;
  s->price[to] = to_price;
  s->n_moves++;
}

/* ---- sweeps ---- */

/* Takes note of a better partition that fits. */
static void look(potential *s) {
  int64_t period_ns = partition_period(&s->now);
  for (int32_t d = 0; d < s->h.n_devices; d++)
    if (partition_excess(&s->now, d, &s->now.sums[d]) > 0) return;
  if (period_ns >= s->best_ns) return;
  s->best_ns = period_ns;
  memcpy(s->best, s->now.device, (size_t)s->h.n_units * sizeof *s->best);
}

/* By links the loads of partitions are bounds of the simulator's, so the best of each descent is offered. */
static void offer(potential *s) {
  const situ_problem *p = s->run->problem;
  if (s->best_ns >= s->run->incumbent->value_ns) return;
  for (int32_t v = 0; v < p->n_operators; v++) s->operator_device[v] = s->best[s->h.unit_of[v]];
  solve_offer(s->run, &(placement){.device = s->operator_device});
}

/* One sweep; false when the budget is spent. */
static bool sweep(potential *s, bool back) {
  int32_t n = s->h.n_units;
  s->period_ns = (double)max64(1, partition_period(&s->now));
  for (int32_t d = 0; d < s->h.n_devices; d++) s->price[d] = price_of(s, d, &s->now.sums[d]);
  for (int32_t k = 0; k < n; k++) {
    settle(s, back ? n - 1 - k : k);
    if (++s->n_tried % MOVES_OF_A_STEP == 0 && budget_spend(s->run->budget, 1)) return false;
  }
  s->n_sweeps++;
  return true;
}

/* From mild to steep prices; false when the budget is spent. */
static bool descend(potential *s, int32_t n_sweeps, double memory_times) {
  for (int32_t k = 0; k < n_sweeps; k++) {
    s->steepness = MILD * pow(STEEP / MILD, (double)k / (n_sweeps - 1));
    s->memory_steepness = memory_times * s->steepness;
    bool more = sweep(s, k % 2 == 1);
    look(s);
    if (!more) return false;
  }
  return true;
}

/* As many sweeps as are wanted, or as the budget pays for: a descent that ends early is of no use. */
static int32_t paid_sweeps(const potential *s, int64_t wanted) {
  const budget *b = s->run->budget;
  if (b->max_steps < INT64_MAX) wanted = min64(wanted, budget_steps_left(b) * MOVES_OF_A_STEP / max64(1, s->h.n_units));
  if (b->deadline_ns < INT64_MAX && s->n_sweeps > 0)
    wanted = min64(wanted, budget_time_left(b) * s->n_sweeps / max64(1, clock_now_ns() - s->start_ns));
  return (int32_t)wanted;
}

static void run_descents(potential *s) {
  s->start_ns = clock_now_ns();
  for (int32_t i = 0; i < N_SWEEPS; i++)
    for (int32_t k = 0; k < (s->h.memory_is_free ? 1 : N_MEMORY_TIMES); k++) {
      int32_t n_sweeps = paid_sweeps(s, SWEEPS[i]);
      bool more = n_sweeps >= MIN_SWEEPS && descend(s, n_sweeps, MEMORY_TIMES[k]);
      offer(s);
      if (!more) return;
    }
}

static situ_status potential_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  potential s = {.run = run, .best_ns = SITU_NEVER_NS};
  if (p->n_operators == 0 || solve_done(run) || !run->incumbent->best.device) return SITU_STATUS_OK;
  if (!hypergraph_find(&s.h, p, true, run->arena)) return fail_no_memory(run->error);
  if (!hypergraph_fits(&s.h)) return SITU_STATUS_OK;
  if (!partition_init(&s.now, &s.h, run->arena) ||
      !ARENA_ARRAYS(run->arena, ARRAY(s.price, s.h.n_devices), ARRAY(s.best, s.h.n_units),
                    ARRAY(s.operator_device, p->n_operators)))
    return fail_no_memory(run->error);
  for (int32_t v = 0; v < p->n_operators; v++) s.best[s.h.unit_of[v]] = run->incumbent->best.device[v];
  partition_set(&s.now, s.best);
  run_descents(&s);
  return SITU_STATUS_OK;
}

static bool potential_serves(const situ_problem *p) { return hypergraph_serves(p) || hypergraph_serves_links(p); }

const solver potential_solver = {
    .name = "potential",
    .title = "sweeps at prices of loads and memories, for non-contiguous pipelines",
    .source = "Plotkin, Shmoys, Tardos, Math. of Operations Research 1995",
    .models = MODEL_PIPELINE,
    .serves = potential_serves,
    .starts = {{&single_solver, 1}, {&m_topo_solver, 1}},
    .solve = potential_solve,
};
