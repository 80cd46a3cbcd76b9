/* The catalogue: figures that the vendors publish, one row for each device.
 *
 * Accelerators: peaks are those of the datasheet at boost clock, dense (no sparsity). F32 is the rate of plain FP32
 * units, not of TF32, since frameworks compute FP32 exactly unless told otherwise. F16 and BF16 are those of tensor
 * (matrix) units with FP32 accumulation, where the device has them. Memory is the stated size in units of 10^9 bytes;
 * the true size is in units of 2^30, and the difference stands for what contexts and allocators take.
 *
 * CPUs: vendors state no FLOP/s. The peak is cores x base clock x (FMA units x lanes x 2), the product written in the
 * source; bandwidth is channels x transfers/s x 8 bytes; memory is the assumed installation.
 *
 * Launch: 5 us for a kernel of a discrete GPU (the usual figure for an enqueued CUDA or HIP kernel), 10 us for
 * integrated ones and for OpenCL devices, 1 us for waking the threads of a CPU. These are no figures of datasheets. */
#include "platform/catalogue.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arguments.h"
#include "base/near_name.h"

#define GB(x) ((int64_t)((x)*1e9))
#define G(x) ((x)*1e9)
#define T(x) ((x)*1e12)
/* In units of 10^12 per second; 0 where the datasheet states nothing. */
#define PEAKS(f64, f32, f16, bf16, f8, i8)                                                                        \
  {                                                                                                               \
    [SITU_DTYPE_F64] = T(f64), [SITU_DTYPE_F32] = T(f32), [SITU_DTYPE_F16] = T(f16), [SITU_DTYPE_BF16] = T(bf16), \
    [SITU_DTYPE_F8] = T(f8), [SITU_DTYPE_I8] = T(i8), [SITU_DTYPE_U8] = T(i8)                                     \
  }

enum { GPU_LAUNCH_NS = 5000, SLOW_LAUNCH_NS = 10000, CPU_LAUNCH_NS = 1000 };

