/* free_search: non-contiguous pipelines, as partitions of a hypergraph.
 *
 * A multilevel search, as in hypergraph partitioning (Karypis, Kumar, 1999), with annealing at each level and a small
 * pool of good partitions. One cycle merges units level by level (pipeline/coarsen.h), anneals the coarsest partition
 * at a high temperature, and projects it to finer and finer levels while it cools (pipeline/cooling.h): merged units
 * cross barriers that single units cannot. A cycle starts either from a random partition, or from one member of the
 * pool or two of them; then it merges only units that are on one device in each of them, so that what they agree on is
 * kept. docs/theory/search.md has the details. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/walks.h"
#include "solve/pipeline/coarsen.h"
#include "solve/pipeline/cooling.h"

enum { POOL = 8, FEW_MEMBERS = 2, MAX_LEVELS = 24, MIN_UNITS = 30, FIXED_CYCLES = 4, MAX_CYCLES = 64 };
/* Temperatures as shares of the best period. */
static const double HOT = 0.1, WARM = 0.005, COLD = 0.0001, COLD_UNIT = 0.1; /* COLD_UNIT: of a unit of mean size */
static const double MAX_PART = 0.5; /* of the best period: the maximum time of a merged unit */
/* Tried moves of a level for each of its units and devices: the first cycles are short. */
static const double FIRST_EFFORT = 25, LAST_EFFORT = 100, FEW_UNITS = 16384; /* with more units each has fewer moves */

typedef struct level {
  hypergraph h;
  int32_t *into;           /* [unit of the finer level] its unit here */
  int32_t *label, *device; /* [unit]; label may be NULL */
} level;

typedef struct member {
  int64_t value_ns;
  int32_t *device; /* [unit] */
} member;

/* The pool, and the cycles of a generation, which only read the pool. */
typedef struct free_search {
  solve_run *run;
  hypergraph whole;
  rng random;
  member pool[POOL], *found; /* found[number]: the result of that cycle */
  int32_t n_pool, n_found;
  int64_t n_cycles; /* of all generations before */
  double goal_ns;
} free_search;

/* One cycle. */
typedef struct cycle {
  solve_run *run;
  const free_search *all;
  rng random;
  level *levels;
  member *found;
  int32_t *label; /* [unit] */
  int32_t *operator_device;
  double effort;
} cycle;

static bool free_search_init(free_search *s) {
  arena *a = s->run->arena;
  for (int32_t i = 0; i < POOL; i++)
    if (!(s->pool[i].device = ARENA_NEW(a, int32_t, s->whole.n_units))) return false;
  s->n_found = walks_wanted(s->run, FIXED_CYCLES);
  if (s->n_found > MAX_CYCLES) s->n_found = MAX_CYCLES;
  s->found = ARENA_ZERO(a, member, s->n_found);
  for (int32_t i = 0; s->found && i < s->n_found; i++)
    if (!(s->found[i].device = ARENA_ZERO(a, int32_t, s->whole.n_units))) return false;
  return s->found;
}

/* ---- one cycle ---- */

static void draw_devices(cycle *s, const hypergraph *h, int32_t *device) {
  for (int32_t u = 0; u < h->n_units; u++) {
    device[u] = (int32_t)rng_below(&s->random, h->n_devices);
    for (int32_t k = 0; k < h->n_devices && !partition_allows(h, u, device[u]); k++)
      device[u] = (device[u] + 1) % h->n_devices;
  }
}

/* The next coarser level. *shrunk: whether it has at most 9/10 of the units; otherwise it is not used. False without
 * memory. */
static bool add_level(cycle *s, const level *fine, level *out, bool *shrunk) {
  arena *a = s->run->arena;
  int32_t n = fine->h.n_units;
  coarsen_rules rules = {.label = fine->label,
                         .n_wanted = n / 2 > MIN_UNITS ? n / 2 : MIN_UNITS,
                         .max_time_ns = MAX_PART * s->all->goal_ns};
  *out = (level){.into = ARENA_NEW(a, int32_t, n)};
  int32_t n_left = out->into ? coarsen_units(out->into, &fine->h, &rules, &s->random, a) : -1;
  *shrunk = n_left < n - n / 10;
  if (n_left < 0 || !hypergraph_merge(&out->h, &fine->h, out->into, n_left, a)) return false;
  out->device = ARENA_NEW(a, int32_t, n_left);
  if (fine->label) out->label = ARENA_NEW(a, int32_t, n_left);
  if (!out->device || (fine->label && !out->label)) return false;
  for (int32_t u = 0; u < n; u++) {
    out->device[out->into[u]] = fine->device[u];
    if (fine->label) out->label[out->into[u]] = fine->label[u];
  }
  return true;
}

