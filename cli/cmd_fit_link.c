#include "cli.h"

static const option_group *const groups[] = {&fit_options, &common_options, NULL};

static int run(arguments *a) {
  situ_link_fit *fit = NULL;
  situ_error error = {0};
  if (situ_link_fit_read(&fit, a->operands[0], a->absolute, &error) != SITU_STATUS_OK) return fail_reading(&error);
  const char *from = a->link_from ? a->link_from : "gpu0", *to = a->link_to ? a->link_to : "gpu1";
  FILE *stream = people(a);
  report r = {0};
  situ_report_options look = report_options(stream);
  int code = print_report(stream, &r, situ_report_link_fit(&r.text, fit, from, to, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_link_fit(&r.text, fit, from, to, SITU_REPORT_JSON, NULL, &r.error));
  situ_link_fit_free(fit);
  return code;
}

const command fit_link_command = {
    .name = "fit-link",
    .summary = "fit a link of a platform file to measured transfers",
    .usage = "FILE.csv",
    .about =
        "Fits time = latency + bytes / rate to measured transfers, and prints the entry for the links of a platform "
        "file. The first line of the file names its columns: bytes, and time_ns, time_us, time_ms or time_s; other "
        "columns are skipped. Several measurements of one size are replaced by their median. The fit minimises "
        "relative errors, so that small transfers determine the latency and large ones the rate.",
    .examples =
        "printf 'bytes,time_us\\n1024,12\\n1048576,95\\n67108864,5400\\n' > transfers.csv\n"
        "situ fit-link transfers.csv --from gpu0 --to gpu1\n"
        "situ fit-link transfers.csv --json\n",
    .operand = "file",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
