/* Layers in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "base/rng.h"
#include "cost/costs.h"
#include "graph/builder.h"
#include "sim/simulate.h"
#include "situ/instance.h"
#include "solve/common/solver.h"
#include "solve/stream/sequence.h"
#include "view/unit.h"

static double times_as_fast_as_one_device(const char *model, const char *platform) {
  situ_instance_options o = {.size = sizeof(situ_instance_options),
                             .model = model,
                             .platform = platform,
                             .unused = (const char *const[]){"cpu"},
                             .n_unused = 1,
                             .read = &(situ_read_options){
                                 .size = sizeof(situ_read_options), .training = true, .optimizer = SITU_OPTIMIZER_SGD}};
  situ_solve_options solve = {.size = sizeof(situ_solve_options), .solvers = "layers", .no_bounds = true};
  OWN(situ_instance) *instance = NULL;
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  if (situ_place(&plan, &instance, &o, &solve, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  double ratio = (double)plan->best_single_ns / (double)plan->value_ns;
  return ratio;
}

/* Four equal layers over T steps flow through four devices in T + 3 of the 4 T steps that one device takes: 3.8 times
 * as fast with T = 60, less what does not flow, which a small vocabulary and a large batch make little. */
TEST(the_layers_of_a_recurrent_network_flow_through_the_devices) {
  double ratio =
      times_as_fast_as_one_device("builtin:rnnlm?layers=4&hidden=1024&vocab=10&batch=256&steps=60", "cpu+4*p100-16g");
  assert_true(ratio > 0.9 * 240 / 63.0);
  assert_true(ratio < 4);
}

/* The encoder must end before the decoder begins: only if both have all devices do both flow. */
TEST(encoder_and_decoder_both_have_all_devices) {
  assert_true(times_as_fast_as_one_device("builtin:gnmt?layers=2&batch=64&steps=20&vocab=100", "cpu+2*p100-16g") >
              1.35);
}

/* A chain of layers "blk.K", each of two operators and the last of three, with random times and transfers. */
enum { LAYERS = 5, OPERATORS = 11 };
static const int32_t layer_of[OPERATORS] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4};

static lab random_layers(uint64_t seed) {
  situ_graph_builder *b;
  rng r = rng_new(seed);
  assert_int_equal(situ_graph_builder_new(&b, "layers", NULL), SITU_STATUS_OK);
  for (int32_t v = 0; v < OPERATORS; v++) {
    char name[32];
    int32_t at, t;
    snprintf(name, sizeof name, "blk.%d.%s", (int)layer_of[v], v % 2 ? "down" : "up");
    if (v == OPERATORS - 1) snprintf(name, sizeof name, "blk.4.out");
    situ_operator o = {
        .name = name, .kind = "MatMul", .colocation = -1, .source_id = -1, .flops = 1, .weight_bytes = 1000};
    situ_tensor made = {.rank = -1, .size_bytes = rng_below(&r, 2000000)};
    assert_int_equal(builder_add_operator(b, &o, &at, NULL), SITU_STATUS_OK);
    assert_int_equal(builder_add_tensor(b, at, &made, &t, NULL), SITU_STATUS_OK);
    if (v > 0) assert_int_equal(builder_add_use(b, at, t - 1, NULL), SITU_STATUS_OK);
  }
  lab l = lab_of_builder(b, "cpu+v100-16g+p100-16g");
  for (int64_t i = 0; i < (int64_t)OPERATORS * l.costs->n_classes; i++)
    l.costs->time_ns[i] = 1 + rng_below(&r, 1000000);
  assert_int_equal(situ_problem_pose(&l.problem, l.graph, l.platform, l.costs, NULL, NULL), SITU_STATUS_OK);
  return l;
}

/* The least value of all plans in which every device has one interval of whole layers. */
static int64_t best_of_intervals(const situ_problem *p) {
  OWN(arena) *a = arena_new();
  simulator *s = simulator_new(p, a);
  int64_t best = SITU_NEVER_NS;
  for (int32_t code = 0; code < 243; code++) { /* 3^5 */
    int32_t of[LAYERS], device[OPERATORS], runs = 1, used = 0, n_used = 0;
    for (int32_t k = 0, rest = code; k < LAYERS; k++, rest /= 3) of[k] = rest % 3;
    for (int32_t k = 0; k < LAYERS; k++) {
      runs += k > 0 && of[k] != of[k - 1];
      used |= 1 << of[k];
    }
    for (int32_t d = 0; d < 3; d++) n_used += used >> d & 1;
    for (int32_t v = 0; v < OPERATORS; v++) device[v] = of[layer_of[v]];
    int64_t value = runs == n_used ? simulator_run(s, &(placement){.device = device}, false).value_ns : best;
    if (value < best) best = value;
  }
  return best;
}

/* Five steps: one for each number of devices, and what must be valued before. */
TEST(intervals_of_whole_layers_are_the_best_of_all) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    OWN(lab) l = random_layers(seed);
    situ_solve_options o = {.size = sizeof o, .solvers = "layers", .max_steps = 5, .no_bounds = true};
    OWN(situ_plan) *plan = NULL;
    situ_error error = {0};
    if (situ_solve(&plan, l.problem, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
    if (plan->value_ns > best_of_intervals(l.problem)) fail_msg("seed %d", (int)seed);
  }
}

