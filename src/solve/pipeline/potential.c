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
#include "solve/common/search.h"
#include "solve/pipeline/partition.h"

enum { MAX_TRIED = 6, N_STRANGERS = 2 }; /* devices that a unit tries; of these, not of its neighbours */

enum { MILD, STEEP, EXCHANGES, MIN_SWEEPS, N_PARAMETERS };
static const solver_parameter POTENTIAL_PARAMETERS[N_PARAMETERS] = {
    [MILD] = {"mild", 2, 0.01, 1000, "exponent of the first sweep of a descent"},
    [STEEP] = {"steep", 200, 0.01, 10000, "exponent of the last sweep"},
    [EXCHANGES] = {"exchanges", 8, 0, 1000, "tries of an exchange"},
    [MIN_SWEEPS] = {"min_sweeps", 8, 2, 1000, "a descent of fewer sweeps is not begun"},
};

/* Where memories are unlimited only those without exchanges and with `memory_is_free` run. */
typedef struct descent {
  int32_t n_sweeps;
  double memory_times; /* the exponents of memories are so much steeper; each makes another plan */
  bool exchanges, memory_is_free;
} descent;

/* What is quick first: a sweep with exchanges takes up to twenty times as long. */
static const descent DESCENTS[] = {
    {24, 8, false, true},  {24, 4, false, false}, {24, 16, false, false}, {96, 8, false, true},
    {24, 16, true, false}, {384, 4, false, true}, {96, 8, true, false},   {384, 16, true, false},
};

typedef struct cost {
  int64_t steps, time_ns;
} cost;

typedef struct potential {
  solve_run *run;
  rng random;
  double set[N_PARAMETERS];
  hypergraph h;
  partition now;
  bool exchanges;
  double steepness, memory_steepness; /* of the prices */
  double period_ns;                   /* the load that counts as full */
  double *price;                      /* [device] of all that it holds */
  int32_t *best;                      /* [unit] the best partition that fits */
  int32_t *operator_device;
  int64_t best_ns, n_moves;
  int64_t n_weighed;          /* moves that no step has been counted for */
  cost plain, with_exchanges; /* of a sweep; 0: not known yet */
} potential;

static inline double full(double steepness, double part) { return exp(steepness * (part - 1)); }

static double price_of(const potential *s, int32_t d, const device_sums *sums) {
  double compute = (double)sums->compute_ns, in = (double)sums->in_ns, out = (double)sums->out_ns, price;
  double x = s->steepness, period = s->period_ns;
  if (s->h.overlaps)
    price = full(x, compute / period) + full(x, in / period) + full(x, out / period);
  else
    price = full(x, (compute + in + out) / period);
  if (s->h.memory_is_free) return price;
  double bytes =
      (double)sums->bytes + (sums->max_footprint < 0 ? 0 : (double)s->h.footprint_bytes[sums->max_footprint]);
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

static void weigh(potential *s, int32_t unit, int32_t to, priced_move *m) {
  s->n_weighed++;
  m->unit = unit;
  m->from = s->now.device[unit];
  m->to = to;
  partition_weigh(&s->now, unit, to, &m->change);
  m->from_price = price_of(s, m->from, &m->change.from);
  m->to_price = price_of(s, to, &m->change.to);
  m->more = m->from_price + m->to_price - s->price[m->from] - s->price[to];
}

static void make(potential *s, const priced_move *m) {
  partition_make(&s->now, s->price, m);
  s->n_moves++;
}

/* Makes a move that does not pay, if one of a few units of the other device comes back for less. */
static void exchange(potential *s, const priced_move *there) {
  priced_move back, undo = partition_inverse(&s->now, s->price, there);
  make(s, there);
  for (int32_t k = 0; k < s->set[EXCHANGES]; k++) {
    int64_t place = rng_below(&s->random, partition_n_units(&s->now, there->to));
    int32_t other = partition_unit(&s->now, there->to, place);
    if (other == there->unit || !partition_allows(&s->h, other, there->from)) continue;
    weigh(s, other, there->from, &back);
    if (there->more + back.more >= 0) continue;
    make(s, &back);
    return;
  }
  make(s, &undo);
}

/* Moves a unit to where all prices together are minimum. */
static void settle(potential *s, int32_t unit) {
  int32_t tried[MAX_TRIED], n = candidates(s, unit, tried);
  priced_move best = {.more = HUGE_VAL}, m;
  for (int32_t k = 0; k < n; k++) {
    if (tried[k] == s->now.device[unit] || !partition_allows(&s->h, unit, tried[k])) continue;
    weigh(s, unit, tried[k], &m);
    if (m.more < best.more) best = m;
  }
  if (best.more < 0)
    make(s, &best);
  else if (s->exchanges && best.more < HUGE_VAL)
    exchange(s, &best);
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
    int64_t steps = s->n_weighed / SEARCH_SWEEP;
    s->n_weighed -= steps * SEARCH_SWEEP;
    if (steps > 0 && budget_spend(s->run->budget, steps)) return false;
  }
  look(s);
  return true;
}

