/* The rules of inference engines, by hand: eight layers, an embedding and a head, on a host and GPUs. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "situ/solve.h"
#include "solve/solve.h"

enum { LAYERS = 8 };

typedef struct network {
  int64_t first, layer, experts, head; /* bytes of weights; experts: of each layer, 0 for none */
} network;

/* Tensors of 0 bytes, times of 1 ns: only memory matters. GPUs have these memories, the host has 10,000 bytes. */
static lab pose(network n, const int64_t *gpu_bytes, int32_t n_gpus) {
  lab s = lab_new();
  lab_device(&s, 10000, -1, true);
  for (int32_t i = 0; i < n_gpus; i++) lab_device(&s, gpu_bytes[i], -1, false);
  for (int32_t i = 1; i <= n_gpus; i++) {
    lab_link(&s, 0, i, 0, -1);
    lab_link(&s, i, 0, 0, -1);
  }
  char name[32];
  int32_t before =
      lab_add(&s, (situ_operator){.name = "embed", .kind = "Gather", .weight_bytes = n.first, .colocation = -1}, 1);
  for (int k = 0; k <= LAYERS; k++) {
    snprintf(name, sizeof name, k < LAYERS ? "blk.%d.attn" : "output", k);
    situ_operator op = {
        .name = name, .kind = "MatMul", .weight_bytes = k < LAYERS ? n.layer : n.head, .colocation = -1};
    int32_t v = lab_add(&s, op, 1);
    lab_tensor(&s, before, 0, v, -1);
    before = v;
    if (k == LAYERS || n.experts == 0) continue;
    snprintf(name, sizeof name, "blk.%d.exps", k);
    v = lab_add(&s, (situ_operator){.name = name, .kind = "ExpertsMatMul", .weight_bytes = n.experts, .colocation = -1},
                1);
    lab_tensor(&s, before, 0, v, -1);
    before = v;
  }
  static const situ_problem_options stream = {.size = sizeof stream, .execution = SITU_EXECUTION_STREAM};
  lab_pose(&s, &stream);
  return s;
}

/* The devices of all operators as digits; "-" without a plan. */
static void expect(network n, const int64_t *gpu_bytes, int32_t n_gpus, const char *name, const char *want) {
  OWN(lab) s = pose(n, gpu_bytes, n_gpus);
  OWN(situ_plan) *plan = NULL;
  situ_error error = {0};
  char got[LAB_MAX_OPERATORS + 1] = "-";
  situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = name};
  if (situ_solve(&plan, s.problem, &o, &error) != SITU_STATUS_OK) fail_msg("%s: %s", name, error.text);
  for (int32_t v = 0; plan->device && v < s.problem->n_operators; v++)
    got[v] = (char)('0' + plan->device[v]), got[v + 1] = 0;
  assert_string_equal(got, want);
}
#define GPUS(...) (const int64_t[]){__VA_ARGS__}, (int32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

TEST(llamacpp_default_splits_by_memory_with_the_head_as_a_layer) {
  /* up to 240 / 360 = 2/3: layer k of 9 goes to the first where 2/3 > k/9, that is k < 6; the embedding to the host */
  expect((network){4, 10, 0, 6}, GPUS(240, 120), "llamacpp_default",
         "0"
         "111111"
         "22"
         "2");
  /* 6 x 50 bytes do not fit into 240: the model does not load */
  expect((network){4, 50, 0, 50}, GPUS(240, 120), "llamacpp_default", "-");
}

TEST(llamacpp_fit_fills_from_the_last_device_and_leaves_the_first_layers_to_the_host) {
  expect((network){4, 10, 0, 6}, GPUS(240, 120), "llamacpp_fit",
         "0"
         "111111"
         "22"
         "2");
  /* the second takes the head and layer 7 (100 of 120), the first layers 3 to 6 (200 of 240) */
  expect((network){4, 50, 0, 50}, GPUS(240, 120), "llamacpp_fit",
         "0"
         "000"
         "1111"
         "2"
         "2");
}

TEST(llamacpp_fit_sends_experts_to_the_host_before_layers) {
  /* 8 x (10 + 90) + 10 bytes; one GPU of 300: all layers without experts take 90, and two of them can be whole (270) */
  expect((network){4, 10, 90, 10}, GPUS(300), "llamacpp_fit",
         "0"
         "1111"
         "101010101010"
         "1");
}

TEST(accelerate_caps_all_gpus_but_the_last) {
  /* 90 / 2 + 1.25 x 10 = 57 for the first, which keeps room for a layer to come: 4 + 4 x 10 + 10 fit, 4 + 5 x 10 + 10
   * do not */
  expect((network){4, 10, 0, 6}, GPUS(240, 120), "accelerate_auto",
         "1"
         "1111"
         "2222"
         "2");
  /* a single one takes nine tenths: 4 + 10 n + 10 <= 63 for n = 4, the rest is on the host */
  expect((network){4, 10, 0, 6}, GPUS(70), "accelerate_auto",
         "1"
         "1111"
         "0000"
         "0");
}

TEST(vllm_gives_what_is_left_over_to_the_stages_before_the_last) {
  /* 8 = 3 x 2 + 2: one more for the second and for the first */
  expect((network){4, 10, 0, 6}, GPUS(240, 240, 240), "vllm_equal",
         "1"
         "111"
         "222"
         "33"
         "3");
  expect((network){4, 10, 0, 6}, GPUS(240, 120), "vllm_equal",
         "1"
         "1111"
         "2222"
         "2");
}

TEST(exo_takes_the_fewest_devices_and_shares_by_memory) {
  /* 320 bytes need both: 8 x 2/3 = 5.33 and 2.67 are 5 and 2, the last goes to the larger fraction */
  expect((network){0, 40, 0, 0}, GPUS(240, 120), "exo_ring",
         "1"
         "11111"
         "222"
         "2");
  /* one suffices: the larger */
  expect((network){4, 10, 0, 6}, GPUS(120, 240), "exo_ring",
         "2"
         "22222222"
         "2");
  /* 330 x 3 / 8 = 123.75 are more than 120 */
  expect((network){0, 40, 0, 10}, GPUS(240, 120), "exo_ring", "-");
}

TEST_MAIN
