/* Weights on a host that stream to an accelerator: by hand, over a link of 1 byte a nanosecond. */
#include "cost/streamed.h"

#include <math.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "cost/cost_models.h"
#include "platform/platform.h"

enum { CPU, GPU0, GPU1, DEVICES };

static situ_platform *machine(void) {
  situ_device devices[DEVICES];
  situ_link links[4];
  situ_platform *p;
  static const char *const names[] = {"cpu", "gpu0", "gpu1"};
  for (int32_t d = 0; d < DEVICES; d++)
    devices[d] = (situ_device){.name = names[d],
                               .class_name = names[d],
                               .peak_flops = {[SITU_DTYPE_F32] = 1e12},
                               .memory_bytes_per_s = d == CPU    ? 1e9
                                                     : d == GPU0 ? 4e9
                                                                 : 8e9,
                               .memory_bytes = SITU_UNLIMITED_BYTES,
                               .shares_memory_with = -1,
                               .is_host = d == CPU};
  for (int32_t d = GPU0; d < DEVICES; d++) {
    links[2 * d - 2] = (situ_link){CPU, d, 50, 1e9, -1};
    links[2 * d - 1] = (situ_link){d, CPU, 50, 1e9, -1};
  }
  assert_int_equal(platform_new(&p, NULL, devices, DEVICES, links, 4, NULL), SITU_STATUS_OK);
  return p;
}

/* A product of 4000 bytes of weights, and attention that keeps as many. */
static situ_graph *product_and_attention(void) {
  situ_graph_builder *b;
  situ_graph *g;
  assert_int_equal(situ_graph_builder_new(&b, "streamed", NULL), SITU_STATUS_OK);
  for (int k = 0; k < 2; k++) {
    situ_operator op = SITU_OPERATOR_INIT;
    op.name = k ? "attention" : "product";
    op.kind = k ? "Attention" : "MatMul";
    op.moved_bytes = op.weight_bytes = 4000;
    situ_graph_builder_add_operator(b, &op);
  }
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  g->streams = 1; /* of a language model */
  return g;
}

static situ_costs *costs_of(const situ_graph *g, const situ_platform *p, const bool *unused) {
  situ_cost_options o = SITU_COST_OPTIONS_INIT;
  situ_costs *c;
  o.engine = "accelerate";
  o.efficiency = 1;
  assert_int_equal(costs_estimate(&c, &(cost_step){g, 1, false}, 1, p, &o, NULL, &(cost_scene){.unused = unused}, NULL),
                   SITU_STATUS_OK);
  return c;
}

/* 4000 bytes are 1000 ns on gpu0, 500 on gpu1, 4000 on the CPU; over the link they arrive after 4050. */
TEST(weights_are_copied_and_caches_are_not) {
  static const bool without_gpu0[] = {false, true, false}, alone[] = {false, true, true};
  OWN(situ_platform) *p = machine();
  OWN(situ_graph) *g = product_and_attention();
  situ_costs *c = costs_of(g, p, NULL);
  assert_int_equal(situ_costs_time_ns(c, p, 0, GPU0), 1000);
  assert_int_equal(situ_costs_time_ns(c, p, 0, CPU), 1000 + 4050);
  assert_int_equal(situ_costs_time_ns(c, p, 1, CPU), 1000);
  assert_int_equal(c->streamed_to[p->class_of[CPU]], GPU0);
  situ_costs_free(c);
  c = costs_of(g, p, without_gpu0);
  assert_int_equal(situ_costs_time_ns(c, p, 0, CPU), 500 + 4050);
  situ_costs_free(c);
  c = costs_of(g, p, alone);
  assert_int_equal(situ_costs_time_ns(c, p, 0, CPU), 4000);
  assert_int_equal(c->streamed_to[p->class_of[CPU]], -1);
  situ_costs_free(c);
}

/* 7 bytes a nanosecond, whatever the link: 50 ns and 1000 for 7000 bytes. */
TEST(memory_that_is_not_pinned_limits_the_copy) {
  OWN(situ_platform) *p = machine();
  for (int32_t l = 0; l < p->n_links; l++) p->links[l].bytes_per_s = 50e9;
  int32_t from = p->memory_of[CPU], to = p->memory_of[GPU0];
  assert_int_equal(streamed_copy_ns(p, from, to, 7000, 1, PAGEABLE_BYTES_PER_S), 50 + 1000);
  assert_int_equal(streamed_copy_ns(p, from, to, 7000, 1, HUGE_VAL), 50 + 140);
  assert_int_equal(streamed_copy_ns(p, from, to, 7000, 0.1, PAGEABLE_BYTES_PER_S), 50 + 1400);
}

TEST_MAIN
