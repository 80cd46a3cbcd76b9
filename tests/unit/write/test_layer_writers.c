/* Formats by layer: what each tool makes of our flags, by its own rule, is our plan; what a format cannot hold is
 * refused. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "situ/write.h"
#include "write/module_names.h"

enum { LAYERS = 6, OPERATORS = 2 * LAYERS + 2 };

/* Embedding, six layers of attention and experts, head; a host d0 and GPUs d1, d2. */
static lab network(void) {
  lab s = lab_mesh(3, 1000);
  char name[64];
  int32_t before =
      lab_add(&s, (situ_operator){.name = "embed", .kind = "Gather", .weight_bytes = 1, .colocation = -1}, 1);
  for (int k = 0; k < LAYERS; k++)
    for (int half = 0; half < 2; half++) {
      snprintf(name, sizeof name, "model.layers.%d.%s", k, half ? "experts" : "attn");
      situ_operator op = {.name = name, .kind = half ? "ExpertsMatMul" : "MatMul", .weight_bytes = 1, .colocation = -1};
      int32_t v = lab_add(&s, op, 1);
      lab_tensor(&s, before, 1, v, -1);
      before = v;
    }
  int32_t head =
      lab_add(&s, (situ_operator){.name = "lm_head", .kind = "MatMul", .weight_bytes = 1, .colocation = -1}, 1);
  lab_tensor(&s, before, 1, head, -1);
  static const situ_problem_options stream = {.size = sizeof stream, .execution = SITU_EXECUTION_STREAM};
  lab_pose(&s, &stream);
  return s;
}

/* Writes the plan that the digits say, one for each operator; NULL where it is refused. Free it. */
static char *write(const lab *s, const char *writer, const char *digits, situ_error *error) {
  int32_t device[OPERATORS];
  situ_plan *plan;
  char *text;
  assert_int_equal(strlen(digits), OPERATORS);
  for (int32_t v = 0; v < OPERATORS; v++) device[v] = digits[v] - '0';
  assert_int_equal(simulator_plan(&plan, s->simulator, &(placement){.device = device}, NULL), SITU_STATUS_OK);
  situ_status status = situ_write(&text, writer, plan, error);
  situ_plan_free(plan);
  assert_true(status == SITU_STATUS_OK || status == SITU_STATUS_UNSUPPORTED);
  return text;
}

static void expect_refused(const char *writer, const char *digits, const char *says) {
  OWN(lab) s = network();
  situ_error error = {0};
  assert_null(write(&s, writer, digits, &error));
  if (!strstr(error.text, says)) fail_msg("%s", error.text);
}

/* llama.cpp's rule (load_tensors): the first device whose summed part of -ts exceeds (i - start) / act. */
static void parse_llamacpp(char *digits, const char *text) {
  int n_gpu_layers, n_devices = 0, devices[4], parts[4];
  const char *at = strstr(text, "-dev ") + 5;
  while (sscanf(at, "CUDA%d", &devices[n_devices]) == 1) {
    n_devices++;
    at += 5;
    if (*at != ',') break;
    at++;
  }
  at = strstr(text, "-ngl ");
  assert_non_null(at);
  assert_int_equal(sscanf(at, "-ngl %d", &n_gpu_layers), 1);
  at = strstr(text, "-ts ");
  float total = 0;
  for (int i = 0; at && i < n_devices; i++) {
    parts[i] = (int)strtol(at + (i ? 0 : 4), (char **)(uintptr_t)&at, 10);
    total += (float)parts[i];
    if (*at == ',') at++;
  }
  int start = LAYERS + 1 - n_gpu_layers > 0 ? LAYERS + 1 - n_gpu_layers : 0;
  int act = n_gpu_layers < LAYERS + 1 ? n_gpu_layers : LAYERS + 1;
  strcpy(digits, "0");
  const char *first = strstr(text, "'^token_embd\\.weight$=CUDA");
  if (first) digits[0] = (char)('1' + strstr(first, "CUDA")[4] - '0');
  for (int i = 0; i <= LAYERS; i++) {
    float sum = 0;
    int d = 0;
    for (int k = 0; i >= start && k < n_devices; k++) {
      sum += (float)parts[k];
      if (d == 0 && sum / total > (float)(i - start) / (float)act) d = devices[k] + 1;
    }
    char number[16];
    snprintf(number, sizeof number, "%d", i);
    const char *list = strstr(text, "blk\\.("), *end = list ? strchr(list, ')') : NULL;
    const char *found = list ? strstr(list, number) : NULL;
    bool spilled = found && found < end;
    digits[1 + 2 * i] = (char)('0' + d);
    if (i < LAYERS) digits[2 + 2 * i] = (char)('0' + (spilled ? 0 : d));
  }
  digits[OPERATORS] = '\0';
}

TEST(what_llamacpp_makes_of_our_flags_is_our_plan) {
  static const char *const plans[] = {"01111111122222", "00000111111222", "21111111111112", "01111111111111",
                                      "02222222222221", "00000000000001", "01110111022222"};
  OWN(lab) s = network();
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    situ_error error = {0};
    char *text = write(&s, "llama.cpp", plans[i], &error), again[OPERATORS + 1];
    if (!text) fail_msg("%s: %s", plans[i], error.text);
    assert_non_null(strstr(text, "--fit off"));
    parse_llamacpp(again, text);
    if (strcmp(again, plans[i]) != 0) fail_msg("%s became %s by %s", plans[i], again, text);
    free(text);
  }
}

TEST(what_llamacpp_cannot_hold_is_refused) {
  expect_refused("llama.cpp", "01111110000000", "keep only the first layers on the CPU");
  expect_refused("llama.cpp", "01122112222222", "are not consecutive");
  expect_refused("llama.cpp", "20000000000000", "has the embedding but no layer");
  expect_refused("llama.cpp", "01111111111110", "keeps the head with the last device");
  expect_refused("llama.cpp", "01211111111111", "whole layers"); /* experts on another GPU */
}