static const situ_device_kind_info devices[] = {
    {0, "cpu", "generic server CPU, 2 x 16 cores with AVX2", "cpu", GB(256), G(256), PEAKS(1.3312, 2.6624, 0, 0, 0, 0),
     CPU_LAUNCH_NS, false, "upi", NULL,
     "no product: 32 cores x 2.6 GHz x 32 FLOP (2 FMA x 8 lanes x 2); 2 x 6 channels DDR4-2666; 256 GB assumed"},
    {0, "xeon-e5-2698v4", "Intel Xeon E5-2698 v4, 20 cores", "cpu", GB(256), G(76.8), PEAKS(0.704, 1.408, 0, 0, 0, 0),
     CPU_LAUNCH_NS, false, "upi", NULL,
     "Intel ARK: 20 cores x 2.2 GHz x 32 FLOP (AVX2); 4 channels DDR4-2400; 256 GB assumed"},
    {0, "xeon6248", "Intel Xeon Gold 6248, 20 cores", "cpu", GB(192), G(140.8), PEAKS(1.6, 3.2, 0, 0, 0, 12.8),
     CPU_LAUNCH_NS, false, "upi", NULL,
     "Intel ARK: 20 cores x 2.5 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 6 channels DDR4-2933; 192 GB assumed"},
    {0, "xeon8380", "Intel Xeon Platinum 8380, 40 cores", "cpu", GB(256), G(204.8),
     PEAKS(2.944, 5.888, 0, 0, 0, 23.552), CPU_LAUNCH_NS, false, "upi", NULL,
     "Intel ARK: 40 cores x 2.3 GHz x 64 FLOP (2 x AVX-512; VNNI x 4); 8 channels DDR4-3200; 256 GB assumed"},
    {0, "xeon8480", "Intel Xeon Platinum 8480+, 56 cores", "cpu", GB(512), G(307.2),
     PEAKS(3.584, 7.168, 0, 114.688, 0, 229.376), CPU_LAUNCH_NS, false, "upi", NULL,
     "Intel ARK: 56 cores x 2.0 GHz x 64 FLOP (2 x AVX-512; AMX 1024 BF16, 2048 INT8); 8 channels DDR5-4800; "
     "512 GB assumed"},
    {0, "epyc7742", "AMD EPYC 7742, 64 cores", "cpu", GB(256), G(204.8), PEAKS(2.304, 4.608, 0, 0, 0, 0), CPU_LAUNCH_NS,
     false, "xgmi", NULL,
     "AMD EPYC 7742 product page: 64 cores x 2.25 GHz x 32 FLOP (AVX2); 8 channels DDR4-3200; 256 GB assumed"},
    {0, "epyc9654", "AMD EPYC 9654, 96 cores", "cpu", GB(768), G(460.8), PEAKS(3.6864, 7.3728, 0, 0, 0, 29.4912),
     CPU_LAUNCH_NS, false, "xgmi", NULL,
     "AMD EPYC 9654 product page: 96 cores x 2.4 GHz x 32 FLOP (AVX-512 in two halves; VNNI x 4); 12 channels "
     "DDR5-4800; 768 GB assumed"},
    {0, "i9-12900k", "Intel Core i9-12900K, 8 + 8 cores", "cpu", GB(64), G(76.8),
     PEAKS(0.5632, 1.1264, 0, 0, 0, 4.5056), CPU_LAUNCH_NS, false, "ethernet-10g", NULL,
     "Intel ARK: 8 x 3.2 GHz x 32 + 8 x 2.4 GHz x 16 FLOP (AVX2; VNNI x 4); 2 channels DDR5-4800; 64 GB assumed"},
    {0, "i9-13900k", "Intel Core i9-13900K, 8 + 16 cores", "cpu", GB(64), G(89.6),
     PEAKS(0.6656, 1.3312, 0, 0, 0, 5.3248), CPU_LAUNCH_NS, false, "ethernet-10g", NULL,
     "Intel ARK: 8 x 3.0 GHz x 32 + 16 x 2.2 GHz x 16 FLOP (AVX2; VNNI x 4); 2 channels DDR5-5600; 64 GB assumed"},
    {0, "orin-cpu", "Jetson AGX Orin 64 GB, its CPU", "cpu", GB(64), G(204.8), PEAKS(0.2112, 0.4224, 0, 0, 0, 0),
     CPU_LAUNCH_NS, false, "ethernet-10g", NULL,
     "NVIDIA Jetson AGX Orin datasheet: 12 x Cortex-A78AE x 2.2 GHz x 16 FLOP (2 x NEON); LPDDR5 204.8 GB/s"},
    {0, "rpi5", "Raspberry Pi 5, 8 GB", "cpu", GB(8), G(17.1), PEAKS(0.0768, 0.1536, 0.3072, 0, 0, 0), CPU_LAUNCH_NS,
     false, "ethernet-1g", NULL,
     "Raspberry Pi 5 product brief: 4 x Cortex-A76 x 2.4 GHz x 16 FLOP (2 x NEON; FP16 x 2); LPDDR4X-4267, 32 bit"},

    {0, "k80", "NVIDIA Tesla K80, one of its two GPUs", "gpu", GB(12), G(240), PEAKS(1.455, 4.365, 0, 0, 0, 0),
     GPU_LAUNCH_NS, false, "pcie3", NULL, "NVIDIA Tesla K80 datasheet: half of 24 GB, 480 GB/s, 8.73 / 2.91 TFLOPS"},
    {0, "gtx1080ti-11g", "NVIDIA GeForce GTX 1080 Ti", "gpu", GB(11), G(484), PEAKS(0, 11.34, 0, 0, 0, 0),
     GPU_LAUNCH_NS, false, "pcie3", NULL,
     "NVIDIA GeForce GTX 1080 Ti product page: 3584 cores x 1.582 GHz x 2; 484 GB/s"},
    {0, "p100-16g", "NVIDIA Tesla P100 16 GB PCIe", "gpu", GB(16), G(732), PEAKS(4.7, 9.3, 18.7, 0, 0, 0),
     GPU_LAUNCH_NS, false, "pcie3", NULL, "NVIDIA Tesla P100 datasheet, PCIe column"},
    {0, "p100-16g-sxm", "NVIDIA Tesla P100 16 GB SXM2", "gpu", GB(16), G(732), PEAKS(5.3, 10.6, 21.2, 0, 0, 0),
     GPU_LAUNCH_NS, false, "pcie3", "nvlink1", "NVIDIA Tesla P100 datasheet, NVLink column"},
    {0, "v100-16g", "NVIDIA V100 16 GB SXM2", "gpu", GB(16), G(900), PEAKS(7.8, 15.7, 125, 0, 0, 0), GPU_LAUNCH_NS,
     false, "pcie3", "nvlink2", "NVIDIA V100 datasheet, SXM2 column"},
    {0, "v100-32g", "NVIDIA V100 32 GB SXM2", "gpu", GB(32), G(900), PEAKS(7.8, 15.7, 125, 0, 0, 0), GPU_LAUNCH_NS,
     false, "pcie3", "nvlink2", "NVIDIA V100 datasheet, SXM2 column"},
    {0, "t4-16g", "NVIDIA T4 16 GB", "gpu", GB(16), G(320), PEAKS(0, 8.1, 65, 0, 0, 130), GPU_LAUNCH_NS, false, "pcie3",
     NULL, "NVIDIA T4 datasheet; bandwidth from the NVIDIA T4 product brief"},
    {0, "rtx3090-24g", "NVIDIA GeForce RTX 3090", "gpu", GB(24), G(936), PEAKS(0.556, 35.6, 71, 71, 0, 284),
     GPU_LAUNCH_NS, false, "pcie4", "nvlink-bridge",
     "NVIDIA Ampere GA102 GPU architecture whitepaper, FP32 accumulation"},
    {0, "a10-24g", "NVIDIA A10 24 GB", "gpu", GB(24), G(600), PEAKS(0, 31.2, 125, 125, 0, 250), GPU_LAUNCH_NS, false,
     "pcie4", NULL, "NVIDIA A10 datasheet"},
    {0, "a30-24g", "NVIDIA A30 24 GB", "gpu", GB(24), G(933), PEAKS(5.2, 10.3, 165, 165, 0, 330), GPU_LAUNCH_NS, false,
     "pcie4", NULL, "NVIDIA A30 datasheet"},
    {0, "a100-40g", "NVIDIA A100 40 GB SXM4", "gpu", GB(40), G(1555), PEAKS(9.7, 19.5, 312, 312, 0, 624), GPU_LAUNCH_NS,
     false, "pcie4", "nvlink3", "NVIDIA A100 datasheet, A100 40GB SXM"},
    {0, "a100-80g", "NVIDIA A100 80 GB SXM4", "gpu", GB(80), G(2039), PEAKS(9.7, 19.5, 312, 312, 0, 624), GPU_LAUNCH_NS,
     false, "pcie4", "nvlink3", "NVIDIA A100 datasheet, A100 80GB SXM"},
    {0, "a100-80g-pcie", "NVIDIA A100 80 GB PCIe", "gpu", GB(80), G(1935), PEAKS(9.7, 19.5, 312, 312, 0, 624),
     GPU_LAUNCH_NS, false, "pcie4", NULL, "NVIDIA A100 datasheet, A100 80GB PCIe"},
    {0, "l4-24g", "NVIDIA L4 24 GB", "gpu", GB(24), G(300), PEAKS(0, 30.3, 121, 121, 242.5, 242.5), GPU_LAUNCH_NS,
     false, "pcie4", NULL, "NVIDIA L4 datasheet, half of the rates with sparsity"},
    {0, "l40s-48g", "NVIDIA L40S 48 GB", "gpu", GB(48), G(864), PEAKS(0, 91.6, 362, 362, 733, 733), GPU_LAUNCH_NS,
     false, "pcie4", NULL, "NVIDIA L40S datasheet, without sparsity"},
    {0, "rtx4090-24g", "NVIDIA GeForce RTX 4090", "gpu", GB(24), G(1008), PEAKS(1.29, 82.6, 165.2, 165.2, 330.3, 660.6),
     GPU_LAUNCH_NS, false, "pcie4", NULL, "NVIDIA Ada GPU architecture whitepaper, FP32 accumulation"},
    {0, "h100-80g", "NVIDIA H100 80 GB SXM5", "gpu", GB(80), G(3350), PEAKS(34, 67, 989.5, 989.5, 1979, 1979),
     GPU_LAUNCH_NS, false, "pcie5", "nvlink4", "NVIDIA H100 datasheet, SXM column, half of the rates with sparsity"},
    {0, "h200-141g", "NVIDIA H200 141 GB SXM", "gpu", GB(141), G(4800), PEAKS(34, 67, 989.5, 989.5, 1979, 1979),
     GPU_LAUNCH_NS, false, "pcie5", "nvlink4", "NVIDIA H200 datasheet, half of the rates with sparsity"},
    {0, "orin-64g", "Jetson AGX Orin 64 GB, its GPU", "gpu", GB(64), G(204.8), PEAKS(0, 5.32, 42.5, 0, 0, 85),
     SLOW_LAUNCH_NS, true, "pcie4", NULL,
     "NVIDIA Jetson AGX Orin technical brief: 2048 cores x 1.3 GHz x 2; tensor cores 170 sparse INT8 TOPS"},

    {0, "mi100-32g", "AMD Instinct MI100 32 GB", "gpu", GB(32), G(1228.8), PEAKS(11.5, 23.1, 184.6, 92.3, 0, 184.6),
     GPU_LAUNCH_NS, false, "pcie4", NULL, "AMD Instinct MI100 product page; FP32 vector"},
    {0, "mi210-64g", "AMD Instinct MI210 64 GB", "gpu", GB(64), G(1638.4), PEAKS(22.6, 22.6, 181, 181, 0, 181),
     GPU_LAUNCH_NS, false, "pcie4", NULL, "AMD Instinct MI210 datasheet; FP32 and FP64 vector"},
    {0, "mi250x-128g", "AMD Instinct MI250X 128 GB, both dies as one", "gpu", GB(128), G(3276.8),
     PEAKS(47.9, 47.9, 383, 383, 0, 383), GPU_LAUNCH_NS, false, "pcie4", "infinity-fabric",
     "AMD Instinct MI250X datasheet; FP32 and FP64 vector; software sees two devices of half of this"},
    {0, "mi300x-192g", "AMD Instinct MI300X 192 GB", "gpu", GB(192), G(5300),
     PEAKS(81.7, 163.4, 1307.4, 1307.4, 2614.9, 2614.9), GPU_LAUNCH_NS, false, "pcie5", "infinity-fabric4",
     "AMD Instinct MI300X datasheet; FP32 and FP64 vector"},

    {0, "uhd770", "Intel UHD Graphics 770 (integrated)", "gpu", GB(32), G(76.8), PEAKS(0, 0.7936, 1.5872, 0, 0, 0),
     SLOW_LAUNCH_NS, true, "pcie4", NULL,
     "Intel ARK, Core i9-12900K: 32 units x 8 lanes x 1.55 GHz x 2 (FP16 x 2); DDR5-4800; half of 64 GB assumed"},
    {0, "flex170-16g", "Intel Data Center GPU Flex 170", "gpu", GB(16), G(576), PEAKS(0, 16.8, 125, 125, 0, 250),
     SLOW_LAUNCH_NS, false, "pcie4", NULL,
     "Intel Data Center GPU Flex Series product brief: INT8 250 TOPS, FP16 as its half; 512 units x 16 x 2.05 GHz"},
    {0, "a770-16g", "Intel Arc A770 16 GB", "gpu", GB(16), G(560), PEAKS(0, 17.2, 131, 131, 0, 262), SLOW_LAUNCH_NS,
     false, "pcie4", NULL, "Intel ARK, Arc A770: INT8 262 TOPS, FP16 as its half; 512 units x 16 x 2.1 GHz; 560 GB/s"},
    {0, "max1550-128g", "Intel Data Center GPU Max 1550", "gpu", GB(128), G(3276.8),
     PEAKS(52.4, 52.4, 832, 832, 0, 1664), GPU_LAUNCH_NS, false, "pcie5", NULL,
     "Intel Data Center GPU Max Series product brief; FP32 and FP64 vector"},
};

