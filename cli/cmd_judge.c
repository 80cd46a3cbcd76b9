#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const option_group *const groups[] = {
    &command_options, &model_options, &problem_options, &unknown_options, &solve_options, &common_options, NULL};

/* Whether a word is the name of a file: it has a suffix, and is no JSON, TOML or list of devices. */
static bool names_file(const char *word) {
  const char *slash = strrchr(word, '/'), *dot = strrchr(slash ? slash + 1 : word, '.');
  return dot && dot[1] && !strpbrk(word, " {[=:,\n");
}

static bool is_onnx(const char *operand) {
  size_t n = strlen(operand);
  return n > 5 && strcmp(operand + n - 5, ".onnx") == 0;
}

/* The text of a file, or the operand itself if there is no such file; free() it. NULL after a message. */
static char *read_command(const char *operand, int *code) {
  enum { MAX_BYTES = 1 << 20 };
  errno = 0;
  FILE *file = strchr(operand, ' ') ? NULL : fopen(operand, "rb");
  if (!file && errno == ENOENT && names_file(operand)) {
    situ_error absent = {SITU_STATUS_IO, "", "cannot be opened: No such file or directory"};
    snprintf(absent.where, sizeof absent.where, "%s", operand);
    *code = fail_reading(&absent);
    return NULL;
  }
  char *text = file ? malloc(MAX_BYTES + 1) : strdup(operand);
  size_t n = file && text ? fread(text, 1, MAX_BYTES + 1, file) : 0;
  bool whole = !file || (text && !ferror(file) && n <= MAX_BYTES && !memchr(text, 0, n));
  if (file) fclose(file);
  if (text && !whole && is_onnx(operand)) { /* a model that says where its nodes are */
    snprintf(text, MAX_BYTES, "onnx-multidevice");
    return text;
  }
  if (text && whole) {
    if (file) text[n] = '\0';
    return text;
  }
  free(text);
  *code = fail_usage("%s: expected a command, or a file of at most 1 MiB of text", operand);
  return NULL;
}

static int show(const arguments *a, const situ_judgement *j) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_judgement(&r.text, j, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_judgement(&r.text, j, SITU_REPORT_JSON, NULL, &r.error));
  return code != EXIT_OK ? code : plan_summary(situ_judgement_given(j)).exists ? EXIT_OK : EXIT_INFEASIBLE;
}

static void set_defaults(arguments *a) {
  a->instance.granularity = SITU_GRANULARITY_DEFAULT;
  a->solve.tolerance = a->solve.min_gain = a->solve.uncertainty = SITU_AUTO; /* the plan of `situ place` */
}

static int run(arguments *a) {
  int code = EXIT_OK;
  situ_judgement *j = NULL;
  situ_error error = {0};
  char *text = read_command(a->operands[0], &code);
  if (!text) return code;
  progress p;
  progress_of_solve(&p, &a->solve);
  a->instance.model = a->n_operands > 1 ? a->operands[1] : is_onnx(a->operands[0]) ? a->operands[0] : NULL;
  a->judge.command = text;
  a->judge.solve = &a->solve;
  situ_status status = situ_judge(&j, &a->instance, &a->judge, &error);
  progress_stop(&p);
  code = status == SITU_STATUS_OK ? show(a, j) : fail_reading(&error);
  situ_judgement_free(j);
  free(text);
  return code;
}

const command judge_command = {
    .name = "judge",
    .summary = "say if a command of llama.cpp, vLLM, ... fits, and what is better",
    .usage = "COMMAND [MODEL]",
    .about =
        "Reads a command line of llama.cpp, vLLM, SGLang, Megatron-LM, torchtitan, koboldcpp, llama-cpp-python or LM "
        "Studio (in quotes, with the variables before it; options alone will do), or a file: a manifest of Compose or "
        "Kubernetes with one, what ollama ps prints, a Modelfile or a request to ollama, a device_map of transformers, "
        "shards of exo, split points of PyTorch, stages of torchtitan, session "
        "settings or labels of ONNX Runtime, an ONNX model with device configurations, affinities of OpenVINO, a table "
        "of "
        "--write csv. Says which layers it puts where, whether that fits the "
        "machine, how fast it is predicted to be, and finds the best plan that the same program can run, with its "
        "bound and its options. Context, streams and cache type are those of the command unless options state others. "
        "MODEL is the file of the model, if the command does not name one that is here. Exit code 4 if the command "
        "does not fit.",
    .examples =
        "situ judge 'llama-server -m model.gguf -ts 3,1' --platform 'cpu+2*rtx3090-24g'\n"
        "situ judge 'vllm serve x -pp 2' folder --platform 'cpu+2*rtx4090-24g'\n"
        "situ judge device_map.json folder --platform 'cpu+2*rtx3090-24g'\n",
    .operand = "file",
    .min_operands = 1,
    .max_operands = 2,
    .quotes = true,
    .groups = groups,
    .defaults = set_defaults,
    .run = run,
};
