/* engine/foreign.h - profiles of other tools, converted to the form of engine/profile.h.
 *
 * A file is recognised by its beginning, and becomes one list of events. */
#ifndef SITU_ENGINE_FOREIGN_H
#define SITU_ENGINE_FOREIGN_H

#include "base/json.h"
#include "split/model_parts.h"

typedef struct foreign_profile {
  json_value *events; /* the caller's, also after failures */
  const char *title;  /* for messages; static storage */
  int32_t n_first;    /* how many of its runs are warm-up */
  bool named;         /* node i of the file is called "n<i>" */
} foreign_profile;

/* Reads a profile of the model of `parts`, which must be a single part: a profile of ONNX Runtime, the per-layer times
 * of TensorRT (trtexec --exportProfile, JSON), the average counters of OpenVINO (benchmark_app -report_type
 * average_counters, CSV), or a trace of PyTorch's profiler. BAD_INPUT if it is none of these. */
situ_status foreign_read(foreign_profile *out, const char *path, const model_parts *parts, situ_error *error);

#endif
