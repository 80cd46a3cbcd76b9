#include "solve/answer/answer.h"

#include <math.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/answer/handover_search.h"
#include "solve/answer/robust.h"

/* Limits on simulations, MAX_SIMULATED in operators: about a second. MIN_NS is always left, however long the
 * searches took. */
static const int64_t MAX_SIMULATED = 8000000, MIN_STEPS = 40, MAX_STEPS = 20000, DEFAULT_NS = 1000000000;
static const int64_t MIN_NS = 500000000;
static const double TOLERANCE = 0.02, MIN_GAIN = 0.05, UNCERTAINTY = 0.2, SURE = 0.9;
enum { DRAWS = 200, MIN_DRAWS = 20 };

static bool is_latency(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_STREAM && p->objective == SITU_OBJECTIVE_LATENCY &&
         p->max_period_ns == SITU_NEVER_NS && !p->secondary;
}

situ_status answer_options(situ_solve_options *o, const situ_problem *p, bool portfolio, situ_error *error) {
  bool purpose = portfolio && is_latency(p) && p->costs->unit_ns == 0;
  if (o->tolerance == SITU_AUTO) o->tolerance = purpose ? TOLERANCE : 0;
  if (o->min_gain == SITU_AUTO) o->min_gain = purpose ? MIN_GAIN : 0;
  bool chooses = o->tolerance > 0 || o->min_gain > 0 || o->max_parts > 0 || o->min_part > 0;
  if (o->uncertainty == SITU_AUTO) o->uncertainty = purpose && (chooses || o->robust) ? UNCERTAINTY : 0;
  if (o->robust && o->uncertainty == 0) o->uncertainty = UNCERTAINTY;
  if (!(o->uncertainty >= 0 && o->uncertainty <= 2))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "uncertainty must be from 0 to 2");
  if (!(o->tolerance >= 0 && o->tolerance <= 10) || !(o->min_gain >= 0 && o->min_gain <= 10) || o->max_parts < 0 ||
      o->min_part < 0)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "tolerance and min_gain must be from 0 to 10, max_parts and min_part at least 0");
  if ((chooses || o->uncertainty > 0) && !is_latency(p))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "tolerance, min_gain, uncertainty and limits on parts need objective latency and execution "
                     "stream, without a limit on the period or by secondary costs");
  return SITU_STATUS_OK;
}

int64_t answer_min_ns(const situ_solve_options *o) { return min64(MIN_NS, sat_round(o->time_limit_s * 1e8)); }

/* Nanoseconds, or 0 for no limit: what the searches left of the user's limit, minus `kept_ns`, but at least a tenth of
 * the limit or MIN_NS. */
static int64_t time_left(const solve_run *run, const situ_solve_options *o, int64_t kept_ns) {
  if (o->time_limit_s <= 0) return 0;
  return max64(budget_time_left(run->budget) - kept_ns, answer_min_ns(o));
}

/* A budget beyond that of the searches. Between begin and end it is the run's own; its steps are then added to that of
 * the searches. */
typedef struct extra_budget {
  budget own, *whole;
} extra_budget;

static void extra_begin(extra_budget *e, solve_run *run, int64_t steps, int64_t time_ns) {
  e->whole = run->budget;
  e->own = budget_new(steps, time_ns, e->whole->callback, e->whole->context);
  run->budget = &e->own;
  run->watch->running = &e->own;
}

static void extra_end(extra_budget *e, solve_run *run) {
  run->budget = e->whole;
  run->watch->running = e->whole;
  e->whole->steps = sat_add(e->whole->steps, e->own.steps);
}

/* The number of simulations that take about a second. */
static int64_t extra_steps(const situ_problem *p) {
  return max64(MIN_STEPS, min64(MAX_STEPS, MAX_SIMULATED / p->n_operators));
}

static situ_status search(handover_pool *pool, solve_run *run, const best_single *single, const handover_rules *rules,
                          const situ_solve_options *o) {
  int64_t time = time_left(run, o, o->uncertainty > 0 ? answer_min_ns(o) : 0);
  if (o->time_limit_s <= 0 && o->max_steps <= 0) time = DEFAULT_NS;
  extra_budget extra;
  extra_begin(&extra, run, run->budget->stop == BUDGET_CANCELLED ? 1 : extra_steps(run->problem), time);
  situ_status status = handover_search(pool, run, single, rules);
  extra_end(&extra, run);
  return status;
}

/* Evens out the memory of equal devices in plan k, which is not a single device. */
static situ_status even(handover_pool *pool, int32_t k, solve_run *run, const handover_rules *rules,
                        const situ_solve_options *o) {
  extra_budget extra;
  double limit_ns = handover_limit_ns(pool, rules);
  if (run->budget->stop == BUDGET_CANCELLED) return SITU_STATUS_OK;
  extra_begin(&extra, run, extra_steps(run->problem), time_left(run, o, 0));
  situ_status status = even_memory(&pool->plan[k], run, limit_ns);
  extra_end(&extra, run);
  return status;
}

