#include "cli.h"

static const option_group *const groups[] = {&profile_outputs, &profile_inputs, &model_options,
                                             &measure_options, &common_options, NULL};

static int show(const arguments *a, const situ_profile *profile) {
  FILE *to = people(a);
  report r = {0};
  situ_error error = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_profile(&r.text, profile, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->out) {
    if (situ_profile_write(profile, a->device_class, a->out, &error) != SITU_STATUS_OK) return fail_writing(&error);
    fprintf(to, "  %-9s  %s\n", "costs", a->out);
  }
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_profile(&r.text, profile, SITU_REPORT_JSON, NULL, &r.error));
  return code;
}

static int run(arguments *a) {
  int code = probe_outputs(a);
  if (code != EXIT_OK) return code;
  situ_profile *profile = NULL;
  situ_error error = {0};
  char *class_name = NULL; /* before minutes are spent on measuring */
  if (a->out && !a->device_class && situ_profile_class(&class_name, a->measure.device, &error) != SITU_STATUS_OK)
    return fail_usage("%s", error.text);
  situ_text_free(class_name);
  progress p = progress_start();
  a->measure.progress = progress_measure;
  a->measure.context = &p;
  interrupt_catch();
  situ_status status = a->profile_from
                           ? situ_profile_read(&profile, a->operands[0], a->profile_from, &a->profile, &error)
                           : situ_profile_model(&profile, a->operands[0], &a->profile, &error);
  progress_stop(&p);
  code = status == SITU_STATUS_OK ? show(a, profile) : fail_reading(&error);
  situ_profile_free(profile);
  return code;
}

const command profile_command = {
    .name = "profile",
    .summary = "measure the operator times of a model on an engine",
    .usage = "MODEL",
    .about =
        "Runs MODEL, an ONNX file or an OpenVINO IR, on random inputs, with and without the engine's profiler. The "
        "time of an operator is the median of its kernels, scaled so that all times add up to the time of the whole "
        "model. Operators that the engine folds away or fuses into another have no time of their own. The table holds "
        "fused operators as groups, and the cost of a hand-over between two workers. Of a GGUF file llama-bench of "
        "llama.cpp measures prefill and decoding, by which the estimates of their operators are scaled, on the CPU or "
        "on --device, for the request that --prompt, --generate and --context name. With --from, an existing profile "
        "is read instead: a profile of ONNX Runtime, layer times of TensorRT, counters of OpenVINO, or a trace of "
        "PyTorch. Exit code 8 if there is no engine or it fails.",
    .examples =
        "situ profile model.onnx -o costs.json\n"
        "situ place model.onnx --platform '2*cpu' --cost-table costs.json\n"
        "situ profile model.onnx --engine openvino --items 50 --json\n"
        "situ profile model.gguf --prompt 200 --generate 64 -o costs.json\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
