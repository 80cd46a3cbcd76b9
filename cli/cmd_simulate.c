#include "cli.h"

static const option_group *const groups[] = {
    &trace_outputs, &judged_options, &model_options, &problem_options, &unknown_options, &common_options, NULL};

static int show(const arguments *a, const situ_plan *again, const situ_plan *plan, const situ_instance *instance) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = probe_writers(a, again);
  if (code != EXIT_OK) return code;
  code = print_report(to, &r, situ_report_plan(&r.text, again, NULL, SITU_REPORT_TABLE, &look, &r.error));
  long long found = (long long)plan_summary(again).value_ns, stated = (long long)plan_summary(plan).value_ns;
  if (code == EXIT_OK && found != stated)
    fprintf(stderr,
            "situ: the plan file states %lld ns, the simulation gives %lld ns; run `situ check` to find the cause\n",
            stated, found);
  if (code == EXIT_OK && a->gantt && plan_summary(again).exists)
    code = print_report(to, &r, situ_report_plan(&r.text, again, NULL, SITU_REPORT_GANTT, &look, &r.error));
  if (code == EXIT_OK) code = write_outputs(a, again, instance);
  int printed = a->json
                    ? print_report(stdout, &r, situ_report_plan(&r.text, again, NULL, SITU_REPORT_JSON, NULL, &r.error))
                    : EXIT_OK;
  return code == EXIT_OK ? printed : code;
}

static int run(arguments *a) {
  situ_plan *plan = NULL, *again = NULL;
  situ_instance *instance = NULL;
  situ_error error = {0};
  int code = probe_outputs(a);
  if (code != EXIT_OK) return code;
  const char *writers[MAX_WRITES];
  for (int i = 0; i < a->n_writes; i++) writers[i] = a->writes[i].name;
  a->instance.writers = writers;
  a->instance.n_writers = a->n_writes;
  situ_status status = open_plan(&plan, &instance, a, &error);
  if (status == SITU_STATUS_OK) status = situ_replay(&again, plan, &error);
  if (status == SITU_STATUS_BAD_ARGUMENT) error.status = SITU_STATUS_BAD_INPUT;
  code = status == SITU_STATUS_OK ? show(a, again, plan, instance) : fail_opening(a, &error);
  situ_plan_free(again);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return code;
}

const command simulate_command = {
    .name = "simulate",
    .summary = "simulate a plan file and write its timeline",
    .usage = "PLAN",
    .about =
        "Opens the model and the platform that PLAN names and simulates its placement again: start and end of each "
        "operator and transfer, load and memory of each device. With --model, PLAN may be any file that place --fix "
        "accepts, such as a published split.",
    .examples =
        "situ place builtin:resnet50 --steps 1000 -o plan.json\n"
        "situ simulate plan.json --trace trace.json\n",
    .operand = "file",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
