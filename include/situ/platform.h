/* situ/platform.h - the machine: devices, their memories, and the directed links between memories.
 *
 * A device runs one operator at a time. Devices that share a memory (the cores of a CPU, an integrated GPU and its
 * host) exchange tensors at no cost. Links join memories. A transfer between two memories follows one fixed route, hop
 * by hop, each hop served by its link. Links of one channel (a half-duplex bus, a shared PCIe root) together serve one
 * transfer at a time.
 *
 * A platform is frozen: any number of threads may read it. A builder may be used by one thread at a time. Strings given
 * to a builder are copied; strings returned belong to the platform, those of the catalogue are static. */
#ifndef SITU_PLATFORM_H
#define SITU_PLATFORM_H

#include <stdbool.h>

#include "situ/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_platform situ_platform;

#define SITU_MAX_DEVICES 4096
#define SITU_MAX_LINKS 1048576

/* The family of a device, which determines the share of its peak that it reaches (docs/theory/models/roofline.md). NONE
 * counts as CPU for a host and as GPU otherwise. */
typedef enum situ_device_family {
  SITU_FAMILY_NONE,
  SITU_FAMILY_CPU,
  SITU_FAMILY_CPU_AMX,       /* with matrix units for BF16 and I8 */
  SITU_FAMILY_GPU,           /* NVIDIA, and any GPU of unknown vendor */
  SITU_FAMILY_GPU_LOW_POWER, /* about 75 W: clocks drop under load */
  SITU_FAMILY_GPU_AMD,
  SITU_FAMILY_GPU_INTEL,
  SITU_FAMILY_GPU_APPLE,
  SITU_FAMILY_GPU_INTEGRATED, /* shares the memory of its host */
  SITU_FAMILY_NPU,            /* also TPUs and similar */
  SITU_FAMILY_CPU_AVX512      /* two units of 512 bits in each core, with VNNI or without, and no matrix units */
} situ_device_family;

typedef struct situ_device {
  size_t size;
  const char *name;                  /* unique: "cpu", "gpu0" */
  const char *class_name;            /* devices of one class run each operator in the same time */
  double peak_flops[SITU_DTYPE_MAX]; /* operations per second by element type, 0: not stated; at least one of F32, F16,
                                         BF16, I8 must be > 0 */
  double memory_bytes_per_s;         /* bandwidth to its memory; > 0 */
  int64_t memory_bytes;              /* capacity; SITU_UNLIMITED_BYTES if unknown; that of the owner if shared */
  int64_t launch_ns;                 /* overhead of starting an operator */
  int32_t shares_memory_with;        /* index of an earlier device whose memory it uses, or -1 for its own */
  bool is_host;                      /* holds the inputs of the model; transfers are staged through hosts */
  /* Only with shares_memory_with: tensors are still transferred by links, as if it had a memory of its own; only the
   * capacity is shared, so both together must not exceed it. */
  bool separate_address_space;
  int32_t server; /* the machine that it belongs to, any number >= 0: devices with equal numbers are in
                     one machine */
  situ_device_family family;
  double efficiency; /* share of peak rate and bandwidth that it reaches, at most 1; 0: the default of the cost model */
  /* A group of devices that split operators among them (tensor parallelism, docs/theory/models/groups.md): how many; 0
   * and 1: a single device. Of unlike members these are the figures of the first. Rates and launch_ns are those of one
   * member, memory_bytes those of all together. A step of a collective of n bytes takes sync_latency_ns + n /
   * sync_bytes_per_s, which a group must state. */
  int32_t members;
  int32_t sync_links; /* of the longest path between two members: 1 directly, 2 through the host; 0: not known */
  int64_t sync_latency_ns;
  double sync_bytes_per_s;
} situ_device;
/* "gpu-intel", ...; "" for NONE and for any other value. */
SITU_API const char *situ_device_family_name(situ_device_family family);

/* Defaults: a device with an unlimited memory of its own. Set name, class and rates. */
#ifdef __cplusplus
inline situ_device situ_device_init() {
  situ_device made = situ_sized<situ_device>();
  made.memory_bytes = SITU_UNLIMITED_BYTES;
  made.shares_memory_with = -1;
  return made;
}
#define SITU_DEVICE_INIT situ_device_init()
#else
#define SITU_DEVICE_INIT \
  { .size = sizeof(situ_device), .memory_bytes = SITU_UNLIMITED_BYTES, .shares_memory_with = -1 }
