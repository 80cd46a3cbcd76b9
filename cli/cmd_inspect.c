#include "cli.h"

static const option_group *const groups[] = {&model_options, &problem_options, &unknown_options, &common_options, NULL};

static int show(const arguments *a, const situ_instance *instance) {
  const situ_problem *problem = situ_instance_problem(instance);
  const situ_model *model = situ_instance_model(instance);
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_inspect(&r.text, problem, model, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_inspect(&r.text, problem, model, SITU_REPORT_JSON, NULL, &r.error));
  return code;
}

static int run(arguments *a) {
  a->instance.model = a->operands[0];
  situ_instance *instance = NULL;
  situ_error error = {0};
  situ_status status = situ_instance_open(&instance, &a->instance, &error);
  int code = status == SITU_STATUS_OK ? show(a, instance) : fail_reading(&error);
  situ_instance_free(instance);
  return code;
}

const command inspect_command = {
    .name = "inspect",
    .summary = "show the contents of a model",
    .usage = "MODEL",
    .about =
        "Counts operators by kind with their FLOPs, bytes and weights. Shows depth, width and the critical path on the "
        "platform, and which costs could not be inferred.",
    .examples =
        "situ inspect builtin:bert-base\n"
        "situ inspect 'builtin:resnet50?batch=8' --platform cpu+a100-80g --json\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
