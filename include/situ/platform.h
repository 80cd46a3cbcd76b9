/* situ/platform.h - the machine: devices, their memories, and the directed links between memories.
 *
 * A device runs one operator at a time. Devices that share a memory (the cores of a CPU, an integrated GPU and its
 * host) exchange tensors at no cost. Links join memories; a transfer between two memories follows one fixed
 * route, hop by hop, each hop served by its link. Links of one channel (a half-duplex bus, a shared PCIe root) together
 * serve one transfer at a time. */
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

typedef struct situ_device {
  const char *name;                    /* unique: "cpu", "gpu0" */
  const char *class_name;              /* devices of one class run each operator in the same time */
  double peak_flops[SITU_DTYPE_COUNT]; /* operations per second by element type; F32 > 0, others 0 = not stated */
  double memory_bytes_per_s;           /* bandwidth to its memory; > 0 */
  int64_t memory_bytes;                /* capacity; SITU_UNLIMITED_BYTES when unknown; the owner's when shared */
  int64_t launch_ns;                   /* overhead of starting an operator */
  int32_t shares_memory_with;          /* index of an earlier device whose memory it uses, or -1 for its own */
  bool is_host;                        /* holds the inputs of the model; transfers are staged through hosts */
  int32_t server;                      /* the machine it is in, any number from 0 up: equal numbers, one machine */
} situ_device;

typedef struct situ_link {
  int32_t from_device, to_device; /* the link joins the memories of these devices, in this direction */
  int64_t latency_ns;
  double bytes_per_s; /* > 0 */
  int32_t channel;    /* links with the same number >= 0 share one resource; -1 for a resource of its own */
} situ_link;

/* Builds a platform. Routes minimise (latency + time of 1 MiB), ties by fewest hops, then lowest link numbers.
 * BAD_INPUT when a value is out of range, a name is used twice, or a memory cannot be reached from another. Everything
 * is copied; servers are renumbered in order of their first device. */
SITU_API situ_status situ_platform_new(situ_platform **out, const char *name, const situ_device *devices,
                                       int32_t n_devices, const situ_link *links, int32_t n_links, situ_error *error);
SITU_API void situ_platform_free(situ_platform *platform);

/* Reads a platform: a path to a platform file (docs/formats/platform.md) when such a file exists or the text ends in
 * ".json"; "this-host" for the machine that runs situ; else a composed name such as "cpu+2*a100-80g" or
 * "2*(cpu+8*a100-80g)" over the catalogue of known devices (situ list devices). */
SITU_API situ_status situ_platform_read(situ_platform **out, const char *name_or_path, situ_error *error);

SITU_API const char *situ_platform_name(const situ_platform *platform);
SITU_API int32_t situ_platform_n_devices(const situ_platform *platform);
SITU_API int32_t situ_platform_n_links(const situ_platform *platform);
/* Device `index`; strings belong to the platform. */
SITU_API situ_device situ_platform_device(const situ_platform *platform, int32_t index);
SITU_API situ_link situ_platform_link(const situ_platform *platform, int32_t index);
/* The device of that name, or -1. */
SITU_API int32_t situ_platform_find(const situ_platform *platform, const char *name);

/* Writes a platform file (docs/formats/platform.md) from which situ_platform_read builds an equal platform. */
SITU_API situ_status situ_platform_write(const situ_platform *platform, const char *path, situ_error *error);

/* One row of the catalogue of real devices: the words of composed names, with the figures of the vendor's datasheet
 * (tensor cores without sparsity; 0 where the datasheet states none). All strings are static. */
typedef struct situ_known_device {
  const char *key;   /* "a100-80g": the name to use, and the class of the device */
  const char *title; /* "NVIDIA A100 80 GB SXM" */
  const char *kind;  /* "cpu", "gpu" or "npu" */
  int64_t memory_bytes;
  double memory_bytes_per_s;
  double peak_flops[SITU_DTYPE_COUNT];
  int64_t launch_ns;
  bool integrated;    /* shares the memory of its host */
  const char *bus;    /* the kind of link to its host ("pcie4"), or of hosts to each other */
  const char *fabric; /* what "@nvlink" and the like mean for it, or NULL */
  const char *source; /* the datasheet */
} situ_known_device;
SITU_API int32_t situ_catalogue_size(void);
/* Row `index`, 0 <= index < size, in the order to print. */
SITU_API situ_known_device situ_catalogue_entry(int32_t index);

/* One row of the table of kinds of link. */
typedef struct situ_known_link {
  const char *key, *title; /* "pcie4", "PCI Express 4.0 x16" */
  int64_t latency_ns;
  double bytes_per_s; /* what a large copy reaches in one direction */
  bool fabric;        /* joins accelerators with each other; else it joins them with a host, or hosts */
  bool switched;      /* through a switch: all that one device sends leaves by one port */
  const char *source;
} situ_known_link;
SITU_API int32_t situ_link_kinds_size(void);
SITU_API situ_known_link situ_link_kinds_entry(int32_t index);

/* Latency and rate of a link from measured transfers: time = latency + bytes / rate (docs/formats/platform.md). */
typedef struct situ_link_fit situ_link_fit;

/* Reads a table of measured transfers and fits the line. The first line names the columns, separated by comma,
 * semicolon or tab: `bytes`, and one of `time_ns`, `time_us`, `time_ms`, `time_s`; others are skipped. Of several
 * measurements of one size the median counts. The fit minimises the squares of relative errors, or with `absolute` of
 * errors in nanoseconds. BAD_INPUT with the line number for anything else, for fewer than two sizes, and when times do
 * not grow with the size.
 */
SITU_API situ_status situ_link_fit_read(situ_link_fit **out, const char *path, bool absolute, situ_error *error);
SITU_API void situ_link_fit_free(situ_link_fit *fit);

typedef struct situ_link_line {
  int64_t latency_ns;
  double bytes_per_s;
  bool latency_raised; /* the best line had a latency below 0: this is the best one through 0 */
  double r_squared;    /* part of the (weighted) variance that the line explains */
  double worst_share;  /* maximum |measured - fitted| / measured, and its size */
  double worst_bytes;
  int64_t n_measured;
  int32_t n_sizes;
} situ_link_line;
SITU_API situ_link_line situ_link_fit_line(const situ_link_fit *fit);

/* One size, ascending. */
typedef struct situ_link_sample {
  double size_bytes, time_ns, fitted_ns; /* the time is the median */
  int64_t n_measured;
} situ_link_sample;
SITU_API situ_link_sample situ_link_fit_sample(const situ_link_fit *fit, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
