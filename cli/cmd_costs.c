#include <string.h>

#include "cli.h"

static const option_group *const groups[] = {&model_options, &problem_options, &costs_outputs, &common_options, NULL};

/* Writes to the file, in the format of its suffix, or to stdout. */
static int write_costs(const arguments *a, const situ_problem *problem) {
  report r = {0};
  size_t n = a->out ? strlen(a->out) : 0;
  bool json = a->json || (n > 5 && strcmp(a->out + n - 5, ".json") == 0);
  situ_status status = json ? situ_report_costs(&r.text, problem, SITU_REPORT_JSON, NULL, &r.error)
                            : situ_report_costs(&r.text, problem, SITU_REPORT_CSV, NULL, &r.error);
  if (status != SITU_STATUS_OK || !a->out) return print_report(stdout, &r, status);
  status = situ_text_write(r.text, a->out, &r.error);
  situ_text_free(r.text);
  return status == SITU_STATUS_OK ? EXIT_OK : fail_writing(&r.error);
}

static int run(arguments *a) {
  int code = probe_outputs(a);
  if (code != EXIT_OK) return code;
  a->instance.model = a->operands[0];
  a->problem.copies = 0; /* all copies have the costs of one, and tables name the operators of the model */
  situ_instance *instance = NULL;
  situ_error error = {0};
  situ_status status = situ_instance_open(&instance, &a->instance, &error);
  code = status == SITU_STATUS_OK ? write_costs(a, situ_instance_problem(instance)) : fail_reading(&error);
  situ_instance_free(instance);
  return code;
}

const command costs_command = {
    .name = "costs",
    .summary = "write all estimated times as a table that you can edit",
    .usage = "MODEL",
    .about =
        "Writes the time of every operator on every class of devices of the platform, in nanoseconds, and which "
        "operators run as one kernel. Edit the table and pass it to any command with --cost-table. Rows that you "
        "delete are estimated again.",
    .examples =
        "situ costs builtin:resnet50 --platform cpu+a100-80g -o costs.csv\n"
        "situ place builtin:resnet50 --platform cpu+a100-80g --cost-table costs.csv\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
