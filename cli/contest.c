#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Time for each solver if the caller sets no limit. */
static const double DEFAULT_SECONDS = 3;

static bool start(contest *c, int32_t capacity) {
  *c = (contest){.capacity = capacity};
  size_t n = (size_t)capacity + 1;
  c->rows = calloc(n, sizeof *c->rows);
  c->failures = calloc(n, sizeof *c->failures);
  c->names = calloc(n, sizeof *c->names);
  return c->rows && c->failures && c->names;
}

void contest_stop(contest *c) {
  for (int32_t i = 0; c->rows && i < c->n; i++) situ_plan_free((situ_plan *)(uintptr_t)c->rows[i].plan);
  free(c->rows);
  free(c->failures);
  free(c->names);
}

/* Runs one solver and adds its row. A failure becomes a row too, unless the caller asked for something impossible. */
static situ_status enter(contest *c, const char *name, const situ_problem *problem, const situ_solve_options *options,
                         situ_error *error) {
  int32_t i = c->n;
  situ_solve_options one = *options;
  situ_plan *plan = NULL;
  snprintf(c->names[i], sizeof c->names[i], "%s", name);
  one.solvers = c->names[i];
  situ_status status = situ_solve(&plan, problem, &one, error);
  if (status == SITU_STATUS_BAD_ARGUMENT || status == SITU_STATUS_INTERNAL) return status;
  if (status != SITU_STATUS_OK) snprintf(c->failures[i], sizeof c->failures[i], "%s", error->text);
  c->rows[c->n++] = (situ_compare_row){c->names[i], plan, plan ? NULL : c->failures[i]};
  return SITU_STATUS_OK;
}

static situ_status enter_all(contest *c, const arguments *a, const situ_problem *problem, progress *p,
                             situ_error *error) {
  situ_solve_options options = a->solve;
  options.progress = progress_tell;
  options.context = p;
  if (options.time_limit_s <= 0 && options.max_steps <= 0) options.time_limit_s = DEFAULT_SECONDS;
  const char *given = a->solve.solvers;
  situ_solver_info info = SITU_SOLVER_INFO_INIT;
  for (int32_t i = 0; !given && !c->cut_short && situ_solver_at(i, &info); i++) {
    const char *name = info.name;
    if (!situ_solver_serves(name, problem)) continue;
    c->cut_short = interrupted();
    situ_status status = c->cut_short ? SITU_STATUS_OK : enter(c, name, problem, &options, error);
    progress_stop(p);
    if (status != SITU_STATUS_OK) return status;
  }
  while (given && *given && c->n < c->capacity && !(c->cut_short = interrupted())) {
    char name[MAX_NAME_BYTES];
    given += strspn(given, " ");
    int n = (int)strcspn(given, ",");
    int end = n;
    while (end > 0 && given[end - 1] == ' ') end--;
    snprintf(name, sizeof name, "%.*s", end, given);
    given += n + (given[n] == ',');
    situ_status status = enter(c, name, problem, &options, error);
    progress_stop(p);
    if (status != SITU_STATUS_OK) return status;
  }
  return SITU_STATUS_OK;
}

situ_status contest_hold(contest *c, const arguments *a, const situ_problem *problem, progress *p, situ_error *error) {
  if (start(c, situ_solver_count() + MAX_NAMES)) return enter_all(c, a, problem, p, error);
  *error = (situ_error){.status = SITU_STATUS_NO_MEMORY, .text = "out of memory"};
  return error->status;
}
