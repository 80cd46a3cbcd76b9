#include "cli.h"

static const option_group *const groups[] = {&explain_options, &judged_options, &model_options,  &problem_options,
                                             &unknown_options, &solve_options,  &common_options, NULL};

static int show(const arguments *a, const situ_plan *plan, const situ_what_if_list *what_ifs) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_explain(&r.text, plan, what_ifs, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_explain(&r.text, plan, what_ifs, SITU_REPORT_JSON, NULL, &r.error));
  return code;
}

static int run(arguments *a) {
  situ_plan *plan = NULL;
  situ_instance *instance = NULL;
  situ_what_if_list *what_ifs = NULL;
  situ_error error = {0};
  progress p;
  progress_of_solve(&p, &a->solve);
  situ_status status = open_plan(&plan, &instance, a, &error);
  if (status == SITU_STATUS_OK && !a->no_what_if && plan_summary(plan).exists)
    status = situ_what_if_find(&what_ifs, instance, plan, &a->solve, &error);
  progress_stop(&p);
  int code = status == SITU_STATUS_OK ? show(a, plan, what_ifs) : fail_reading(&error);
  situ_what_if_free(what_ifs);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return code;
}

const command explain_command = {
    .name = "explain",
    .summary = "explain why a plan takes its time, and what would improve it",
    .usage = "PLAN",
    .about =
        "Opens the model and the platform that PLAN names and shows the parts of the plan in order, the data sent "
        "between them, the bottleneck, and how the time of the critical path divides. Then it solves the problem again "
        "with one change at a time: without each device in use, links twice as fast, members of groups joined "
        "directly, twice the memory where it is "
        "short, an idle device made fast enough to be useful, twice the batch. All results are for the costs named in "
        "the first lines. Each change takes at most about a second; --time-limit and --steps apply to each. With "
        "--model, PLAN may be any file that place --fix accepts, such as a published split.",
    .examples =
        "situ place builtin:resnet50 --steps 1000 -o plan.json\n"
        "situ explain plan.json --steps 200\n",
    .operand = "file",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
