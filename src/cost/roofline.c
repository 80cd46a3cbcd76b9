/* The roofline model: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
 * multicore architectures", Communications of the ACM 52(4), 2009. See docs/theory/models/roofline.md.
 *
 *     time = launch + max(flops / (e_compute * peak), moved_bytes / (e_memory * bandwidth)), up to whole ns
 *
 * Operators without work (reshapes, constants) take 0 ns: engines fold them away. */
#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "cost/cost_models.h"
#include "graph/graph.h"
#include "platform/platform.h"

/* What kernels of whole networks reach, not the best GEMM: PaLM reports 46 % (Chowdhery et al. 2022, MFU), Megatron-LM
 * 52 to 57 % (Korthikanti et al. 2022). Streaming kernels reach 80 to 90 % (Deakin et al., BabelStream, 2018). */
static const double DEFAULT_COMPUTE = 0.5, DEFAULT_MEMORY = 0.8;

/* Taken off before rounding up, so that the rounding of doubles does not add a nanosecond to a whole quotient. */
static const double SLACK = 1e-12;

static const situ_dtype next_choice[DTYPE_COUNT] = {
    [SITU_DTYPE_UNKNOWN] = SITU_DTYPE_F32, [SITU_DTYPE_F64] = SITU_DTYPE_F32,    [SITU_DTYPE_F32] = SITU_DTYPE_F32,
    [SITU_DTYPE_F16] = SITU_DTYPE_BF16,    [SITU_DTYPE_BF16] = SITU_DTYPE_F16,   [SITU_DTYPE_F8] = SITU_DTYPE_F16,
    [SITU_DTYPE_I64] = SITU_DTYPE_F32,     [SITU_DTYPE_I32] = SITU_DTYPE_F32,    [SITU_DTYPE_I16] = SITU_DTYPE_F32,
    [SITU_DTYPE_I8] = SITU_DTYPE_F16,      [SITU_DTYPE_I4] = SITU_DTYPE_I8,      [SITU_DTYPE_U64] = SITU_DTYPE_F32,
    [SITU_DTYPE_U32] = SITU_DTYPE_F32,     [SITU_DTYPE_U16] = SITU_DTYPE_F32,    [SITU_DTYPE_U8] = SITU_DTYPE_I8,
    [SITU_DTYPE_BOOL] = SITU_DTYPE_F32,    [SITU_DTYPE_STRING] = SITU_DTYPE_F32, [SITU_DTYPE_C64] = SITU_DTYPE_F32,
    [SITU_DTYPE_C128] = SITU_DTYPE_F64,
};

double roofline_peak(const situ_device *device, situ_dtype dtype) {
  REQUIRE((unsigned)dtype < DTYPE_COUNT);
  bool real = dtype == SITU_DTYPE_UNKNOWN || (dtype >= SITU_DTYPE_F64 && dtype <= SITU_DTYPE_F8) ||
              dtype == SITU_DTYPE_C64 || dtype == SITU_DTYPE_C128;
  /* The longest chain is U8, I8, F16, BF16; F16 and BF16 name each other, so after that only F32 is left. */
  for (int step = 0; step < 4; step++) {
    if (device->peak_flops[dtype] > 0.0) return device->peak_flops[dtype];
    dtype = next_choice[dtype];
  }
  static const situ_dtype last[] = {SITU_DTYPE_F32, SITU_DTYPE_F16, SITU_DTYPE_BF16, SITU_DTYPE_I8};
  for (int i = 0; i < (real ? 3 : 4); i++)
    if (device->peak_flops[last[i]] > 0.0) return device->peak_flops[last[i]];
  return 0.0;
}

/* Nanoseconds for each operation of a type and for each byte, on one class. */
typedef struct roof {
  double ns_per_flop[DTYPE_COUNT], ns_per_byte;
  int64_t launch_ns;
} roof;

static roof roof_of(const situ_device *device, double compute, double memory, double launch) {
  roof r = {.ns_per_byte = 1e9 / (memory * device->memory_bytes_per_s)};
  r.launch_ns = sat_round((double)device->launch_ns * launch);
  for (int t = 0; t < DTYPE_COUNT; t++) r.ns_per_flop[t] = 1e9 / (compute * roofline_peak(device, (situ_dtype)t));
  return r;
}

static int64_t time_under(const roof *r, situ_dtype dtype, int64_t flops, int64_t moved_bytes) {
  if (flops <= 0 && moved_bytes <= 0) return 0;
  double work_ns = fmax((double)flops * r->ns_per_flop[dtype], (double)moved_bytes * r->ns_per_byte);
  if (flops > 0 && isinf(r->ns_per_flop[dtype])) return SITU_NEVER_NS;
  double whole = ceil(work_ns * (1.0 - SLACK));
  return whole >= 0x1p63 ? INT64_MAX : sat_add(r->launch_ns, (int64_t)whole);
}

static situ_status estimate(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                            const fusion *work, const situ_cost_options *options, situ_error *error) {
  double compute = options->efficiency > 0.0 ? options->efficiency : DEFAULT_COMPUTE;
  double memory = options->efficiency > 0.0 ? options->efficiency : DEFAULT_MEMORY;
  situ_costs *c;
  TRY(costs_new_with_transfers(&c, graph, platform, work->known, error));
  char source[96];
  snprintf(source, sizeof source, "roofline at %g %% of peak and %g %% of bandwidth", 100.0 * compute, 100.0 * memory);
  c->source = arena_string(c->arena, source);
  roof *roofs = ARENA_NEW(c->arena, roof, c->n_classes);
  if (!c->source || !roofs) {
    situ_costs_free(c);
    return fail_no_memory(error);
  }
  for (int32_t k = 0; k < c->n_classes; k++)
    roofs[k] = roof_of(&platform->devices[platform->class_device[k]], compute, memory,
                       cost_engine_find(options->engine)->launch);
  for (int32_t v = 0; v < c->n_operators; v++)
    for (int32_t k = 0; k < c->n_classes; k++)
      c->time_ns[(int64_t)v * c->n_classes + k] =
          time_under(&roofs[k], (situ_dtype)work->dtype[v], work->flops[v], work->moved_bytes[v]);
  *out = c;
  return SITU_STATUS_OK;
}

const cost_model cost_roofline = {
    .name = "roofline",
    .title = "the slower of arithmetic at part of the peak and memory traffic at part of the bandwidth, plus launch",
    .source = "Williams, Waterman, Patterson, CACM 52(4), 2009",
    .estimate = estimate,
};
