/* view/items.h - what shares no device time: the units of the problem (view/unit.h), here items, and their times on
 * sorts of devices. A sort is a class of devices; where operators are pinned, each device is a sort of its own. */
#ifndef SITU_VIEW_ITEMS_H
#define SITU_VIEW_ITEMS_H

#include "problem/problem.h"

typedef struct items {
  int32_t n, n_columns;
  int32_t *devices;      /* [column] how many devices of this sort */
  int32_t *column_of;    /* [device], -1 for one that may not be used */
  int64_t *time_ns;      /* [item * n_columns + column], SITU_NEVER_NS where it may not run */
  int64_t *weight_bytes; /* [item] what stays in the memory of its device for good; in pipelines, the stash of all
                            inputs in flight too */
  int32_t n_rooms;       /* sorts that share a memory share a room */
  int32_t *room_of;      /* [column] */
  int64_t *room_bytes;   /* [room] capacity of all its memories; SITU_UNLIMITED_BYTES when one of them is unlimited */
} items;

/* NULL, or which of the invariants above does not hold (base/contracts.h). */
const char *items_check(const items *x, const situ_problem *problem);

/* The time of item i on device d; SITU_NEVER_NS where it may not be. */
static inline int64_t items_time_ns(const items *x, int32_t i, int32_t d) {
  int32_t k = x->column_of[d];
  return k < 0 ? SITU_NEVER_NS : x->time_ns[(int64_t)i * x->n_columns + k];
}

/* Whether some operator is pinned, so that each device is a sort of its own. */
bool items_have_pins(const situ_problem *problem);
/* The number of sorts, and their devices: column_of ([device]) as above, column_device ([column]) one device of each;
 * -1 where plans may use none. */
int32_t items_columns(const situ_problem *problem);
void items_sort_devices(int32_t *column_of, int32_t *column_device, const situ_problem *problem);

situ_status items_list(items *out, const situ_problem *problem, arena *a, situ_error *error);

#endif
