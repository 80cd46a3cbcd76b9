/* split/model_parts.h - a placed model as parts, each a valid model of its own for one device.
 *
 * Operators that the engine folds (whatever is computed from weights alone) are copied into every part that reads them;
 * every other operator is in exactly one part. Parts are numbered so that each depends on lower ones only. Without a
 * sequence they are as large as possible: one device runs all of its nodes that are ready, then another; a contiguous
 * placement gives one part for each of its pieces. With a sequence a part ends after a node that another device waits
 * for, and begins before a node that waits for what another device has not made when the part begins, so that parts
 * overlap as their nodes would. */
#ifndef SITU_SPLIT_MODEL_PARTS_H
#define SITU_SPLIT_MODEL_PARTS_H

#include "graph/graph.h"
#include "split/model_file.h"

typedef struct model_part {
  int32_t device;
  int32_t n_nodes, n_inputs, n_outputs;
  const int32_t *nodes;            /* in an order that runs; folded ones first */
  const int32_t *inputs, *outputs; /* values */
} model_part;

typedef struct model_parts {
  arena *arena;
  const model_file *file;  /* borrowed, like the graph */
  const situ_graph *graph; /* types of values that the file does not declare; may be NULL */
  string_map *tensor_of;
  int32_t n_parts;
  model_part *parts;
  int32_t *part_of;    /* [node]; -1: folded, in any number of parts */
  int32_t *order;      /* all nodes, producers first */
  int32_t *value_part; /* [value] that makes it; -1: an input, a weight, or folded */
} model_parts;

/* When a node runs: nodes go by their ranks, as far as dependencies allow. Times are those of a plan, or all 0. */
typedef struct node_turn {
  int32_t rank;
  int64_t start_ns, finish_ns;
} node_turn;

/* device[n_nodes]; -1: the device that produces its inputs. turn[n_nodes]; NULL: without a sequence. BAD_INPUT if nodes
 * form a cycle. */
situ_status model_parts_find(model_parts **out, const model_file *file, const situ_graph *graph, const int32_t *device,
                             const node_turn *turn, situ_error *error);
void model_parts_free(model_parts *parts);

/* Gives a device to nodes that have none (-1), as model_parts_find does: that of the first value that they read, else
 * that of their first reader. */
situ_status model_devices_fill(int32_t *device, const model_file *file, situ_error *error);

/* The type of a value: as declared, else from the graph. UNSUPPORTED if neither knows its element type, or it is not a
 * tensor. */
situ_status model_parts_port(const model_parts *parts, int32_t value, model_port *out, situ_error *error);

/* Writes part k to FOLDER/part<k><suffix of the format>, with what belongs to it alone. With `named` node i of the file
 * is called "n<i>". UNSUPPORTED as model_parts_port. */
situ_status model_part_write(const model_parts *parts, int32_t k, const char *folder, bool named, situ_error *error);
/* Writes the files that all parts share. */
situ_status model_shared_write(const model_file *file, const char *folder, situ_error *error);

#endif
