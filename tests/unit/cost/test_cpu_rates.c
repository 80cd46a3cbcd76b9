/* Rates of CPUs by type of weights, against published speeds of llama.cpp and by hand. */
#include "cost/cpu_rates.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/checked.h"
#include "cost/cost_models.h"
#include "platform/catalogue.h"
#include "platform/platform.h"

static cpu_rate rate_of(const situ_device *d, efficiency_work work, const char *type, cpu_scene scene) {
  cpu_rate r;
  assert_true(cpu_rate_of(&r, d, cost_engine_find("llama.cpp"), work, type, scene));
  return r;
}

/* Prompts of 512 tokens, 8 cores of Zen 4 (llama.cpp's pull request 10714: 7B F16 48 to 51 tokens/s; issue 8760: BF16
 * 44), 16 of them (ik_llama.cpp's 533: mainline's 8B Q4_0 170). Llama 7B has 6.6, 8B 7.0 billion weights in products of
 * each token. */
TEST(prompts_are_near_published_speeds) {
  static const struct {
    const char *device, *type;
    double weights, tokens_per_s;
  } rows[] = {
      {"ryzen-7840hs", "F16", 6.6e9, 50}, {"ryzen-7840hs", "BF16", 6.6e9, 44}, {"ryzen-7950x", "Q4_0", 7.0e9, 170}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_device d = catalogue_device(catalogue_find(rows[i].device));
    cpu_rate r = rate_of(&d, EFFICIENCY_MATMUL, rows[i].type, (cpu_scene){.stream_tokens = 512});
    double found = r.share * d.peak_flops[SITU_DTYPE_F32] / (2 * rows[i].weights);
    if (found < 0.75 * rows[i].tokens_per_s || found > 1.3 * rows[i].tokens_per_s)
      fail_msg("%s %s: %g", rows[i].device, rows[i].type, found);
  }
}

/* A user measured IQ3_XXS 1.5 times slower than Q3_K on a CPU, though it has fewer bytes; a grid has to be looked up.
 */
TEST(grids_are_slower_than_their_bytes) {
  situ_device d = catalogue_device(catalogue_find("i5-8500"));
  cpu_scene one = {.stream_tokens = 1};
  double grid = 98 / 256.0 * rate_of(&d, EFFICIENCY_MATMUL, "IQ3_XXS", one).unpack;
  double plain = 110 / 256.0 * rate_of(&d, EFFICIENCY_MATMUL, "Q3_K", one).unpack;
  assert_true(grid > 1.5 * plain);
}

TEST(servers_do_not_store_weights_in_the_order_of_their_kernels) {
  situ_device d = catalogue_device(catalogue_find("ryzen-7950x"));
  cpu_rate here = rate_of(&d, EFFICIENCY_MATMUL, "Q4_0", (cpu_scene){0});
  cpu_rate there = rate_of(&d, EFFICIENCY_MATMUL, "Q4_0", (cpu_scene){.remote = true});
  assert_true(there.share < here.share && there.unpack > here.unpack);
  here = rate_of(&d, EFFICIENCY_MATMUL, "q8_0", (cpu_scene){0}); /* stored as in the file everywhere, in any case */
  there = rate_of(&d, EFFICIENCY_MATMUL, "Q8_0", (cpu_scene){.remote = true});
  assert_true(there.share == here.share && there.unpack == here.unpack);
}

