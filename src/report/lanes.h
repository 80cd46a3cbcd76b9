/* report/lanes.h - the content of a picture of a plan: one lane for each device and each link, with boxes on it. */
#ifndef SITU_REPORT_LANES_H
#define SITU_REPORT_LANES_H

#include "plan/plan.h"

typedef struct lane_box {
  int64_t start_ns, finish_ns;
  int32_t op;   /* or -1 for a transfer */
  int32_t item; /* of a transfer: its number in the plan of a stream, its tensor in a pipeline; -1: transfers that load
                   a device, all in one box */
} lane_box;

typedef struct lane {
  char *name; /* "gpu0"; "cpu > gpu0" */
  bool link;
  lane_box *boxes; /* by start, then finish, then operator */
  int64_t n, capacity;
  int64_t load_ns; /* of a device as in situ_device_use; of a link the sum of its boxes */
} lane;

typedef struct lane_list {
  lane *lanes; /* devices, then links */
  int32_t n;
  int32_t *drawn, n_drawn; /* the lanes of a picture: devices (all, or those in use where there are many) and links that
                              carry something */
  int64_t span_ns;         /* the end of the last box, and the value */
} lane_list;

/* stream, calls: when each operator and each transfer runs. pipeline: how each resource fills the period, its operators
 * in the order of their numbers; what replicas share is divided. Freed with lanes_free, after failures too. False
 * without memory. */
bool lanes_find(lane_list *out, const situ_plan *plan, arena *a);
void lanes_free(lane_list *list);

#endif
