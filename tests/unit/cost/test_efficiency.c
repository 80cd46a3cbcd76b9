/* Which part of its peak a device reaches, against what published networks reached. */
#include "cost/efficiency.h"

#include <math.h>

#include "../../lab/test.h"
#include "base/dtype.h"
#include "platform/catalogue.h"

static efficiency of(situ_device_family family, efficiency_work work, situ_dtype dtype) {
  situ_device d = SITU_DEVICE_INIT;
  d.family = family;
  return efficiency_of(&d, cost_engine_find(NULL), work, dtype);
}

/* Shares of peak of whole networks, and fits to single kernels, none of them ours: MLPerf ResNet-50 by TensorRT in INT8
 * on T4, A30, A100, L4 and H100: 38, 48, 49, 44, 38 %; ResNet-50 in BF16 on two 8480+ 26 %, BERT-large in BF16 23 and
 * INT8 13
 * %; ResNet-50 on a Flex 170 in FP16 15, INT8 12 %; DeepBench matrix products in FP32 on a T4, fitted: 0.50 of the
 * peak. */
TEST(efficiencies_are_near_those_of_published_networks) {
  static const struct {
    situ_device_family family;
    efficiency_work work;
    situ_dtype dtype;
    double measured, within;
  } rows[] = {
      {SITU_FAMILY_GPU, EFFICIENCY_CONV, SITU_DTYPE_I8, (38 + 48 + 49 + 44 + 38) / 500.0, 0.05},
      {SITU_FAMILY_GPU_LOW_POWER, EFFICIENCY_MATMUL, SITU_DTYPE_F32, 0.50, 0.05},
      {SITU_FAMILY_CPU_AMX, EFFICIENCY_CONV, SITU_DTYPE_BF16, 0.26, 0.05},
      {SITU_FAMILY_CPU_AMX, EFFICIENCY_MATMUL, SITU_DTYPE_BF16, 0.23, 0.05},
      {SITU_FAMILY_CPU_AMX, EFFICIENCY_MATMUL, SITU_DTYPE_I8, 0.13, 0.05},
      {SITU_FAMILY_GPU_INTEL, EFFICIENCY_CONV, SITU_DTYPE_F16, 0.15, 0.05},
      {SITU_FAMILY_GPU_INTEL, EFFICIENCY_CONV, SITU_DTYPE_I8, 0.12, 0.05},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double found = of(rows[i].family, rows[i].work, rows[i].dtype).compute;
    if (fabs(found - rows[i].measured) > rows[i].within) fail_msg("row %d: %g", (int)i, found);
  }
}

/* Llama 2 7B in Q4_0 has 3.82 GB. Published speeds of decoding take, of the bandwidth, 62.5 / s x 3.82 / 484 = 49 % on
 * a GTX 1080 Ti, 55 % on a GTX 1060, 56 % on an RX 5700 XT, and 85 % and more on cards of today, less what launches
 * take. */
TEST(old_cards_decode_at_half_of_their_bandwidth) {
  static const struct {
    const char *name;
    double low, high;
  } rows[] = {{"gtx1080ti", 0.45, 0.60}, {"gtx1060", 0.45, 0.60}, {"p40", 0.45, 0.60},      {"p100-16g", 0.45, 0.60},
              {"rx5700xt", 0.45, 0.60},  {"mi50", 0.35, 0.60},    {"rx6800xt", 0.70, 0.85}, {"rx7900xtx", 0.70, 0.85},
              {"rtx2080ti", 0.80, 0.90}, {"rtx3090", 0.80, 0.90}, {"rtx5090", 0.80, 0.90},  {"v100-32g", 0.65, 0.80},
              {"a100-80g", 0.65, 0.80}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_device d = catalogue_device(catalogue_find(rows[i].name));
    double found = efficiency_of(&d, cost_engine_find("llama.cpp"), EFFICIENCY_MATMUL, SITU_DTYPE_I8).memory;
    if (found < rows[i].low || found > rows[i].high) fail_msg("%s: %g", rows[i].name, found);
  }
}

