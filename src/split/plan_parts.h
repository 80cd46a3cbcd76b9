/* split/plan_parts.h - the parts of a model as a plan places its operators. */
#ifndef SITU_SPLIT_PLAN_PARTS_H
#define SITU_SPLIT_PLAN_PARTS_H

#include "plan/plan.h"
#include "split/model_parts.h"

/* Parts of `file`, which the graph of the problem was read from: by the sequence of a stream plan, else as large as can
 * be. `plan` NULL: all in one part on device 0. UNSUPPORTED where operators are not nodes of the file: training steps
 * that were made, copies, other formats. */
situ_status plan_parts_find(model_parts **out, const model_file *file, const situ_graph *graph, const situ_plan *plan,
                            situ_error *error);

/* The device of each node of the file [n_nodes], also of those that the reader folded. */
situ_status plan_parts_devices(int32_t *device, const model_file *file, const situ_graph *graph, const situ_plan *plan,
                               situ_error *error);

/* Whether the reader folded an operator, so that its outputs cost nothing. Whatever its device in the plan, it runs
 * where model_devices_fill puts it. */
bool plan_parts_folded(const situ_graph *graph, int32_t op);

/* Writes all parts, their external data and manifest.json (docs/formats/parts.md) to a folder, which is made. */
situ_status plan_parts_write(const model_parts *parts, const char *folder, const situ_platform *platform,
                             situ_error *error);

/* Finds the parts of a plan in the model file at `path`, and writes them to a folder by `write`. */
situ_status plan_parts_write_by(situ_status (*write)(const model_parts *parts, const char *folder,
                                                     const situ_platform *platform, situ_error *error),
                                const char *folder, const situ_plan *plan, const char *path, situ_error *error);

#endif
