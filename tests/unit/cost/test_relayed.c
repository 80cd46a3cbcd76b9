/* Hand-overs through a host, by hand: links of 1 byte a nanosecond. */
#include "cost/relayed.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "cost/cost_models.h"

/* A host with two GPUs behind links of 10 ns, of which the GPUs may have one of 5 ns between them, and a GPU on a
 * second machine behind a link of 700 ns. */
static situ_platform *machine(bool linked) {
  situ_device devices[4];
  situ_link links[8];
  situ_platform *p;
  int32_t n = 0;
  static const char *const names[] = {"cpu", "gpu0", "gpu1", "gpu2"};
  for (int32_t d = 0; d < 4; d++)
    devices[d] = (situ_device){.name = names[d],
                               .class_name = d == 0 ? "cpu" : "gpu",
                               .peak_flops = {[SITU_DTYPE_F32] = 1e12},
                               .memory_bytes_per_s = 1e9,
                               .memory_bytes = SITU_UNLIMITED_BYTES,
                               .shares_memory_with = -1,
                               .is_host = d == 0,
                               .server = d > 2};
  for (int32_t d = 1; d < 4; d++)
    for (int back = 0; back < 2; back++)
      links[n++] = (situ_link){back ? d : 0, back ? 0 : d, d < 3 ? 10 : 700, 1e9, -1};
  for (int back = 0; linked && back < 2; back++) links[n++] = (situ_link){back ? 2 : 1, back ? 1 : 2, 5, 1e9, -1};
  assert_int_equal(platform_new(&p, "two", devices, 4, links, n, NULL), SITU_STATUS_OK);
  return p;
}

/* One operator hands 1,000 bytes to another. */
static situ_graph *two_operators(void) {
  OWN(situ_graph_builder) *b = NULL;
  situ_graph *g;
  situ_operator op = SITU_OPERATOR_INIT;
  situ_tensor tensor = SITU_TENSOR_INIT;
  op.kind = "MatMul";
  op.moved_bytes = tensor.size_bytes = 1000;
  assert_int_equal(situ_graph_builder_new(&b, "two", NULL), SITU_STATUS_OK);
  op.name = "first";
  int32_t first = situ_graph_builder_add_operator(b, &op);
  op.name = "second";
  int32_t second = situ_graph_builder_add_operator(b, &op);
  situ_graph_builder_add_use(b, second, situ_graph_builder_add_tensor(b, first, &tensor));
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  return g;
}

/* The time of 1,000 bytes between two devices. */
static int64_t handed_ns(const situ_platform *p, const char *engine, int32_t from, int32_t to) {
  situ_cost_options o = SITU_COST_OPTIONS_INIT;
  OWN(situ_graph) *g = two_operators();
  OWN(situ_costs) *c = NULL;
  o.engine = engine;
  assert_int_equal(situ_costs_estimate(&c, g, p, &o, NULL), SITU_STATUS_OK);
  int64_t ns = situ_costs_transfer_ns(c, p, 0, from, to);
  return ns;
}

TEST(what_passes_through_the_host_waits_longer) {
  OWN(situ_platform) *given = machine(false), *p = NULL;
  const cost_engine *engine = cost_engine_find("llama.cpp");
  assert_true(relayed_matter(engine, given));
  assert_false(relayed_matter(cost_engine_find("generic"), given));
  assert_int_equal(relayed_platform(&p, given, NULL), SITU_STATUS_OK);
  assert_false(relayed_matter(engine, p)); /* once is enough */
  assert_int_equal(p->n_links, given->n_links + 2);
  assert_int_equal(handed_ns(p, "llama.cpp", 1, 0), 75000 + 10 + 1000);
  assert_int_equal(handed_ns(p, "llama.cpp", 0, 2), 75000 + 10 + 1000);
  assert_int_equal(handed_ns(p, "llama.cpp", 1, 2), 300000 + 2 * (10 + 1000) - 2);
  assert_int_equal(handed_ns(p, "llama.cpp", 0, 3), 150000 + 700 + 1000);
  assert_int_equal(handed_ns(p, "llama.cpp", 1, 3), 75000 + 10 + 1000 + 150000 + 700 + 1000);
  assert_int_equal(handed_ns(given, "generic", 1, 2), 2 * (10 + 1000));
}

TEST(a_link_of_its_own_is_taken) {
  OWN(situ_platform) *p = machine(true);
  assert_false(relayed_matter(cost_engine_find("llama.cpp"), p));
  assert_int_equal(handed_ns(p, "llama.cpp", 1, 2), 150000 + 5 + 1000);
}

TEST_MAIN
