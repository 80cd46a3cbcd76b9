#include "solve/stream/fewer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/stream/contiguous.h"
#include "solve/stream/sequence.h"
#include "view/unit.h"

/* The time of chains, in rounds of all single devices. */
enum { CHAINS = 12 };

typedef struct fewer {
  solve_run *run;
  const situ_problem *problem;
  const fewer_rules *rules;
  fewer_pool *pool;
  int32_t *device, *order, *trial; /* [operator] */
  int32_t *stamp;                  /* [device] */
  bool *near;                      /* [device] that neighbour an island */
} fewer;

/* ---- The pool ---- */

/* Negative where a is preferable at equal value. */
static int compare_cost(const handovers *a, const handovers *b) {
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  if (a->n_parts != b->n_parts) return a->n_parts < b->n_parts ? -1 : 1;
  return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

bool fewer_keeps(const fewer_plan *plan, const fewer_rules *rules) {
  return (rules->max_parts == 0 || plan->cost.n_parts <= rules->max_parts) &&
         (rules->min_units == 0 || plan->cost.min_units >= rules->min_units);
}

/* A plan that keeps the limits is never worse than one that does not. */
static bool dominates(const fewer *s, const fewer_plan *a, const fewer_plan *b) {
  return a->value_ns <= b->value_ns && compare_cost(&a->cost, &b->cost) <= 0 &&
         fewer_keeps(a, s->rules) >= fewer_keeps(b, s->rules);
}

/* Drops the plan with the highest value, but never one with the fewest handovers of all. */
static void drop_one(fewer_pool *pool) {
  int32_t worst = pool->n - 1;
  for (int32_t k = 1; k < pool->n; k++)
    if (pool->plan[k].value_ns > pool->plan[worst].value_ns) worst = k;
  pool->n--;
  for (int32_t k = worst; k < pool->n; k++) pool->plan[k] = pool->plan[k + 1];
}

/* Adds a copy of a plan, unless another is at least as good in everything. */
static bool keep(fewer *s, const placement *where, int64_t value_ns, const handovers *cost, const char *who) {
  fewer_pool *pool = s->pool;
  int32_t n = s->problem->n_operators, at = 0;
  fewer_plan plan = {.value_ns = value_ns, .cost = *cost, .solver = who};
  for (int32_t k = 0; k < pool->n; k++)
    if (dominates(s, &pool->plan[k], &plan)) return true;
  for (int32_t k = 0; k < pool->n; k++)
    if (!dominates(s, &plan, &pool->plan[k])) pool->plan[at++] = pool->plan[k];
  pool->n = at;
  plan.where.device = ARENA_COPY(s->run->arena, where->device, int32_t, n);
  plan.where.order = where->order ? ARENA_COPY(s->run->arena, where->order, int32_t, n) : NULL;
  if (!plan.where.device || (where->order && !plan.where.order)) return false;
  for (at = pool->n; at > 0 && compare_cost(&plan.cost, &pool->plan[at - 1].cost) < 0; at--)
    pool->plan[at] = pool->plan[at - 1];
  pool->plan[at] = plan;
  if (++pool->n > FEWER_PLANS) drop_one(pool);
  return true;
}

/* Simulates a placement, and adds it to the pool if it keeps all constraints. Otherwise the value is SITU_NEVER_NS. */
static bool offer(fewer *s, int64_t *value_ns, const int32_t *device, const int32_t *order, const char *who) {
  placement where = {.device = (int32_t *)(uintptr_t)device, .order = (int32_t *)(uintptr_t)order};
  handovers cost;
  s->run->solver = who;
  *value_ns = solve_has_form(s->run, device) ? solve_offer(s->run, &where) : SITU_NEVER_NS;
  if (*value_ns == SITU_NEVER_NS) return true;
  arena *scratch = arena_new();
  bool ok = scratch && handovers_find(&cost, s->problem, device, scratch);
  cost.island = NULL;
  ok = ok && keep(s, &where, *value_ns, &cost, who);
  arena_free(scratch);
  return ok;
}

/* Likewise, with an order made for these devices. */
static bool offer_ordered(fewer *s, int64_t *value_ns, const int32_t *device, const char *who) {
  *value_ns = SITU_NEVER_NS;
  if (!solve_allows(s->problem, device)) return true;
  return sequence_find(s->order, s->run->simulator, s->problem, device, s->run->arena) &&
         offer(s, value_ns, device, s->order, who);
}

/* ---- Single devices and chains ---- */

static bool offer_singles(fewer *s, const best_single *single) {
  for (int32_t d = 0; d < s->problem->n_devices; d++) {
    int64_t value;
    for (int32_t v = 0; v < s->problem->n_operators; v++) s->trial[v] = d;
    if (d != single->device && budget_over(s->run->budget)) continue;
    if (!solve_allows(s->problem, s->trial)) continue;
    if (!offer(s, &value, s->trial, NULL, "single")) return false;
  }
  return true;
}

static bool offer_chains(fewer *s, int64_t value_ns) {
  contiguous c;
  int32_t *device[CONTIGUOUS_DEVICES];
  int64_t found_ns[CONTIGUOUS_DEVICES], value;
  if (!contiguous_find(&c, s->problem, s->run->arena) || !contiguous_by_parts(device, found_ns, &c, s->run->arena))
    return false;
  for (int32_t k = 1; k < CONTIGUOUS_DEVICES; k++)
    if (found_ns[k] < SITU_NEVER_NS && budget_time_left(s->run->budget) > 0 &&
        !offer_ordered(s, &value, device[k], "contiguous"))
      return false;
  for (int32_t k = 0; k < 8 && !budget_over(s->run->budget); k++) {
    int64_t price = value_ns >> (4 + k); /* starts at a sixteenth of the value */
    if (!contiguous_by_price(s->trial, &c, price, s->run->arena)) break;
    if (!offer_ordered(s, &value, s->trial, "contiguous")) return false;
  }
  return true;
}

/* ---- Moves of whole islands ---- */

typedef struct island_row {
  int32_t island, n;
} island_row;

static int by_size(const void *left, const void *right) {
  const island_row *a = left, *b = right;
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  return (a->island > b->island) - (a->island < b->island);
}

/* Lists the islands, the smallest first. */
static island_row *sort_islands(const fewer *s, const handovers *h, arena *a) {
  island_row *rows = ARENA_ZERO(a, island_row, h->n_islands);
  if (!rows) return NULL;
  for (int32_t k = 0; k < h->n_islands; k++) rows[k].island = k;
  for (int32_t v = 0; v < s->problem->n_operators; v++) rows[h->island[v]].n++;
  qsort(rows, (size_t)h->n_islands, sizeof *rows, by_size);
  return rows;
}

/* Finds the devices with which an island exchanges tensors. */
static void find_near(fewer *s, const unit_list *list, int32_t k) {
  const situ_graph *g = s->problem->graph;
  unit_members m = unit_list_members(list, k);
  memset(s->near, 0, (size_t)s->problem->n_devices);
  for (int32_t j = 0; j < m.n; j++) {
    int32_t v = m.member[j];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (list->of[u] != k) s->near[s->device[u]] = true;
    }
    for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++)
      if (list->of[g->use[i]] != k) s->near[s->device[g->use[i]]] = true;
  }
}

