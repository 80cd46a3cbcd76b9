#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const option_group *const groups[] = {&model_options, &problem_options, &fix_options,
                                             &solve_options, &common_options,  NULL};

/* What each solver gets when the caller sets no limit. */
static const double DEFAULT_SECONDS = 3;

typedef struct contest {
  situ_compare_row *rows;
  char (*failures)[640];
  char (*names)[MAX_NAME_BYTES];
  int32_t n, capacity;
  bool cut_short; /* interrupted before the last solver was run */
} contest;

static bool contest_start(contest *c, int32_t capacity) {
  *c = (contest){.capacity = capacity};
  size_t n = (size_t)capacity + 1;
  c->rows = calloc(n, sizeof *c->rows);
  c->failures = calloc(n, sizeof *c->failures);
  c->names = calloc(n, sizeof *c->names);
  return c->rows && c->failures && c->names;
}

static void contest_stop(contest *c) {
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
  if (status == SITU_STATUS_BAD_ARGUMENT) return status;
  if (status != SITU_STATUS_OK) snprintf(c->failures[i], sizeof c->failures[i], "%s", error->text);
  c->rows[c->n++] = (situ_compare_row){c->names[i], plan, plan ? NULL : c->failures[i]};
  return SITU_STATUS_OK;
}

/* The names that the caller gave, or every solver that serves the problem. */
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

static int verdict_of(const contest *c) {
  int code = interrupted() ? EXIT_INTERRUPTED : EXIT_LIMIT;
  for (int32_t i = 0; i < c->n; i++) {
    int one = c->rows[i].plan ? outcome_code(c->rows[i].plan) : EXIT_LIMIT;
    if (one == EXIT_OK) return EXIT_OK;
    if (one == EXIT_INFEASIBLE) code = one;
  }
  return code;
}

static int show(const arguments *a, const contest *c, const situ_instance *instance) {
  const situ_problem *problem = situ_instance_problem(instance);
  const situ_model *model = situ_instance_model(instance);
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_compare(&r.text, c->rows, c->n, problem, model, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_compare_json(&r.text, c->rows, c->n, problem, model, &r.error));
  if (c->cut_short) fputs("\n  interrupted: other solvers were not run\n", to);
  return code == EXIT_OK ? verdict_of(c) : code;
}

static int run(arguments *a) {
  a->instance.model = a->operands[0];
  situ_instance *instance = NULL;
  situ_error error = {0};
  contest c = {0};
  progress p = progress_start();
  interrupt_catch();
  situ_status status = situ_instance_open(&instance, &a->instance, &error);
  if (status == SITU_STATUS_OK && !contest_start(&c, situ_solver_count() + MAX_NAMES)) {
    error = (situ_error){.status = SITU_STATUS_NO_MEMORY, .text = "out of memory"};
    status = error.status;
  }
  if (status == SITU_STATUS_OK) status = enter_all(&c, a, situ_instance_problem(instance), &p, &error);
  progress_stop(&p);
  int code = status == SITU_STATUS_OK ? show(a, &c, instance) : fail_reading(&error);
  contest_stop(&c);
  situ_instance_free(instance);
  return code;
}

const command compare_command = {
    .name = "compare",
    .summary = "run every applicable solver on one problem, side by side",
    .usage = "MODEL",
    .about =
        "Runs each solver that serves the problem, or those named by --solver, with the same seed and limits (3 s "
        "each unless --time-limit or --steps say otherwise), and shows one row for each, the best first, beside "
        "the best single device and the best bound.",
    .examples =
        "situ compare builtin:inception-v3 --platform 'cpu+2*v100-16g' --time-limit 0.5\n"
        "situ compare builtin:resnet50 --solver single,heft --json\n",
    .operand = "model",
    .least_operands = 1,
    .most_operands = 1,
    .groups = groups,
    .run = run,
};