TEST(what_nobody_measured_has_no_rate) {
  cpu_rate r;
  situ_device cpu = catalogue_device(catalogue_find("i5-8500")), gpu = catalogue_device(catalogue_find("rtx3090-24g"));
  const cost_engine *engine = cost_engine_find("llama.cpp");
  cpu_scene s = {0};
  assert_false(cpu_rate_of(&r, &cpu, engine, EFFICIENCY_MATMUL, NULL, s));
  assert_false(cpu_rate_of(&r, &cpu, engine, EFFICIENCY_MATMUL, "Q7_Z", s));
  assert_false(cpu_rate_of(&r, &cpu, engine, EFFICIENCY_OTHER, "Q4_0", s));
  assert_false(cpu_rate_of(&r, &cpu, cost_engine_find(NULL), EFFICIENCY_MATMUL, "Q4_0", s));
  assert_false(cpu_rate_of(&r, &gpu, engine, EFFICIENCY_MATMUL, "Q4_0", s));
  cpu.efficiency = 0.5;
  assert_false(cpu_rate_of(&r, &cpu, engine, EFFICIENCY_MATMUL, "Q4_0", s));
  cpu.efficiency = 0;
  assert_true(cpu_rate_of(&r, &cpu, engine, EFFICIENCY_MATMUL, "Q4_0", s));
  cpu.peak_flops[SITU_DTYPE_F32] =
      0; /* a platform file may state that of I8 alone: there is nothing to have shares of */
  assert_false(cpu_rate_of(&r, &cpu, engine, EFFICIENCY_MATMUL, "Q4_0", s));
}

/* A product of 1000 bytes of weights and 4000 operations for a token, on a CPU of 1 operation a nanosecond that reads
 * as fast as light: (operations / share + bytes * unpack) ns, and the launch. Attention reads a cache alone. */
TEST(times_are_arithmetic_and_unpacking) {
  situ_device d = {.name = "cpu",
                   .peak_flops = {[SITU_DTYPE_F32] = 1e9},
                   .memory_bytes_per_s = 1e18,
                   .memory_bytes = SITU_UNLIMITED_BYTES,
                   .shares_memory_with = -1,
                   .is_host = true};
  OWN(situ_platform) *p = NULL;
  situ_graph_builder *b;
  situ_graph *g;
  situ_costs *c;
  situ_cost_options o = SITU_COST_OPTIONS_INIT;
  o.engine = "llama.cpp";
  assert_int_equal(platform_new(&p, NULL, &d, 1, NULL, 0, NULL), SITU_STATUS_OK);
  for (int32_t tokens = 1; tokens <= 100; tokens += 99) {
    assert_int_equal(situ_graph_builder_new(&b, "one", NULL), SITU_STATUS_OK);
    situ_operator op = {.size = sizeof op,
                        .name = "product",
                        .kind = "MatMul",
                        .source_id = -1,
                        .colocation = -1,
                        .inferred = true,
                        .weight_type = "Q4_K",
                        .weight_bytes = 1000,
                        .moved_bytes = 1000 + 100 * tokens,
                        .flops = 4000 * tokens};
    situ_graph_builder_add_operator(b, &op);
    op.name = "attention";
    op.kind = "Attention";
    op.weight_type = "f16";
    situ_graph_builder_add_operator(b, &op);
    assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
    situ_graph_builder_free(b);
    g->streams = 1;
    g->step_tokens = tokens;
    assert_int_equal(situ_costs_estimate(&c, g, p, &o, NULL), SITU_STATUS_OK);
    cpu_scene scene = {.stream_tokens = tokens};
    int64_t launch_ns = efficiency_launch_ns(&p->devices[0], cost_engine_find("llama.cpp"), true);
    cpu_rate r = rate_of(&p->devices[0], EFFICIENCY_MATMUL, "Q4_K", scene);
    double sum = 4000 * tokens / r.share + 1000 * r.unpack;
    assert_in_range(c->time_ns[0] - launch_ns, (int64_t)sum, (int64_t)sum + 1);
    r = rate_of(&p->devices[0], EFFICIENCY_ATTENTION, "F16", scene);
    sum = 4000 * tokens / r.share + (1000 + 100 * tokens) * r.unpack;
    assert_in_range(c->time_ns[1] - launch_ns, (int64_t)sum, (int64_t)sum + 1);
    situ_costs_free(c);
    situ_graph_free(g);
  }
}

TEST_MAIN