/* The number of draws that take about a second. */
static int32_t draws_of(const situ_problem *p, int32_t n_plans) {
  int64_t n = 5 * MAX_SIMULATED / p->n_operators / (n_plans + 1);
  return (int32_t)max64(MIN_DRAWS, min64(DRAWS, n));
}

/* Chooses, among the plans of at most max_ns, the one with the highest 10 % quantile of speed-up over the single
 * device. Among equals the first: plans are sorted by their hand-overs. */
static situ_status most_robust(int32_t *chosen, const handover_pool *pool, solve_run *run, const handover_rules *rules,
                               double max_ns, double uncertainty, budget *b) {
  placement where[HANDOVER_PLANS + 1];
  bool may[HANDOVER_PLANS + 1];
  for (int32_t k = 0; k < pool->n; k++) {
    where[k] = pool->plan[k].where;
    may[k] = handover_keeps(&pool->plan[k], rules) && (double)pool->plan[k].time_ns <= max_ns;
  }
  int32_t draws = draws_of(run->problem, pool->n);
  const placement *other = &where[pool->single >= 0 ? pool->single : *chosen];
  return robust_best(chosen, run->problem, where, may, pool->n, other, uncertainty, draws, run->seed, b, run->arena)
             ? SITU_STATUS_OK
             : fail_no_memory(run->error);
}

/* Whether the plan loses in more than one of ten draws, rounded up. Large graphs have time for a few draws only, and a
 * single loss among these must not decide. */
static bool is_unsure(const situ_robustness *r) {
  double draws = r->draws;
  return (1 - r->beats_single) * draws > ceil((1 - SURE) * draws - 1e-9) + 1e-9;
}

static situ_status compare_one(situ_robustness *out, int32_t split, const handover_pool *pool, solve_run *run,
                               double uncertainty, uint64_t seed, budget *b) {
  out->size = sizeof *out;
  return robust_compare(out, run->problem, &pool->plan[split].where, &pool->plan[pool->single].where, uncertainty,
                        draws_of(run->problem, 1), seed, b, run->arena)
             ? SITU_STATUS_OK
             : fail_no_memory(run->error);
}

/* Finds, among the plans that beat the single device by min_gain, the one that does so most surely, and its robustness;
 * or the single device where even that is unsure. Draws other than those that chose it decide. */
static situ_status find_surer(situ_robustness *out, int32_t *chosen, const handover_pool *pool, solve_run *run,
                              const handover_rules *rules, double uncertainty, budget *b) {
  int32_t split = *chosen, surest = split;
  TRY(most_robust(&surest, pool, run, rules, handover_enough_ns(pool, rules), uncertainty, b));
  *chosen = pool->single;
  if (surest == split || surest == pool->single) return SITU_STATUS_OK;
  situ_robustness found;
  TRY(compare_one(&found, surest, pool, run, uncertainty, run->seed + 1, b));
  if (is_unsure(&found)) return SITU_STATUS_OK;
  *out = found;
  *chosen = surest;
  return SITU_STATUS_OK;
}

/* Compares the plan with the single device. If it is not surely better, a surer plan of the pool replaces it, or else
 * the single device. If the single device was chosen already, the fastest plan is compared. */
static situ_status compare(situ_robustness *out, int32_t *chosen, placement *compared, const handover_pool *pool,
                           solve_run *run, const handover_rules *rules, double uncertainty, budget *b) {
  int32_t split = *chosen;
  for (int32_t k = 0; *chosen == pool->single && k < pool->n; k++)
    if (pool->plan[k].time_ns < pool->plan[split].time_ns) split = k;
  if (pool->single < 0 || split == pool->single) return SITU_STATUS_OK;
  TRY(compare_one(out, split, pool, run, uncertainty, run->seed, b));
  if (is_unsure(out) && *chosen == split) TRY(find_surer(out, chosen, pool, run, rules, uncertainty, b));
  out->preferred = *chosen == pool->single;
  *compared = pool->plan[split].where;
  return SITU_STATUS_OK;
}

