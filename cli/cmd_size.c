#include "cli.h"

static const option_group *const groups[] = {
    &size_options, &model_options, &problem_options, &unknown_options, &solve_options, &common_options, NULL};

/* EXIT_INFEASIBLE if it is proved that no candidate meets the goal. */
static int verdict_of(const situ_sizing *sizing) {
  int32_t n = situ_sizing_count(sizing);
  if (situ_sizing_answer(sizing) >= 0) return EXIT_OK;
  if (interrupted()) return EXIT_INTERRUPTED;
  for (int32_t i = 0; i < n; i++)
    if (situ_sizing_at(sizing, i).finding != SITU_SIZE_IMPOSSIBLE) return EXIT_LIMIT;
  return EXIT_INFEASIBLE;
}

static int show(const arguments *a, const situ_sizing *sizing) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_size(&r.text, sizing, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_size(&r.text, sizing, SITU_REPORT_JSON, NULL, &r.error));
  return code == EXIT_OK ? verdict_of(sizing) : code;
}

static void set_defaults(arguments *a) { a->instance.granularity = SITU_GRANULARITY_DEFAULT; }

static int run(arguments *a) {
  a->instance.model = a->operands[0];
  if (!a->size.goal) return fail_usage("size needs a goal, as in --goal 'latency<=50ms'");
  if (a->instance.platform)
    return fail_usage("size accepts no --platform; name the platforms to choose from with --among");
  situ_sizing *sizing = NULL;
  situ_error error = {0};
  progress p;
  progress_of_solve(&p, &a->solve);
  a->size.solve = &a->solve;
  situ_status status = situ_size(&sizing, &a->instance, &a->size, &error);
  progress_stop(&p);
  int code = status == SITU_STATUS_OK ? show(a, sizing) : fail_reading(&error);
  situ_sizing_free(sizing);
  return code;
}

const command size_command = {
    .name = "size",
    .summary = "find the smallest or cheapest platform that meets a goal",
    .usage = "MODEL",
    .about =
        "Tries platforms, the cheapest first (without --prices the smallest: by number of devices, then by memory), "
        "and stops at the first on which a plan meets the goal. A platform is skipped if a checked lower bound proves "
        "that no plan can meet the goal. Every other platform is searched for 2 s, or up to --time-limit or --steps. "
        "With --prices, also shows the price of a million tokens of a language model. Exit code 0 with an answer, 4 if "
        "it is proved that no platform meets the goal, 5 if none was found.",
    .examples =
        "situ size builtin:resnet50 --goal 'latency<=5ms' --steps 200\n"
        "situ size builtin:resnet50 --goal 'latency<=4ms' --among cpu,cpu+t4-16g --json\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .defaults = set_defaults,
    .run = run,
};
