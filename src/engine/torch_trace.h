/* engine/torch_trace.h - traces of PyTorch's profiler (export_chrome_trace), in the form of engine/profile.h. */
#ifndef SITU_ENGINE_TORCH_TRACE_H
#define SITU_ENGINE_TORCH_TRACE_H

#include "base/json.h"
#include "split/model_parts.h"

bool torch_trace_is(const json_value *root);

/* Adds a kernel for each operator of ATen that was called by no other, as node "n<i>" of the file, and the ends of runs
 * to `events`. An operator belongs to the node that its annotation (record_function) names. Otherwise operators of one
 * kind are nodes of that kind in their order, where there are as many in each run; others are not known. On a GPU the
 * kernels that an operator launched are its time. *n_runs: how often the model ran. BAD_INPUT where more than half of
 * the time belongs to no node. */
situ_status torch_trace_read(json_value *events, int32_t *n_runs, const json_value *root, const model_parts *parts,
                             situ_error *error);

#endif
