/* solve/common/best_single.h - the best single device: everything on one device that may be used, pins ignored,
 * support and memory kept. */
#ifndef SITU_SOLVE_COMMON_BEST_SINGLE_H
#define SITU_SOLVE_COMMON_BEST_SINGLE_H

#include "sim/simulate.h"

typedef struct best_single {
  int64_t value_ns; /* SITU_NEVER_NS when no device can run it all */
  int32_t device;   /* -1 likewise; the first of equals otherwise */
} best_single;

/* Of the devices that are equal at EQUAL_ALONE (view/equal_devices.h) the first is tried. */
situ_status best_single_find(best_single *out, simulator *s, const situ_problem *problem, arena *scratch,
                             situ_error *error);

#endif
