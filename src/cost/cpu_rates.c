#include "cost/cpu_rates.h"

#include <math.h>

#include "base/ascii.h"

/* Instruction sets, as far as platforms tell them. VNNI: bytes have a peak of their own. */
typedef enum instruction_set { AVX2, VNNI, AVX512, INSTRUCTION_SETS } instruction_set;

typedef struct product_row {
  const char *type;
  bool in_tiles; /* a unit for matrices computes it (AMX) */
  cpu_rate on[INSTRUCTION_SETS];
} product_row;

static const product_row products[] = {
    {"F32", false, {{0.64, 6.9}, {0.65, 7.1}, {0.44, 13.4}}},
    {"F16", false, {{0.55, 6.4}, {0.56, 6.6}, {0.41, 12.8}}},
    {"BF16", false, {{0.55, 8.1}, {0.57, 8.0}, {0.40, 12.9}}},
    {"Q4_0", true, {{0.63, 2.6}, {0.96, 3.5}, {0.55, 7.5}}},
    {"Q4_1", true, {{0.36, 1.0}, {0.39, 0.9}, {0.19, 2.2}}},
    {"Q5_0", false, {{0.44, 5.6}, {0.44, 5.6}, {0.35, 12.0}}},
    {"Q5_1", false, {{0.26, 0.5}, {0.32, 1.4}, {0.17, 2.3}}},
    {"Q8_0", true, {{0.61, 7.3}, {0.66, 7.3}, {0.40, 11.0}}},
    {"Q2_K", false, {{0.75, 2.5}, {0.77, 2.8}, {0.54, 9.2}}},
    {"Q3_K", false, {{0.88, 8.7}, {0.92, 8.3}, {0.81, 18.2}}},
    {"Q4_K", true, {{0.81, 2.6}, {0.81, 3.0}, {0.62, 7.4}}},
    {"Q5_K", true, {{0.80, 6.0}, {0.81, 5.8}, {0.86, 13.2}}},
    {"Q6_K", true, {{0.86, 7.3}, {0.87, 7.6}, {0.73, 14.2}}},
    {"IQ1_S", false, {{0.92, 27.5}, {0.90, 25.9}, {0.94, 63.8}}},
    {"IQ2_XXS", false, {{0.93, 45.0}, {0.87, 50.7}, {0.83, 58.7}}},
    {"IQ2_XS", false, {{0.87, 25.2}, {0.90, 24.4}, {0.76, 54.7}}},
    {"IQ2_S", false, {{0.83, 19.8}, {0.87, 19.9}, {0.83, 40.8}}},
    {"IQ3_XXS", false, {{0.81, 28.4}, {0.75, 33.3}, {0.75, 53.1}}},
    {"IQ3_S", false, {{0.79, 32.7}, {0.74, 34.0}, {0.76, 64.3}}},
    {"IQ4_NL", false, {{0.62, 2.8}, {0.91, 3.9}, {0.50, 8.4}}},
    {"IQ4_XS", true, {{0.74, 9.2}, {0.75, 10.4}, {0.95, 16.1}}},
    {"MXFP4", false, {{0.60, 4.8}, {0.93, 4.4}, {0.52, 9.7}}},
};
/* The same where weights are stored as in the file. */
static const product_row not_repacked[] = {
    {"Q4_0", false, {{0.51, 4.8}, {0.58, 4.1}, {0.38, 10.8}}},
    {"Q2_K", false, {{0.75, 2.2}, {0.77, 2.1}, {0.75, 11.9}}},
    {"Q4_K", false, {{0.81, 3.6}, {0.83, 3.7}, {0.89, 11.2}}},
    {"IQ4_NL", false, {{0.48, 4.8}, {0.53, 6.5}, {0.34, 12.2}}},
    {"MXFP4", false, {{0.35, 9.3}, {0.35, 15.5}, {0.19, 4.3}}},
};
static const double EXPERTS = 0.75;  /* of the share, in products that each take few of the tokens */
static const double IN_TILES = 0.10; /* of the peak of such units, from published speeds */

/* Attention, by the type of the cache; many: in steps of at least MANY tokens, which share what they read. */
enum { MANY = 64 };
typedef struct attention_row {
  const char *type;
  struct {
    double few, many, fetch;
  } on[INSTRUCTION_SETS];
} attention_row;
static const attention_row attentions[] = {
    {"F16", {{0.13, 0.45, 34}, {0.13, 0.45, 34}, {0.068, 0.24, 44}}},
    {"Q8_0", {{0.18, 0.09, 44}, {0.18, 0.09, 44}, {0.079, 0.05, 60}}},
    {"Q4_0", {{0.05, 0.05, 44}, {0.05, 0.05, 44}, {0.026, 0.025, 60}}},
};

static instruction_set set_of(const situ_device *device) {
  if (device->family == SITU_FAMILY_CPU_AVX512 || device->family == SITU_FAMILY_CPU_AMX) return AVX512;
  return device->peak_flops[SITU_DTYPE_I8] > 0 ? VNNI : AVX2;
}

static const product_row *find(const product_row *rows, size_t n, const char *type) {
  for (size_t i = 0; i < n; i++)
    if (ascii_same(rows[i].type, type)) return &rows[i];
  return NULL;
}

static bool attention_rate(cpu_rate *out, const char *type, instruction_set set, int64_t stream_tokens) {
  const size_t n = sizeof attentions / sizeof *attentions;
  size_t i = 0;
  while (i < n && !ascii_same(attentions[i].type, type)) i++;
  if (i == n) return false;
  double share = stream_tokens >= MANY ? attentions[i].on[set].many : attentions[i].on[set].few;
  *out = (cpu_rate){share, attentions[i].on[set].fetch};
  return true;
}

bool cpu_rate_of(cpu_rate *out, const situ_device *device, const cost_engine *engine, efficiency_work work,
                 const char *weight_type, cpu_scene scene) {
  situ_device_family family = efficiency_family_of(device);
  if (!engine->own_rates || !weight_type || device->efficiency > 0.0) return false;
  if (family != SITU_FAMILY_CPU && family != SITU_FAMILY_CPU_AMX) return false;
  if (!(device->peak_flops[SITU_DTYPE_F32] > 0.0)) return false;
  if (work == EFFICIENCY_ATTENTION) return attention_rate(out, weight_type, set_of(device), scene.stream_tokens);
  if (work != EFFICIENCY_MATMUL && work != EFFICIENCY_EXPERTS) return false;
  const product_row *r = NULL;
  if (scene.remote) r = find(not_repacked, sizeof not_repacked / sizeof *not_repacked, weight_type);
  if (!r) r = find(products, sizeof products / sizeof *products, weight_type);
  if (!r) return false;
  *out = r->on[set_of(device)];
  if (work == EFFICIENCY_EXPERTS) out->share *= EXPERTS;
  const double *peak = device->peak_flops;
  if (family == SITU_FAMILY_CPU_AMX && work == EFFICIENCY_MATMUL && r->in_tiles && peak[SITU_DTYPE_F32] > 0)
    out->share = fmax(out->share, IN_TILES * peak[SITU_DTYPE_I8] / peak[SITU_DTYPE_F32]);
  return true;
}
