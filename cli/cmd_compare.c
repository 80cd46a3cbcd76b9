#include "cli.h"

static const option_group *const groups[] = {
    &model_options, &problem_options, &unknown_options, &fix_options, &solve_options, &common_options, NULL};

static int verdict_of(const situ_comparison *c) {
  int code = interrupted() ? EXIT_INTERRUPTED : EXIT_LIMIT;
  for (int32_t i = 0; i < situ_comparison_count(c); i++) {
    situ_compare_row row = situ_comparison_at(c, i);
    int one = row.plan ? outcome_code(row.plan) : EXIT_LIMIT;
    if (one == EXIT_OK) return EXIT_OK;
    if (one == EXIT_INFEASIBLE) code = one;
  }
  return code;
}

static int show(const arguments *a, const situ_comparison *c, const situ_model *model) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_compare(&r.text, c, model, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_compare(&r.text, c, model, SITU_REPORT_JSON, NULL, &r.error));
  if (!situ_comparison_is_complete(c)) fputs("\n  interrupted: the remaining solvers were not run\n", to);
  return code == EXIT_OK ? verdict_of(c) : code;
}

static int run(arguments *a) {
  a->instance.model = a->operands[0];
  situ_instance *instance = NULL;
  situ_comparison *c = NULL;
  situ_error error = {0};
  progress p;
  progress_of_solve(&p, &a->solve);
  situ_status status = situ_instance_open(&instance, &a->instance, &error);
  if (status == SITU_STATUS_OK) status = situ_compare(&c, situ_instance_problem(instance), &a->solve, &error);
  progress_stop(&p);
  int code = status == SITU_STATUS_OK ? show(a, c, situ_instance_model(instance)) : fail_reading(&error);
  situ_comparison_free(c);
  situ_instance_free(instance);
  return code;
}

const command compare_command = {
    .name = "compare",
    .summary = "run every applicable solver on one problem and compare them",
    .usage = "MODEL",
    .about =
        "Runs each solver that supports the problem, or those named by --solver, with the same seed and limits (3 s "
        "each unless --time-limit or --steps is given). Prints one row for each, the best first, and the best single "
        "device and the best bound for comparison.",
    .examples =
        "situ compare builtin:inception-v3 --platform 'cpu+2*v100-16g' --time-limit 0.5\n"
        "situ compare builtin:resnet50 --solver single,heft --json\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
    .ranks = true,
};
