#include "cli.h"

static const option_group *const groups[] = {
    &amount_options, &model_options, &problem_options, &unknown_options, &solve_options, &common_options, NULL};

/* EXIT_INFEASIBLE if it is proved that nothing fits. */
static int verdict_of(const situ_fitting *f) {
  if (situ_fitting_answer(f) >= 0) return EXIT_OK;
  if (interrupted()) return EXIT_INTERRUPTED;
  return situ_fitting_at(f, 0).finding == SITU_FIT_IMPOSSIBLE ? EXIT_INFEASIBLE : EXIT_LIMIT;
}

static int show(const arguments *a, const situ_fitting *f) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_fit(&r.text, f, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_fit(&r.text, f, SITU_REPORT_JSON, NULL, &r.error));
  return code == EXIT_OK ? verdict_of(f) : code;
}

static void set_defaults(arguments *a) { a->instance.granularity = SITU_GRANULARITY_DEFAULT; }

static int run(arguments *a) {
  a->instance.model = a->operands[0];
  situ_fitting *f = NULL;
  situ_error error = {0};
  progress p;
  progress_of_solve(&p, &a->solve);
  a->fit.solve = &a->solve;
  situ_status status = situ_fit(&f, &a->instance, &a->fit, &error);
  progress_stop(&p);
  int code = status == SITU_STATUS_OK ? show(a, f) : fail_reading(&error);
  situ_fitting_free(f);
  return code;
}

const command fit_command = {
    .name = "fit",
    .summary = "find the longest context, or the most streams, that fit a machine",
    .usage = "MODEL",
    .about =
        "Answers what fits: the largest context of a language model on a platform, or with --what batch the largest "
        "number of parallel streams, each with a cache of its own. Amounts are doubled until no plan keeps all "
        "memories, then bisected. Every row is a checked plan with its layers, speed and the memory of its fullest "
        "device. Says whether the next amount is proved impossible or only was not found within 1 s (--time-limit, "
        "--steps). With --goal, plans must be fast enough, too. Exit code 0 with an answer, 4 if it is proved that "
        "nothing fits, 5 if nothing was found.",
    .examples =
        "situ fit model.gguf --platform cpu+rtx4090-24g\n"
        "situ fit model.gguf --platform 'cpu+2*rtx3090-24g' --goal 'tokens/s>=20'\n"
        "situ fit model.gguf --platform m2-max-64g --what batch --context 8192 --json\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .defaults = set_defaults,
    .run = run,
};
