/* write/module_names.h - how PyTorch's programs name modules and GPUs. */
#ifndef SITU_WRITE_MODULE_NAMES_H
#define SITU_WRITE_MODULE_NAMES_H

#include "base/text.h"
#include "plan/layer_plan.h"
#include "problem/problem.h"

/* Adds the path of a module in quotes, of JSON and of TOML: as it is, or of a path of ONNX files that PyTorch exported,
 * "/encoder/layer.0", whose steps repeat the one before where that is a list ("/layer1/layer1.0"). */
void module_names_quote(text_buffer *out, const char *path);

/* Adds where the stages of a plan begin, as members of a JSON object: the `split_spec` of PyTorch's `pipeline`. */
void module_names_add_splits(text_buffer *out, const layer_plan *layers);

/* The number of a device, or of the first of a group, among the non-host devices of the machine; -1 for hosts. */
int32_t module_names_gpu(const situ_problem *problem, int32_t device);

#endif