/* From mild to steep prices; false when the budget is spent. */
static bool descend(potential *s, const descent *of, int32_t n_sweeps) {
  int64_t start_ns = clock_now_ns(), start_steps = s->run->budget->steps;
  s->exchanges = of->exchanges;
  for (int32_t k = 0; k < n_sweeps; k++) {
    s->steepness = s->set[MILD] * pow(s->set[STEEP] / s->set[MILD], (double)k / (n_sweeps - 1));
    s->memory_steepness = of->memory_times * s->steepness;
    if (!sweep(s, k % 2 == 1)) return false;
  }
  *(of->exchanges ? &s->with_exchanges : &s->plain) =
      (cost){(s->run->budget->steps - start_steps) / n_sweeps, (clock_now_ns() - start_ns) / n_sweeps};
  return true;
}

/* What a sweep costs: as in the last descent of the kind, else as much as it may. */
static cost sweep_cost(const potential *s, bool exchanges) {
  if (exchanges && s->with_exchanges.time_ns > 0) return s->with_exchanges;
  cost plain = s->plain;
  if (plain.time_ns == 0) plain.steps = (int64_t)s->h.n_units * min64(s->h.n_devices - 1, MAX_TRIED) / SEARCH_SWEEP;
  int64_t times = exchanges ? 1 + (int64_t)s->set[EXCHANGES] : 1;
  return (cost){times * plain.steps, times * plain.time_ns};
}

/* As many sweeps as are wanted, or as the budget pays for: a descent that ends early is of no use. */
static int32_t paid_sweeps(const potential *s, const descent *of) {
  const budget *b = s->run->budget;
  cost one = sweep_cost(s, of->exchanges);
  int64_t n = of->n_sweeps;
  if (b->max_steps < INT64_MAX) n = min64(n, budget_steps_left(b) / max64(1, one.steps));
  if (b->deadline_ns < INT64_MAX) n = min64(n, budget_time_left(b) / max64(1, one.time_ns));
  return (int32_t)n;
}

static void run_descents(potential *s) {
  for (size_t i = 0; i < sizeof DESCENTS / sizeof DESCENTS[0]; i++) {
    const descent *of = &DESCENTS[i];
    if (s->h.memory_is_free && !of->memory_is_free) continue;
    int32_t n_sweeps = paid_sweeps(s, of);
    if (n_sweeps < s->set[MIN_SWEEPS]) continue;
    bool more = descend(s, of, n_sweeps);
    offer(s);
    if (!more) return;
  }
}

static situ_status potential_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  potential s = {.run = run, .random = rng_new(run->seed), .best_ns = SITU_NEVER_NS};
  if (p->n_operators == 0 || solve_done(run) || !run->incumbent->best.device) return SITU_STATUS_OK;
  search_parameters_get(s.set, run, POTENTIAL_PARAMETERS, N_PARAMETERS);
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
    .parameters = POTENTIAL_PARAMETERS,
    .n_parameters = N_PARAMETERS,
};
