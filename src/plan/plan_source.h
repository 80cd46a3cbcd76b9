/* plan/plan_source.h - reading JSON members strictly, for plan files, certificates and pins. */
#ifndef SITU_PLAN_PLAN_SOURCE_H
#define SITU_PLAN_PLAN_SOURCE_H

#include "base/json.h"
#include "plan/plan.h"

/* Where we are in which file. */
typedef struct plan_source {
  const situ_graph *graph;
  const situ_platform *platform;
  const char *where;
  string_map *device_by_name;
} plan_source;

/* False without memory; the map lives in the arena. */
bool plan_source_new(plan_source *s, const situ_graph *graph, const situ_platform *platform, const char *where,
                     arena *a);

/* The device or operator that a JSON text names; `what` says whose it is in messages. */
situ_status plan_read_device(int32_t *device, const plan_source *s, const json_value *name, const char *what,
                             situ_error *error);
situ_status plan_read_operator(int32_t *op, const plan_source *s, const json_value *name, const char *what,
                               situ_error *error);
/* A whole number from 0 to INT64_MAX, or null for `null_is` where that is >= 0 (or -1: calls); else BAD_INPUT. */
situ_status plan_read_int(int64_t *out, const plan_source *s, const json_value *v, const char *what,
                          const int64_t *null_is, situ_error *error);

/* INT64_MAX means "never" or "no limit", which a plan file writes as null. NULL without memory. */
json_value *plan_int_json(int64_t value);

#endif
