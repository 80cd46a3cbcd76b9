#include "api/place_instance.h"

#include <math.h>
#include <stdio.h>

#include "api/evaluate.h"
#include "base/arguments.h"
#include "plan/plan.h"
#include "solve/common/solver.h"

static bool all_pinned(const situ_problem *p) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] < 0) return false;
  return p->n_operators > 0;
}

/* Solves for a plan that the writers of the instance can represent, starting from the plan file that the options name
 * and the caller's starts. */
static situ_status solve_from(situ_plan **out, const situ_instance *i, const situ_solve_options *solve,
                              situ_error *error) {
  situ_solve_options own = *solve;
  own.form |= i->form;
  if (!i->options.call.start || own.n_starts < 0 || (own.n_starts > 0 && !own.starts))
    return situ_solve(out, i->problem, &own, error);
  situ_plan *start = NULL;
  const situ_plan **starts = NULL;
  arena *a = arena_new();
  situ_status status = a && (starts = ARENA_NEW(a, const situ_plan *, (int64_t)own.n_starts + 1))
                           ? evaluate_file(&start, i, i->options.call.start, error)
                           : fail_no_memory(error);
  if (status == SITU_STATUS_OK) {
    for (int32_t k = 0; k < own.n_starts; k++) starts[k] = own.starts[k];
    starts[own.n_starts++] = start;
    own.starts = starts;
    status = situ_solve(out, i->problem, &own, error);
  }
  situ_plan_free(start);
  arena_free(a);
  return status;
}

static situ_status place(situ_plan **out, const situ_instance *i, const situ_solve_options *solve, situ_error *error) {
  return all_pinned(i->problem) ? evaluate_pins(out, i, error) : solve_from(out, i, solve, error);
}

/* ---- layers that are whole by default ---- */

/* The share of a time limit in which some plan of whole layers must be found. */
static const double SHARE_OF_LAYERS = 0.5;

/* A search for whole layers, which ends where it finds none in time. */
typedef struct layer_search {
  situ_progress_callback *progress;
  void *context;
  situ_log_callback *log;
  void *log_context;
  double limit_s; /* 0: none */
  bool gave_up;
  char warning[512]; /* the last one, which may be that there is no plan, and then is not the answer; "": none */
} layer_search;

static bool watch(void *context, const situ_progress *news) {
  layer_search *l = context;
  if (l->progress && l->progress(l->context, news)) return true;
  l->gave_up = l->limit_s > 0 && news->value_ns == SITU_NEVER_NS && news->seconds > l->limit_s;
  return l->gave_up;
}

static void pass_warning(layer_search *l) {
  if (l->log && *l->warning) l->log(l->log_context, SITU_LOG_WARNING, l->warning);
  *l->warning = '\0';
}

/* Keeps the last warning back until the outcome is known. */
static void pass_on(void *context, situ_log_level level, const char *text) {
  layer_search *l = context;
  if (level == SITU_LOG_WARNING) {
    pass_warning(l);
    snprintf(l->warning, sizeof l->warning, "%s", text);
  } else if (l->log) {
    l->log(l->log_context, level, text);
  }
}

/* Where no plan keeps layers whole, or none is found, and nobody asked for that, they may be split. */
static situ_status place_split(situ_plan **out, situ_instance *i, const situ_solve_options *solve, situ_error *error) {
  situ_solve_options own = *solve;
  double whole_s = own.time_limit_s > 0 ? own.time_limit_s : own.max_steps == 0 ? PLACE_USUAL_S : 0;
  layer_search l = {own.progress, own.context, own.log, own.log_context, SHARE_OF_LAYERS * whole_s, false, ""};
  if (own.ranks || own.form || i->form) l.limit_s = 0; /* ranks must decide alike; plans of a form are reported late */
  situ_solve_options layers = own;
  layers.progress = watch;
  layers.log = pass_on;
  layers.context = layers.log_context = &l;
  TRY(place(out, i, &layers, error));
  situ_outcome outcome = (*out)->outcome;
  bool none = outcome == SITU_OUTCOME_INFEASIBLE || (outcome == SITU_OUTCOME_CANCELLED && l.gave_up) ||
              (outcome == SITU_OUTCOME_LIMIT && !*(*out)->reason); /* else what is lacking is the form, or parts */
  if (plan_exists(*out) || !none) {
    pass_warning(&l);
    return SITU_STATUS_OK;
  }
  double spent_s = (*out)->seconds, left_s = fmax(whole_s - spent_s, whole_s / 4);
  if (l.gave_up || (own.time_limit_s > 0 && !own.ranks)) own.time_limit_s = left_s; /* ranks have one limit */
  situ_plan_free(*out);
  *out = NULL;
  TRY(instance_split_layers(i, outcome == SITU_OUTCOME_INFEASIBLE, error));
  TRY(place(out, i, &own, error));
  (*out)->seconds += spent_s;
  return SITU_STATUS_OK;
}

situ_status place_instance(situ_plan **out, situ_instance *i, const situ_solve_options *solve, situ_error *error) {
  return i->may_split ? place_split(out, i, solve, error) : place(out, i, solve, error);
}
