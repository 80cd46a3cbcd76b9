#include "cli.h"

static const option_group *const groups[] = {&measure_options, &map_options, &common_options, NULL};

static int show(const arguments *a, const situ_run *done, const situ_plan *plan, const situ_instance *instance) {
  const situ_problem *problem = situ_instance_problem(instance);
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_run(&r.text, done, SITU_REPORT_TABLE, &look, &r.error));
  situ_run_summary summary = SITU_RUN_SUMMARY_INIT;
  situ_run_get_summary(done, &summary);
  if (code == EXIT_OK && !summary.served)
    tell_stand_ins(a, plan, situ_problem_platform(problem),
                   "so predicted and measured times differ;\n        --map and --device name devices of the engine");
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_run(&r.text, done, SITU_REPORT_JSON, NULL, &r.error));
  return code;
}

static int run(arguments *a) {
  situ_plan *plan = NULL;
  situ_instance *instance = NULL;
  situ_run *done = NULL;
  situ_error error = {0};
  progress p = progress_start();
  a->measure.progress = progress_measure;
  a->measure.context = &p;
  interrupt_catch();
  situ_status status = open_plan(&plan, &instance, a, &error);
  if (status == SITU_STATUS_OK) status = situ_run_plan(&done, plan, instance, &a->run, &error);
  progress_stop(&p);
  situ_run_summary summary = SITU_RUN_SUMMARY_INIT;
  situ_run_get_summary(done, &summary);
  int code = status != SITU_STATUS_OK ? fail_reading(&error) : EXIT_OK;
  if (code == EXIT_OK && summary.rank == 0) code = show(a, done, plan, instance);
  situ_run_free(done);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return code;
}

const command run_command = {
    .name = "run",
    .summary = "run a plan on an engine and compare it with the prediction",
    .usage = "PLAN",
    .about =
        "Cuts the model of PLAN, an ONNX file or an OpenVINO IR, into parts, loads each in a process of its device, "
        "and runs them on random inputs: one at a time, and for a pipeline plan also many at once. Compares the "
        "measured time of each part, each hand-over and the whole with the prediction of the plan, and checks that the "
        "outputs equal those of the whole model. The plan of a GGUF file is run by llama-server of llama.cpp instead: "
        "requests of the plan's prompt and generated tokens, else 200 + 64, are measured, and where its log puts "
        "layers "
        "and how large its buffers are is compared with the plan. Every device runs on the CPU of the engine, on cores "
        "of its own if "
        "there are enough, unless --map names another device. Under mpirun (Open MPI), start one process for each "
        "server of the platform: each runs the devices of its server, and the first prints the results. Exit code 8 if "
        "there is no engine or it fails.",
    .examples =
        "situ place model.onnx --platform '2*cpu' --execution pipeline -o plan.json\n"
        "situ run plan.json --queue 4\n"
        "situ run plan.json --engine openvino --json\n"
        "SITU_LLAMACPP=/opt/llama.cpp/bin situ run plan.json --engine llama.cpp\n",
    .operand = "file",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
