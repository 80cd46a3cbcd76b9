/* The parameters of solvers, for tuning: `parameters` lists them as CSV; `parameters MODEL PLATFORM EXECUTION SOLVERS
 * STEPS [SOLVER.PARAMETER=VALUE ...]` prints value and bound of a plan found with these, in nanoseconds. EXECUTION:
 * stream, calls, pipeline, or free (pipelines without contiguity). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "situ.h"
#include "solve/common/search.h"
#include "solve/select.h"
#include "solve/solve.h"

enum { MAX_SETTINGS = 32, NAME_BYTES = 64 };

static const solver_parameter *table_of(const solver *s, int32_t *n) {
  *n = s->search ? s->search->n_parameters : s->n_parameters;
  return s->search ? s->search->parameters : s->parameters;
}

static int list(void) {
  printf("solver,parameter,default,min,max,text\n");
  for (int32_t i = 0, n; solvers[i]; i++) {
    const solver_parameter *table = table_of(solvers[i], &n);
    for (int32_t k = 0; k < n; k++)
      printf("%s,%s,%g,%g,%g,\"%s\"\n", solvers[i]->name, table[k].name, table[k].default_value, table[k].min,
             table[k].max, table[k].text);
  }
  return 0;
}

/* Reads SOLVER.PARAMETER=VALUE. False if there is no such parameter, or the value is outside its limits. */
static bool read_setting(solver_setting *out, const char *text) {
  char name[NAME_BYTES];
  const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
  if (!dot || !equals || dot > equals || dot - text >= NAME_BYTES) return false;
  snprintf(name, sizeof name, "%.*s", (int)(dot - text), text);
  const solver *s = solver_find(solvers, name);
  int32_t n = 0;
  const solver_parameter *table = s ? table_of(s, &n) : NULL;
  for (int32_t k = 0; k < n; k++) {
    size_t length = (size_t)(equals - dot - 1);
    if (strlen(table[k].name) != length || strncmp(table[k].name, dot + 1, length) != 0) continue;
    *out = (solver_setting){s->name, table[k].name, strtod(equals + 1, NULL)};
    return out->value >= table[k].min && out->value <= table[k].max;
  }
  return false;
}

static bool read_execution(situ_problem_options *out, const char *name) {
  static const char *const names[] = {"stream", "calls", "pipeline", "free"};
  static const situ_execution executions[] = {SITU_EXECUTION_STREAM, SITU_EXECUTION_CALLS, SITU_EXECUTION_PIPELINE,
                                              SITU_EXECUTION_PIPELINE};
  for (int32_t k = 0; k < 4; k++)
    if (strcmp(name, names[k]) == 0) {
      *out = (situ_problem_options){.size = sizeof *out, .execution = executions[k], .free = k == 3};
      return true;
    }
  return false;
}

int main(int argc, char **argv) {
  situ_problem_options problem;
  solver_setting settings[MAX_SETTINGS + 1] = {{NULL, NULL, 0}};
  if (argc == 1) return list();
  if (argc < 6 || argc > 6 + MAX_SETTINGS || !read_execution(&problem, argv[3]))
    return fprintf(stderr, "parameters: see the first lines of its source\n"), 2;
  for (int32_t i = 6; i < argc; i++)
    if (!read_setting(&settings[i - 6], argv[i]))
      return fprintf(stderr, "parameters: %s: no such parameter, or not within its limits\n", argv[i]), 2;
  situ_error error = {0};
  situ_instance *instance = NULL;
  situ_plan *plan = NULL;
  situ_instance_options options = {.size = sizeof options, .model = argv[1], .platform = argv[2], .problem = &problem};
  situ_solve_options solve = {.size = sizeof solve, .solvers = argv[4], .max_steps = atoll(argv[5])};
  situ_status status = situ_instance_open(&instance, &options, &error);
  if (status == SITU_STATUS_OK)
    status = solve_with_settings(&plan, solvers, situ_instance_problem(instance), &solve, settings, &error);
  if (status != SITU_STATUS_OK) fprintf(stderr, "parameters: %s %s\n", error.where, error.text);
  if (plan) printf("%lld,%lld\n", (long long)plan->value_ns, (long long)plan->lower_bound_ns);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return status == SITU_STATUS_OK ? 0 : 1;
}
