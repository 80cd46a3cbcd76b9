/* engine/cores.h - which cores of this machine workers run on. */
#ifndef SITU_ENGINE_CORES_H
#define SITU_ENGINE_CORES_H

#include <stdbool.h>
#include <stdint.h>

enum { CORES_MOST = 1024 };
typedef struct core_set {
  uint64_t words[CORES_MOST / 64];
} core_set;

/* Those that this process may run on: all of the machine, unless it was started with fewer (taskset, mpirun). */
core_set cores_allowed(void);
void cores_add(core_set *set, const core_set *more);
void cores_remove(core_set *set, const core_set *less);
/* Takes `each` cores next to each other for each of n workers out of the set: first[n], or NULL. Takes nothing, and all
 * are -1, where there are not enough: workers then share what there is. */
void cores_take(core_set *set, int32_t *first, int32_t n, int32_t each);

#endif
