#include "cost/efficiency.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

/* Which units compute with a type: plain ones, those for half precision, or those for bytes. */
typedef enum unit_kind { PLAIN, HALF, BYTES, UNIT_KINDS } unit_kind;

typedef struct row {
  situ_device_family family;
  bool
      geforce; /* the peak for F16 with sums in F32 is half of what the units could do, so that they reach more of it */
  double memory, conv[UNIT_KINDS], matmul[UNIT_KINDS];
} row;

/* Fractions of the peaks in the catalogue. docs/theory/models/roofline.md gives the source of each row, and the error
 * of fits to them. */
static const row rows[] = {
    /*                                memory  conv: plain half bytes  matmul: plain half bytes */
    {SITU_FAMILY_CPU, false, 0.80, {0.75, 0.60, 0.55}, {0.70, 0.50, 0.35}},
    {SITU_FAMILY_CPU_AMX, false, 0.80, {0.75, 0.30, 0.30}, {0.70, 0.25, 0.15}},
    {SITU_FAMILY_GPU, true, 0.75, {0.75, 0.72, 0.40}, {0.75, 0.80, 0.40}},
    {SITU_FAMILY_GPU, false, 0.75, {0.75, 0.50, 0.40}, {0.75, 0.55, 0.40}},
    {SITU_FAMILY_GPU_LOW_POWER, false, 0.75, {0.50, 0.45, 0.40}, {0.50, 0.45, 0.40}},
    {SITU_FAMILY_GPU_AMD, false, 0.75, {0.50, 0.40, 0.40}, {0.50, 0.45, 0.40}},
    {SITU_FAMILY_GPU_INTEL, false, 0.60, {0.20, 0.16, 0.13}, {0.20, 0.14, 0.08}},
    {SITU_FAMILY_GPU_APPLE, false, 0.85, {0.75, 0.75, 0.75}, {0.75, 0.75, 0.75}},
    {SITU_FAMILY_GPU_INTEGRATED, false, 0.65, {0.50, 0.40, 0.30}, {0.50, 0.35, 0.22}},
    {SITU_FAMILY_NPU, false, 0.60, {0.50, 0.50, 0.45}, {0.50, 0.30, 0.17}},
};

/* What engines lose with narrow types is time that units wait, which those of a GeForce spend computing anyway:
 * products lose nothing, convolutions, whose layouts are changed, half of it. */
static const double LOST_BY_CONVOLUTIONS = 0.5;

/* llama.cpp: fractions of the catalogue's peaks, and the time to start an operator, from published speeds
 * (docs/theory/models/language-models.md). SERVER: GPUs with many units for F64 (V100, A100). HOPPER: of these, with
 * units for 8-bit floats, whose peaks need instructions that llama.cpp does not use. WIDE: others whose peak for F16 is
 * at least three times that for F32 (workstations, Turing, GB10; of AMD RDNA 4). For GeForce since Ampere it is twice,
 * for sums in F32, while llama.cpp sums in F16. OLD: GPUs without matrix units, before Turing; of AMD before RDNA 2,
 * whose large caches need less than one byte for FLOPS_OF_A_BYTE. */