#endif

/* Closed: it never grows. */
typedef struct situ_link {
  int32_t from_device, to_device; /* the link joins the memories of these devices, in this direction */
  int64_t latency_ns;
  double bytes_per_s; /* > 0 */
  int32_t channel;    /* links with the same number >= 0 share one resource; -1 for a resource of its own */
} situ_link;

typedef struct situ_platform_builder situ_platform_builder;
/* A new, empty builder for a platform of the given name (copied; NULL: "platform"). */
SITU_API situ_status situ_platform_builder_new(situ_platform_builder **out, const char *name, situ_error *error);
SITU_API void situ_platform_builder_free(situ_platform_builder *builder);
/* These calls do not report failures themselves: the builder remembers the first one, and situ_platform_freeze reports
 * it. They return the number of the device or link; -1 after a failure. */
SITU_API int32_t situ_platform_builder_add_device(situ_platform_builder *builder, const situ_device *device);
SITU_API int32_t situ_platform_builder_add_link(situ_platform_builder *builder, const situ_link *link);
/* The first failure so far; OK if there is none. */
SITU_API situ_status situ_platform_builder_status(const situ_platform_builder *builder, situ_error *error);
/* Freezes what was built. The builder is unchanged and must still be freed. A route is the path of minimum (latency +
 * time of 1 MiB); ties go to the fewest hops, then to the lowest link numbers. Fails with the builder's first failure,
 * and with BAD_INPUT if a value is out of range, two names are equal, or a memory cannot be reached from another.
 * Servers are renumbered in order of their first device. */
SITU_API situ_status situ_platform_freeze(situ_platform **out, const situ_platform_builder *builder, situ_error *error);
SITU_API void situ_platform_free(situ_platform *platform);

/* Reads a platform: the path of a platform file (docs/formats/platform.md) if such a file exists or the text ends in
 * ".json"; outputs of nvidia-smi and similar tools in a file; "this-host" for the machine that runs situ; else a
 * composed name such as "cpu+2*a100-80g" or "2*(cpu+8*a100-80g)" of devices in the catalogue (situ list devices). */
SITU_API situ_status situ_platform_read(situ_platform **out, const char *name_or_path, situ_error *error);

typedef struct situ_platform_summary {
  size_t size;
  const char *name;
  int32_t n_devices, n_links;
  int32_t n_classes;  /* of devices that run each operator in the same time */
  int32_t n_memories; /* numbered 0 .. n-1 in order of the first device that uses them, as in situ_transfer.to_memory */
} situ_platform_summary;
#define SITU_PLATFORM_SUMMARY_INIT SITU_SIZED(situ_platform_summary)
/* False, and nothing is written, if the platform or `out` is NULL or `out` has no size. */
SITU_API bool situ_platform_get_summary(const situ_platform *platform, situ_platform_summary *out);
/* Device `index`; false when there is none. */
SITU_API bool situ_platform_device(const situ_platform *platform, int32_t index, situ_device *out);
/* The name of device `index`; "" if there is none. */
SITU_API const char *situ_platform_device_name(const situ_platform *platform, int32_t index);
/* Link `index`; devices and channel -1 when there is none. */
SITU_API situ_link situ_platform_link(const situ_platform *platform, int32_t index);

/* The memory that a device uses; -1 if there is no such device. */
SITU_API int32_t situ_platform_memory_of(const situ_platform *platform, int32_t device);
/* The name of the first device that uses it; "" when there is no such memory. */
SITU_API const char *situ_platform_memory_name(const situ_platform *platform, int32_t memory);
/* Its capacity, SITU_UNLIMITED_BYTES if unknown; 0 if there is no such memory. */
SITU_API int64_t situ_platform_memory_bytes(const situ_platform *platform, int32_t memory);
/* The device of that name, or -1. */
SITU_API int32_t situ_platform_find(const situ_platform *platform, const char *name);

/* Writes a platform file (docs/formats/platform.md) from which situ_platform_read builds an equal platform. It says
 * where the figures of each device and link come from, as far as that is known. */
