/* view/device_types.h - devices grouped into types that no plan can tell apart. */
#ifndef SITU_VIEW_DEVICE_TYPES_H
#define SITU_VIEW_DEVICE_TYPES_H

#include "base/arena.h"
#include "problem/problem.h"

/* Equal devices: same times, same size of memory, same routes from and to the host. A device that operators are pinned
 * to is alone in its type; one that must stay empty is in none. Exact where transfers are staged through the host;
 * with link communication devices of a type may still differ in their routes to others. */
typedef struct device_type {
  int32_t n_devices;
  int32_t *devices;     /* ascending */
  bool is_host;         /* pays no communication */
  int32_t most_sharing; /* of its devices, that may run one part together (view/replicas.h); 1: none */
  int64_t memory_bytes;
} device_type;

/* The types in order of their first device. False without memory. */
bool device_types_find(device_type **types, int32_t *n_types, const situ_problem *problem, arena *a);
/* The same where transfers go from device to device: equal routes to and from all others too. */
bool device_twins_find(device_type **types, int32_t *n_types, const situ_problem *problem, arena *a);

#endif
