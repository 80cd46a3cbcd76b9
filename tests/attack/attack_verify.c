/* Values, bounds, outcomes and verdicts of the library against the truth. */
#include "attack_verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool failure_set(attack_failure *failure, const char *kind, const char *format, ...) {
  va_list arguments;
  failure->kind = kind;
  va_start(arguments, format);
  vsnprintf(failure->text, sizeof failure->text, format, arguments);
  va_end(arguments);
  return false;
}

static void read_plan(attack_placement *at, const attack_facts *f, const situ_plan *plan) {
  const int32_t *order = NULL;
  int32_t n_order = situ_plan_order(plan, &order);
  for (int32_t v = 0; v < f->p->n; v++) {
    at->device[v] = situ_plan_device(plan, v);
    at->order[v] = v < n_order ? order[v] : v;
    at->call[v] = situ_plan_call(plan, v);
  }
  for (int32_t d = 0; d < MAX_DEVICES; d++) {
    situ_device_use use = SITU_DEVICE_USE_INIT;
    at->replica_of[d] = situ_plan_device_use(plan, d, &use) ? use.replica_of : -1;
  }
}

/* Devices that exist and may be used, units that stay together, replicas that are equal. */
static bool verify_places(attack_failure *failure, const attack_facts *f, const attack_placement *at) {
  uint32_t used = 0;
  for (int32_t v = 0; v < f->p->n; v++) {
    int32_t d = at->device[v], u = f->unit_of[v];
    if (d < 0 || d >= f->p->n_devices) return failure_set(failure, "device", "o%d is on device %d", (int)v, (int)d);
    if (d != at->device[u]) return failure_set(failure, "unit", "o%d and o%d are apart", (int)u, (int)v);
    if (!f->allowed[u][d]) return failure_set(failure, "allowed", "o%d may not be on d%d", (int)v, (int)d);
    if (f->p->execution == SITU_EXECUTION_CALLS &&
        (f->p->device[d].is_host ? at->call[v] != -1 : at->call[v] < 0 || at->call[v] >= f->p->n))
      return failure_set(failure, "call", "o%d on d%d is in call %d", (int)v, (int)d, (int)at->call[v]);
    used |= 1U << d;
  }
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    int32_t of = at->replica_of[d];
    if (of < 0) continue;
    if (!f->p->replicate || (used >> d & 1) || !(used >> of & 1) || at->replica_of[of] >= 0 ||
        !facts_may_share(f, of, d))
      return failure_set(failure, "replica", "d%d must not be a replica of d%d", (int)d, (int)of);
  }
  return true;
}

/* What the plan says of itself. */
static bool verify_claims(attack_failure *failure, const attack_facts *f, const situ_plan *plan,
                          const attack_value *mine) {
  bool timed = f->p->execution != SITU_EXECUTION_PIPELINE;
  for (int32_t v = 0; v < f->p->n && timed; v++)
    if (situ_plan_start_ns(plan, v) != mine->start_ns[v] || situ_plan_finish_ns(plan, v) != mine->finish_ns[v])
      return failure_set(failure, "times", "o%d runs from %lld to %lld, not from %lld to %lld", (int)v,
                         (long long)situ_plan_start_ns(plan, v), (long long)situ_plan_finish_ns(plan, v),
                         (long long)mine->start_ns[v], (long long)mine->finish_ns[v]);
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    situ_device_use use = SITU_DEVICE_USE_INIT;
    situ_plan_device_use(plan, d, &use);
    if (use.load_ns != mine->load_ns[d])
      return failure_set(failure, "load", "d%d has load %lld, not %lld", (int)d, (long long)use.load_ns,
                         (long long)mine->load_ns[d]);
    if (use.memory_bytes != mine->peak_bytes[f->memory_of[d]])
      return failure_set(failure, "peak", "d%d holds %lld bytes, not %lld", (int)d, (long long)use.memory_bytes,
                         (long long)mine->peak_bytes[f->memory_of[d]]);
  }
  bool limited = f->p->max_period_ns > 0 || f->p->max_latency_ns > 0;
  if (limited && (plan_says(plan).latency_ns != mine->latency_ns || plan_says(plan).period_ns != mine->period_ns))
    return failure_set(failure, "limited", "latency %lld, period %lld, not %lld, %lld",
                       (long long)plan_says(plan).latency_ns, (long long)plan_says(plan).period_ns,
                       (long long)mine->latency_ns, (long long)mine->period_ns);
  if (f->p->max_other_ns > 0 && plan_says(plan).secondary_ns != mine->other_ns)
    return failure_set(failure, "other", "%lld by the other costs, not %lld", (long long)plan_says(plan).secondary_ns,
                       (long long)mine->other_ns);
  return true;
}