SITU_API situ_status situ_platform_write(const situ_platform *platform, const char *path, situ_error *error);

/* The catalogue of real devices: the words of composed names, with figures from the vendor's datasheet (tensor cores
 * without sparsity; 0 if the datasheet states none). In printing order. */
typedef struct situ_device_kind_info {
  size_t size;
  const char *name;  /* "a100-80g": the name to use, and the class of the device */
  const char *title; /* "NVIDIA A100 80 GB SXM" */
  const char *kind;  /* "cpu", "gpu" or "npu" */
  int64_t memory_bytes;
  double memory_bytes_per_s;
  double peak_flops[SITU_DTYPE_MAX];
  int64_t launch_ns;
  situ_device_family family;
  bool integrated;       /* shares the memory of its host */
  const char *bus;       /* the kind of link to its host ("pcie4"), or for a host to other hosts */
  const char *fabric;    /* the kind of link that "@nvlink" and similar suffixes mean for it, or NULL */
  const char *source;    /* the datasheet */
  int64_t granted_bytes; /* of memory_bytes, what the driver lets programs use; that of the device in a platform */
} situ_device_kind_info;
#define SITU_DEVICE_KIND_INFO_INIT SITU_SIZED(situ_device_kind_info)
SITU_API int32_t situ_device_kind_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_device_kind_at(int32_t index, situ_device_kind_info *out);

/* The table of kinds of link. */
typedef struct situ_link_kind_info {
  size_t size;
  const char *name, *title; /* "pcie4", "PCI Express 4.0 x16" */
  int64_t latency_ns;       /* towards a device, and between equals */
  int64_t to_host_ns;       /* from a device to its host, which must wait for it and wake up; else equal to
                               latency_ns */
  double bytes_per_s;       /* rate of a large copy in one direction */
  bool fabric;              /* connects accelerators with each other; otherwise it connects them with a host, or hosts
                               with each other */
  bool switched;            /* through a switch: everything that one device sends leaves through one port */
  const char *source;
} situ_link_kind_info;
#define SITU_LINK_KIND_INFO_INIT SITU_SIZED(situ_link_kind_info)
SITU_API int32_t situ_link_kind_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_link_kind_at(int32_t index, situ_link_kind_info *out);

/* Latency and rate of a link from measured transfers: time = latency + bytes / rate (docs/formats/platform.md). */
typedef struct situ_link_fit situ_link_fit;

/* Reads a table of measured transfers and fits the line. The first line of the file names the columns, separated by
 * comma, semicolon or tab: `bytes`, and one of `time_ns`, `time_us`, `time_ms`, `time_s`; others are skipped. Several
 * measurements of one size are replaced by their median. The fit minimises the squares of relative errors or, with
 * `absolute`, of errors in nanoseconds. BAD_INPUT, with the line number, for any other content, for fewer than two
 * sizes, and if times do not grow with size.
 */
SITU_API situ_status situ_link_fit_read(situ_link_fit **out, const char *path, bool absolute, situ_error *error);
SITU_API void situ_link_fit_free(situ_link_fit *fit);

typedef struct situ_link_line {
  size_t size;
  int64_t latency_ns;
  double bytes_per_s;
  bool latency_raised; /* the best line had a negative latency: this is the best one with latency 0 */
  int32_t n_sizes;
  double r_squared;   /* share of the (weighted) variance that the line explains */
  double worst_share; /* maximum of |measured - fitted| / measured; worst_bytes is the size at which it occurs */
  double worst_bytes;
  int64_t n_measured;
} situ_link_line;
#define SITU_LINK_LINE_INIT SITU_SIZED(situ_link_line)
/* False, and nothing is written, if `fit` or `out` is NULL or `out` has no size. */
SITU_API bool situ_link_fit_line(const situ_link_fit *fit, situ_link_line *out);

/* One measured size; indices ascend with size. All 0 past the end. Closed: it never grows. */
typedef struct situ_link_sample {
  double size_bytes, time_ns, fitted_ns; /* the time is the median */
  int64_t n_measured;
} situ_link_sample;
SITU_API situ_link_sample situ_link_fit_sample(const situ_link_fit *fit, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
