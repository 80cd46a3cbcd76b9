/* Several solvers on one problem, each by itself. */
#include "situ/compare.h"

#include <stdio.h>
#include <string.h>

#include "api/registry.h"
#include "base/arguments.h"
#include "base/fail.h"
#include "plan/plan.h"
#include "solve/select.h"

/* Time for each solver if the caller sets no limit. */
static const double DEFAULT_SECONDS = 3;

struct situ_comparison {
  arena *arena; /* holds that of the problem */
  const situ_problem *problem;
  situ_compare_row *rows; /* [n] */
  situ_plan **plans;      /* [n] those of the rows */
  int32_t n;
  bool complete;
};

/* "heft,-tabu,-join": one solver, without those that take no part. NULL without memory. */
static const char *names_of(const solver *s, const selection *chosen, arena *a) {
  size_t bytes = strlen(s->name) + 1, used;
  for (int32_t k = 0; k < chosen->n_left_out; k++) bytes += strlen(chosen->left_out[k]) + 2;
  char *text = ARENA_NEW(a, char, (int64_t)bytes);
  if (!text) return NULL;
  used = (size_t)snprintf(text, bytes, "%s", s->name);
  for (int32_t k = 0; k < chosen->n_left_out; k++)
    used += (size_t)snprintf(text + used, bytes - used, ",-%s", chosen->left_out[k]);
  return text;
}

/* Runs one solver and adds its row. A failure becomes a row too, unless it is a defect or the caller's. */
static situ_status add_row(situ_comparison *c, const solver *s, const selection *chosen,
                           const situ_solve_options *options, situ_error *error) {
  situ_solve_options own = *options;
  situ_error failure = {0};
  situ_plan *plan = NULL;
  own.solvers = names_of(s, chosen, c->arena);
  if (!own.solvers) return fail_no_memory(error);
  situ_status status = situ_solve(&plan, c->problem, &own, &failure);
  if (status == SITU_STATUS_BAD_ARGUMENT || status == SITU_STATUS_INTERNAL) {
    if (error) *error = failure;
    return status;
  }
  const char *why = plan ? "" : arena_string(c->arena, failure.text);
  c->plans[c->n] = plan;
  c->rows[c->n++] = (situ_compare_row){s->name, plan, why};
  return why ? SITU_STATUS_OK : fail_no_memory(error);
}

/* Whether the caller stopped the solver that ran last. */
static bool is_cancelled(const situ_comparison *c) {
  const situ_plan *last = c->n > 0 ? c->plans[c->n - 1] : NULL;
  return last && last->outcome == SITU_OUTCOME_CANCELLED;
}

static situ_status add_rows(situ_comparison *c, const situ_solve_options *options, situ_error *error) {
  selection chosen;
  TRY(select_named(&chosen, all_solvers, options->solvers, c->problem, error));
  const solver *const *rows = chosen.n > 0 ? chosen.row : all_solvers;
  int32_t n = chosen.n > 0 ? chosen.n : situ_solver_count();
  c->rows = ARENA_NEW(c->arena, situ_compare_row, n);
  c->plans = ARENA_NEW(c->arena, situ_plan *, n);
  if (!c->rows || !c->plans) return fail_no_memory(error);
  for (int32_t k = 0; k < n; k++) {
    bool takes_part = solver_serves(rows[k], c->problem);
    for (int32_t i = 0; i < chosen.n_left_out; i++) takes_part &= strcmp(chosen.left_out[i], rows[k]->name) != 0;
    if (!takes_part) continue;
    if (is_cancelled(c)) return SITU_STATUS_OK;
    TRY(add_row(c, rows[k], &chosen, options, error));
  }
  c->complete = true;
  return SITU_STATUS_OK;
}

/* No plan is better than the best bound. */
static situ_status check_bounds(const situ_comparison *c, situ_error *error) {
  const situ_plan *best = NULL;
  for (int32_t k = 0; k < c->n; k++)
    if (c->plans[k] && (!best || c->plans[k]->lower_bound_ns > best->lower_bound_ns)) best = c->plans[k];
  for (int32_t k = 0; k < c->n; k++)
    if (c->plans[k] && plan_exists(c->plans[k]))
      TRY(plan_meet_bound(c->plans[k]->value_ns, c->rows[k].solver, best->lower_bound_ns, best->bound, error));
  return SITU_STATUS_OK;
}

situ_status situ_compare(situ_comparison **out, const situ_problem *problem, const situ_solve_options *given,
                         situ_error *error) {
  situ_solve_options options;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, problem));
  TRY(TAKE(options, given, SITU_SOLVE_OPTIONS_INIT, error));
  if (options.time_limit_s <= 0 && options.max_steps <= 0) options.time_limit_s = DEFAULT_SECONDS;
  situ_comparison *c = NOUN_NEW(situ_comparison, problem->arena);
  if (!c) return fail_no_memory(error);
  *c = (situ_comparison){.arena = c->arena, .problem = problem};
  situ_status status = add_rows(c, &options, error);
  if (status == SITU_STATUS_OK) status = check_bounds(c, error);
  HAND_OUT(out, c, status, situ_comparison_free);
}

void situ_comparison_free(situ_comparison *c) {
  if (!c) return;
  for (int32_t k = 0; k < c->n; k++) situ_plan_free(c->plans[k]);
  arena_free(c->arena);
}

const situ_problem *situ_comparison_problem(const situ_comparison *c) { return c ? c->problem : NULL; }
bool situ_comparison_is_complete(const situ_comparison *c) { return c && c->complete; }
int32_t situ_comparison_count(const situ_comparison *c) { return c ? c->n : 0; }

situ_compare_row situ_comparison_at(const situ_comparison *c, int32_t index) {
  if (c && index >= 0 && index < c->n) return c->rows[index];
  return (situ_compare_row){.solver = "", .failure = ""};
}