/* A token of gpt-oss 20B takes 24 blocks x 4 experts x 3 products x 2 x 2880 x 2880 = 4.78 GFLOP in experts. At its
 * published speeds of prefill experts so reach at least that, and, as they are most of the work, not three times that.
 */
TEST(experts_reach_less_of_the_peak) {
  static const struct {
    const char *name;
    double tokens_per_s;
  } rows[] = {{"rtx5090", 9848}, {"rtx4090", 8022}, {"rtx5080", 7477}, {"rtx3090", 5171}, {"rx7900xt", 4252}};
  const cost_engine *engine = cost_engine_find("llama.cpp");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_device d = catalogue_device(catalogue_find(rows[i].name));
    double peak = d.peak_flops[SITU_DTYPE_I8], low = rows[i].tokens_per_s * 4.78e9 / peak;
    double found = efficiency_of(&d, engine, EFFICIENCY_EXPERTS, SITU_DTYPE_I8).compute;
    if (found < low || found > 3 * low) fail_msg("%s: %g, not from %g to %g", rows[i].name, found, low, 3 * low);
  }
  assert_int_equal(efficiency_work_of("ExpertsMatMul"), EFFICIENCY_EXPERTS);
  assert_int_equal(efficiency_work_of("MatMul"), EFFICIENCY_MATMUL);
}

/* Llama-2 7B has 6.74 G weights, two FLOPs each for a token; published speeds of its prefill in Q4_0 (llama.cpp
 * discussion 10879). A card reaches at least that of its peak for bytes, and not half as much again. */
TEST(rdna_4_reaches_less_of_its_peak) {
  static const struct {
    const char *name;
    double tokens_per_s;
  } rows[] = {{"r9700", 5609.82}, {"rx9070xt", 5036.04}};
  const cost_engine *engine = cost_engine_find("llama.cpp");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_device d = catalogue_device(catalogue_find(rows[i].name));
    double low = rows[i].tokens_per_s * 2 * 6.74e9 / d.peak_flops[SITU_DTYPE_I8];
    double found = efficiency_of(&d, engine, EFFICIENCY_MATMUL, SITU_DTYPE_I8).compute;
    if (found < low || found > 1.5 * low) fail_msg("%s: %g, not from %g to %g", rows[i].name, found, low, 1.5 * low);
  }
}

/* The same of Llama 3 8B (8.03 G weights, of which 0.53 G are a table), in K-quants: 8B Q5_K_S with micro-batches of
 * 1,024 on an R9700 (llama.cpp pull request 18816, before it), 8B Q4_K_M on an RX 7900 XTX (26284) and an RTX 4090
 * (7860). */
TEST(k_quants_are_slower_on_rdna_4_alone) {
  static const struct {
    const char *name, *type;
    double tokens_per_s;
  } rows[] = {{"r9700", "q5_K", 3530.90}, {"rx7900xtx", "q4_K", 3189.36}, {"rtx4090", "q4_K", 9278.55}};
  const cost_engine *engine = cost_engine_find("llama.cpp");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_device d = catalogue_device(catalogue_find(rows[i].name));
    double low = rows[i].tokens_per_s * 2 * 7.5e9 / d.peak_flops[SITU_DTYPE_I8];
    double found = efficiency_of(&d, engine, EFFICIENCY_MATMUL, SITU_DTYPE_I8).compute *
                   efficiency_of_type(&d, engine, rows[i].type);
    if (found < low || found > 1.35 * low) fail_msg("%s: %g, not from %g to %g", rows[i].name, found, low, 1.35 * low);
    assert_true(efficiency_of_type(&d, engine, "q4_0") == 1);
    assert_true(efficiency_of_type(&d, cost_engine_find(NULL), "q4_K") == 1);
  }
}

/* Prefill in Q4_0 on cards whose peaks need instructions of Hopper: Llama-2 7B on an H100 (llama.cpp discussion 15013),
 * and the 7.0 G weights of 8B without its table on an H200 (bench/gpu_day/engine.csv); an A100 reaches more of its
 * peak. */
