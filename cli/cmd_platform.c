#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const option_group *const groups[] = {&platform_options, &common_options, NULL};

static int show(const arguments *a, const situ_platform *platform) {
  FILE *to = people(a);
  report r = {0};
  situ_error error = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_platform(&r.text, platform, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_platform(&r.text, platform, SITU_REPORT_JSON, NULL, &r.error));
  if (code != EXIT_OK || !a->out) return code;
  fputc('\n', to);
  char *text = NULL;
  situ_status status = situ_report_platform(&text, platform, SITU_REPORT_JSON, NULL, &error);
  return write_text(a, text, status, &error, "platform", a->out);
}

static int run(arguments *a) {
  situ_platform *platform = NULL;
  situ_error error = {0};
  char path[4096];
  if (a->machine && a->n_operands > 0)
    return fail_usage("--from %s: the operand %s already says what to describe; give one of them", a->machine,
                      a->operands[0]);
  int code = probe_outputs(a);
  if (code != EXIT_OK) return code;
  const char *name = a->machine ? a->machine : a->n_operands > 0 ? a->operands[0] : "this-host";
  if (a->machine && !strchr(a->machine, '/')) { /* a file, whatever it is called */
    snprintf(path, sizeof path, "./%s", a->machine);
    name = path;
  }
  situ_status status = situ_platform_read(&platform, name, &error);
  code = status == SITU_STATUS_OK ? show(a, platform) : fail_reading(&error);
  situ_platform_free(platform);
  return code;
}

const command platform_command = {
    .name = "platform",
    .summary = "show a machine as a platform file, with the source of each figure",
    .usage = "[NAME|FILE|this-host]",
    .about =
        "Describes a platform: a composed name, a platform file, outputs of system tools (nvidia-smi, rocm-smi, "
        "rocminfo, "
        "vulkaninfo --summary, system_profiler, llama-server --list-devices, lspci -vv, lscpu, free -b, logs of "
        "llama.cpp) in a file or from standard input (\"-\"), or the machine that runs situ, which is the default: its "
        "cores and memory, and its GPUs by nvidia-smi or rocm-smi, if one is in PATH, else by the list of PCI devices. "
        "-o writes it as a platform file, to edit and to use with --platform.",
    .examples =
        "situ platform\n"
        "situ platform 'cpu+2*rtx3090'\n"
        "printf 'GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)\\n' > nvidia-smi.txt\n"
        "situ platform --from nvidia-smi.txt -o rig.json\n",
    .operand = "file",
    .min_operands = 0,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
