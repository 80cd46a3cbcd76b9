/* platform/machine_text.h - the machine that outputs of system tools describe, as people paste them. */
#ifndef SITU_PLATFORM_MACHINE_TEXT_H
#define SITU_PLATFORM_MACHINE_TEXT_H

#include "base/json.h"
#include "platform/platform.h"

enum { MACHINE_GPUS = 64 };

/* A GPU as system tools describe it. Texts are static: names of tools. */
typedef struct machine_gpu {
  const situ_device_kind_info *row; /* NULL: not in the catalogue */
  int64_t free_bytes;               /* 0: not known */
  int generation, lanes;            /* of PCI Express; 0: not known */
  const char *named_by, *memory_by, *lanes_by;
} machine_gpu;

typedef struct machine_gpus {
  int n;
  machine_gpu gpu[MACHINE_GPUS];
  bool nvlink[MACHINE_GPUS][MACHINE_GPUS]; /* pairs with links of their own */
  char unknown[128];                       /* the first whose row is NULL; "" */
} machine_gpus;

/* Adds what one output of a system tool says of GPUs: outputs of several tools that list the same GPUs complete each
 * other. GPUs that the catalogue lacks have no row; what contradicts is left out. False without memory. */
bool machine_gpus_add(machine_gpus *into, const char *text);
/* The kind of link of a GPU to its host: that of its lanes where they are known, else that of the catalogue. */
const char *machine_gpu_bus(char into[32], const machine_gpu *gpu);
/* The kind of link between two of them by NVLink. */
const char *machine_gpu_fabric(const machine_gpu *gpu);
/* Where the figures of a GPU, and of its link, come from: texts for people. */
const char *machine_gpu_source(char *into, size_t n, const machine_gpu *gpu);
const char *machine_lanes_source(char *into, size_t n, const machine_gpu *gpu);

/* Builds a platform of the text of a file that is not JSON: outputs of nvidia-smi (its table, -q, -L, --query-gpu as
 * CSV, topo -m), of rocm-smi, rocminfo, vulkaninfo and system_profiler, of llama-server --list-devices, of lspci (-vv),
 * lscpu and free -b or /proc/meminfo, one after another. GPUs have the memory that is free where that is known, else
 * what the catalogue says, and the link of their lanes. The host is that of lscpu, else the generic one. BAD_INPUT with
 * the line of a device that the catalogue does not have, and if no device is found at all. */
situ_status platform_from_text(situ_platform **out, const char *text, const char *path, situ_error *error);

#endif