typedef enum llama_make { USUAL, WIDE, SERVER, HOPPER, OLD } llama_make;
enum { FLOPS_OF_A_BYTE = 28 };
typedef struct llama_row {
  situ_device_family family;
  llama_make make;
  double memory, matmul[UNIT_KINDS];
  double experts;  /* what products of routed experts, each with many tokens, reach of that */
  double k_quants; /* what products with types of super-blocks do */
  int64_t launch_ns;
} llama_row;
static const llama_row llama_rows[] = {
    /*                          memory matmul: plain half bytes  experts k launch */
    {SITU_FAMILY_CPU, USUAL, 0.65, {0.50, 0.40, 0.25}, 1, 1, 2500},
    {SITU_FAMILY_CPU_AMX, USUAL, 0.65, {0.50, 0.20, 0.10}, 1, 1, 2500},
    {SITU_FAMILY_GPU, USUAL, 0.85, {0.50, 0.88, 0.27}, 0.38, 1, 2700},
    {SITU_FAMILY_GPU, WIDE, 0.85, {0.50, 0.40, 0.20}, 0.38, 1, 2700},
    {SITU_FAMILY_GPU, SERVER, 0.72, {0.50, 0.35, 0.115}, 0.38, 1, 6200},
    {SITU_FAMILY_GPU, HOPPER, 0.72, {0.50, 0.25, 0.075}, 0.38, 1, 6200},
    {SITU_FAMILY_GPU, OLD, 0.55, {0.50, 0.30, 0.30}, 1, 1, 2700},
    {SITU_FAMILY_GPU_LOW_POWER, USUAL, 0.80, {0.40, 0.40, 0.25}, 1, 1, 2700},
    {SITU_FAMILY_GPU_AMD, USUAL, 0.75, {0.40, 0.40, 0.40}, 0.65, 1, 2700},
    {SITU_FAMILY_GPU_AMD, WIDE, 0.75, {0.40, 0.40, 0.22}, 0.65, 0.75, 2700},
    {SITU_FAMILY_GPU_AMD, OLD, 0.50, {0.40, 0.40, 0.40}, 0.65, 1, 2700},
    {SITU_FAMILY_GPU_INTEL, USUAL, 0.50, {0.20, 0.16, 0.13}, 0.38, 1, 6000},
    {SITU_FAMILY_GPU_APPLE, USUAL, 0.90, {0.60, 0.60, 0.60}, 1, 1, 11500},
    {SITU_FAMILY_GPU_INTEGRATED, USUAL, 0.85, {0.40, 0.35, 0.22}, 0.43, 1, 6000},
    {SITU_FAMILY_GPU_INTEGRATED, WIDE, 0.85, {0.40, 0.35, 0.22}, 1, 1, 6000},
    {SITU_FAMILY_NPU, USUAL, 0.50, {0.30, 0.30, 0.30}, 1, 1, 12000},
};

/* An expert with n tokens computes in tiles that are partly empty: as long as n + TILE_TOKENS would take in full ones,
 * but at most TILE_MAX times as long as n. Few tokens have kernels of their own, which wait for memory. */
static const double TILE_TOKENS = 20, TILE_MAX = 4;

/* Recurrences go from token to token: a kernel waits most of the time. */
static const double STATE_SHARE = 0.05;

/* What llama.cpp gains of the time that micro-batches of a prompt could overlap on several GPUs. GeForce cards, which
 * cannot reach each other's memory, wait for the driver's copies through the host. */
static const double OVERLAP = 0.9, OVERLAP_THROUGH_HOST = 0.4;

situ_device_family efficiency_family_of(const situ_device *device) {
  if (device->family == SITU_FAMILY_CPU_AVX512) return SITU_FAMILY_CPU;
  if (device->family != SITU_FAMILY_NONE) return device->family;
  return device->is_host ? SITU_FAMILY_CPU : SITU_FAMILY_GPU;
}

static llama_make make_of(const situ_device *device) {
  const double *peak = device->peak_flops;
  if (efficiency_family_of(device) == SITU_FAMILY_GPU_AMD) {
    bool matrix = peak[SITU_DTYPE_BF16] > 0 || peak[SITU_DTYPE_F16] > 2.5 * peak[SITU_DTYPE_F32];
    if (!matrix && device->memory_bytes_per_s > peak[SITU_DTYPE_F32] / FLOPS_OF_A_BYTE) return OLD;
    return peak[SITU_DTYPE_F16] >= 3 * peak[SITU_DTYPE_F32] ? WIDE : USUAL;
  }
  if (efficiency_family_of(device) == SITU_FAMILY_GPU_INTEGRATED)
    return peak[SITU_DTYPE_F16] >= 3 * peak[SITU_DTYPE_F32] && peak[SITU_DTYPE_F32] > 0 ? WIDE : USUAL;
  if (efficiency_family_of(device) != SITU_FAMILY_GPU) return USUAL;
  bool server = peak[SITU_DTYPE_F64] > 0 && peak[SITU_DTYPE_F64] >= peak[SITU_DTYPE_F32] / 4;
  if (peak[SITU_DTYPE_F16] <= 0 || (server && peak[SITU_DTYPE_F16] < 3 * peak[SITU_DTYPE_F32])) return OLD;
  if (server) return peak[SITU_DTYPE_F8] > 0 ? HOPPER : SERVER;
  return peak[SITU_DTYPE_F16] >= 3 * peak[SITU_DTYPE_F32] ? WIDE : USUAL;
}

