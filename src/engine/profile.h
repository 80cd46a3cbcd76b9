/* engine/profile.h - the profile that ONNX Runtime writes, as times of the model's nodes.
 *
 * The profile is a list of Chrome trace events: one of category "Node" for each kernel of each run, and "model_run" at
 * the end of each run. A kernel has the name of a node of the model, of the first node of a fusion, or of the
 * last output of a fusion that changed the layout, with a suffix. Copies between layouts have names of their own and
 * belong to the kernel before them. Kernels within loops and branches are part of the node that holds these. */
#ifndef SITU_ENGINE_PROFILE_H
#define SITU_ENGINE_PROFILE_H

#include "base/json.h"
#include "split/model_parts.h"

typedef struct node_times {
  int32_t n_runs;
  int64_t *median_ns; /* [node] 0 where it has no kernel of its own: folded, or fused into another */
  double *spread;     /* [node] half the interquartile range divided by the median */
  bool *seen;         /* [node] */
  int64_t total_ns;   /* the median of the sums of each run */
} node_times;

/* Reads the events, without the first n_skipped runs. named: nodes are called "n<i>" (onnx_part_emit); else by their
 * names in the file. Arrays in the arena. BAD_INPUT if it is not such a profile or has no run left. */
situ_status profile_read(node_times *out, const json_value *events, const model_parts *parts, int32_t n_skipped,
                         bool named, arena *a, situ_error *error);

/* The median of n values, which are sorted in place; 0 if n is 0. *half: half the interquartile range. */
int64_t median_of(int64_t *values, int32_t n, int64_t *half);

#endif
