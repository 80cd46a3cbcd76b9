#include "solve/answer/handover_search.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/sort.h"
#include "sim/engine_parts.h"
#include "solve/answer/form_search.h"
#include "solve/stream/contiguous.h"
#include "solve/stream/sequence.h"
#include "view/unit.h"

/* The time of chains, in rounds of all single devices. */
enum { CHAINS = 12 };

typedef struct fewer {
  solve_run *run;
  const situ_problem *problem;
  const handover_rules *rules;
  handover_pool *pool;
  int32_t *device, *order, *trial; /* [operator] */
  int32_t *stamp;                  /* [device] */
  bool *near;                      /* [device] neighbours of an island */
  parts_model *parts;              /* NULL: the costs do not know of parts */
} fewer;

/* ---- The pool ---- */

/* Below 0 where a is to be preferred at equal time. */
static int compare_cost(const handovers *a, const handovers *b) {
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  if (a->n_parts != b->n_parts) return a->n_parts < b->n_parts ? -1 : 1;
  return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

bool handover_keeps(const handover_plan *plan, const handover_rules *rules) {
  return (rules->max_parts == 0 || plan->cost.n_parts <= rules->max_parts) &&
         (rules->min_units == 0 || plan->cost.min_units >= rules->min_units);
}

/* A plan that keeps the limits is never worse than one that does not. */
static bool dominates(const fewer *s, const handover_plan *a, const handover_plan *b) {
  return a->time_ns <= b->time_ns && compare_cost(&a->cost, &b->cost) <= 0 &&
         handover_keeps(a, s->rules) >= handover_keeps(b, s->rules);
}

/* Makes room: the plan of the longest time goes, but never one with the fewest hand-overs of all. */
static void drop_one(handover_pool *pool) {
  int32_t worst = pool->n - 1;
  for (int32_t k = 1; k < pool->n; k++)
    if (pool->plan[k].time_ns > pool->plan[worst].time_ns) worst = k;
  pool->n--;
  for (int32_t k = worst; k < pool->n; k++) pool->plan[k] = pool->plan[k + 1];
}

/* Gives a placement arrays of its own. */
static bool copy_arrays(fewer *s, placement *where) {
  int32_t n = s->problem->n_operators;
  bool ordered = where->order;
  where->device = ARENA_COPY(s->run->arena, where->device, int32_t, n);
  if (ordered) where->order = ARENA_COPY(s->run->arena, where->order, int32_t, n);
  return where->device && (!ordered || where->order);
}

/* Adds a plan, whose arrays are copied, unless another is as good in everything. */
static bool keep(fewer *s, const placement *where, handover_plan plan) {
  handover_pool *pool = s->pool;
  int32_t at = 0;
  for (int32_t k = 0; k < pool->n; k++)
    if (dominates(s, &pool->plan[k], &plan)) return true;
  for (int32_t k = 0; k < pool->n; k++)
    if (!dominates(s, &plan, &pool->plan[k])) pool->plan[at++] = pool->plan[k];
  pool->n = at;
  plan.where = *where;
  if (!copy_arrays(s, &plan.where)) return false;
  for (at = pool->n; at > 0 && compare_cost(&plan.cost, &pool->plan[at - 1].cost) < 0; at--)
    pool->plan[at] = pool->plan[at - 1];
  pool->plan[at] = plan;
  if (++pool->n > HANDOVER_PLANS) drop_one(pool);
  return true;
}

/* What the placement, just simulated with that value, takes. */
static int64_t time_of(const fewer *s, const placement *where, int64_t value_ns) {
  if (!s->parts) return value_ns;
  simulation ran = simulator_run(s->run->simulator, where, false);
  return parts_value_ns(s->parts, where, &ran);
}

/* Simulates a placement, and adds it to the pool if it keeps all constraints. The time is SITU_NEVER_NS otherwise. */
static bool offer(fewer *s, int64_t *time_ns, const int32_t *device, const int32_t *order, const char *who) {
  placement where = {.device = (int32_t *)(uintptr_t)device, .order = (int32_t *)(uintptr_t)order};
  handover_plan plan = {.solver = who};
  s->run->solver = who;
  plan.value_ns = solve_has_form(s->run, device) ? solve_offer(s->run, &where) : SITU_NEVER_NS;
  *time_ns = plan.value_ns;
  if (plan.value_ns == SITU_NEVER_NS) return true;
  *time_ns = plan.time_ns = time_of(s, &where, plan.value_ns);
  arena *scratch = arena_new();
  bool ok = scratch && handovers_find(&plan.cost, s->problem, device, scratch);
  plan.cost.island = NULL;
  ok = ok && keep(s, &where, plan);
  arena_free(scratch);
  return ok;
}

/* The same with an order made for these devices. */
static bool offer_ordered(fewer *s, int64_t *time_ns, const int32_t *device, const char *who) {
  *time_ns = SITU_NEVER_NS;
  if (!solve_allows(s->problem, device)) return true;
  return sequence_find(s->order, s->run->simulator, s->problem, device, s->run->arena) &&
         offer(s, time_ns, device, s->order, who);
}

/* ---- Single devices and chains ---- */

static bool offer_singles(fewer *s, const best_single *single) {
  for (int32_t d = 0; d < s->problem->n_devices; d++) {
    int64_t time;
    for (int32_t v = 0; v < s->problem->n_operators; v++) s->trial[v] = d;
    if (d != single->device && budget_over(s->run->budget)) continue;
    if (!solve_allows(s->problem, s->trial)) continue;
    if (!offer(s, &time, s->trial, NULL, "single")) return false;
  }
  return true;
}

static bool offer_chains(fewer *s, int64_t best_ns) {
  chain c;
  branch_chain path;
  int32_t *device[CONTIGUOUS_DEVICES];
  int64_t found_ns[CONTIGUOUS_DEVICES], time;
  if (!chain_of_units(&c, s->problem, &s->problem->units, s->run->arena) ||
      !contiguous_by_devices(device, found_ns, &c, s->run->arena))
    return false;
  for (int32_t k = 1; k < CONTIGUOUS_DEVICES; k++)
    if (found_ns[k] < SITU_NEVER_NS && budget_time_left(s->run->budget) > 0 &&
        !offer_ordered(s, &time, device[k], "contiguous"))
      return false;
  if (!branch_chain_of(&path, &c, s->run->arena)) return false;
  for (int32_t k = 0; k < 8 && !budget_over(s->run->budget); k++) {
    int64_t price = best_ns >> (4 + k); /* from a sixteenth of the whole on */
    if (!contiguous_by_price(s->trial, &c, &path, price)) break;
    if (!offer_ordered(s, &time, s->trial, "contiguous")) return false;
  }
  return true;
}

/* The best plans of whole layers, in runs and in any order. Searches for speed alone do not reach their few
 * hand-overs, since they split a layer for the last of the memory. */
static bool offer_layers(fewer *s) {
  static const int32_t forms[] = {SITU_FORM_LAYERS | SITU_FORM_EXPERTS | SITU_FORM_BLOCKS | SITU_FORM_RUNS,
                                  SITU_FORM_LAYERS | SITU_FORM_EXPERTS};
  for (size_t k = 0; k < sizeof forms / sizeof *forms && !budget_over(s->run->budget); k++) {
    form_search f;
    int64_t time;
    situ_error none;
    solve_run own = *s->run;
    own.error = &none;
    situ_status status = form_search_open(&f, &own, forms[k]);
    if (status == SITU_STATUS_OK) status = form_search_run(&f, &own);
    const incumbent *best = &f.best;
    if (status == SITU_STATUS_OK && best->best.device &&
        !offer(s, &time, best->best.device, best->best.order, best->solver))
      status = SITU_STATUS_NO_MEMORY;
    form_search_free(&f);
    if (status != SITU_STATUS_OK) return status == SITU_STATUS_UNSUPPORTED; /* no layers */
  }
  return true;
}

/* ---- Moves of whole islands ---- */

/* Lists the islands by size, the smallest first. */
static keyed *sort_islands(const fewer *s, const handovers *h, arena *a) {
  keyed *rows = ARENA_ZERO(a, keyed, h->n_islands);
  if (!rows) return NULL;
  for (int32_t k = 0; k < h->n_islands; k++) rows[k].at = k;
  for (int32_t v = 0; v < s->problem->n_operators; v++) rows[h->island[v]].key++;
  sort_keyed(rows, h->n_islands);
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

/* What a plan costs a search: its time, and a price for each hand-over. */
static double score(int64_t time_ns, int32_t n, double price) { return (double)time_ns + price * n; }

/* Moves the first island for which it pays; *moved says whether there was one. */
static bool improve(fewer *s, const int32_t *order, double price, int64_t limit_ns, int64_t *time_ns, bool *moved) {
  arena *a = arena_new();
  handovers now, then;
  keyed *rows = NULL;
  unit_list list;
  bool ok = a && handovers_find(&now, s->problem, s->device, a) && (rows = sort_islands(s, &now, a)) &&
            unit_list_find(&list, now.island, s->problem->n_operators, now.n_islands, a);
  *moved = false;
  for (int32_t i = 0; ok && now.n_islands > 1 && i < now.n_islands && !*moved && !budget_over(s->run->budget); i++) {
    find_near(s, &list, rows[i].at);
    for (int32_t d = 0; ok && d < s->problem->n_devices && !*moved && !budget_over(s->run->budget); d++) {
      int64_t time;
      if (!s->near[d] || !move_island(s, &list, rows[i].at, d)) continue;
      handovers_count(&then, s->problem, s->trial, s->stamp);
      if (then.n >= now.n) continue;
      ok = offer(s, &time, s->trial, order, "handover_search");
      if (!ok || time > limit_ns || score(time, then.n, price) >= score(*time_ns, now.n, price)) continue;
      memcpy(s->device, s->trial, (size_t)s->problem->n_operators * sizeof *s->device);
      *time_ns = time;
      *moved = true;
    }
  }
  arena_free(a);
  return ok;
}

/* Merges islands of one plan at rising prices of a hand-over. */
static bool merge_islands(fewer *s, const handover_plan *from, int64_t best_ns) {
  static const double prices[] = {0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02};
  int32_t n = s->problem->n_operators, *order = ARENA_NEW(s->run->arena, int32_t, n);
  int64_t time = from->time_ns, ordered;
  int64_t limit = sat_round((double)best_ns * (1 + 2 * s->rules->tolerance)); /* above it nothing comes back */
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
      if (!improve(s, order, price * (double)best_ns, limit, &time, &moved)) return false;
    if (!offer_ordered(s, &ordered, s->device, "handover_search")) return false;
    if (ordered < time) {
      memcpy(order, s->order, (size_t)n * sizeof *order);
      time = ordered;
    }
  }
  return true;
}

/* ---- Both ---- */

/* Finds the plan with everything on the best single device. */
static void find_single(handover_pool *pool, const best_single *single, int32_t n) {
  pool->single = -1;
  for (int32_t k = 0; k < pool->n; k++) {
    int32_t v = 0;
    while (v < n && pool->plan[k].where.device[v] == single->device) v++;
    if (v == n) pool->single = k;
  }
}

static int64_t best_time_ns(const handover_pool *pool) {
  int64_t best_ns = SITU_NEVER_NS;
  for (int32_t k = 0; k < pool->n; k++) best_ns = min64(best_ns, pool->plan[k].time_ns);
  return best_ns;
}

static bool search(fewer *s, const best_single *single) {
  const incumbent *best = s->run->incumbent;
  int64_t time, left_ns = budget_time_left(s->run->budget), singles_ns;
  if (!offer_singles(s, single)) return false;
  singles_ns = left_ns - budget_time_left(s->run->budget);
  memcpy(s->device, best->best.device, (size_t)s->problem->n_operators * sizeof *s->device);
  if (!offer(s, &time, s->device, best->best.order, best->solver)) return false;
  find_single(s->pool, single, s->problem->n_operators);
  bool limited = s->rules->max_parts > 0 || s->rules->min_units > 0;
  bool alone = s->pool->single >= 0 &&
               (double)s->pool->plan[s->pool->single].time_ns <
                   (double)best->value_ns * (1 + fmax(s->rules->min_gain, limited ? 0 : s->rules->tolerance));
  if (alone || (s->rules->tolerance <= 0 && !limited)) return true;
  handover_plan first = {.where = best->best, .time_ns = time};
  if (!copy_arrays(s, &first.where)) return false;
  bool chains = budget_time_left(s->run->budget) / CHAINS >= singles_ns; /* their program cannot be stopped */
  bool layers = !s->run->form && !solve_is_large(s->problem);
  if ((chains && !offer_chains(s, best_time_ns(s->pool))) || (layers && !offer_layers(s)) ||
      !merge_islands(s, &first, best_time_ns(s->pool)))
    return false;
  for (int32_t k = 0; k < s->pool->n && !budget_over(s->run->budget); k++) { /* the chains, improved */
    handover_plan from = s->pool->plan[k];
    if (strcmp(from.solver, "contiguous") == 0 && !merge_islands(s, &from, best_time_ns(s->pool))) return false;
  }
  return true;
}

situ_status handover_search(handover_pool *pool, solve_run *run, const best_single *single,
                            const handover_rules *rules) {
  int32_t n = run->problem->n_operators;
  fewer s = {.run = run, .problem = run->problem, .rules = rules, .pool = pool};
  *pool = (handover_pool){.single = -1};
  if (!ARENA_ARRAYS(run->arena, ARRAY(s.device, n), ARRAY(s.order, n), ARRAY(s.trial, n),
                    ARRAY(s.stamp, run->problem->n_devices), ARRAY(s.near, run->problem->n_devices)) ||
      (parts_known(run->problem) && !(s.parts = parts_model_new(run->problem, run->arena))) || !search(&s, single))
    return fail_no_memory(run->error);
  find_single(pool, single, n);
  return SITU_STATUS_OK;
}

situ_status handover_time(int64_t *time_ns, solve_run *run, const placement *where) {
  simulation ran = simulator_run(run->simulator, where, false);
  arena *scratch = arena_new();
  parts_model *parts = scratch ? parts_model_new(run->problem, scratch) : NULL;
  if (parts) *time_ns = parts_value_ns(parts, where, &ran);
  arena_free(scratch);
  return parts ? SITU_STATUS_OK : fail_no_memory(run->error);
}

double handover_enough_ns(const handover_pool *pool, const handover_rules *rules) {
  return pool->single >= 0 ? (double)pool->plan[pool->single].time_ns / (1 + rules->min_gain) : HUGE_VAL;
}

double handover_limit_ns(const handover_pool *pool, const handover_rules *rules) {
  return fmin((double)best_time_ns(pool) * (1 + rules->tolerance), handover_enough_ns(pool, rules));
}

int32_t handover_choose(const handover_pool *pool, const handover_rules *rules) {
  int64_t kept = SITU_NEVER_NS;
  int32_t chosen = -1, fastest = -1;
  for (int32_t k = 0; k < pool->n; k++) {
    if (!handover_keeps(&pool->plan[k], rules) || pool->plan[k].time_ns >= kept) continue;
    kept = pool->plan[k].time_ns;
    fastest = k;
  }
  if (fastest < 0) return -1;
  double limit = handover_limit_ns(pool, rules);
  if ((double)kept > handover_enough_ns(pool, rules)) return pool->single;
  for (int32_t k = 0; k < pool->n; k++) {
    const handover_plan *plan = &pool->plan[k];
    if (!handover_keeps(plan, rules) || (double)plan->time_ns > limit) continue;
    int order = chosen < 0 ? -1 : compare_cost(&plan->cost, &pool->plan[chosen].cost);
    if (order < 0 || (order == 0 && plan->time_ns < pool->plan[chosen].time_ns)) chosen = k;
  }
  return chosen >= 0 ? chosen : fastest;
}
