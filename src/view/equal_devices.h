/* view/equal_devices.h - which devices are equal, at several levels.
 *
 * Devices of one type may change places. The required agreement depends on the question: a level promises that some
 * kind of plan has the same value and the same excess of memory when two devices of one type change places in it, and
 * only such devices are of one type. Equality at a level is transitive, so types are well defined. */
#ifndef SITU_VIEW_EQUAL_DEVICES_H
#define SITU_VIEW_EQUAL_DEVICES_H

#include "base/arena.h"
#include "problem/problem.h"

typedef enum device_equality {
  /* Class, size of memory, host or not, unused or not. For a plan that puts everything on one device, in every
   * execution model. Pins are ignored. */
  EQUAL_ALONE,

  /* From here on types are for plans that keep pins: a device with a pin is alone in its type. */

  /* Class, whether it pays for transfers (not a host, and no other device that plans may use has its memory), and the
   * routes from and to the host if it pays. For the load of a set of operators in a host-staged pipeline. Sizes of
   * memory may differ. */
  EQUAL_LOADS,
  /* Class, size of memory, host or not, routes from and to the host; with replicas, whether it may share a part; its
   * pool, where memories that share a capacity might exceed it. For host-staged pipelines and for calls, where
   * accelerators have memories of their own. Here max_sharing counts. */
  EQUAL_STAGED,
  /* Class, routes to and from every other memory; each has a memory of its own, or they share one. For streams without
   * contention, sizes of memory aside. */
  EQUAL_TIMED,
  /* EQUAL_TIMED and size of memory, host or not. For streams without contention. */
  EQUAL_LINKED,
  /* EQUAL_STAGED and EQUAL_LINKED, and the swap maps every route onto one with the same kinds of links, and channels
   * onto channels, one to one. For every execution model. */
  EQUAL_ALWAYS,
} device_equality;

typedef struct device_type {
  int32_t n_devices;
  int32_t *devices;    /* ascending */
  bool is_host;        /* pays no communication */
  bool pays;           /* EQUAL_LOADS: see there; else false */
  int32_t max_sharing; /* of its devices, that may run one part together (view/replicas.h); 1: none */
  int64_t memory_bytes;
} device_type;

typedef struct equal_devices {
  int32_t n_types, n_all; /* types n_types .. n_all-1 are of devices that no plan may use */
  device_type *types;     /* [n_all] in order of their first devices, usable ones before the others */
  int32_t *type_of;       /* [device] */
} equal_devices;

/* The types at a level. O(V + devices^2), and for each device and type that agree in all but single routes O(memories),
 * in all but channels O(memories * hops). False without memory. */
bool equal_devices_find(equal_devices *out, const situ_problem *problem, device_equality level, arena *a);

/* Whether device d is the first of its type. */
static inline bool equal_devices_first(const equal_devices *e, int32_t d) {
  return e->types[e->type_of[d]].devices[0] == d;
}

/* Whether two devices are equal as docs/model.md, "Replication", defines it: at level EQUAL_STAGED, pins, unused
 * devices and pools aside. O(devices). */
bool equal_devices_staged(const situ_problem *problem, int32_t a, int32_t b);

/* Whether another device uses the memory of d. O(devices). */
bool equal_devices_share_memory(const situ_problem *problem, int32_t d);

#endif