bool verify_plan(attack_failure *failure, const attack_facts *f, const situ_plan *plan, attack_placement *at) {
  attack_value mine;
  read_plan(at, f, plan);
  if (!verify_places(failure, f, at)) return false;
  value_find(&mine, f, at, true);
  if (!mine.runs)
    return failure_set(failure, "runs", "a plan of %lld ns never ends", (long long)plan_says(plan).value_ns);
  if (!mine.fits) return failure_set(failure, "memory", "a plan does not fit its memories");
  if (!mine.keeps) return failure_set(failure, "limit", "a plan breaks a limit or contiguity");
  if (mine.value_ns != plan_says(plan).value_ns)
    return failure_set(failure, "value", "the plan takes %lld ns, not %lld", (long long)mine.value_ns,
                       (long long)plan_says(plan).value_ns);
  return verify_claims(failure, f, plan, &mine);
}

/* The judge of the library agrees with its own plan, and proves nothing false. */
static bool verify_verdict(attack_failure *failure, const attack_posed *posed, const situ_plan *plan,
                           const attack_optimum *optimum) {
  situ_verdict *verdict;
  situ_error error;
  if (situ_check(&verdict, plan, &error)) return failure_set(failure, "check-status", "%s", error.text);
  int64_t verified = verdict_says(verdict).verified_ns;
  bool proved =
      plan_says(plan).exists || plan_says(plan).outcome != SITU_OUTCOME_INFEASIBLE || verified == SITU_NEVER_NS;
  bool good = true;
  if (proved && verdict_says(verdict).n_found > 0 &&
      (plan_says(plan).exists || plan_says(plan).outcome == SITU_OUTCOME_INFEASIBLE))
    good = failure_set(failure, "check", "%s: %s", situ_verdict_violation(verdict, 0).rule,
                       situ_verdict_violation(verdict, 0).text);
  else if (verified > optimum->value_ns)
    good = failure_set(failure, "verified", "the judge verified %lld ns (%s), but %lld is possible",
                       (long long)verified, verdict_says(verdict).certificate, (long long)optimum->value_ns);
  else if (plan_says(plan).verified_ns > plan_says(plan).lower_bound_ns)
    good = failure_set(failure, "verified-bound", "verified %lld above the bound %lld",
                       (long long)plan_says(plan).verified_ns, (long long)plan_says(plan).lower_bound_ns);
  situ_verdict_free(verdict);
  return good;
}

static bool verify_outcome(attack_failure *failure, const situ_plan *plan, const attack_optimum *optimum) {
  situ_outcome outcome = plan_says(plan).outcome;
  int64_t value = plan_says(plan).value_ns, bound = plan_says(plan).lower_bound_ns;
  bool exists = outcome == SITU_OUTCOME_OPTIMAL || outcome == SITU_OUTCOME_FEASIBLE;
  if (exists != plan_says(plan).exists) return failure_set(failure, "exists", "%s", situ_outcome_name(outcome));
  if (outcome == SITU_OUTCOME_CANCELLED) return failure_set(failure, "cancelled", "nobody stopped it");
  if (outcome == SITU_OUTCOME_INFEASIBLE && optimum->value_ns != SITU_NEVER_NS)
    return failure_set(failure, "infeasible", "there is a plan of %lld ns; the answer: %s",
                       (long long)optimum->value_ns, plan_says(plan).reason);
  if (outcome == SITU_OUTCOME_INFEASIBLE && !*plan_says(plan).reason)
    return failure_set(failure, "reason", "infeasible without a reason");
  if (bound > optimum->value_ns)
    return failure_set(failure, "bound", "the bound %lld (%s) is above the optimum %lld", (long long)bound,
                       plan_says(plan).bound, (long long)optimum->value_ns);
  if (!exists) return true;
  if (value < optimum->value_ns)
    return failure_set(failure, "below", "the value %lld is below the optimum %lld", (long long)value,
                       (long long)optimum->value_ns);
  if ((outcome == SITU_OUTCOME_OPTIMAL) != (value == bound))
    return failure_set(failure, "optimal", "%s at value %lld and bound %lld", situ_outcome_name(outcome),
                       (long long)value, (long long)bound);
  if (plan_says(plan).best_single_ns != optimum->single_ns)
    return failure_set(failure, "single", "the best single device takes %lld, not %lld",
                       (long long)plan_says(plan).best_single_ns, (long long)optimum->single_ns);
  return true;
}

