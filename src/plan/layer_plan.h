/* plan/layer_plan.h - a plan as layer-based formats see it: a device for each layer, for everything before the layers
 * and for everything after them. Also the only place that decides whether a plan has a form (situ_form, situ/plan.h),
 * for writers and searches.
 */
#ifndef SITU_PLAN_LAYER_PLAN_H
#define SITU_PLAN_LAYER_PLAN_H

#include "graph/layers.h"
#include "plan/plan.h"
#include "view/chunks.h"

typedef struct layer_plan {
  int32_t form; /* situ_form */
  layer_list layers;
  bool *expert;         /* [operator] routed, of a layer */
  int32_t n, *device;   /* [n] of the layer, without its routed experts */
  bool *spilled;        /* [n] its routed experts are on a host, the rest is elsewhere */
  int32_t first, head;  /* devices of the forward operators before and after the layers; -1 if there are none */
  int32_t n_runs;       /* of layers that follow each other on one device, or in one chunk; 0 unless the form asks for
                           runs */
  int32_t *run, *count; /* [run] its device, and how many layers */
  chunk_layout *chunks; /* where the schedule has several on each device; else NULL */
  arena *arena;
} layer_plan;

/* Finds the layers of the problem. UNSUPPORTED, in the name of the format (NULL: "the target"), where it has none, or
 * none with names where the form asks for names. layer_plan_free, after failures too. */
situ_status layer_plan_open(layer_plan *out, const situ_problem *problem, int32_t form, const char *format,
                            situ_error *error);
void layer_plan_free(layer_plan *l);

/* Takes a placement of all operators, [operator] device. UNSUPPORTED, in the name of the format, where it has not the
 * form. */
situ_status layer_plan_take(layer_plan *l, const situ_problem *problem, const int32_t *device, const char *format,
                            situ_error *error);

/* Both. */
situ_status layer_plan_find(layer_plan *out, const situ_plan *plan, int32_t form, const char *format,
                            situ_error *error);

#endif
