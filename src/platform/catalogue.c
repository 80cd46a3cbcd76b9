/* The catalogue: known devices and kinds of link, and looking them up. The rows are devices.csv and links.csv. */
#include "platform/catalogue.h"

#include <string.h>

#include "base/arguments.h"
#include "base/ascii.h"

#define G(x) ((x)*1e9)
#define T(x) ((x)*1e12) /* 0 where the datasheet states nothing */

/* Accelerators: peaks are those of the datasheet at boost clock, dense (no sparsity). F32 is the rate of plain FP32
 * units, not of TF32, since frameworks compute FP32 exactly by default. F16 and BF16 are those of tensor (matrix) units
 * with FP32 accumulation, where the device has them; on GeForce cards from Turing on these are half of the rate with
 * FP16 accumulation. Memory is the stated size in units of 10^9 bytes; the true size is in units of 2^30, and the
 * difference accounts for the memory of contexts and allocators.
 *
 * CPUs: vendors state no FLOP/s. The peak is cores x clock x (FMA units x lanes x 2), the product written as the
 * source; the clock is what all cores sustain where that is known ("all-core"), else the base clock; bandwidth is
 * channels x transfers/s x 8 bytes; memory is the assumed installation.
 *
 * Launch: time to start an operator (a fused group counts as one), from measured floors of tiny inputs divided by the
 * kernels of a network: TensorRT on A100 9 us, L4 6, RTX 4090 4 (MLPerf inference, ResNet-50, 56 kernels); OpenVINO on
 * Flex 170 11, on the integrated GPU of a Core Ultra 7 165H 23, on its NPU 14, on CPUs of 24 and of 80 cores 11, which
 * includes the little work there is (OpenVINO benchmarks, MobileNet-V2 in int8, 54 units). An engine multiplies it.
 *
 * A figure that is not known for certain is left out, not guessed. */
#define ROW(row_name, row_kind, row_family, memory, rate, f64, f32, f16, bf16, f8, i8, launch, row_bus, shared, \
            row_fabric, row_title, row_source)                                                                  \
  {.name = row_name,                                                                                            \
   .title = row_title,                                                                                          \
   .kind = row_kind,                                                                                            \
   .memory_bytes = (int64_t)G(memory),                                                                          \
   .memory_bytes_per_s = G(rate),                                                                               \
   .peak_flops = {[SITU_DTYPE_F64] = T(f64),                                                                    \
                  [SITU_DTYPE_F32] = T(f32),                                                                    \
                  [SITU_DTYPE_F16] = T(f16),                                                                    \
                  [SITU_DTYPE_BF16] = T(bf16),                                                                  \
                  [SITU_DTYPE_F8] = T(f8),                                                                      \
                  [SITU_DTYPE_I8] = T(i8),                                                                      \
                  [SITU_DTYPE_U8] = T(i8)},                                                                     \
   .launch_ns = launch,                                                                                         \
   .family = SITU_FAMILY_##row_family,                                                                          \
   .integrated = shared,                                                                                        \
   .bus = row_bus,                                                                                              \
   .fabric = row_fabric,                                                                                        \
   .source = row_source},
static const situ_device_kind_info devices[] = {
#include "platform/device_rows.h"
};
#undef ROW

/* Rates are 80 % of the rate of the standard in one direction: what large copies reach after headers and flow control
 * (measured: PCIe 3.0 12.4 and 13.1 GB/s, 4.0 26.1 and 25.6, bandwidthTest); TCP over 25 Gbit/s and more 70 %, RDMA 85
 * %.
 *
 * Latencies are those of a small tensor handed over by an engine in C++ from pinned memory, including waiting:
 * - PCIe to a discrete GPU 10 us: a call of cudaMemcpyAsync takes 4 to 15 us (Kineto traces in HolisticTraceAnalysis),
 *   cudaMemcpy at least 6 to 7 (README of GDRCopy). Back 20 us: synchronise 8 (cudaStreamSynchronize 2 to 11, same
 *   traces), copy 6, wake the thread 6. So two GPUs by way of their host take 30.
 * - A GPU in the memory of its host 15 us to and 25 back: it is waited for as any other. An NPU or DLA 60: handing over
 *   takes 10 to 43 us when leaving the GPU of a Jetson Xavier, 45 to 74 when leaving its DLA, though memory is shared
 *   (Dagli et al., "HaX-CoNN", PPoPP 2024).
 * - PCIe between GPUs whose driver lets them copy to each other (P2P) 12 us: an estimate, between NVLink and the 11 to
 *   19 us that p2pBandwidthLatencyTest has without P2P.
 * - NVLink and Infinity Fabric 8 us: a NCCL operation of 8 bytes in a node takes 9.8 us (nccl-tests, issue 331), the
 *   copy itself about 2 (p2pBandwidthLatencyTest).
 * - RDMA 10 us with software, TCP 40 us in a rack at 25 Gbit/s and more, 80 us below. */