/* Levels from fine to coarse; 0 without memory. `label` and `start` may be NULL. */
static int32_t make_levels(cycle *s, int32_t *label, const int32_t *start) {
  int32_t n_levels = 1, n = s->all->whole.n_units;
  level *finest = &s->levels[0];
  *finest = (level){.h = s->all->whole, .label = label, .device = ARENA_NEW(s->run->arena, int32_t, n)};
  if (!finest->device) return 0;
  if (start)
    memcpy(finest->device, start, (size_t)n * sizeof *start);
  else
    draw_devices(s, &s->all->whole, finest->device);
  for (bool shrunk = true; n_levels < MAX_LEVELS && s->levels[n_levels - 1].h.n_units > MIN_UNITS;) {
    if (!add_level(s, &s->levels[n_levels - 1], &s->levels[n_levels], &shrunk)) return 0;
    if (!shrunk) break;
    n_levels++;
  }
  if (!start) draw_devices(s, &s->levels[n_levels - 1].h, s->levels[n_levels - 1].device);
  return n_levels;
}

/* Keeps the best partition of the cycle, and offers it if it is better than the incumbent. */
static void keep(cycle *s, const level *l, const cooling *c) {
  if (c->best_ns >= s->found->value_ns) return;
  const situ_problem *p = s->run->problem;
  s->found->value_ns = c->best_ns;
  for (int32_t v = 0; v < p->n_operators; v++) {
    s->operator_device[v] = c->best[l->h.unit_of[v]];
    s->found->device[s->all->whole.unit_of[v]] = s->operator_device[v];
  }
  if (c->best_ns < s->run->incumbent->value_ns)
    s->found->value_ns = solve_offer(s->run, &(placement){.device = s->operator_device});
}

/* Anneals all levels, the coarsest first. Each passes its best partition to the next, or its last one if none fits. */
static bool cool_levels(cycle *s, int32_t n_levels, double hot) {
  double unit = (double)s->all->whole.n_devices / fmax(1, s->all->whole.n_units);
  double part = pow(fmin(COLD, COLD_UNIT * unit) / hot, 1.0 / n_levels), now = hot;
  for (int32_t k = n_levels - 1; k >= 0; k--, now *= part) {
    level *l = &s->levels[k];
    arena_mark mark = arena_get_mark(s->run->arena);
    cooling c;
    if (cooling_init(&c, &l->h, s->run, s->random, s->all->goal_ns) != SITU_STATUS_OK) return false;
    c.base.schedule = (search_schedule){.hot = now, .cold = now * part};
    cooling_start(&c, l->device);
    search_cycle(&c.base, (int64_t)(s->effort * l->h.n_units * l->h.n_devices));
    s->random = c.base.random;
    keep(s, l, &c);
    const int32_t *device = c.best_ns < SITU_NEVER_NS ? c.best : c.now.device;
    for (int32_t u = 0; k > 0 && u < l[-1].h.n_units; u++) l[-1].device[u] = device[l->into[u]];
    arena_release(s->run->arena, mark);
    if (solve_done(s->run)) break;
  }
  return true;
}

static bool run_cycle(cycle *s, int32_t *label, const int32_t *start, double hot) {
  arena_mark mark = arena_get_mark(s->run->arena);
  s->found->value_ns = SITU_NEVER_NS;
  int32_t n_levels = make_levels(s, label, start);
  bool good = n_levels > 0 && cool_levels(s, n_levels, hot);
  arena_release(s->run->arena, mark);
  return good;
}

/* ---- the pool ---- */

/* Puts a partition into the pool: in place of one of equal value, else into a free place, else in place of the worst.
 */
static void join_pool(free_search *s, const member *found) {
  int32_t at = -1, worst = 0;
  if (found->value_ns == SITU_NEVER_NS) return;
  for (int32_t i = 0; i < s->n_pool; i++) {
    if (s->pool[i].value_ns == found->value_ns) at = i;
    if (s->pool[i].value_ns > s->pool[worst].value_ns) worst = i;
  }
  if (at < 0 && s->n_pool < POOL) at = s->n_pool++;
  if (at < 0 && found->value_ns < s->pool[worst].value_ns) at = worst;
  if (at < 0) return;
  s->pool[at].value_ns = found->value_ns;
  memcpy(s->pool[at].device, found->device, (size_t)s->whole.n_units * sizeof *found->device);
}

