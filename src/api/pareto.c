/* The front of latency and period by the epsilon-constraint method (Haimes, Lasdon, Wismer, 1971): first the two ends,
 * then the minimum period for limits on latency that are spaced evenly, as ratios, between them. Each solve starts from
 * the plans of all previous ones. docs/theory/models/tradeoff.md. */
#include "situ/pareto.h"

#include <math.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "plan/plan.h"

enum { DEFAULT_POINTS = 8, MAX_POINTS = 1000 };
static const double DEFAULT_SECONDS = 10;

struct situ_front {
  arena *arena; /* holds that of the problem */
  const situ_problem *problem;
  situ_plan **plans; /* [n_solved] of problems posed for each solve */
  int32_t n_solved;
  situ_plan **points; /* [n_points] those that no other is better than */
  int32_t n_points;
  int64_t min_latency_ns, min_period_ns;
  const char *latency_bound, *period_bound, *reason;
  bool infeasible;
  double seconds;
};

typedef struct sweep {
  situ_front *front;
  const situ_problem *base;
  situ_solve_options whole; /* limits of all solves together */
  int32_t n_wanted;
  int64_t start_ns;
  situ_error *error;
} sweep;

/* A part of the limits for one solve of those that are left. */
static situ_solve_options limits(const sweep *s) {
  situ_solve_options o = s->whole;
  int32_t left = s->n_wanted - s->front->n_solved;
  bool unlimited = o.time_limit_s <= 0 && o.max_steps <= 0;
  double seconds = unlimited ? DEFAULT_SECONDS : o.time_limit_s;
  if (seconds > 0) {
    double spent = (double)(clock_now_ns() - s->start_ns) / 1e9;
    o.time_limit_s = fmax(seconds - spent, 0.01 * seconds) / left;
  }
  int64_t steps = o.max_steps;
  for (int32_t k = 0; k < s->front->n_solved && steps > 0; k++) steps = max64(1, steps - s->front->plans[k]->steps);
  if (o.max_steps > 0) o.max_steps = max64(1, steps / left);
  o.no_bounds = s->front->n_solved >= 2; /* the ends have them */
  o.starts = (const situ_plan *const *)s->front->plans;
  o.n_starts = s->front->n_solved;
  return o;
}

/* Solves once: for latency, or for the period under a ceiling of latency. */
static situ_status solve_once(sweep *s, situ_objective objective, int64_t ceiling_ns) {
  situ_front *f = s->front;
  const situ_problem *p = s->base;
  bool latency = objective == SITU_OBJECTIVE_LATENCY;
  situ_problem_options posed = problem_options_of(p);
  posed.objective = objective;
  posed.max_period_ns = latency ? ceiling_ns : 0;
  posed.max_latency_ns = latency ? 0 : ceiling_ns;
  situ_solve_options how = limits(s);
  situ_problem *problem = NULL;
  TRY(situ_problem_pose(&problem, p->given, p->platform, p->costs, &posed, s->error));
  situ_status status = situ_solve(&f->plans[f->n_solved], problem, &how, s->error);
  situ_problem_free(problem);
  f->n_solved += status == SITU_STATUS_OK;
  return status;
}

/* The bounds of the two ends, which hold for all points. */
static void keep_ends(situ_front *f) {
  const situ_plan *latency = f->plans[0], *period = f->plans[1];
  f->min_latency_ns = latency->lower_bound_ns;
  f->latency_bound = latency->bound;
  f->min_period_ns = period->lower_bound_ns;
  f->period_bound = period->bound;
  f->reason = latency->reason;
  f->infeasible = latency->outcome == SITU_OUTCOME_INFEASIBLE;
}

static int by_latency(const void *left, const void *right) {
  const situ_plan *x = *(situ_plan *const *)left, *y = *(situ_plan *const *)right;
  if (x->latency_ns != y->latency_ns) return x->latency_ns < y->latency_ns ? -1 : 1;
  return (x->period_ns > y->period_ns) - (x->period_ns < y->period_ns);
}

static void drop_dominated(situ_front *f) {
  int32_t n = 0;
  for (int32_t k = 0; k < f->n_solved; k++)
    if (f->plans[k]->device) f->points[n++] = f->plans[k];
  if (n > 0) qsort(f->points, (size_t)n, sizeof *f->points, by_latency);
  for (int32_t k = 0; k < n; k++)
    if (f->n_points == 0 || f->points[k]->period_ns < f->points[f->n_points - 1]->period_ns)
      f->points[f->n_points++] = f->points[k];
}

