/* The ends of a step on other machines: by hand, over links of 1 byte a nanosecond. */
#include "cost/ends.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "cost/cost_models.h"
#include "platform/platform.h"

/* A host and three equal GPUs: one beside it, two on a second machine behind a link of 700 ns. */
static situ_platform *machines(void) {
  situ_device devices[4];
  situ_link links[6];
  situ_platform *p;
  static const char *const names[] = {"cpu", "gpu0", "gpu1", "gpu2"};
  for (int32_t d = 0; d < 4; d++)
    devices[d] = (situ_device){.name = names[d],
                               .class_name = d == 0 ? "cpu" : "gpu",
                               .peak_flops = {[SITU_DTYPE_F32] = 1e12},
                               .memory_bytes_per_s = 1e9,
                               .memory_bytes = SITU_UNLIMITED_BYTES,
                               .shares_memory_with = -1,
                               .is_host = d == 0,
                               .server = d > 1};
  for (int32_t d = 1; d < 4; d++) {
    links[2 * d - 2] = (situ_link){0, d, d == 1 ? 10 : 700, 1e9, -1};
    links[2 * d - 1] = (situ_link){d, 0, d == 1 ? 10 : 700, 1e9, -1};
  }
  assert_int_equal(platform_new(&p, NULL, devices, 4, links, 6, NULL), SITU_STATUS_OK);
  return p;
}

/* Embedding and head; the head needs its row in every fourth step. */
static situ_graph *ends_of_model(void) {
  situ_graph_builder *b;
  situ_graph *g;
  static const graph_end end[] = {{.op = 0, .token_bytes = 4, .often = 1},
                                  {.op = 1, .leaves = true, .token_bytes = 4, .result_bytes = 1000, .often = 0.25}};
  assert_int_equal(situ_graph_builder_new(&b, "ends", NULL), SITU_STATUS_OK);
  for (int k = 0; k < 2; k++) {
    situ_operator op = SITU_OPERATOR_INIT;
    op.name = k ? "head" : "embedding";
    op.kind = "MatMul";
    op.moved_bytes = 1000;
    situ_graph_builder_add_operator(b, &op);
  }
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  g->end = ARENA_COPY(g->arena, end, graph_end, 2);
  g->n_ends = 2;
  return g;
}

static int64_t added_ns(const situ_graph *g, const situ_platform *p, const char *engine, int32_t v, int32_t device) {
  situ_cost_options o = SITU_COST_OPTIONS_INIT;
  OWN(situ_costs) *with = NULL, *without = NULL;
  o.engine = engine;
  o.efficiency = 1;
  assert_int_equal(costs_estimate(&with, &(cost_step){g, 1, false}, 1, p, &o, NULL, &(cost_scene){.ends = true}, NULL),
                   SITU_STATUS_OK);
  assert_int_equal(costs_estimate(&without, &(cost_step){g, 1, false}, 1, p, &o, NULL, NULL, NULL), SITU_STATUS_OK);
  int64_t ns = situ_costs_time_ns(with, p, v, device) - situ_costs_time_ns(without, p, v, device);
  return ns;
}

TEST(devices_of_other_machines_pay_the_network) {
  OWN(situ_platform) *given = machines(), *p = NULL;
  OWN(situ_graph) *g = ends_of_model();
  assert_true(ends_matter(g, given));
  assert_int_equal(ends_platform(&p, given, NULL), SITU_STATUS_OK);
  assert_string_equal(p->class_name[1], "gpu:gpu0");
  assert_string_equal(p->class_name[2], "gpu:gpu1"); /* gpu2 is as far */
  assert_int_equal(p->n_classes, 3);
  for (int32_t v = 0; v < 2; v++) {
    assert_int_equal(added_ns(g, p, "generic", v, 0), 0);
    assert_int_equal(added_ns(g, p, "generic", v, 1), 0);
  }
  assert_int_equal(added_ns(g, p, "generic", 0, 3), 700 + 4);
  assert_int_equal(added_ns(g, p, "generic", 1, 3), (700 + 4) / 4);
  assert_int_equal(added_ns(g, p, "llama.cpp", 0, 3), 700 + 150000 + 4); /* its time for a hop */
  assert_int_equal(added_ns(g, p, "llama.cpp", 1, 3), (700 + 150000 + 1000) / 4);
  g->n_ends = 0;
  assert_false(ends_matter(g, p));
}

/* 704 and 176 ns of network, 1000 ns of work, on a device or over a network twice as fast. */
TEST(a_faster_device_has_the_same_network) {
  OWN(situ_platform) *given = machines(), *p = NULL;
  OWN(situ_graph) *g = ends_of_model();
  situ_cost_options o = SITU_COST_OPTIONS_INIT;
  situ_costs *c, *faster;
  o.efficiency = 1;
  assert_int_equal(ends_platform(&p, given, NULL), SITU_STATUS_OK);
  assert_int_equal(costs_estimate(&c, &(cost_step){g, 1, false}, 1, p, &o, NULL, &(cost_scene){.ends = true}, NULL),
                   SITU_STATUS_OK);
  assert_int_equal(situ_costs_time_ns(c, p, 0, 2), 1000 + 704);
  faster = costs_changed(c, p, &(cost_change){p, 2, -1, 2});
  assert_int_equal(situ_costs_time_ns(faster, p, 0, 2), 500 + 704);
  assert_int_equal(situ_costs_time_ns(faster, p, 1, 2), 500 + 176);
  situ_costs_free(faster);
  faster = costs_changed(c, p, &(cost_change){p, -1, c->link_kind[2], 2});
  assert_int_equal(situ_costs_time_ns(faster, p, 0, 2), 1000 + 352);
  assert_int_equal(situ_costs_time_ns(faster, p, 0, 1), 1000);
  situ_costs_free(faster);
  situ_costs_free(c);
}

TEST_MAIN
