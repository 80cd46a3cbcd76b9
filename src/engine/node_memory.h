/* engine/node_memory.h - ONNX Runtime's memory statistics of nodes.
 *
 * With session.collect_node_memory_stats_to_file it writes one row for each node that ran: its name followed by a
 * number, and the bytes of its inputs, its weights, its outputs, and the scratch memory of its kernel. */
#ifndef SITU_ENGINE_NODE_MEMORY_H
#define SITU_ENGINE_NODE_MEMORY_H

#include "split/model_file.h"

typedef struct node_memory {
  int64_t *workspace_bytes; /* [node] scratch bytes of the kernel; -1: no row names it */
  int32_t n_rows, n_named;  /* rows of the file, and those that name a node of the model */
} node_memory;

/* Arrays in the arena. BAD_INPUT if it is not such a file, or names no node of the model. */
situ_status node_memory_read(node_memory *out, const char *path, const model_file *file, arena *a, situ_error *error);

#endif