static bool is_gpu(situ_device_family family) {
  return family != SITU_FAMILY_CPU && family != SITU_FAMILY_CPU_AMX && family != SITU_FAMILY_NPU;
}

static const llama_row *llama_row_of(const situ_device *device) {
  llama_make make = make_of(device);
  const llama_row *r = llama_rows, *end = llama_rows + sizeof llama_rows / sizeof *llama_rows;
  while (r + 1 < end && (r->family != efficiency_family_of(device) || r->make != make)) r++;
  return r;
}

int64_t efficiency_launch_ns(const situ_device *device, const cost_engine *engine, bool language_model) {
  double kernels = language_model && engine->language_kernels > 0 ? engine->language_kernels : 1;
  if (engine->own_rates) return llama_row_of(device)->launch_ns;
  return sat_round((double)device->launch_ns * engine->launch * kernels);
}

double efficiency_of_type(const situ_device *device, const cost_engine *engine, const char *weight_type) {
  return engine->own_rates && strstr(weight_type, "_K") ? llama_row_of(device)->k_quants : 1;
}

double efficiency_tiles(double tokens) { return tokens > 0 ? fmin(1 + TILE_TOKENS / tokens, TILE_MAX) : 1; }

static bool is_geforce(const situ_device *device) {
  return efficiency_family_of(device) == SITU_FAMILY_GPU && make_of(device) == USUAL;
}

double efficiency_overlap(const situ_device *device, bool through_host) {
  return is_geforce(device) && through_host ? OVERLAP_THROUGH_HOST : OVERLAP;
}

efficiency_work efficiency_work_of(const char *kind) {
  fusion_class class = fusion_class_of(kind);
  if (strcmp(kind, "ExpertsMatMul") == 0) return EFFICIENCY_EXPERTS;
  if (strcmp(kind, "Attention") == 0) return EFFICIENCY_ATTENTION;
  if (strcmp(kind, "StateSpace") == 0) return EFFICIENCY_STATE;
  return class == FUSION_CONV ? EFFICIENCY_CONV : class == FUSION_MATMUL ? EFFICIENCY_MATMUL : EFFICIENCY_OTHER;
}

static unit_kind unit_of(situ_dtype dtype) {
  switch (dtype) {
    case SITU_DTYPE_F16:
    case SITU_DTYPE_BF16: return HALF;
    case SITU_DTYPE_F8:
    case SITU_DTYPE_I8:
    case SITU_DTYPE_U8:
    case SITU_DTYPE_I4: return BYTES;
    default: return PLAIN;
  }
}

efficiency efficiency_of(const situ_device *device, const cost_engine *engine, efficiency_work work, situ_dtype dtype) {
  REQUIRE((unsigned)work < EFFICIENCY_WORKS);
  if (device->efficiency > 0.0) return (efficiency){device->efficiency, device->efficiency};
  if (engine->own_rates) {
    const llama_row *l = llama_row_of(device);
    if (work == EFFICIENCY_STATE && is_gpu(l->family)) return (efficiency){STATE_SHARE, l->memory};
    bool experts = work == EFFICIENCY_EXPERTS, product = experts || work == EFFICIENCY_MATMUL;
    double share = experts ? fmin(1, l->experts * engine->experts) : 1;
    if (product && is_gpu(l->family)) share *= engine->products;
    return (efficiency){fmin(1, share * l->matmul[unit_of(dtype)]), l->memory};
  }
  situ_device_family family = efficiency_family_of(device);
  const row *r = rows;
  bool geforce = is_geforce(device);
  while ((r->family != family || r->geforce != geforce) && r + 1 < rows + sizeof rows / sizeof *rows) r++;
  unit_kind unit = unit_of(dtype);
  double share = work == EFFICIENCY_CONV ? r->conv[unit] : r->matmul[unit];
  double lost = situ_dtype_bits(dtype) <= 16 ? 1 - engine->narrow : 0;
  if (geforce && unit == HALF) lost *= work == EFFICIENCY_CONV ? LOST_BY_CONVOLUTIONS : 0;
  return (efficiency){share * (1 - lost), r->memory};
}