/* Rates are 80 % of the rate of the standard in one direction: what large copies reach after headers and flow control.
 * Latencies are those of a small copy that the runtime starts, rounded. */
static const situ_link_kind_info kinds[] = {
    {0, "pcie3", "PCI Express 3.0 x16", 10000, G(12.6), false, false,
     "PCI-SIG: 16 lanes x 8 GT/s x 128/130 = 15.75 GB/s, x 0.8"},
    {0, "pcie4", "PCI Express 4.0 x16", 10000, G(25.2), false, false,
     "PCI-SIG: 16 lanes x 16 GT/s x 128/130 = 31.5 GB/s, x 0.8"},
    {0, "pcie5", "PCI Express 5.0 x16", 10000, G(50.4), false, false,
     "PCI-SIG: 16 lanes x 32 GT/s x 128/130 = 63.0 GB/s, x 0.8"},
    {0, "nvlink1", "NVLink 1, one link for each pair", 8000, G(16), true, false,
     "NVIDIA DGX-1 (P100) whitepaper: 20 GB/s, x 0.8"},
    {0, "nvlink2", "NVLink 2, two links for each pair", 8000, G(40), true, false,
     "NVIDIA DGX-1 (V100) whitepaper: 50 GB/s, x 0.8"},
    {0, "nvlink3", "NVLink 3 with NVSwitch", 8000, G(240), true, true,
     "NVIDIA A100 datasheet: 600 GB/s both ways, x 0.5 x 0.8"},
    {0, "nvlink4", "NVLink 4 with NVSwitch", 8000, G(360), true, true,
     "NVIDIA H100 datasheet: 900 GB/s both ways, x 0.5 x 0.8"},
    {0, "nvswitch", "NVLink 2 with NVSwitch", 8000, G(120), true, true,
     "NVIDIA DGX-2 datasheet: 300 GB/s both ways, x 0.5 x 0.8"},
    {0, "nvlink-bridge", "NVLink bridge of two GeForce RTX 3090", 8000, G(45), true, false,
     "NVIDIA GA102 whitepaper: 112.5 GB/s both ways, x 0.5 x 0.8"},
    {0, "infinity-fabric", "AMD Infinity Fabric link for each pair", 8000, G(40), true, false,
     "AMD Instinct MI250X datasheet: 100 GB/s both ways for a link, x 0.5 x 0.8"},
    {0, "infinity-fabric4", "AMD Infinity Fabric 4 link for each pair", 8000, G(51.2), true, false,
     "AMD Instinct MI300X datasheet: 128 GB/s both ways for a link, x 0.5 x 0.8"},
    {0, "upi", "Intel UPI between sockets, 3 links", 1000, G(49.9), false, false,
     "Intel: 3 x 10.4 GT/s x 2 bytes = 62.4 GB/s, x 0.8"},
    {0, "xgmi", "AMD xGMI-2 between sockets, 3 links", 1000, G(86.4), false, false,
     "AMD: 3 x 16 lanes x 18 GT/s / 8 = 108 GB/s, x 0.8"},
    {0, "ethernet-1g", "Ethernet, 1 Gbit/s", 50000, G(0.1), false, false, "IEEE 802.3ab: 0.125 GB/s, x 0.8"},
    {0, "ethernet-10g", "Ethernet, 10 Gbit/s", 30000, G(1), false, false, "IEEE 802.3ae: 1.25 GB/s, x 0.8"},
    {0, "ethernet-25g", "Ethernet, 25 Gbit/s", 30000, G(2.5), false, false, "IEEE 802.3by: 3.125 GB/s, x 0.8"},
    {0, "ethernet-100g", "Ethernet, 100 Gbit/s", 20000, G(10), false, false, "IEEE 802.3bj: 12.5 GB/s, x 0.8"},
    {0, "infiniband-hdr", "InfiniBand HDR, 200 Gbit/s", 5000, G(20), false, false, "IBTA: 25 GB/s, x 0.8"},
    {0, "infiniband-ndr", "InfiniBand NDR, 400 Gbit/s", 5000, G(40), false, false, "IBTA: 50 GB/s, x 0.8"},
};

