#include "solve/first_bounds.h"

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "solve/answer/answer.h"
#include "solve/common/exchange.h"

/* If the limit is below the bound for all plans, no plan keeps it. */
static situ_status check_limit(solve_run *run, const bound_found *min, int64_t limit_ns, const char *what) {
  if (min->lower_ns <= limit_ns) return SITU_STATUS_OK;
  char before[256], after[128];
  c_locale_print(before, sizeof before, "%s: %s proves that no", what, min->name);
  c_locale_print(after, sizeof after, "takes less than %.10g ms; at most %.10g ms are allowed",
                 (double)min->lower_ns / 1e6, (double)limit_ns / 1e6);
  situ_problem without; /* the limit is what is judged */
  problem_view_latency(&without, run->problem);
  run->incumbent->reason = reason_of_plans(run->arena, &without, before, after);
  if (!run->incumbent->reason) return fail_no_memory(run->error);
  solve_bound(run, SITU_NEVER_NS, min->name);
  return SITU_STATUS_OK;
}

/* The best of all bounds of the problem or a view of it, computed by all ranks and threads. */
static situ_status best_bound(bound_found *out, solve_run *run, const situ_problem *p, arena *proofs) {
  bound_result results[BOUNDS] = {{.known = false}};
  for (int32_t i = 0; i < BOUNDS; i++) results[i].known = !solve_includes(run, bounds[i]->name);
  TRY(exchange_bounds(results, run, p, proofs));
  bound_pick(out, results, p);
  return SITU_STATUS_OK;
}

/* The same for a limit by secondary costs. If no plan can keep it, reports the value of the best plan found by these
 * costs. */
static situ_status check_secondary_limit(solve_run *run, arena *proofs) {
  const situ_problem *p = run->problem;
  const solver *const rows[] = {&single_solver, &priced_chain_solver};
  situ_problem other;
  bound_found min;
  int64_t best_ns = SITU_NEVER_NS;
  if (!problem_view_secondary(&other, p, proofs)) return fail_no_memory(run->error);
  TRY(best_bound(&min, run, &other, proofs));
  TRY(check_limit(run, &min, p->max_secondary_ns, p->secondary_name));
  for (size_t k = 0; k < sizeof rows / sizeof *rows && run->incumbent->reason; k++) {
    incumbent found;
    situ_status status = solver_borrow(&found, rows[k], &other, run, 1, 0);
    best_ns = min64(best_ns, found.value_ns);
    incumbent_free(&found);
    TRY(status);
  }
  if (best_ns == SITU_NEVER_NS) return SITU_STATUS_OK;
  char line[1024];
  c_locale_print(line, sizeof line, "%s; the best plan found takes %.10g ms", run->incumbent->reason,
                 (double)best_ns / 1e6);
  run->incumbent->reason = arena_string(run->arena, line);
  return run->incumbent->reason ? SITU_STATUS_OK : fail_no_memory(run->error);
}

/* Bounds the value, and where both period and latency matter, also the one that has a limit. */
static situ_status first_bounds_in(solve_run *run, arena *proofs) {
  const situ_problem *p = run->problem;
  situ_problem view;
  bound_found found;
  if (p->secondary) TRY(check_secondary_limit(run, proofs));
  bool rate = p->objective == SITU_OBJECTIVE_THROUGHPUT;
  int64_t limit_ns = rate ? p->max_latency_ns : p->max_period_ns;
  if (limit_ns < SITU_NEVER_NS - 1) { /* otherwise there is no limit, although both may matter */
    (rate ? problem_view_latency : problem_view_pipeline)(&view, p);
    TRY(best_bound(&found, run, &view, proofs));
    TRY(check_limit(run, &found, limit_ns, rate ? "latency" : "period"));
  }
  TRY(best_bound(&found, run, problem_of_value(&view, p), proofs));
  return solve_adopt(run, &found);
}

situ_status first_bounds(solve_run *run) {
  arena *proofs = arena_new();
  if (!proofs) return fail_no_memory(run->error);
  budget *whole = run->budget;
  int64_t time = budget_time_left(whole);
  budget part = budget_part(whole, 0, time == INT64_MAX ? 0 : time / 3 + 1);
  run->budget = &part;
  situ_status status = first_bounds_in(run, proofs);
  run->budget = whole;
  budget_join(whole, &part);
  arena_free(proofs);
  return status;
}
