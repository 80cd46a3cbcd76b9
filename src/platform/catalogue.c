/* The catalogue: known devices and kinds of link, and looking them up. */
#include "platform/catalogue.h"

#include <string.h>

#include "base/arguments.h"
#include "base/ascii.h"
#include "platform/catalogue_rows.h"

#define ADDRESS(NAME) &catalogue_##NAME,
static const catalogue_table *const tables[] = {CATALOGUE_TABLES(ADDRESS)};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

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
static const situ_link_kind_info kinds[] = {
    {0, "pcie3", "PCI Express 3.0 x16", 10000, 20000, G(12.6), false, false,
     "PCI-SIG: 16 lanes x 8 GT/s x 128/130 = 15.75 GB/s, x 0.8"},
    {0, "pcie4", "PCI Express 4.0 x16", 10000, 20000, G(25.2), false, false,
     "PCI-SIG: 16 lanes x 16 GT/s x 128/130 = 31.5 GB/s, x 0.8"},
    {0, "pcie5", "PCI Express 5.0 x16", 10000, 20000, G(50.4), false, false,
     "PCI-SIG: 16 lanes x 32 GT/s x 128/130 = 63.0 GB/s, x 0.8"},
    {0, "pcie3x1", "PCI Express 3.0 x1", 10000, 20000, G(0.7875), false, false, "PCI-SIG: 1 of 16 lanes"},
    {0, "pcie3x4", "PCI Express 3.0 x4", 10000, 20000, G(3.15), false, false, "PCI-SIG: 4 of 16 lanes"},
    {0, "pcie3x8", "PCI Express 3.0 x8", 10000, 20000, G(6.3), false, false, "PCI-SIG: 8 of 16 lanes"},
    {0, "pcie4x1", "PCI Express 4.0 x1", 10000, 20000, G(1.575), false, false, "PCI-SIG: 1 of 16 lanes"},
    {0, "pcie4x4", "PCI Express 4.0 x4", 10000, 20000, G(6.3), false, false, "PCI-SIG: 4 of 16 lanes"},
    {0, "pcie4x8", "PCI Express 4.0 x8", 10000, 20000, G(12.6), false, false, "PCI-SIG: 8 of 16 lanes"},
    {0, "pcie5x1", "PCI Express 5.0 x1", 10000, 20000, G(3.15), false, false, "PCI-SIG: 1 of 16 lanes"},
    {0, "pcie5x4", "PCI Express 5.0 x4", 10000, 20000, G(12.6), false, false, "PCI-SIG: 4 of 16 lanes"},
    {0, "pcie5x8", "PCI Express 5.0 x8", 10000, 20000, G(25.2), false, false, "PCI-SIG: 8 of 16 lanes"},
    {0, "oculink", "OCuLink, PCI Express 4.0 x4", 10000, 20000, G(6.3), false, false, "PCI-SIG: 4 of 16 lanes"},
    {0, "thunderbolt3", "Thunderbolt 3", 12000, 22000, G(2.2), false, false,
     "Intel: 22 of 40 Gbit/s for PCI Express, x 0.8; the latency of its controllers is estimated"},
    {0, "thunderbolt4", "Thunderbolt 4", 12000, 22000, G(3.2), false, false,
     "Intel: 32 of 40 Gbit/s for PCI Express, x 0.8; the latency of its controllers is estimated"},
    {0, "thunderbolt5", "Thunderbolt 5", 12000, 22000, G(6.4), false, false,
     "Intel: 64 of 80 Gbit/s for PCI Express, x 0.8; the latency of its controllers is estimated"},
    {0, "usb4", "USB4, 40 Gbit/s", 12000, 22000, G(3.2), false, false,
     "USB-IF: PCI Express tunnelled in 40 Gbit/s as by Thunderbolt 4, x 0.8"},
    {0, "pcie3-p2p", "PCI Express 3.0 x16, GPU to GPU", 12000, 12000, G(10), true, false,
     "NCCL issue 814: 9.9 GB/s between two GPUs with P2P; the latency is estimated"},
    {0, "pcie4-p2p", "PCI Express 4.0 x16, GPU to GPU", 12000, 12000, G(20), true, false,
     "twice the rate of PCI Express 3.0, as in the standards; the latency is estimated"},
    {0, "nvlink1", "NVLink 1, one link for each pair", 8000, 8000, G(16), true, false,
     "NVIDIA DGX-1 (P100) whitepaper: 20 GB/s, x 0.8"},
    {0, "nvlink2", "NVLink 2, two links for each pair", 8000, 8000, G(40), true, false,
     "NVIDIA DGX-1 (V100) whitepaper: 50 GB/s, x 0.8"},
    {0, "nvlink3", "NVLink 3 with NVSwitch", 8000, 8000, G(240), true, true,
     "NVIDIA A100 datasheet: 600 GB/s both ways, x 0.5 x 0.8"},
    {0, "nvlink4", "NVLink 4 with NVSwitch", 8000, 8000, G(360), true, true,
     "NVIDIA H100 datasheet: 900 GB/s both ways, x 0.5 x 0.8"},
    {0, "nvlink5", "NVLink 5 with NVSwitch", 8000, 8000, G(720), true, true,
     "NVIDIA DGX B200 datasheet: 1800 GB/s both ways, x 0.5 x 0.8"},
    {0, "nvswitch", "NVLink 2 with NVSwitch", 8000, 8000, G(120), true, true,
     "NVIDIA DGX-2 datasheet: 300 GB/s both ways, x 0.5 x 0.8"},
    {0, "nvlink-bridge", "NVLink bridge of two GeForce RTX 3090", 8000, 8000, G(45), true, false,
     "NVIDIA GA102 whitepaper: 112.5 GB/s both ways, x 0.5 x 0.8"},
    {0, "infinity-fabric", "AMD Infinity Fabric link for each pair", 8000, 8000, G(40), true, false,
     "AMD Instinct MI250X datasheet: 100 GB/s both ways for a link, x 0.5 x 0.8"},
    {0, "infinity-fabric4", "AMD Infinity Fabric 4 link for each pair", 8000, 8000, G(51.2), true, false,
     "AMD Instinct MI300X datasheet: 128 GB/s both ways for a link, x 0.5 x 0.8"},
    {0, "upi", "Intel UPI between sockets, 3 links", 1000, 1000, G(49.9), false, false,
     "Intel: 3 x 10.4 GT/s x 2 bytes = 62.4 GB/s, x 0.8"},
    {0, "xgmi", "AMD xGMI-2 between sockets, 3 links", 1000, 1000, G(86.4), false, false,
     "AMD: 3 x 16 lanes x 18 GT/s / 8 = 108 GB/s, x 0.8"},
    {0, "shared", "memory shared with the host, by an integrated GPU", 15000, 25000, G(10), false, false,
     "as above; engines hand over plain tensors, which one core copies"},
    {0, "shared-npu", "memory shared with the host, by an NPU", 60000, 60000, G(10), false, false,
     "as above; engines hand over plain tensors, which one core copies"},
    {0, "wifi", "Wi-Fi 6, two streams of 80 MHz", 2000000, 2000000, G(0.075), false, false,
     "IEEE 802.11ax: 1.2 Gbit/s, x 0.5 for what TCP gets; the latency is estimated"},
    {0, "ethernet-1g", "Ethernet, 1 Gbit/s", 80000, 80000, G(0.1), false, false, "IEEE 802.3ab: 0.125 GB/s, x 0.8"},
    {0, "ethernet-2.5g", "Ethernet, 2.5 Gbit/s", 80000, 80000, G(0.25), false, false,
     "IEEE 802.3bz: 0.3125 GB/s, x 0.8"},
    {0, "ethernet-5g", "Ethernet, 5 Gbit/s", 80000, 80000, G(0.5), false, false, "IEEE 802.3bz: 0.625 GB/s, x 0.8"},
    {0, "ethernet-10g", "Ethernet, 10 Gbit/s", 80000, 80000, G(1), false, false, "IEEE 802.3ae: 1.25 GB/s, x 0.8"},
    {0, "ethernet-25g", "Ethernet, 25 Gbit/s", 40000, 40000, G(2.2), false, false, "IEEE 802.3by: 3.125 GB/s, x 0.7"},
    {0, "ethernet-40g", "Ethernet, 40 Gbit/s", 40000, 40000, G(3.5), false, false, "IEEE 802.3ba: 5 GB/s, x 0.7"},
    {0, "ethernet-100g", "Ethernet, 100 Gbit/s", 40000, 40000, G(8.75), false, false, "IEEE 802.3bj: 12.5 GB/s, x 0.7"},
    {0, "ethernet-200g", "Ethernet, 200 Gbit/s", 40000, 40000, G(17.5), false, false, "IEEE 802.3bs: 25 GB/s, x 0.7"},
    {0, "ethernet-400g", "Ethernet, 400 Gbit/s", 40000, 40000, G(35), false, false, "IEEE 802.3bs: 50 GB/s, x 0.7"},
    {0, "infiniband-edr", "InfiniBand EDR, 100 Gbit/s", 10000, 10000, G(10.625), false, false,
     "IBTA: 12.5 GB/s, x 0.85"},
    {0, "infiniband-hdr", "InfiniBand HDR, 200 Gbit/s", 10000, 10000, G(21.25), false, false, "IBTA: 25 GB/s, x 0.85"},
    {0, "infiniband-ndr", "InfiniBand NDR, 400 Gbit/s", 10000, 10000, G(42.5), false, false, "IBTA: 50 GB/s, x 0.85"},
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

const situ_device_kind_info *catalogue_row(int32_t index) {
  for (int i = 0; i < N_TABLES && index >= 0; index -= tables[i++]->n)
    if (index < tables[i]->n) return &tables[i]->rows[index];
  return NULL;
}

int32_t situ_device_kind_count(void) {
  int32_t n = 0;
  for (int i = 0; i < N_TABLES; i++) n += tables[i]->n;
  return n;
}

bool situ_device_kind_at(int32_t index, situ_device_kind_info *out) {
  const situ_device_kind_info *row = catalogue_row(index);
  if (!row) return false;
  situ_device_kind_info own = *row;
  own.granted_bytes = catalogue_granted_bytes(row, row->memory_bytes);
  return GIVE(out, own);
}

int32_t situ_link_kind_count(void) { return N_KINDS; }
bool situ_link_kind_at(int32_t index, situ_link_kind_info *out) {
  return index >= 0 && index < N_KINDS && GIVE(out, kinds[index]);
}

const situ_link_kind_info *link_kind_find(const char *key) {
  for (int i = 0; i < N_KINDS; i++)
    if (ascii_same(kinds[i].name, key)) return &kinds[i];
  return NULL;
}

int64_t catalogue_granted_bytes(const situ_device_kind_info *row, int64_t installed_bytes) {
  const int64_t SMALL = INT64_C(32) << 30;
  if (row->family != SITU_FAMILY_GPU_APPLE) return installed_bytes;
  int64_t bytes = installed_bytes / 1000000000 << 30; /* sold in GB, built in GiB */
  return bytes <= SMALL ? bytes / 3 * 2 : bytes / 4 * 3;
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
