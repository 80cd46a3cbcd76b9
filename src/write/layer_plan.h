/* write/layer_plan.h - a plan as formats by layer see it: a device for each layer, for what comes before and behind. */
#ifndef SITU_WRITE_LAYER_PLAN_H
#define SITU_WRITE_LAYER_PLAN_H

#include "base/text.h"
#include "graph/layers.h"
#include "plan/plan.h"
#include "problem/problem.h"

typedef struct layer_plan {
  layer_list layers;
  int32_t n, *device;   /* [n] of the layer, its routed experts apart */
  bool *spilled;        /* [n] its routed experts are on the host, the rest is not */
  int32_t first, head;  /* devices of what comes before and behind the layers; -1 where there is nothing */
  int32_t n_runs;       /* of layers that follow each other on one device */
  int32_t *run, *count; /* [run] its device, and how many layers */
  arena *arena;
} layer_plan;

/* UNSUPPORTED, in the name of the format, where the graph has no layers, one of these is on several devices (routed
 * experts on a host excepted where `experts` is set), or a device has several runs. layer_plan_free, after failures
 * too. */
situ_status layer_plan_find(layer_plan *out, const situ_plan *plan, const situ_problem *problem, bool experts,
                            const char *format, situ_error *error);
/* What to ask `place` for where a format has no place for what is on `device` (runs apart, the CPU behind a GPU), as "
 * (--option)"; "" where no option is known. */
enum { LAYER_WAY_BYTES = 64 };
const char *layer_plan_way(char into[LAYER_WAY_BYTES], const layer_plan *l, const situ_problem *p, int32_t device);

void layer_plan_free(layer_plan *l);

/* UNSUPPORTED, in the name of the format, unless what comes before the layers is with the first of them, and the head
 * with the last. */
situ_status layer_plan_keeps_ends(const layer_plan *l, const situ_problem *problem, const char *format,
                                  situ_error *error);

/* layer_plan_find and layer_plan_keeps_ends for stages of layers, which modules hold: UNSUPPORTED too where the layers
 * have no names. */
situ_status layer_plan_find_stages(layer_plan *out, const situ_plan *plan, const situ_problem *problem,
                                   const char *format, situ_error *error);
/* Adds the path of a module in quotes, of JSON and of TOML: as it is, or of a path of ONNX files that PyTorch exported,
 * "/encoder/layer.0", whose steps repeat the one before where that is a list ("/layer1/layer1.0"). */
void layer_plan_quote_module(text_buffer *out, const char *path);

/* The number of a device among those of the platform that are no hosts; -1 for hosts. */
int32_t layer_plan_gpu(const situ_problem *problem, int32_t device);

#endif
