#include "cli.h"

static const option_group *const groups[] = {&stage_options, &common_options, NULL};

static int show(const arguments *a, const situ_staging *staging) {
  FILE *to = people(a);
  report r = {0};
  situ_staging_info info = SITU_STAGING_INFO_INIT;
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_stages(&r.text, staging, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_stages(&r.text, staging, SITU_REPORT_JSON, NULL, &r.error));
  situ_staging_get_info(staging, &info);
  if (code != EXIT_OK || info.n_stages > 0) return code;
  if (interrupted()) return EXIT_INTERRUPTED;
  return info.lower_bound_ns == SITU_NEVER_NS ? EXIT_INFEASIBLE : EXIT_LIMIT;
}

static bool stop(void *context) {
  (void)context;
  return interrupted();
}

static int run(arguments *a) {
  situ_staging *staging = NULL;
  situ_error error = {0};
  a->staging.progress = stop;
  interrupt_catch();
  if (situ_staging_find(&staging, a->operands[0], &a->staging, &error) != SITU_STATUS_OK) return fail_reading(&error);
  int code = show(a, staging);
  situ_staging_free(staging);
  return code;
}

const command stages_command = {
    .name = "stages",
    .summary = "cut training into stages, split, replicated and recomputed",
    .usage = "FILE.json",
    .about =
        "Reads a workload of Piper (NeurIPS 2021): layers with their times and memory whole and split over several "
        "devices, with activations kept or recomputed. Cuts it into stages, and chooses for each how many devices "
        "split it, how many replicas it has, and which layers recompute, so that the slowest stage is as fast as it "
        "can be "
        "within memory; and proves it. Exit code 0 with a plan, 4 if it is proved that there is none, 5 if none was "
        "found.",
    .examples =
        "printf '{\"maxDevices\": 3, \"maxMemoryPerDevice\": 99, ' > w.json\n"
        "printf '\"bandwidth\": 1e9, \"mbsInBatch\": 9, \"edges\": [],' >> w.json\n"
        "printf '\"nodes\": [{\"id\": 0, \"TMPCs\":' >> w.json\n"
        "printf '{\"1\": [{\"id\": \"kept\", \"timePerSample\": 0.002,' >> w.json\n"
        "printf '\"parameterSize\": 9, \"memoryUsageA\": 30, \"memoryUsageB\": 9,' >> w.json\n"
        "printf '\"syncTimeFw\": {}, \"syncTimeBw\": {}}]}}]}' >> w.json\n"
        "situ stages w.json\n"
        "situ stages w.json --devices 2 --no-replicas --json\n",
    .operand = "file",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
