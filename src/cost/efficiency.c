#include "cost/efficiency.h"

#include "base/contracts.h"

/* How a type is computed: by plain units, by units for half precision, by units for bytes. */
typedef enum unit_kind { PLAIN, HALF, BYTES, UNIT_KINDS } unit_kind;

typedef struct row {
  situ_device_family family;
  double memory, conv[UNIT_KINDS], matmul[UNIT_KINDS];
} row;

/* Parts of the peaks in the catalogue. The sources of each row, and how far fits to them are off, are in
 * docs/theory/models/roofline.md. */
static const row rows[] = {
    /*                            memory  conv: plain half bytes  matmul: plain half bytes */
    {SITU_FAMILY_CPU, 0.80, {0.75, 0.60, 0.55}, {0.70, 0.50, 0.35}},
    {SITU_FAMILY_CPU_AMX, 0.80, {0.75, 0.30, 0.30}, {0.70, 0.25, 0.15}},
    {SITU_FAMILY_GPU, 0.75, {0.75, 0.50, 0.40}, {0.75, 0.55, 0.40}},
    {SITU_FAMILY_GPU_LOW_POWER, 0.75, {0.50, 0.45, 0.40}, {0.50, 0.45, 0.40}},
    {SITU_FAMILY_GPU_AMD, 0.75, {0.50, 0.40, 0.40}, {0.50, 0.45, 0.40}},
    {SITU_FAMILY_GPU_INTEL, 0.60, {0.20, 0.16, 0.13}, {0.20, 0.14, 0.08}},
    {SITU_FAMILY_GPU_APPLE, 0.85, {0.75, 0.75, 0.75}, {0.75, 0.75, 0.75}},
    {SITU_FAMILY_GPU_INTEGRATED, 0.65, {0.50, 0.40, 0.30}, {0.50, 0.35, 0.22}},
    {SITU_FAMILY_NPU, 0.60, {0.50, 0.50, 0.45}, {0.50, 0.30, 0.17}},
};

efficiency_work efficiency_work_of(fusion_class class) {
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

efficiency efficiency_of(const situ_device *device, efficiency_work work, situ_dtype dtype) {
  REQUIRE((unsigned)work < EFFICIENCY_WORKS);
  if (device->efficiency > 0.0) return (efficiency){device->efficiency, device->efficiency};
  situ_device_family family = device->family;
  if (family == SITU_FAMILY_NONE) family = device->is_host ? SITU_FAMILY_CPU : SITU_FAMILY_GPU;
  const row *r = rows;
  while (r->family != family && r + 1 < rows + sizeof rows / sizeof *rows) r++;
  unit_kind unit = unit_of(dtype);
  return (efficiency){work == EFFICIENCY_CONV ? r->conv[unit] : r->matmul[unit], r->memory};
}
