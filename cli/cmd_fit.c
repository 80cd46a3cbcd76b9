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

/* EXIT_INFEASIBLE if it is proved that no file fits. */
static int verdict_of_files(const situ_fitting *const *f, int n, int64_t amount) {
  if (situ_fitting_largest(f, n, amount) >= 0) return EXIT_OK;
  if (interrupted()) return EXIT_INTERRUPTED;
  for (int k = 0; k < n; k++)
    if (situ_fitting_finding(f[k], amount) != SITU_FIT_IMPOSSIBLE) return EXIT_LIMIT;
  return EXIT_INFEASIBLE;
}

static int show_files(const arguments *a, const situ_fitting *const *f, int n, int64_t amount) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_fit_files(&r.text, f, n, amount, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_fit_files(&r.text, f, n, amount, SITU_REPORT_JSON, NULL, &r.error));
  return code == EXIT_OK ? verdict_of_files(f, n, amount) : code;
}

static int run(arguments *a) {
  situ_fitting *f[MAX_OPERANDS] = {NULL};
  situ_error error = {0};
  situ_status status = SITU_STATUS_OK;
  int n = a->n_operands, code;
  bool context = a->fit.quantity == SITU_FIT_CONTEXT;
  int64_t amount = context && a->read.context > 0 ? a->read.context : 0; /* of several files: what each must hold */
  if (n > 1 && amount > 0 && a->fit.max == 0) a->fit.max = amount;
  progress p;
  progress_of_solve(&p, &a->solve);
  a->fit.solve = &a->solve;
  for (int k = 0; k < n && status == SITU_STATUS_OK; k++) {
    a->instance.model = a->operands[k];
    status = situ_fit(&f[k], &a->instance, &a->fit, &error);
  }
  progress_stop(&p);
  if (status != SITU_STATUS_OK)
    code = fail_reading(&error);
  else
    code = n == 1 ? show(a, f[0]) : show_files(a, (const situ_fitting *const *)f, n, amount);
  for (int k = 0; k < n; k++) situ_fitting_free(f[k]);
  return code;
}

const command fit_command = {
    .name = "fit",
    .summary = "find the longest context, largest batch or largest file that fits",
    .usage = "MODEL...",
    .about =
        "Answers what fits: the largest context of a language model on a platform, or with --what batch the largest "
        "number of parallel streams, each with a cache of its own; of any other model, and of training steps, the "
        "largest batch (of a file, its dynamic dimension batch, batch_size, N, n, bs or B). Amounts are doubled "
        "until no plan keeps all memories, then bisected. Every row is a checked plan with its layers, speed and the "
        "memory of its fullest device. Says whether the next amount is proved impossible or only was not found "
        "within 1 s (--time-limit, --steps). With --goal, plans must be fast enough, too. Each of several files, "
        "such as quantisations of one model, is a row, and the answer is the largest that fits, with --context for "
        "that context. Exit code 0 with an answer, 4 if it is proved that nothing fits, 5 if nothing was found.",
    .examples =
        "situ fit model.gguf --platform cpu+rtx4090-24g\n"
        "situ fit model.gguf --platform 'cpu+2*rtx3090-24g' --goal 'tokens/s>=20'\n"
        "situ fit model.gguf --platform m2-max-64g --what batch --context 8192 --json\n"
        "situ fit builtin:gpt2 --training --platform 2*rtx4090 --what batch\n"
        "situ fit a-Q8_0.gguf b-Q4_K_M.gguf --platform cpu+rtx4090-24g --context 16384\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = MAX_OPERANDS,
    .groups = groups,
    .defaults = set_defaults,
    .run = run,
};
