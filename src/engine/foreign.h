/* engine/foreign.h - profiles that were made elsewhere, in the form of engine/profile.h.
 *
 * A file is recognised by how it begins, and becomes one list of events. */
#ifndef SITU_ENGINE_FOREIGN_H
#define SITU_ENGINE_FOREIGN_H

#include "base/json.h"

/* Reads a profile: that of ONNX Runtime as it is, the per-layer times of TensorRT (trtexec --exportProfile, JSON), the
 * average counters of OpenVINO (benchmark_app -report_type average_counters, CSV). *title says which; *n_first how many
 * of its runs warmed up. *events is the caller's. BAD_INPUT where it is none. */
situ_status foreign_read(json_value **events, const char **title, int32_t *n_first, const char *path,
                         situ_error *error);

#endif
