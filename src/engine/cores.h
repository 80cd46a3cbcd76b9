/* engine/cores.h - sets of cores of this machine, for workers. */
#ifndef SITU_ENGINE_CORES_H
#define SITU_ENGINE_CORES_H

#include <stdbool.h>
#include <stdint.h>

enum { CORES_MAX = 1024 };
typedef struct core_set {
  uint64_t words[CORES_MAX / 64];
} core_set;

/* The cores that this process may use: all of the machine, unless it was started with fewer (taskset, mpirun). */
core_set cores_allowed(void);
void cores_add(core_set *set, const core_set *more);
void cores_remove(core_set *set, const core_set *less);
/* Removes `each` consecutive cores for each of n workers from the set; first[n] (or NULL) receives the first of each.
 * If there are not enough it removes none, and all are -1: workers then share the cores. */
void cores_take(core_set *set, int32_t *first, int32_t n, int32_t each);

#endif