/* Moves island k to device d, with all that share a unit with it. False where some of these may not go there. */
static bool move_island(fewer *s, const unit_list *list, int32_t k, int32_t d) {
  unit_members m = unit_list_members(list, k);
  memcpy(s->trial, s->device, (size_t)s->problem->n_operators * sizeof *s->trial);
  for (int32_t j = 0; j < m.n; j++)
    if (s->trial[m.member[j]] != d && !unit_put(s->problem, s->trial, m.member[j], d)) return false;
  return true;
}

/* The cost of a plan in a search: its value plus a price for each handover. */
static double score(int64_t value_ns, int32_t n, double price) { return (double)value_ns + price * n; }

/* Moves the first island for which that pays; *moved says whether there was one. */
static bool improve(fewer *s, const int32_t *order, double price, int64_t limit_ns, int64_t *value_ns, bool *moved) {
  arena *a = arena_new();
  handovers now, then;
  island_row *rows = NULL;
  unit_list list;
  bool ok = a && handovers_find(&now, s->problem, s->device, a) && (rows = sort_islands(s, &now, a)) &&
            unit_list_find(&list, now.island, s->problem->n_operators, now.n_islands, a);
  *moved = false;
  for (int32_t i = 0; ok && now.n_islands > 1 && i < now.n_islands && !*moved && !budget_over(s->run->budget); i++) {
    find_near(s, &list, rows[i].island);
    for (int32_t d = 0; ok && d < s->problem->n_devices && !*moved && !budget_over(s->run->budget); d++) {
      int64_t value;
      if (!s->near[d] || !move_island(s, &list, rows[i].island, d)) continue;
      handovers_count(&then, s->problem, s->trial, s->stamp);
      if (then.n >= now.n) continue;
      ok = offer(s, &value, s->trial, order, "fewer");
      if (!ok || value > limit_ns || score(value, then.n, price) >= score(*value_ns, now.n, price)) continue;
      memcpy(s->device, s->trial, (size_t)s->problem->n_operators * sizeof *s->device);
      *value_ns = value;
      *moved = true;
    }
  }
  arena_free(a);
  return ok;
}

