/* platform/platform_sources.h - where platforms come from: names, files, and the machine that runs situ. */
#ifndef SITU_PLATFORM_PLATFORM_SOURCES_H
#define SITU_PLATFORM_PLATFORM_SOURCES_H

#include "base/json.h"
#include "platform/platform.h"

/* Builds the platform of a composed name ("cpu+2*a100-80g@nvlink"); the grammar is in docs/formats/platform.md.
 * BAD_ARGUMENT for an invalid name, with the nearest known words. */
situ_status platform_from_name(situ_platform **out, const char *name, situ_error *error);

/* Builds the platform of a platform file's tree; `where` (the file) begins the place of each message. BAD_INPUT for
 * anything that the format does not allow, unknown keys included. */
situ_status platform_from_json(situ_platform **out, const json_value *root, const char *where, situ_error *error);

/* The tree of a platform file with every value spelled out, for json_free; NULL without memory. Reading it builds an
 * equal platform. With `sources`, it says where the figures of each device and link come from. */
json_value *platform_to_json(const situ_platform *platform, bool sources);

#define THIS_HOST "this-host" /* the name of the platform below */
/* Describes the machine that runs situ: each NUMA node with cores is a host device, and each PCI display or processing
 * device in the catalogue is an accelerator at its node. */
situ_status platform_from_this_host(situ_platform **out, situ_error *error);
/* The number of cores that its first host device stands for; 0 for any other platform. */
int32_t this_host_threads(const situ_platform *p);
/* Whether a class of the platform is the CPU of this machine, "cpu-N-cores". */
bool this_host_is_cpu(const situ_platform *p, int32_t class_index);

/* Whether some of the rates that others are derived from is stated: f32, f16, bf16 or i8. */
bool device_has_peak(const situ_device *device);

#endif