#define ROW(row_name, row_title, latency, to_host, rate, row_fabric, row_switched, row_source) \
  {.name = row_name,                                                                           \
   .title = row_title,                                                                         \
   .latency_ns = latency,                                                                      \
   .to_host_ns = to_host,                                                                      \
   .bytes_per_s = G(rate),                                                                     \
   .fabric = row_fabric,                                                                       \
   .switched = row_switched,                                                                   \
   .source = row_source},
static const situ_link_kind_info links[] = {
#include "platform/link_rows.h"
};

enum { N_DEVICES = sizeof devices / sizeof *devices, N_LINKS = sizeof links / sizeof *links };

const situ_device_kind_info *catalogue_row(int32_t index) {
  return index >= 0 && index < N_DEVICES ? &devices[index] : NULL;
}

int32_t situ_device_kind_count(void) { return N_DEVICES; }

bool situ_device_kind_at(int32_t index, situ_device_kind_info *out) {
  const situ_device_kind_info *row = catalogue_row(index);
  if (!row) return false;
  situ_device_kind_info own = *row;
  own.granted_bytes = catalogue_granted_bytes(row, row->memory_bytes);
  return GIVE(out, own);
}

int32_t situ_link_kind_count(void) { return N_LINKS; }
bool situ_link_kind_at(int32_t index, situ_link_kind_info *out) {
  return index >= 0 && index < N_LINKS && GIVE(out, links[index]);
}

const situ_link_kind_info *link_kind_find(const char *key) {
  for (int i = 0; i < N_LINKS; i++)
    if (ascii_same(links[i].name, key)) return &links[i];
  return NULL;
}

/* Chips that were never sold with a system before macOS 15, whose Metal grants more. */
static bool is_recent(const char *name) {
  static const char *const begins[] = {"m3-ultra", "m4", "m5"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
  return false;
}

/* recommendedMaxWorkingSetSize, as logs of llama.cpp print it: up to macOS 14 two thirds of at most 32 GiB (21,845 MiB)
 * and three quarters of more; since 15 12713 of 16 GiB, 26801 of 32, 55663 of 64, 115449 of 128, 498216 MB of 512. */
int64_t catalogue_granted_bytes(const situ_device_kind_info *row, int64_t installed_bytes) {
  static const struct {
    int64_t max_gib;
    int percent;
  } rows[] = {{24, 74}, {48, 78}, {96, 81}, {256, 84}, {512, 90}};
  if (row->family != SITU_FAMILY_GPU_APPLE) return installed_bytes;
  int64_t gib = installed_bytes / 1000000000, bytes = gib << 30; /* sold in GB, built in GiB */
  for (size_t i = 0; is_recent(row->name) && i < sizeof rows / sizeof *rows; i++)
    if (gib <= rows[i].max_gib) return bytes / 100 * rows[i].percent;
  return gib <= 32 ? bytes / 3 * 2 : bytes / 4 * 3;
}

situ_device catalogue_device(const situ_device_kind_info *row) {
  situ_device device = {.size = sizeof device,
                        .class_name = row->name,
                        .memory_bytes_per_s = row->memory_bytes_per_s,
                        .memory_bytes = catalogue_granted_bytes(row, row->memory_bytes),
                        .launch_ns = row->launch_ns,
                        .shares_memory_with = -1,
                        .family = row->family,
                        .is_host = strcmp(row->kind, "cpu") == 0};
  memcpy(device.peak_flops, row->peak_flops, sizeof device.peak_flops);
  return device;
}
