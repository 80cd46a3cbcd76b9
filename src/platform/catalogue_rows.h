/* platform/catalogue_rows.h - the rows of the catalogue, and its tables.
 *
 * Accelerators: peaks are those of the datasheet at boost clock, dense (no sparsity). F32 is the rate of plain FP32
 * units, not of TF32, since frameworks compute FP32 exactly unless told otherwise. F16 and BF16 are those of tensor
 * (matrix) units with FP32 accumulation, where the device has them; on GeForce cards from Turing on these are half of
 * the rate with FP16 accumulation. Memory is the stated size in units of 10^9 bytes; the true size is in units of 2^30,
 * and the difference accounts for the memory of contexts and allocators.
 *
 * CPUs: vendors state no FLOP/s. The peak is cores x clock x (FMA units x lanes x 2), the product written in the
 * source; the clock is what all cores sustain where that is known ("all-core"), else the base clock; bandwidth is
 * channels x transfers/s x 8 bytes; memory is the assumed installation.
 *
 * A figure that is not known for certain is left out (0), not guessed. */
#ifndef SITU_PLATFORM_CATALOGUE_ROWS_H
#define SITU_PLATFORM_CATALOGUE_ROWS_H

#include "situ/platform.h"

typedef struct catalogue_table {
  const situ_device_kind_info *rows;
  int32_t n;
} catalogue_table;

/* The tables in the order to print: one file that exports catalogue_NAME, and one line here. */
#define CATALOGUE_TABLES(ROW) \
  ROW(cpus)                   \
  ROW(nvidia)                 \
  ROW(gpus)                   \
  ROW(others)
#define CATALOGUE_DECLARE(NAME) extern const catalogue_table catalogue_##NAME;
CATALOGUE_TABLES(CATALOGUE_DECLARE)

#define GB(x) ((int64_t)((x)*1e9))
#define G(x) ((x)*1e9)
#define T(x) ((x)*1e12)
/* In units of 10^12 per second; 0 where the datasheet states nothing. */
#define PEAKS(f64, f32, f16, bf16, f8, i8)                                                                        \
  {                                                                                                               \
    [SITU_DTYPE_F64] = T(f64), [SITU_DTYPE_F32] = T(f32), [SITU_DTYPE_F16] = T(f16), [SITU_DTYPE_BF16] = T(bf16), \
    [SITU_DTYPE_F8] = T(f8), [SITU_DTYPE_I8] = T(i8), [SITU_DTYPE_U8] = T(i8)                                     \
  }

/* Time to start an operator (a fused group counts as one), from measured floors of tiny inputs divided by the kernels
 * of a network: TensorRT on A100 9 us, L4 6, RTX 4090 4 (MLPerf inference, ResNet-50, 56 kernels); OpenVINO on Flex 170
 * 11, on the integrated GPU of a Core Ultra 7 165H 23, on its NPU 14, on CPUs of 24 and of 80 cores 11, which includes
 * the little work there is (OpenVINO benchmarks, MobileNet-V2 in int8, 54 units). An engine multiplies it. */
enum { GPU_NS = 8000, INTEL_NS = 11000, SHARED_NS = 15000, NPU_NS = 12000, CPU_NS = 8000 };

/* A row: (GPU, memory in GB, bandwidth in GB/s, peaks, bus, fabric, "name", "title", "source"). */
#define CPU_ROW(family, memory, rate, peaks, bus, name, title, source) \
  { 0, name, title, "cpu", GB(memory), G(rate), peaks, CPU_NS, family, false, bus, NULL, source, 0 }
#define GPU_ROW(family, memory, rate, peaks, launch, bus, fabric, name, title, source) \
  { 0, name, title, "gpu", GB(memory), G(rate), peaks, launch, family, false, bus, fabric, source, 0 }
/* In the memory of its host. */
#define SHARED_ROW(family, memory, rate, peaks, name, title, source) \
  { 0, name, title, "gpu", GB(memory), G(rate), peaks, SHARED_NS, family, true, "shared", NULL, source, 0 }
#define NPU_ROW(shared, memory, rate, peaks, bus, fabric, name, title, source) \
  { 0, name, title, "npu", GB(memory), G(rate), peaks, NPU_NS, SITU_FAMILY_NPU, shared, bus, fabric, source, 0 }

#endif