/* Adds the plan of whole layers, even to a full pool. */
static situ_status add_layers(handover_pool *pool, solve_run *run) {
  incumbent found;
  handovers cost = {0};
  situ_status status = solver_borrow(&found, &layers_solver, run->problem, run, 1, 0);
  arena *scratch = arena_new();
  bool any = status == SITU_STATUS_OK && found.best.device;
  if (any && (!scratch || !handovers_find(&cost, run->problem, found.best.device, scratch)))
    status = fail_no_memory(run->error);
  cost.island = NULL;
  handover_plan *plan = &pool->plan[pool->n];
  *plan = (handover_plan){.where = found.best, .value_ns = found.value_ns, .cost = cost, .solver = layers_solver.name};
  if (any && status == SITU_STATUS_OK) {
    status = handover_time(&plan->time_ns, run, &plan->where);
    pool->n += status == SITU_STATUS_OK;
  }
  incumbent_free(&found);
  arena_free(scratch);
  return status;
}

/* Where no split of the pool is sure, one of whole layers may be: searches for speed alone do not reach its few
 * hand-overs. */
static situ_status try_layers(situ_robustness *out, int32_t *chosen, handover_pool *pool, solve_run *run,
                              const handover_rules *rules, const situ_solve_options *o) {
  if (run->budget->stop == BUDGET_CANCELLED || solve_is_large(run->problem)) return SITU_STATUS_OK;
  int64_t time = o->time_limit_s > 0 ? answer_min_ns(o) / 2 : 0; /* for each step: the limit has passed already */
  int32_t last = pool->n;
  extra_budget extra;
  extra_begin(&extra, run, max64(MIN_STEPS, extra_steps(run->problem) / 8), time);
  situ_status status = add_layers(pool, run);
  extra_end(&extra, run);
  TRY(status);
  if (pool->n == last || !handover_keeps(&pool->plan[last], rules) ||
      (double)pool->plan[last].time_ns > handover_enough_ns(pool, rules))
    return SITU_STATUS_OK;
  situ_robustness found;
  budget draws = budget_new(0, time, run->budget->callback, run->budget->context);
  TRY(compare_one(&found, last, pool, run, o->uncertainty, run->seed, &draws));
  if (is_unsure(&found)) return SITU_STATUS_OK;
  *chosen = last;
  *out = found;
  return SITU_STATUS_OK;
}

bool answer_wanted(const situ_solve_options *o) {
  return o->tolerance > 0 || o->min_gain > 0 || o->max_parts > 0 || o->min_part > 0 || o->uncertainty > 0;
}

situ_status answer_select(answer *out, solve_run *run, const best_single *single, const situ_solve_options *o) {
  const incumbent *best = run->incumbent;
  handover_rules rules = {o->tolerance, o->min_gain, o->max_parts, o->min_part};
  *out = (answer){.where = best->best,
                  .value_ns = best->value_ns,
                  .solver = best->solver,
                  .reason = "",
                  .best_found_ns = SITU_NEVER_NS,
                  .best_found_handovers = -1,
                  .unrestricted_ns = SITU_NEVER_NS};
  if (!answer_wanted(o) || !best->best.device) return SITU_STATUS_OK;
  handover_pool pool;
  TRY(search(&pool, run, single, &rules, o));
  int32_t k = handover_choose(&pool, &rules);
  if (k >= 0 && k != pool.single && o->tolerance > 0) TRY(even(&pool, k, run, &rules, o));
  budget draws = budget_new(0, time_left(run, o, 0), run->budget->callback, run->budget->context);
  if (k >= 0 && o->robust) TRY(most_robust(&k, &pool, run, &rules, HUGE_VAL, o->uncertainty, &draws));
  int32_t split = k;
  if (k >= 0 && o->uncertainty > 0)
    TRY(compare(&out->robustness, &k, &out->compared, &pool, run, &rules, o->uncertainty, &draws));
  if (k != split && k == pool.single) TRY(try_layers(&out->robustness, &k, &pool, run, &rules, o));
  handovers max = {0};
  int32_t *stamp = ARENA_NEW(run->arena, int32_t, run->problem->n_devices);
  if (!stamp) return fail_no_memory(run->error);
  handovers_count(&max, run->problem, best->best.device, stamp);
  if (!out->robustness.preferred) out->compared.device = NULL;
  out->best_found = best->best;
  out->best_found_ns = best->value_ns;
  out->best_found_handovers = max.n;
  if (k < 0) {
    out->where.device = NULL;
    out->reason = "no plan was found that satisfies the limits on parts";
    return SITU_STATUS_OK;
  }
  out->where = pool.plan[k].where;
  out->value_ns = pool.plan[k].value_ns;
  out->solver = pool.plan[k].solver;
  bool is_best = out->value_ns < best->value_ns; /* whole layers, which are searched last, may be */
  if (is_best || (out->value_ns == best->value_ns && pool.plan[k].cost.n == max.n)) {
    out->best_found.device = NULL;
    out->best_found_ns = SITU_NEVER_NS;
    out->best_found_handovers = -1;
  }
  return SITU_STATUS_OK;
}