/* ---- the choice among near-equal plans ---- */

/* Parts of a placement, by the rule of calls. A unit counts in the part of its first operator; the minimum of these
 * numbers, among the parts in which some unit begins, goes to *least. */
static int32_t count_parts(const attack_facts *f, const attack_placement *at, int32_t *least) {
  int32_t n = 0, members[MAX_DEVICES][MAX_OPS + 1] = {{0}}, units[MAX_DEVICES][MAX_OPS + 1] = {{0}};
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    int32_t piece[MAX_OPS];
    for (int32_t v = 0; v < f->p->n; v++) {
      bool here = at->device[v] == d;
      piece[v] = here;
      for (int32_t u = 0; u < v; u++) {
        if (!(f->before[v] >> u & 1)) continue;
        int32_t reached = piece[u] + (here && at->device[u] != d);
        if (reached > piece[v]) piece[v] = reached;
      }
      members[d][piece[v]] += here;
      units[d][piece[v]] += here && f->unit_of[v] == v;
    }
  }
  *least = MAX_OPS;
  for (int32_t d = 0; d < f->p->n_devices; d++)
    for (int32_t k = 0; k <= MAX_OPS; k++) {
      n += members[d][k] > 0;
      if (units[d][k] > 0 && units[d][k] < *least) *least = units[d][k];
    }
  return n;
}

static bool verify_choice(attack_failure *failure, const attack_facts *f, const attack_call *call,
                          const situ_plan *plan, const attack_placement *at) {
  int32_t least, n = count_parts(f, at, &least);
  int64_t value = plan_says(plan).value_ns, single = plan_says(plan).best_single_ns;
  int64_t best = plan_says(plan).best_found_ns;
  bool alone = true;
  for (int32_t v = 1; v < f->p->n; v++) alone = alone && at->device[v] == at->device[0];
  if (call->max_parts > 0 && n > call->max_parts)
    return failure_set(failure, "max-parts", "%d parts, at most %d", (int)n, (int)call->max_parts);
  if (call->min_part > 0 && n > 1 && least < call->min_part)
    return failure_set(failure, "min-part", "a part of %d, at least %d", (int)least, (int)call->min_part);
  if (best > value) return failure_set(failure, "best-found", "%lld above %lld", (long long)best, (long long)value);
  if (call->max_parts > 0 || call->min_part > 0 || call->uncertainty > 0 || single == SITU_NEVER_NS ||
      f->p->part_class >= 0)
    return true;
  bool gains = (double)value <= (double)single / (1 + call->min_gain) + 1;
  bool near = (double)value <= (double)best * (1 + call->tolerance) + 1;
  if (alone && value == single && !near && (double)best < (double)single / (1 + call->min_gain) - 1)
    return failure_set(failure, "choice", "the single device of %lld although %lld was found", (long long)single,
                       (long long)best);
  if (!(alone && value == single) && !near)
    return failure_set(failure, "choice", "%lld although %lld was found", (long long)value, (long long)best);
  bool single_keeps = true; /* the single device may break a limit or a pin */
  for (int32_t v = 0; v < f->p->n; v++) single_keeps = single_keeps && f->p->op[v].pin < 0;
  single_keeps = single_keeps && f->p->max_period_ns == 0 && f->p->max_other_ns == 0;
  if (!alone && !gains && single_keeps && call->min_gain > 0)
    return failure_set(failure, "choice", "a split of %lld although one device takes %lld", (long long)value,
                       (long long)single);
  return true;
}

/* ---- calls of the library ---- */

bool pose_may_fail(const attack_problem *p, const situ_error *error) {
  return p->huge && error->status == SITU_STATUS_BAD_INPUT;
}

