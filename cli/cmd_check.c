#include "cli.h"

static const option_group *const groups[] = {
    &proof_options, &judged_options, &model_options, &problem_options, &unknown_options, &common_options, NULL};

static int show(const arguments *a, const situ_verdict *verdict) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_verdict(&r.text, verdict, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_verdict(&r.text, verdict, SITU_REPORT_JSON, NULL, &r.error));
  situ_verdict_summary summary = SITU_VERDICT_SUMMARY_INIT;
  situ_verdict_get_summary(verdict, &summary);
  return code != EXIT_OK ? code : summary.n_found > 0 ? EXIT_VIOLATIONS : EXIT_OK;
}

static int run(arguments *a) {
  situ_plan *plan = NULL;
  situ_instance *instance = NULL;
  situ_verdict *verdict = NULL;
  situ_error error = {0};
  situ_status status = open_plan(&plan, &instance, a, &error);
  if (status == SITU_STATUS_OK) status = situ_check(&verdict, plan, &error);
  if (status == SITU_STATUS_OK) status = situ_verdict_recompute(verdict, &error);
  if (status == SITU_STATUS_OK) situ_verdict_ask_engine(verdict, instance, NULL, NULL); /* where it is and can say */
  if (status == SITU_STATUS_OK && a->require_proof) situ_verdict_require_proof(verdict);
  int code = status == SITU_STATUS_OK ? show(a, verdict) : fail_reading(&error);
  situ_verdict_free(verdict);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return code;
}

const command check_command = {
    .name = "check",
    .summary = "check a plan file against its model and platform",
    .usage = "PLAN",
    .about =
        "Opens the model and the platform that PLAN names and checks every rule: support, memory, precedence, overlap, "
        "colocation, pins, contiguity, and whether the value and the best single device are correct. Verifies the "
        "certificate of the lower bound, or reports that there is none. Recomputes what the file says of other plans "
        "and of uncertain costs, or reports that it does not show them. Shares no code with the solvers. With --model, "
        "PLAN may be any file that place --fix accepts, such as a published split. Exit code 7 if a rule is broken.",
    .examples =
        "situ place builtin:resnet50 --steps 1000 -o plan.json\n"
        "situ check plan.json\n",
    .operand = "file",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