TEST(hopper_reaches_less_than_ampere) {
  static const struct {
    const char *name;
    double flops;
  } rows[] = {{"h100-80g", 11263.29 * 2 * 6.74e9}, {"h200", 9605 * 2 * 7.0e9}, {"a100-80g", 5285.96 * 2 * 6.74e9}};
  const cost_engine *engine = cost_engine_find("llama.cpp");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_device d = catalogue_device(catalogue_find(rows[i].name));
    double low = rows[i].flops / d.peak_flops[SITU_DTYPE_I8];
    double found = efficiency_of(&d, engine, EFFICIENCY_MATMUL, SITU_DTYPE_I8).compute;
    if (found < 0.9 * low || found > 1.35 * low) fail_msg("%s: %g, not near %g", rows[i].name, found, low);
  }
}

/* Speeds of mixtures by tokens of an expert, whole networks (llama.cpp pull request 26977, before it): gemma4 26B-A4B
 * 9500.66 at 32 and 11512.91 at 128, OLMoE 27705.19 at 64 and 32963.60 at 256. Experts alone gain more, but attention
 * and what is dense are not half of the work. */
TEST(experts_gain_by_their_tokens) {
  static const struct {
    double few, many, gain;
  } rows[] = {{32, 128, 11512.91 / 9500.66}, {64, 256, 32963.60 / 27705.19}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double found = efficiency_tiles(rows[i].few) / efficiency_tiles(rows[i].many);
    if (found < rows[i].gain || found > 2 * rows[i].gain - 1)
      fail_msg("%g to %g tokens: %g, published %g", rows[i].few, rows[i].many, found, rows[i].gain);
  }
  assert_true(efficiency_tiles(1) == efficiency_tiles(0.1) && efficiency_tiles(0) == 1);
}

/* Of the peak for F32, recurrences of gated delta nets: a kernel with a token at a time about 5 % on an RTX 5090
 * (gittensor-ai-lab/sparkinfer pull request 511). On an MI50 half of llama.cpp's kernel is 4.6 % of a prompt of Qwen3.5
 * 27B at 217 tokens/s (mxxm-t/mx-llama.cpp pull request 2): 48 blocks x 6 x 48 x 128 x 128 FLOP a token. */
TEST(recurrences_wait_most_of_the_time) {
  situ_device mi50 = catalogue_device(catalogue_find("mi50"));
  double second = 2 * 0.046 / 217, mi50_share = 48 * 6 * 48.0 * 128 * 128 / second / mi50.peak_flops[SITU_DTYPE_F32];
  const cost_engine *engine = cost_engine_find("llama.cpp");
  double found = efficiency_of(&mi50, engine, EFFICIENCY_STATE, SITU_DTYPE_F32).compute;
  if (found < mi50_share || found > 0.06) fail_msg("%g, not from %g to 0.06", found, mi50_share);
  assert_int_equal(efficiency_work_of("StateSpace"), EFFICIENCY_STATE);
  assert_true(of(SITU_FAMILY_GPU, EFFICIENCY_STATE, SITU_DTYPE_F32).compute ==
              of(SITU_FAMILY_GPU, EFFICIENCY_MATMUL, SITU_DTYPE_F32).compute);
}

/* Published prefill of Llama 3 8B in F16, 1,024 tokens in two micro-batches (XiongjieDai, GPU-Benchmarks): of what two
 * could gain on n cards, 2 / (1 + 1 / n), four A100 gain 11670.74 / 7504.24, four H100 15612.81 / 10342.63, four
 * RTX 3090 5713.41 / 4239.64 and two 4690.5 / 4239.64. Four RTX 4090 gained only 1.22 (8,192 tokens of gpt-oss 120B,
 * llama.cpp pull request 19378), in 16. */