bool verify_conflict(attack_failure *failure, const attack_posed *posed, const attack_optimum *optimum) {
  const char *conflict = problem_says(posed->problem).conflict;
  if (conflict && optimum->value_ns != SITU_NEVER_NS)
    return failure_set(failure, "conflict", "there is a plan of %lld ns; the answer: %s", (long long)optimum->value_ns,
                       conflict);
  return true;
}

static situ_solve_options options_of(const attack_call *call) {
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  o.solvers = call->solver;
  o.max_steps = call->steps;
  o.seed = call->seed;
  o.tolerance = call->tolerance;
  o.min_gain = call->min_gain;
  o.max_parts = call->max_parts;
  o.min_part = call->min_part;
  o.uncertainty = call->uncertainty;
  o.robust = call->robust;
  o.no_bounds = call->no_bounds;
  o.threads = call->threads;
  return o;
}

/* A plan to start from: a placement by chance, in the order of the numbers. NULL where there is none. */
static situ_plan *draw_start(const attack_facts *f, const situ_problem *problem, uint64_t seed) {
  attack_dice dice = {.state = seed};
  int32_t device[MAX_OPS];
  situ_plan *start = NULL;
  for (int32_t v = 0; v < f->p->n; v++) {
    device[v] = dice_below(&dice, f->p->n_devices);
    if (f->unit_of[v] != v && dice_chance(&dice, 95)) device[v] = device[f->unit_of[v]];
  }
  return situ_simulate(&start, problem, device, NULL, NULL) == SITU_STATUS_OK ? start : NULL;
}

/* With a limit of steps the answer does not depend on the number of threads, nor on the run. */
static bool verify_again(attack_failure *failure, const attack_facts *f, const attack_posed *posed,
                         const situ_solve_options *options, const situ_plan *plan) {
  situ_solve_options o = *options;
  situ_plan *again;
  situ_error error;
  o.threads = 1;
  if (situ_solve(&again, posed->problem, &o, &error))
    return failure_set(failure, "again-status", "%s: %s", situ_status_name(error.status), error.text);
  bool good = true;
  if (plan_says(again).value_ns != plan_says(plan).value_ns ||
      plan_says(again).lower_bound_ns != plan_says(plan).lower_bound_ns ||
      plan_says(again).outcome != plan_says(plan).outcome)
    good = failure_set(failure, "again", "value %lld and bound %lld with one thread, %lld and %lld with %d",
                       (long long)plan_says(again).value_ns, (long long)plan_says(again).lower_bound_ns,
                       (long long)plan_says(plan).value_ns, (long long)plan_says(plan).lower_bound_ns,
                       (int)options->threads);
  for (int32_t v = 0; v < f->p->n && good; v++)
    if (situ_plan_device(again, v) != situ_plan_device(plan, v))
      good = failure_set(failure, "again", "o%d is on d%d with one thread, on d%d with %d", (int)v,
                         (int)situ_plan_device(again, v), (int)situ_plan_device(plan, v), (int)options->threads);
  situ_plan_free(again);
  return good;
}

bool verify_posed(attack_failure *failure, const attack_facts *f, const attack_posed *posed,
                  const attack_optimum *optimum, const attack_call *call) {
  situ_plan *plan;
  situ_error error;
  attack_placement at;
  situ_solve_options o = options_of(call);
  if (!situ_solver_serves(call->solver, posed->problem) && strcmp(call->solver, "auto") != 0) return true;
  situ_plan *start = call->start ? draw_start(f, posed->problem, call->seed) : NULL;
  const situ_plan *const starts[] = {start};
  o.starts = start ? starts : NULL;
  o.n_starts = start != NULL;
  situ_status status = situ_solve(&plan, posed->problem, &o, &error);
  bool same = status || call->threads <= 1 || verify_again(failure, f, posed, &o, plan);
  situ_plan_free(start);
  if (status) return failure_set(failure, "status", "%s: %s", situ_status_name(error.status), error.text);
  bool choosing =
      call->tolerance > 0 || call->min_gain > 0 || call->max_parts > 0 || call->min_part > 0 || call->uncertainty > 0;
  bool good = same && (!plan_says(plan).exists || verify_plan(failure, f, plan, &at)) &&
              verify_outcome(failure, plan, optimum) && verify_verdict(failure, posed, plan, optimum) &&
              (!choosing || !plan_says(plan).exists || verify_choice(failure, f, call, plan, &at));
  situ_plan_free(plan);
  return good;
}

