/* situ/platform.h - the machine: devices, their memories, and the directed links between memories.
 *
 * A device runs one operator at a time. Devices that share a memory (the cores of a CPU, an integrated GPU and its
 * host) hand tensors to each other for nothing. Links join memories; a transfer between two memories follows one fixed
 * route, hop by hop, each hop served by its link. Links of one channel (a half-duplex bus, a shared PCIe root) serve
 * one transfer at a time between them. */
#ifndef SITU_PLATFORM_H
#define SITU_PLATFORM_H

#include <stdbool.h>

#include "situ/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_platform situ_platform;

#define SITU_MAX_DEVICES 4096

typedef struct situ_device {
  const char *name;                 /* unique: "cpu", "gpu0" */
  const char *class_name;           /* devices of one class run each operator in the same time */
  double peak_flops[SITU_DTYPE_COUNT]; /* operations per second by element type; 0 = takes the rate of F32 */
  double memory_bytes_per_s;        /* bandwidth to its memory; > 0 */
  int64_t memory_bytes;             /* capacity; SITU_UNLIMITED_BYTES when unknown */
  int64_t launch_ns;                /* overhead of starting an operator */
  int32_t shares_memory_with;       /* index of an earlier device whose memory it uses, or -1 for its own */
  bool is_host;                     /* holds the inputs of the model; transfers are staged through hosts */
} situ_device;

typedef struct situ_link {
  int32_t from_device, to_device; /* the link joins the memories of these devices, in this direction */
  int64_t latency_ns;
  double bytes_per_s; /* > 0 */
  int32_t channel;    /* links with the same number >= 0 share one resource; -1 for a resource of its own */
} situ_link;

/* Builds a platform. Routes are the ways of least (latency + time of 1 MiB), ties by fewest hops, then lowest link
 * numbers. BAD_INPUT when a value is out of range, a name is taken twice, or a memory cannot be reached from
 * another. Everything is copied. */
SITU_API situ_status situ_platform_new(situ_platform **out, const char *name, const situ_device *devices,
                                       int32_t n_devices, const situ_link *links, int32_t n_links, situ_error *error);
SITU_API void situ_platform_free(situ_platform *platform);

/* Reads a platform: a path to a platform file (docs/formats/platform.md) when such a file exists or the text ends in
 * ".json"; "this-host" for the machine that runs situ; else a composed name such as "cpu+2*a100-80g" over the
 * catalogue of known devices (situ list devices). */
SITU_API situ_status situ_platform_read(situ_platform **out, const char *name_or_path, situ_error *error);

SITU_API const char *situ_platform_name(const situ_platform *platform);
SITU_API int32_t situ_platform_n_devices(const situ_platform *platform);
SITU_API int32_t situ_platform_n_links(const situ_platform *platform);
/* Device `index`; strings belong to the platform. */
SITU_API situ_device situ_platform_device(const situ_platform *platform, int32_t index);
SITU_API situ_link situ_platform_link(const situ_platform *platform, int32_t index);
/* The device of that name, or -1. */
SITU_API int32_t situ_platform_find(const situ_platform *platform, const char *name);

#ifdef __cplusplus
}
#endif
#endif
