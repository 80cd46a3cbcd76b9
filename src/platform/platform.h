/* platform/platform.h - the frozen platform as flat arrays. Memories are numbered in order of the first device that
 * uses them; routes are found when the platform is built. */
#ifndef SITU_PLATFORM_PLATFORM_H
#define SITU_PLATFORM_PLATFORM_H

#include "base/arena.h"
#include "situ/platform.h"

/* The maximum of a rate, in units per second: peaks, memories and links. */
#define PLATFORM_MAX_RATE 1e18

/* A group of unlike devices, or of unequal shares (platform/grouped.h), which the figures of its device, those of its
 * first member, do not show. */
typedef struct uneven_group {
  int32_t device;            /* of the platform; -1: it has none */
  const situ_device *member; /* [members of device] */
  const double *share;       /* [members of device] of what is split; above 0, and the sum is 1 */
} uneven_group;

struct situ_platform {
  arena *arena;
  const char *name;
  int32_t n_devices, n_classes, n_memories, n_links, n_channels, n_servers;

  situ_device *devices; /* strings in the arena */
  int32_t *class_of;    /* device -> class */
  int32_t *memory_of;   /* device -> memory */
  const char **class_name;
  int32_t *class_device; /* class -> its first device, which represents all */

  int64_t *memory_bytes; /* memory -> capacity */
  /* Memories that share their capacity are a pool: next_in_pool[m] is the next one, in ascending order, or -1. */
  int32_t *next_in_pool;
  bool *heads_pool; /* memory -> whether it is the first of its pool, or alone */

  uneven_group uneven;
  int32_t n_relayed;            /* the last links stand for routes through a host (cost/relayed.h) */
  situ_link *links;             /* as given, but every link has a channel 0 .. n_channels-1 */
  int32_t *link_from, *link_to; /* memories */
  /* The route from memory m to memory w is route_link[route_start[m * n_memories + w] .. route_start[... + 1]);
   * it is empty when m == w. */
  int32_t *route_start, *route_link;

  /* Where figures come from, for people; part of no hash. NULL, or an entry of NULL: see platform_device_source. */
  const char **device_source, **link_source, *source;
  const char *machine; /* the CPU of the machine that runs situ, where it was described; else NULL. Part of no hash. */
};

/* Builds a platform as situ_platform_freeze does, which states the errors, out of arrays, which are copied. The sizes
 * in devices[] do not matter. */
situ_status platform_new(situ_platform **out, const char *name, const situ_device *devices, int32_t n_devices,
                         const situ_link *links, int32_t n_links, situ_error *error);
/* The same for other devices and links of a platform: name and machine are those of `like`, and if
 * it has as many links, its last ones stand for routes as there. */
situ_status platform_new_like(situ_platform **out, const situ_platform *like, const situ_device *devices,
                              int32_t n_devices, const situ_link *links, int32_t n_links, situ_error *error);
/* Keeps a copy of the machine. False without memory. */
bool platform_keep_machine(situ_platform *platform, const char *machine);

/* Keeps a copy of the group, of one of its devices; of device -1, nothing. False without memory. */
bool platform_keep_uneven(situ_platform *platform, const uneven_group *group);

/* Keeps copies of texts that say where figures come from, [device], [link], and of the whole: each may be NULL, entries
 * too. False without memory. */
bool platform_keep_sources(situ_platform *platform, const char *const *device, const char *const *link,
                           const char *source);
/* Where the figures of a device or a link come from: as stated, else the row of the catalogue that has these figures.
 * Returns `into`. */
enum { PLATFORM_SOURCE_BYTES = 512 };
const char *platform_device_source(char into[PLATFORM_SOURCE_BYTES], const situ_platform *platform, int32_t device);
const char *platform_link_source(char into[PLATFORM_SOURCE_BYTES], const situ_platform *platform, int32_t link);

/* A number for everything that a platform says: equal platforms have equal hashes, on every machine. Version 0.1 left
 * the servers of the devices out: with_servers = false gives its hash, which is the same where there is one server. */
uint64_t platform_hash(const situ_platform *platform, bool with_servers);
/* The same of classes, memories and links, without figures: what indices in cost tables mean. */
uint64_t platform_shape_hash(const situ_platform *platform);

/* NULL, or which of the invariants above does not hold (base/contracts.h). O(devices^2 + hops of all routes). */
const char *platform_check(const situ_platform *platform);
/* What a wrong name of a device may have meant, of the first devices: "did you mean gpu0 or gpu1?", "known: cpu, gpu0".
 */
const char *platform_near_devices(char *into, size_t capacity, const situ_platform *platform, const char *word);

/* How many devices act as this one: 1, or the members of a group. */
static inline int32_t platform_members(const situ_platform *platform, int32_t device) {
  int32_t n = platform->devices[device].members;
  return n > 1 ? n : 1;
}

/* What a device leaves free so that each member of a group leaves `each_bytes` free; saturates. */
int64_t platform_reserve_bytes(const situ_platform *platform, int32_t device, int64_t each_bytes);

/* Who asks and gets the results: the first host, or the first device if there is none. */
int32_t platform_home(const situ_platform *platform);

/* Gives devices of one class of the platform, whose devices these are, classes "CLASS:DEVICE" where not all are alike;
 * alike[d] is the first device of the class of d that is like d. Names in the arena. False without memory. */
bool platform_split_classes(situ_device *devices, const situ_platform *platform, const int32_t *alike, arena *a);

/* By how much what memories hold exceeds their capacities, pools taken together, summed up. */
int64_t platform_excess_bytes(const situ_platform *platform, const int64_t *held_bytes);

#endif