/* The bounds of the ends hold for all points. */
static situ_status meet_ends(const situ_front *f, situ_error *error) {
  for (int32_t k = 0; k < f->n_points; k++) {
    const situ_plan *plan = f->points[k];
    TRY(plan_meet_bound(plan->latency_ns, plan->solver, f->min_latency_ns, f->latency_bound, error));
    TRY(plan_meet_bound(plan->period_ns, plan->solver, f->min_period_ns, f->period_bound, error));
  }
  return SITU_STATUS_OK;
}

static bool cancelled(const situ_front *f) { return f->plans[f->n_solved - 1]->outcome == SITU_OUTCOME_CANCELLED; }

static situ_status run(sweep *s) {
  situ_front *f = s->front;
  int64_t measured = SITU_NEVER_NS - 1; /* no limit, but both are evaluated */
  TRY(solve_once(s, SITU_OBJECTIVE_LATENCY, measured));
  TRY(solve_once(s, SITU_OBJECTIVE_THROUGHPUT, measured));
  keep_ends(f);
  if (f->plans[0]->device && f->plans[1]->device) {
    double low = (double)f->plans[0]->latency_ns, high = (double)f->plans[1]->latency_ns;
    for (int32_t k = 0; k < s->n_wanted - 2 && high > low && !cancelled(f); k++) {
      double part = (k + 0.5) / (s->n_wanted - 2);
      TRY(solve_once(s, SITU_OBJECTIVE_THROUGHPUT, max64(1, sat_round(low * pow(high / fmax(low, 1), part)))));
    }
  }
  drop_dominated(f);
  f->seconds = (double)(clock_now_ns() - s->start_ns) / 1e9;
  return meet_ends(f, s->error);
}

situ_status situ_pareto(situ_front **out, const situ_problem *problem, const situ_pareto_options *given,
                        situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, problem));
  sweep s = {.base = problem, .start_ns = clock_now_ns(), .error = error};
  situ_pareto_options options;
  TRY(TAKE(options, given, SITU_PARETO_OPTIONS_INIT, error));
  TRY(TAKE(s.whole, options.solve, SITU_SOLVE_OPTIONS_INIT, error));
  s.n_wanted = options.points != 0 ? options.points : DEFAULT_POINTS;
  if (problem->execution != SITU_EXECUTION_STREAM)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "fronts of latency and period need execution stream, not %s",
                     situ_execution_name(problem->execution));
  if (s.n_wanted < 2 || s.n_wanted > MAX_POINTS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "a front has 2 to %d points, not %d", (int)MAX_POINTS,
                     (int)s.n_wanted);
  s.front = NOUN_NEW(situ_front, problem->arena);
  if (!s.front) return fail_no_memory(error);
  situ_front *f = s.front;
  *f = (situ_front){.arena = s.front->arena, .problem = problem, .latency_bound = "", .period_bound = "", .reason = ""};
  f->plans = ARENA_ZERO(s.front->arena, situ_plan *, s.n_wanted);
  f->points = ARENA_ZERO(s.front->arena, situ_plan *, s.n_wanted);
  HAND_OUT(out, f, f->plans && f->points ? run(&s) : fail_no_memory(error), situ_front_free);
}

void situ_front_free(situ_front *f) {
  if (!f) return;
  for (int32_t k = 0; k < f->n_solved; k++) situ_plan_free(f->plans[k]);
  arena_free(f->arena);
}

const situ_problem *situ_front_problem(const situ_front *f) { return f ? f->problem : NULL; }
const situ_plan *situ_front_plan(const situ_front *f, int32_t index) {
  return f && index >= 0 && index < f->n_points ? f->points[index] : NULL;
}

bool situ_front_get_summary(const situ_front *f, situ_front_summary *out) {
  if (!f) return false;
  situ_front_summary summary = {.n_points = f->n_points,
                                .infeasible = f->infeasible,
                                .min_latency_ns = f->min_latency_ns,
                                .min_period_ns = f->min_period_ns,
                                .latency_bound = f->latency_bound,
                                .period_bound = f->period_bound,
                                .reason = f->reason,
                                .seconds = f->seconds};
  return GIVE(out, summary);
}