TEST(geforce_cards_overlap_less_through_their_host) {
  static const struct {
    const char *name;
    double n, m, gain;
  } rows[] = {{"a100-80g-pcie", 4, 2, 11670.74 / 7504.24},
              {"h100-80g-pcie", 4, 2, 15612.81 / 10342.63},
              {"rtx3090", 4, 2, 5713.41 / 4239.64},
              {"rtx3090", 2, 2, 4690.5 / 4239.64},
              {"rtx4090", 4, 16, 4675.65 / 3822.24}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_device d = catalogue_device(catalogue_find(rows[i].name));
    double e = efficiency_overlap(&d, true), n = rows[i].n, m = rows[i].m;
    double found = m / (1 + (m - 1) * (1 - e * (1 - 1 / n)));
    if (fabs(found / rows[i].gain - 1) > 0.2) fail_msg("%s: gains %g, published %g", rows[i].name, found, rows[i].gain);
    assert_true(efficiency_overlap(&d, false) == 0.9);
  }
}

/* No unit is better used by a narrower type: what is gained is in the peak. */
TEST(narrow_types_reach_no_larger_part) {
  static const situ_dtype narrower[] = {SITU_DTYPE_F32, SITU_DTYPE_F16, SITU_DTYPE_I8};
  for (int f = SITU_FAMILY_CPU; f <= SITU_FAMILY_NPU; f++)
    for (int w = 0; w < EFFICIENCY_WORKS; w++)
      for (int k = 0; k < 3; k++) {
        efficiency e = of((situ_device_family)f, (efficiency_work)w, narrower[k]);
        assert_true(e.compute > 0 && e.compute <= 1 && e.memory > 0 && e.memory <= 1);
        assert_true(k == 0 || e.compute <= of((situ_device_family)f, (efficiency_work)w, narrower[k - 1]).compute);
        assert_true(e.memory == of((situ_device_family)f, EFFICIENCY_OTHER, SITU_DTYPE_F64).memory);
      }
}

TEST(types_of_one_unit_are_alike) {
  static const situ_dtype units[3][4] = {{SITU_DTYPE_F32, SITU_DTYPE_F64, SITU_DTYPE_I32, SITU_DTYPE_UNKNOWN},
                                         {SITU_DTYPE_F16, SITU_DTYPE_BF16, SITU_DTYPE_F16, SITU_DTYPE_BF16},
                                         {SITU_DTYPE_I8, SITU_DTYPE_U8, SITU_DTYPE_I4, SITU_DTYPE_F8}};
  for (int f = SITU_FAMILY_CPU; f <= SITU_FAMILY_NPU; f++)
    for (int u = 0; u < 3; u++)
      for (int k = 1; k < 4; k++)
        assert_true(of((situ_device_family)f, EFFICIENCY_CONV, units[u][k]).compute ==
                    of((situ_device_family)f, EFFICIENCY_CONV, units[u][0]).compute);
}

TEST(a_device_of_no_family_is_a_cpu_or_a_gpu) {
  for (int host = 0; host < 2; host++)
    for (int t = 0; t < DTYPE_COUNT; t++) {
      situ_device d = SITU_DEVICE_INIT;
      d.is_host = host;
      efficiency e = efficiency_of(&d, cost_engine_find(NULL), EFFICIENCY_CONV, (situ_dtype)t);
      efficiency same = of(host ? SITU_FAMILY_CPU : SITU_FAMILY_GPU, EFFICIENCY_CONV, (situ_dtype)t);
      assert_true(e.compute == same.compute && e.memory == same.memory);
    }
}

TEST(a_device_s_own_efficiency_holds_for_all) {
  situ_device d = SITU_DEVICE_INIT;
  d.family = SITU_FAMILY_NPU;
  d.efficiency = 0.37;
  for (int w = 0; w < EFFICIENCY_WORKS; w++)
    for (int t = 0; t < DTYPE_COUNT; t++) {
      efficiency e = efficiency_of(&d, cost_engine_find(NULL), (efficiency_work)w, (situ_dtype)t);
      assert_true(e.compute == 0.37 && e.memory == 0.37);
    }
}

TEST_MAIN