static int32_t device_of_people(const char *name, int32_t n_layers) {
  const char *layer = strstr(name, "layer");
  bool before = strstr(name, "coder.embedding") || strstr(name, "encoder.stack") || strstr(name, "attention");
  return 1 + (layer ? atoi(layer + strlen("layer")) : before ? 0 : n_layers - 1);
}

/* Wu et al., 2016, section 3.3: a layer of the encoder and of the decoder on each GPU, attention with the first layer
 * of the decoder, the softmax on the last. */
static int64_t value_of_people(const situ_problem *p, int32_t n_layers) {
  OWN(arena) *a = arena_new();
  int32_t *device = ARENA_NEW(a, int32_t, p->n_operators), *order = ARENA_NEW(a, int32_t, p->n_operators);
  simulator *s = simulator_new(p, a);
  for (int32_t v = 0; v < p->n_operators; v++) device[v] = device_of_people(p->graph->name[v], n_layers);
  assert_true(solve_allows(p, device));
  assert_true(sequence_find(order, s, p, device, a));
  simulation found = simulator_run(s, &(placement){.device = device, .order = order}, true);
  assert_int_equal(found.excess_bytes, 0);
  return found.value_ns;
}

TEST(auto_is_never_behind_the_layout_of_people_on_a_large_network) {
  situ_instance_options o = {.size = sizeof(situ_instance_options),
                             .model = "builtin:gnmt?layers=4&batch=64&steps=40",
                             .platform = "cpu+4*p100-16g",
                             .unused = (const char *const[]){"cpu"},
                             .n_unused = 1,
                             .read = &(situ_read_options){
                                 .size = sizeof(situ_read_options), .training = true, .optimizer = SITU_OPTIMIZER_SGD}};
  situ_solve_options solve = {.size = sizeof(situ_solve_options), .max_steps = 100, .no_bounds = true};
  OWN(situ_instance) *instance = NULL;
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  if (situ_place(&plan, &instance, &o, &solve, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  const situ_problem *p = situ_instance_problem(instance);
  assert_true(solve_is_large(p));
  assert_true(plan->value_ns <= value_of_people(p, 4));
}

/* The same with layers on the first `on` of two GPUs and the host, attention and what has no layer's name on the host.
 */
static int64_t value_with_attention_on_the_host(const situ_problem *p, int32_t n_layers, int32_t on) {
  OWN(arena) *a = arena_new();
  int32_t *device = ARENA_ZERO(a, int32_t, p->n_operators), *order = ARENA_NEW(a, int32_t, p->n_operators);
  simulator *s = simulator_new(p, a);
  for (int32_t v = 0; v < p->n_operators; v++) {
    const char *layer = strstr(p->graph->name[v], "coder.layer");
    int32_t place = layer ? atoi(layer + strlen("coder.layer")) * on / n_layers : 2;
    unit_members unit = unit_of(p, v);
    if (unit.member[0] == v) unit_members_put(unit, device, place == 2 ? 0 : 1 + place);
  }
  assert_true(solve_allows(p, device));
  assert_true(sequence_find(order, s, p, device, a));
  simulation found = simulator_run(s, &(placement){.device = device, .order = order}, true);
  assert_int_equal(found.excess_bytes, 0);
  return found.value_ns;
}

/* The attention of 60 steps makes 60 x 60 x 8 x 256 floats twice, 59 MB, and a GPU has room for 60 MB: layers, which
 * take less, go on the GPUs, two of each family on each, or on the host too, where attention stays: the better. */
TEST(what_fills_the_accelerators_is_left_to_the_host) {
  situ_instance_options o = {.size = sizeof(situ_instance_options),
                             .model = "builtin:gnmt?layers=4&batch=8&hidden=256&vocab=1000&steps=60",
                             .platform = "cpu+2*v100-16g",
                             .rules = (const char *const[]){"reserve gpu=15940000000"},
                             .n_rules = 1,
                             .read = &(situ_read_options){
                                 .size = sizeof(situ_read_options), .training = true, .optimizer = SITU_OPTIMIZER_SGD}};
  situ_solve_options solve = {.size = sizeof solve, .solvers = "families", .max_steps = 10, .no_bounds = true};
  OWN(situ_instance) *instance = NULL;
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  if (situ_place(&plan, &instance, &o, &solve, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  const situ_problem *p = situ_instance_problem(instance);
  const situ_graph *g = p->given;
  int64_t on_gpus_ns = value_with_attention_on_the_host(p, 4, 2), on_all_ns = value_with_attention_on_the_host(p, 4, 3);
  int32_t n_layers = 0, n_attention = 0, place[4] = {1, 1, 2, 0};
  assert_true(on_all_ns < on_gpus_ns && plan->value_ns <= on_all_ns);
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t layer = -1;
    if (sscanf(g->name[v], "encoder.layer%d.", &layer) < 1) sscanf(g->name[v], "decoder.layer%d.", &layer);
    bool attends = strncmp(g->name[v], "attention.step", 14) == 0;
    if (layer >= 0) assert_int_equal(situ_plan_device(plan, v), place[layer]);
    if (attends) assert_int_equal(situ_plan_device(plan, v), 0);
    n_layers += layer >= 0;
    n_attention += attends;
  }
  assert_true(n_layers > 1000 && n_attention > 100);
}

TEST_MAIN
