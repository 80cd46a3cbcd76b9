/* write/placed_nodes.h - an ONNX file and the device of each of its nodes, for formats that name nodes. */
#ifndef SITU_WRITE_PLACED_NODES_H
#define SITU_WRITE_PLACED_NODES_H

#include "base/json.h"
#include "split/onnx_file.h"
#include "split/plan_parts.h"

typedef struct placed_nodes {
  model_file *file;
  int32_t *device; /* [node] */
  arena *arena;    /* that of `device`, for more */
} placed_nodes;

/* Stop it with placed_nodes_free, after failures too. */
situ_status placed_nodes_open(placed_nodes *out, const situ_plan *plan, const char *model, situ_error *error);
void placed_nodes_free(placed_nodes *nodes);

/* "cpu", "gpu" or "npu", by the family of a device. */
const char *placed_nodes_word(const situ_device *device);

/* UNSUPPORTED if the plan uses two devices of one word: ONNX Runtime runs on one of each. */
situ_status placed_nodes_one_of_each(const placed_nodes *nodes, const situ_platform *platform, situ_error *error);

/* Writes session.json of ONNX Runtime: under `key` "cpu(LIST);gpu(LIST)", where `list` adds what of a device goes into
 * its brackets. */
situ_status placed_nodes_session(const placed_nodes *nodes, const situ_platform *platform, const char *folder,
                                 const char *key,
                                 void (*list)(text_buffer *out, const placed_nodes *nodes, int32_t device),
                                 situ_error *error);

/* Takes ownership of `root` and writes it. */
situ_status placed_nodes_json(json_value *root, const char *folder, const char *name, situ_error *error);

#endif