TEST(vllm_gets_the_layers_of_each_stage) {
  lab s = network();
  char *text = write(&s, "vllm", "22222222211111", NULL); /* layers 0-3 on the second GPU */
  assert_string_equal(text, "CUDA_VISIBLE_DEVICES=1,0\nVLLM_PP_LAYER_PARTITION=4,2\n--pipeline-parallel-size 2\n");
  free(text);
  lab_free(&s);
  expect_refused("vllm", "00000111111111", "is a host");
  expect_refused("vllm", "21111111122222", "another device than the first and the last layer");
}

TEST(a_device_map_names_each_module_once) {
  lab s = network();
  char *text = write(&s, "device-map", "01100221100221", NULL);
  assert_string_equal(text,
                      "{\n  \"embed\": \"cpu\",\n  \"model.layers.0\": 0,\n  \"model.layers.1\": \"cpu\",\n"
                      "  \"model.layers.2\": 1,\n  \"model.layers.3\": 0,\n  \"model.layers.4\": \"cpu\",\n"
                      "  \"model.layers.5\": 1,\n  \"lm_head\": 0\n}\n");
  free(text);
  lab_free(&s);
  expect_refused("device-map", "01211111111111", "whole layers");
}

TEST(pipelining_splits_at_the_first_layer_of_each_stage_but_the_first) {
  lab s = network();
  char *text = write(&s, "torch-pipelining", "11111112200000", NULL); /* layers 0-2, layer 3, layers 4-5 */
  assert_string_equal(text,
                      "{\n  \"split_points\": {\"model.layers.3\": \"BEGINNING\", \"model.layers.4\": "
                      "\"BEGINNING\"},\n  \"devices\": [\"d1\", \"d2\", \"d0\"]\n}\n");
  free(text);
  text = write(&s, "torch-pipelining", "11111111111111", NULL);
  assert_string_equal(text, "{\n  \"split_points\": {},\n  \"devices\": [\"d1\"]\n}\n");
  free(text);
  lab_free(&s);
  expect_refused("torch-pipelining", "11122111122222", "are not consecutive");
  expect_refused("torch-pipelining", "11111112222221", "another device than the first and the last layer");
}

TEST(torchtitan_gets_the_modules_of_each_stage) {
  lab s = network();
  char *text = write(&s, "torchtitan", "11111112222222", NULL);
  assert_string_equal(text,
                      "[parallelism]\npipeline_parallel_degree = 2\nmodule_fqns_per_model_part = [\n"
                      "  [\"embed\", \"model.layers.0\", \"model.layers.1\", \"model.layers.2\"], # \"d1\"\n"
                      "  [\"model.layers.3\", \"model.layers.4\", \"model.layers.5\", \"lm_head\"], # \"d2\"\n]\n");
  free(text);
  lab_free(&s);
  expect_refused("torchtitan", "21111111111111", "another device than the first and the last layer");
}

TEST(megatron_gets_a_layout) {
  lab s = network();
  char *text = write(&s, "megatron", "22222221111111", NULL);
  assert_string_equal(text,
                      "--pipeline-model-parallel-size 2 --tensor-model-parallel-size 1 "
                      "--pipeline-model-parallel-layout 'Et*3|t*3L'\n# ranks: d2 d1\n");
  free(text);
  lab_free(&s);
  expect_refused("megatron", "21111111111111", "another device than the first and the last layer");
}

/* The names that PyTorch's export to ONNX makes of paths of modules. */
TEST(paths_of_onnx_files_become_modules) {
  static const char *const paths[][2] = {{"model.layers.3", "\"model.layers.3\""},
                                         {"/encoder/layer.0", "\"encoder.layer.0\""},
                                         {"/layer1/layer1.0", "\"layer1.0\""},
                                         {"/layer1/layer10.0", "\"layer1.layer10.0\""},
                                         {"/layer1", "\"layer1\""},
                                         {"/", "\"\""},
                                         {"", "\"\""}};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    text_buffer out = {0};
    module_names_quote(&out, paths[i][0]);
    assert_string_equal(out.bytes, paths[i][1]);
    text_free(&out);
  }
}

TEST(exo_gets_half_open_ranges) {
  OWN(lab) s = network();
  char *text = write(&s, "exo", "11111222222222", NULL);
  assert_non_null(
      strstr(text, "\"node\": \"d1\", \"device_rank\": 0, \"world_size\": 2, \"start_layer\": 0, \"end_layer\": 2"));
  assert_non_null(
      strstr(text, "\"node\": \"d2\", \"device_rank\": 1, \"world_size\": 2, \"start_layer\": 2, \"end_layer\": 6"));
  free(text);
}

TEST(a_graph_without_layers_has_no_such_form) {
  OWN(lab) s = lab_mesh(2, 1000);
  lab_add(&s, (situ_operator){.name = "alone"}, 1);
  static const situ_problem_options stream = {.size = sizeof stream, .execution = SITU_EXECUTION_STREAM};
  lab_pose(&s, &stream);
  int32_t device[] = {1};
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(simulator_plan(&plan, s.simulator, &(placement){.device = device}, NULL), SITU_STATUS_OK);
  static const char *const names[] = {"llama.cpp",        "vllm",       "device-map", "exo", "torch-tensor-parallel",
                                      "torch-pipelining", "torchtitan", "megatron"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *text;
    assert_int_equal(situ_write(&text, names[i], plan, NULL), SITU_STATUS_UNSUPPORTED);
    assert_null(text);
  }
}

TEST_MAIN