/* Merges islands of one plan at rising prices of a handover. */
static bool merge_islands(fewer *s, const fewer_plan *from, int64_t best_ns) {
  static const double prices[] = {0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02};
  int32_t n = s->problem->n_operators, *order = ARENA_NEW(s->run->arena, int32_t, n);
  int64_t value = from->value_ns, ordered;
  int64_t limit = sat_round((double)best_ns * (1 + 2 * s->rules->tolerance)); /* searches do not recover from above */
  if (s->rules->max_parts > 0 || s->rules->min_units > 0) limit = SITU_NEVER_NS - 1;
  if (!order) return false;
  memcpy(s->device, from->where.device, (size_t)n * sizeof *s->device);
  if (from->where.order)
    memcpy(order, from->where.order, (size_t)n * sizeof *order);
  else
    for (int32_t v = 0; v < n; v++) order[v] = v;
  for (size_t k = 0; k < sizeof prices / sizeof *prices && (k == 0 || !budget_over(s->run->budget)); k++) {
    double price = limit == SITU_NEVER_NS - 1 && k + 1 == sizeof prices / sizeof *prices ? 1 : prices[k];
    bool moved = true;
    while (moved && !budget_over(s->run->budget))
      if (!improve(s, order, price * (double)best_ns, limit, &value, &moved)) return false;
    if (!offer_ordered(s, &ordered, s->device, "fewer")) return false;
    if (ordered < value) {
      memcpy(order, s->order, (size_t)n * sizeof *order);
      value = ordered;
    }
  }
  return true;
}

/* ---- Both ---- */

/* Finds the plan with everything on the best single device. */
static void find_single(fewer_pool *pool, const best_single *single, int32_t n) {
  pool->single = -1;
  for (int32_t k = 0; k < pool->n; k++) {
    int32_t v = 0;
    while (v < n && pool->plan[k].where.device[v] == single->device) v++;
    if (v == n) pool->single = k;
  }
}

static bool search(fewer *s, const best_single *single) {
  const incumbent *best = s->run->incumbent;
  int64_t value, left_ns = budget_time_left(s->run->budget), singles_ns;
  if (!offer_singles(s, single)) return false;
  singles_ns = left_ns - budget_time_left(s->run->budget);
  memcpy(s->device, best->best.device, (size_t)s->problem->n_operators * sizeof *s->device);
  if (!offer(s, &value, s->device, best->best.order, best->solver)) return false;
  find_single(s->pool, single, s->problem->n_operators);
  bool limited = s->rules->max_parts > 0 || s->rules->min_units > 0;
  bool alone = s->pool->single >= 0 &&
               (double)s->pool->plan[s->pool->single].value_ns <
                   (double)best->value_ns * (1 + fmax(s->rules->min_gain, limited ? 0 : s->rules->tolerance));
  if (alone || (s->rules->tolerance <= 0 && !limited)) return true;
  fewer_plan first = s->pool->plan[s->pool->n - 1];                      /* the incumbent, with the most handovers */
  bool chains = budget_time_left(s->run->budget) / CHAINS >= singles_ns; /* the chain program cannot be interrupted */
  if ((chains && !offer_chains(s, best->value_ns)) || !merge_islands(s, &first, best->value_ns)) return false;
  for (int32_t k = 0; k < s->pool->n && !budget_over(s->run->budget); k++) { /* improves the chains */
    fewer_plan from = s->pool->plan[k];
    if (strcmp(from.solver, "contiguous") == 0 && !merge_islands(s, &from, best->value_ns)) return false;
  }
  return true;
}

situ_status fewer_search(fewer_pool *pool, solve_run *run, const best_single *single, const fewer_rules *rules) {
  int32_t n = run->problem->n_operators;
  fewer s = {.run = run, .problem = run->problem, .rules = rules, .pool = pool};
  *pool = (fewer_pool){.single = -1};
  if (!ARENA_ARRAYS(run->arena, ARRAY(s.device, n), ARRAY(s.order, n), ARRAY(s.trial, n),
                    ARRAY(s.stamp, run->problem->n_devices), ARRAY(s.near, run->problem->n_devices)) ||
      !search(&s, single))
    return fail_no_memory(run->error);
  find_single(pool, single, n);
  return SITU_STATUS_OK;
}

double fewer_enough_ns(const fewer_pool *pool, const fewer_rules *rules) {
  return pool->single >= 0 ? (double)pool->plan[pool->single].value_ns / (1 + rules->min_gain) : HUGE_VAL;
}

int32_t fewer_choose(const fewer_pool *pool, const fewer_rules *rules) {
  int64_t best = SITU_NEVER_NS, kept = SITU_NEVER_NS;
  int32_t chosen = -1, fastest = -1;
  for (int32_t k = 0; k < pool->n; k++) {
    best = min64(best, pool->plan[k].value_ns);
    if (!fewer_keeps(&pool->plan[k], rules) || pool->plan[k].value_ns >= kept) continue;
    kept = pool->plan[k].value_ns;
    fastest = k;
  }
  if (fastest < 0) return -1;
  double enough = fewer_enough_ns(pool, rules), limit = fmin((double)best * (1 + rules->tolerance), enough);
  if ((double)kept > enough) return pool->single;
  for (int32_t k = 0; k < pool->n; k++) {
    const fewer_plan *plan = &pool->plan[k];
    if (!fewer_keeps(plan, rules) || (double)plan->value_ns > limit) continue;
    int order = chosen < 0 ? -1 : compare_cost(&plan->cost, &pool->plan[chosen].cost);
    if (order < 0 || (order == 0 && plan->value_ns < pool->plan[chosen].value_ns)) chosen = k;
  }
  return chosen >= 0 ? chosen : fastest;
}