bool verify_front(attack_failure *failure, const attack_problem *p, const attack_posed *posed,
                  const attack_call *call) {
  attack_problem latency = *p, period = *p;
  attack_facts fl, fp;
  attack_optimum ol, op;
  situ_front *front;
  situ_error error;
  situ_solve_options o = options_of(call);
  situ_pareto_options po = SITU_PARETO_OPTIONS_INIT;
  latency.objective = SITU_OBJECTIVE_LATENCY;
  latency.max_period_ns = latency.max_latency_ns = 0;
  period = latency;
  period.objective = SITU_OBJECTIVE_THROUGHPUT;
  period.max_latency_ns = SITU_NEVER_NS - 1;
  facts_find(&fl, &latency);
  facts_find(&fp, &period);
  optimum_find(&ol, &fl);
  optimum_find(&op, &fp);
  if (!ol.complete || !op.complete) return true;
  po.points = 3;
  po.solve = &o;
  if (situ_pareto(&front, posed->problem, &po, &error))
    return failure_set(failure, "front-status", "%s: %s", situ_status_name(error.status), error.text);
  situ_front_summary says = SITU_FRONT_SUMMARY_INIT;
  bool good = situ_front_get_summary(front, &says);
  for (int32_t i = 0; i < says.n_points && good; i++) {
    const situ_plan *plan = situ_front_plan(front, i);
    attack_placement at;
    attack_value mine;
    read_plan(&at, &fl, plan);
    good = verify_places(failure, &fl, &at);
    if (!good) break;
    value_find(&mine, &fl, &at, true);
    if (!value_valid(&mine))
      good = failure_set(failure, "front-valid", "point %d breaks a rule", (int)i);
    else if (mine.latency_ns != plan_says(plan).latency_ns || mine.period_ns != plan_says(plan).period_ns)
      good = failure_set(failure, "front-value", "point %d has latency %lld and period %lld, not %lld and %lld", (int)i,
                         (long long)mine.latency_ns, (long long)mine.period_ns, (long long)plan_says(plan).latency_ns,
                         (long long)plan_says(plan).period_ns);
    else if (mine.latency_ns < ol.value_ns || mine.period_ns < op.value_ns)
      good = failure_set(failure, "front-below", "point %d is below the optimum", (int)i);
    else if (plan_says(plan).lower_bound_ns > plan_says(plan).value_ns)
      good = failure_set(failure, "front-bound", "point %d has bound %lld above its value %lld", (int)i,
                         (long long)plan_says(plan).lower_bound_ns, (long long)plan_says(plan).value_ns);
  }
  if (good && (says.min_latency_ns > ol.value_ns || says.min_period_ns > op.value_ns))
    good = failure_set(failure, "front-least", "bounds %lld, %lld above the optima %lld, %lld",
                       (long long)says.min_latency_ns, (long long)says.min_period_ns, (long long)ol.value_ns,
                       (long long)op.value_ns);
  if (good && says.infeasible && ol.value_ns != SITU_NEVER_NS)
    good = failure_set(failure, "front-infeasible", "there is a plan of %lld ns", (long long)ol.value_ns);
  situ_front_free(front);
  return good;
}

bool verify_call(attack_failure *failure, const attack_problem *p, const attack_call *call, attack_optimum *optimum) {
  attack_facts f;
  attack_posed posed;
  attack_optimum mine;
  situ_error error;
  if (!optimum) optimum = &mine;
  failure->kind = NULL;
  bool good = true;
  if (problem_pose(&posed, p, &error)) {
    good =
        pose_may_fail(p, &error) || failure_set(failure, "pose", "%s: %s", situ_status_name(error.status), error.text);
  } else if (call->pareto) {
    good = verify_front(failure, p, &posed, call);
  } else {
    facts_find(&f, p);
    optimum_find(optimum, &f);
    good = !optimum->complete ||
           (verify_conflict(failure, &posed, optimum) && verify_posed(failure, &f, &posed, optimum, call));
  }
  posed_free(&posed);
  return good;
}