enum { N_DEVICES = sizeof devices / sizeof devices[0], N_KINDS = sizeof kinds / sizeof kinds[0] };

int32_t situ_device_kind_count(void) { return N_DEVICES; }
bool situ_device_kind_at(int32_t index, situ_device_kind_info *out) {
  return index >= 0 && index < N_DEVICES && GIVE(out, devices[index]);
}
int32_t situ_link_kind_count(void) { return N_KINDS; }
bool situ_link_kind_at(int32_t index, situ_link_kind_info *out) {
  return index >= 0 && index < N_KINDS && GIVE(out, kinds[index]);
}

const situ_device_kind_info *catalogue_find(const char *key) {
  for (int i = 0; i < N_DEVICES; i++)
    if (strcasecmp(devices[i].name, key) == 0) return &devices[i];
  return NULL;
}

const situ_link_kind_info *link_kind_find(const char *key) {
  for (int i = 0; i < N_KINDS; i++)
    if (strcasecmp(kinds[i].name, key) == 0) return &kinds[i];
  return NULL;
}

enum { N_NEAREST = 3 };

/* `names` points to the name in the first of n rows, `stride` bytes apart. */
static const char *nearest(char into[CATALOGUE_HINT_BYTES], const char *wanted, const char *const *names, int n,
                           size_t stride) {
  const char *best[N_NEAREST] = {NULL};
  int best_distance[N_NEAREST] = {0};
  for (int i = 0; i < n; i++) {
    const char *key = *(const char *const *)((const char *)names + (size_t)i * stride);
    int d = name_distance(wanted, key), at = N_NEAREST;
    while (at > 0 && (!best[at - 1] || d < best_distance[at - 1])) at--;
    if (at == N_NEAREST) continue;
    for (int k = N_NEAREST - 1; k > at; k--) best[k] = best[k - 1], best_distance[k] = best_distance[k - 1];
    best[at] = key;
    best_distance[at] = d;
  }
  snprintf(into, CATALOGUE_HINT_BYTES, "%s, %s or %s", best[0], best[1], best[2]);
  return into;
}

const char *catalogue_nearest_device(char into[CATALOGUE_HINT_BYTES], const char *key) {
  return nearest(into, key, &devices[0].name, N_DEVICES, sizeof devices[0]);
}

const char *catalogue_nearest_link(char into[CATALOGUE_HINT_BYTES], const char *key) {
  return nearest(into, key, &kinds[0].name, N_KINDS, sizeof kinds[0]);
}

situ_device catalogue_device(const situ_device_kind_info *row) {
  situ_device device = {.size = sizeof device,
                        .class_name = row->name,
                        .memory_bytes_per_s = row->memory_bytes_per_s,
                        .memory_bytes = row->memory_bytes,
                        .launch_ns = row->launch_ns,
                        .shares_memory_with = -1,
                        .is_host = strcmp(row->kind, "cpu") == 0};
  memcpy(device.peak_flops, row->peak_flops, sizeof device.peak_flops);
  return device;
}
