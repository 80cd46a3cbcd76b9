#include "solve/select.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/near_name.h"
#include "bound/bound.h"

enum { NAME_BYTES = 64 };

static const char *served_models(char into[64], const solver *s) {
  snprintf(into, 64, "%s%s%s", s->models & MODEL_STREAM ? ", stream" : "", s->models & MODEL_CALLS ? ", calls" : "",
           s->models & MODEL_PIPELINE ? ", pipeline" : "");
  return into[0] ? into + 2 : into;
}

/* An explanation for when the solver serves the execution model but not this problem. */
static const char *limits_of(const solver *s, const situ_problem *p) {
  return problem_is_of(p, s->models) ? ", but not of this size or with these options" : "";
}

const solver *solver_find(const solver *const *rows, const char *name) {
  for (int32_t i = 0; rows[i]; i++)
    if (strcmp(rows[i]->name, name) == 0) return rows[i];
  return NULL;
}

/* The name as the table of solvers or, with `also_bounds`, that of bounds has it. */
static situ_status find_name(const char **out, const solver *const *rows, bool also_bounds, const char *name,
                             situ_error *error) {
  enum { MAX_KNOWN = 4 * MAX_NAMED };
  const char *names[MAX_KNOWN] = {0};
  int32_t n = 0;
  char near[256];
  for (int32_t i = 0; rows[i] && n < MAX_KNOWN; i++) names[n++] = rows[i]->name;
  for (int32_t i = 0; also_bounds && bounds[i] && n < MAX_KNOWN; i++) names[n++] = bounds[i]->name;
  for (int32_t i = 0; i < n; i++)
    if (strcmp(name, *out = names[i]) == 0) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "there is no solver%s '%s'; %s",
                   also_bounds ? " or bound" : "", name, near_names(near, sizeof near, name, names, n));
}

static situ_status too_many(situ_error *error) {
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "more than %d solvers are named", MAX_NAMED);
}

/* Checks that a row serves the problem, and chooses it. */
static situ_status choose_row(selection *chosen, const solver *s, const situ_problem *problem, situ_error *error) {
  char models[64];
  if (s->missing)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "solver %s is not in this build: %s", s->name, s->missing);
  if (!solver_serves(s, problem))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "solver %s cannot solve this %s problem; it supports %s%s",
                     s->name, situ_execution_name(problem->execution), served_models(models, s), limits_of(s, problem));
  if (chosen->n == MAX_NAMED) return too_many(error);
  chosen->row[chosen->n++] = s;
  chosen->n_anytime += s->anytime;
  return SITU_STATUS_OK;
}

situ_status select_named(selection *chosen, const solver *const *rows, const char *names, const situ_problem *problem,
                         situ_error *error) {
  *chosen = (selection){.n = 0};
  for (const char *at = names ? names : ""; *at;) {
    at += strspn(at, " ");
    size_t length = strcspn(at, ","), end = length;
    while (end > 0 && at[end - 1] == ' ') end--;
    char name[NAME_BYTES];
    const char *known = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(end < NAME_BYTES ? end : NAME_BYTES - 1), at);
    bool leaves_out = name[0] == '-';
    if (!name[leaves_out])
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the list of solvers '%s' has an empty name", names);
    TRY(find_name(&known, rows, leaves_out, name + leaves_out, error));
    if (!leaves_out)
      TRY(choose_row(chosen, solver_find(rows, known), problem, error));
    else if (chosen->n_left_out == MAX_NAMED)
      return too_many(error);
    else
      chosen->left_out[chosen->n_left_out++] = known;
    at += length;
    if (*at && !*++at)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the list of solvers '%s' has an empty name", names);
  }
  return SITU_STATUS_OK;
}

situ_status select_solvers(selection *chosen, const solver *const *rows, const char *names, const situ_problem *problem,
                           situ_error *error) {
  TRY(select_named(chosen, rows, names, problem, error));
  return chosen->n > 0 ? SITU_STATUS_OK : choose_row(chosen, solver_find(rows, "auto"), problem, error);
}

void select_warn_of_policy(const selection *chosen, const solver *const *rows, const situ_solve_options *o) {
  const char *names[2] = {NULL};
  int32_t n = 0;
  if (!o->policy && o->tune_steps == 0) return;
  for (int32_t k = 0; k < chosen->n; k++)
    if (chosen->row[k]->takes_policy) return;
  for (int32_t k = 0; rows[k] && n < 2; k++)
    if (rows[k]->takes_policy) names[n++] = rows[k]->name;
  log_to log = {o->log, o->log_context};
  if (n == 0)
    log_line(log, SITU_LOG_WARNING, "a policy has no effect: this build has no learned solvers");
  else
    log_line(log, SITU_LOG_WARNING, "a policy has no effect on solver %s; solver %s%s%s would use it",
             chosen->row[0]->name, names[0], n > 1 ? " or " : "", n > 1 ? names[1] : "");
}