/* Tried moves for each unit and device in cycle n. */
static double effort_of(const free_search *s, int64_t n) {
  double first = FIRST_EFFORT * fmin(1, FEW_UNITS / fmax(1, s->whole.n_units));
  return n < 16 ? fmin(first * (double)(1 << n), LAST_EFFORT) : LAST_EFFORT;
}

/* A cycle from a random partition, around one member, or around two. */
static situ_status one_cycle(solve_run *run, void *context, int32_t number) {
  const free_search *all = context;
  int32_t n = all->whole.n_units;
  cycle s = {.run = run,
             .all = all,
             .random = rng_new(run->seed),
             .found = &all->found[number],
             .effort = effort_of(all, all->n_cycles + number)};
  if (!ARENA_ARRAYS(run->arena, ARRAY(s.levels, MAX_LEVELS), ARRAY(s.label, n),
                    ARRAY(s.operator_device, run->problem->n_operators)))
    return fail_no_memory(run->error);
  int64_t kind = all->n_pool < (n > FEW_UNITS ? FEW_MEMBERS : POOL) ? 0 : rng_below(&s.random, 10);
  bool good;
  if (kind < 1) {
    good = run_cycle(&s, NULL, NULL, HOT);
  } else {
    int32_t x = (int32_t)rng_below(&s.random, all->n_pool), y = (int32_t)rng_below(&s.random, all->n_pool);
    const member *one = &all->pool[x], *other = &all->pool[kind < 3 ? x : y];
    for (int32_t u = 0; u < n; u++) s.label[u] = one->device[u] * all->whole.n_devices + other->device[u];
    good = run_cycle(&s, s.label, one->value_ns <= other->value_ns ? one->device : other->device, WARM);
  }
  solve_count(run, "free_search.cycles", 1);
  return good ? SITU_STATUS_OK : fail_no_memory(run->error);
}

/* As many parallel cycles as the remaining steps allow. Levels halve, so a cycle has about twice the moves of its
 * finest level. */
static int32_t generation_size(const free_search *s) {
  const budget *b = s->run->budget;
  if (b->max_steps == INT64_MAX) return s->n_found;
  double moves = 2 * effort_of(s, s->n_cycles + s->n_found) * s->whole.n_units * s->whole.n_devices;
  double paid = (double)budget_steps_left(b) * SEARCH_SWEEP / fmax(moves, 1);
  return paid >= s->n_found ? s->n_found : paid > 1 ? (int32_t)paid : 1;
}

static situ_status next_generation(free_search *s) {
  solve_run *run = s->run;
  int32_t n = generation_size(s), n_counted;
  bool known = run->incumbent->value_ns != SITU_NEVER_NS;
  s->goal_ns = (double)(known ? run->incumbent->value_ns : max64(run->incumbent->lower_bound_ns, 1));
  for (int32_t i = 0; i < n; i++) s->found[i].value_ns = SITU_NEVER_NS;
  TRY(walks_run(run, one_cycle, s, n, 1, &s->random, &n_counted));
  for (int32_t i = 0; i < n_counted; i++) join_pool(s, &s->found[i]);
  s->n_cycles += n;
  return SITU_STATUS_OK;
}

static situ_status free_search_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  if (p->n_operators == 0 || solve_done(run)) return SITU_STATUS_OK;
  free_search s = {.run = run, .random = rng_new(run->seed)};
  if (!hypergraph_find_units(&s.whole, p, solve_units(run), true, run->arena)) return fail_no_memory(run->error);
  if (!hypergraph_fits(&s.whole)) return SITU_STATUS_OK;
  if (!free_search_init(&s)) return fail_no_memory(run->error);
  if (run->incumbent->best.device) {
    for (int32_t v = 0; v < p->n_operators; v++) s.found->device[s.whole.unit_of[v]] = run->incumbent->best.device[v];
    s.found->value_ns = run->incumbent->value_ns;
    join_pool(&s, s.found);
  }
  while (!solve_done(run)) TRY(next_generation(&s));
  return SITU_STATUS_OK;
}

static bool free_search_serves(const situ_problem *p) { return hypergraph_serves(p) || hypergraph_serves_links(p); }

const solver free_search_solver = {
    .name = "free_search",
    .title = "multilevel annealing of the hypergraph, for non-contiguous pipelines",
    .source = "Karypis, Kumar, DAC 1999; Kirkpatrick, Gelatt, Vecchi, 1983",
    .models = MODEL_PIPELINE,
    .anytime = true,
    .serves = free_search_serves,
    .starts = {{&single_solver, 1}, {&m_topo_solver, 1}, {&ideal_dp_solver, 0.5}},
    .solve = free_search_solve,
};
