/* Updates that a host makes: by hand, over links of 1 byte a nanosecond to a host that moves 2. */
#include "cost/host_states.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "cost/cost_models.h"
#include "platform/platform.h"

enum { CPU, GPU0, GPU1, DEVICES };

static situ_platform *machine(bool has_host) {
  situ_device devices[DEVICES];
  situ_link links[4];
  situ_platform *p;
  static const char *const names[] = {"cpu", "gpu0", "gpu1"};
  for (int32_t d = 0; d < DEVICES; d++)
    devices[d] = (situ_device){.name = names[d],
                               .class_name = names[d],
                               .peak_flops = {[SITU_DTYPE_F32] = 1e12},
                               .memory_bytes_per_s = d == CPU ? 2e9 : 10e9,
                               .memory_bytes = d == CPU ? 50000 : 20000,
                               .shares_memory_with = -1,
                               .is_host = d == CPU && has_host};
  for (int32_t d = GPU0; d < DEVICES; d++) {
    links[2 * d - 2] = (situ_link){CPU, d, 50, 1e9, -1};
    links[2 * d - 1] = (situ_link){d, CPU, 70, 1e9, -1};
  }
  assert_int_equal(platform_new(&p, NULL, devices, DEVICES, links, 4, NULL), SITU_STATUS_OK);
  return p;
}

/* 1000 weights of 16 bits, of which a step has 4 inputs. */
static situ_graph *step_of(bool offload) {
  situ_graph_builder *b;
  situ_graph *forward, *step;
  assert_int_equal(situ_graph_builder_new(&b, "states", NULL), SITU_STATUS_OK);
  situ_operator op = SITU_OPERATOR_INIT;
  op.name = "product";
  op.kind = "MatMul";
  op.dtype = SITU_DTYPE_F16;
  op.moved_bytes = op.weight_bytes = 2000;
  situ_graph_builder_add_operator(b, &op);
  assert_int_equal(situ_graph_freeze(&forward, b, NULL), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  training_options o = {.micro_batches = 4, .offload_optimizer = offload};
  assert_int_equal(graph_training(&step, forward, o, NULL), SITU_STATUS_OK);
  situ_graph_free(forward);
  return step;
}

static int64_t update_in(const situ_graph *g, const situ_platform *p, int32_t d, cost_scene scene) {
  situ_cost_options o = SITU_COST_OPTIONS_INIT;
  OWN(situ_costs) *c = NULL;
  o.efficiency = 1;
  assert_int_equal(costs_estimate(&c, &(cost_step){.graph = g, .repeats = 1}, 1, p, &o, NULL, &scene, NULL),
                   SITU_STATUS_OK);
  int64_t ns = situ_costs_time_ns(c, p, situ_graph_find(g, "update(product)"), d);
  return ns;
}

static int64_t update_ns(const situ_graph *g, const situ_platform *p, int32_t d, const bool *unused) {
  return update_in(g, p, d, (cost_scene){.unused = unused});
}

/* The device itself moves 2 x 2000 bytes for 4 inputs: 1000 bytes. The host moves 28 bytes a weight in a step. */
TEST(a_step_sends_gradients_updates_and_sends_weights) {
  OWN(situ_platform) *p = machine(true);
  OWN(situ_graph) *g = step_of(true), *own = step_of(false);
  static const bool one[] = {false, false, true};
  int64_t there = 70 + 2000, back = 50 + 2000, host = 28000 / 2;
  assert_int_equal(update_ns(own, p, GPU0, NULL), 28000 / 4 / 10);
  assert_in_range(update_ns(g, p, GPU0, NULL) - (100 + (there + back + 2 * host) / 4), 0, 1); /* two share the host */
  assert_in_range(update_ns(g, p, GPU0, one) - (100 + (there + back + host) / 4), 0, 1);
  assert_in_range(update_in(g, p, GPU0, (cost_scene){.in_turn = true}) - (100 + (there + back + host) / 4), 0, 1);
  assert_in_range(update_ns(g, p, CPU, NULL) - (500 + host / 4), 0, 1);
}

TEST(the_host_has_so_much_less_memory) {
  situ_platform *p = machine(true), *less;
  situ_error error;
  assert_int_equal(host_states_platform(&less, p, 12000, &error), SITU_STATUS_OK);
  assert_int_equal(less->memory_bytes[less->memory_of[CPU]], 38000);
  assert_int_equal(less->memory_bytes[less->memory_of[GPU1]], 20000);
  situ_platform_free(less);
  assert_int_equal(host_states_platform(&less, p, 50001, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "50.0 KB of memory; the states of the optimizer take 50.0 KB"));
  situ_platform_free(p);
  p = machine(false);
  assert_int_equal(host_states_platform(&less, p, 1, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "one machine with a host"));
  situ_platform_free(p);
}

TEST_MAIN
