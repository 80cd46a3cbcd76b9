/* Products of many tokens whose weights a host has: by hand, over a link of 1 byte a nanosecond. */
#include "cost/offloaded.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/checked.h"
#include "cost/cost_models.h"
#include "platform/platform.h"

enum { CPU, GPU0, GPU1, REMOTE_CPU, DEVICES, WEIGHT = 4000, SHARE_PERCENT = 80 };

static situ_platform *machine(int64_t gpu_bytes) {
  situ_device devices[DEVICES];
  situ_link links[6];
  situ_platform *p;
  static const char *const names[] = {"cpu", "gpu0", "gpu1", "cpu1"};
  for (int32_t d = 0; d < DEVICES; d++)
    devices[d] = (situ_device){.name = names[d],
                               .class_name = names[d],
                               .server = d == REMOTE_CPU,
                               .peak_flops = {[SITU_DTYPE_F32] = 1e12},
                               .memory_bytes_per_s = d == GPU0 || d == GPU1 ? 4e9 : 1e9,
                               .memory_bytes = d == GPU0 || d == GPU1 ? gpu_bytes : SITU_UNLIMITED_BYTES,
                               .shares_memory_with = -1,
                               .is_host = d == CPU || d == REMOTE_CPU,
                               .efficiency = 1};
  for (int32_t d = GPU0; d < DEVICES; d++) {
    links[2 * d - 2] = (situ_link){CPU, d, 50, 1e9, -1};
    links[2 * d - 1] = (situ_link){d, CPU, 50, 1e9, -1};
  }
  assert_int_equal(platform_new(&p, NULL, devices, DEVICES, links, 6, NULL), SITU_STATUS_OK);
  return p;
}

/* A product with weights of 4000 bytes, experts of which it moves a quarter, a norm, and a head. */
static situ_graph *step_of(int64_t tokens) {
  static const char *const kinds[] = {"MatMul", "ExpertsMatMul", "Norm", "MatMul"};
  situ_graph_builder *b;
  situ_graph *g;
  assert_int_equal(situ_graph_builder_new(&b, "offloaded", NULL), SITU_STATUS_OK);
  for (int k = 0; k < 4; k++) {
    situ_operator op = SITU_OPERATOR_INIT;
    op.name = (const char *[]){"product", "experts", "norm", "head"}[k];
    op.kind = kinds[k];
    op.weight_bytes = WEIGHT;
    op.moved_bytes = k == 1 ? WEIGHT / 4 : WEIGHT;
    situ_graph_builder_add_operator(b, &op);
  }
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  g->streams = 1;
  g->step_tokens = tokens;
  g->micro_batch = 512;
  g->n_ends = 1;
  g->end = ARENA_ZERO(g->arena, graph_end, 1);
  g->end[0] = (graph_end){.op = 3, .leaves = true};
  return g;
}

static situ_costs *costs_of(const situ_graph *g, const situ_platform *p, const char *engine, const bool *unused) {
  situ_cost_options o = SITU_COST_OPTIONS_INIT;
  situ_costs *c;
  o.engine = engine;
  assert_int_equal(costs_estimate(&c, &(cost_step){g, 1, false}, 1, p, &o, NULL, &(cost_scene){.unused = unused}, NULL),
                   SITU_STATUS_OK);
  return c;
}

/* The time on an accelerator, and the copy at a share of 1 byte a nanosecond behind 50 ns. */
static int64_t fetched_ns(const situ_costs *c, const situ_platform *p, int32_t v, int64_t bytes) {
  return situ_costs_time_ns(c, p, v, GPU0) + 50 + bytes * 100 / SHARE_PERCENT;
}

TEST(products_of_many_tokens_fetch_their_weights) {
  static const bool without_gpus[] = {false, true, true, false};
  OWN(situ_platform) *p = machine(SITU_UNLIMITED_BYTES);
  for (int64_t tokens = 31; tokens <= 32; tokens++) {
    OWN(situ_graph) *g = step_of(tokens);
    OWN(situ_costs) *c = costs_of(g, p, "llama.cpp", NULL), *alone = costs_of(g, p, "llama.cpp", without_gpus),
                    *other = costs_of(g, p, "generic", NULL);
    bool fetches = tokens == 32;
    int64_t slow_ns = situ_costs_time_ns(alone, p, 0, CPU);
    assert_int_equal(situ_costs_time_ns(c, p, 0, CPU), fetches ? fetched_ns(c, p, 0, WEIGHT) : slow_ns);
    if (fetches) assert_int_equal(situ_costs_time_ns(c, p, 1, CPU), fetched_ns(c, p, 1, WEIGHT / 4));
    assert_int_equal(situ_costs_time_ns(c, p, 2, CPU), slow_ns); /* no product */
    assert_int_equal(situ_costs_time_ns(c, p, 3, CPU), slow_ns); /* computes the last token only */
    assert_int_equal(situ_costs_time_ns(c, p, 0, REMOTE_CPU), slow_ns);
    assert_true(situ_costs_time_ns(other, p, 0, CPU) >= WEIGHT); /* its own bandwidth, 1 byte a nanosecond */
  }
}

/* 16,000 bytes of weights: two accelerators of 8000 hold them, two of 7999 do not. */
TEST(the_copy_needs_memory_where_weights_exceed_the_accelerators) {
  static const bool without_gpu1[] = {false, false, true, false};
  const cost_engine *engine = cost_engine_find("llama.cpp");
  OWN(situ_graph) *g = step_of(1);
  for (int k = 0; k < 2; k++) {
    OWN(situ_platform) *p = machine(k ? 7999 : 8000);
    assert_int_equal(offloaded_bytes(g, p, engine, NULL), k ? WEIGHT : 0);
    assert_int_equal(offloaded_bytes(g, p, engine, without_gpu1), WEIGHT);
    assert_int_equal(offloaded_bytes(g, p, cost_engine_find("generic"), NULL), 0);
  }
}

TEST_MAIN
