/* read/joined_networks.h - pipelines of several networks, as diffusers saves them: which networks they have, and one
 * graph of all. */
#ifndef SITU_READ_JOINED_NETWORKS_H
#define SITU_READ_JOINED_NETWORKS_H

#include "base/json.h"
#include "graph/graph.h"

/* What stands for the reader of a pipeline, of which each network has one of its own. */
#define READ_PIPELINE "diffusers"

enum { PIPELINE_PARTS = 12, PIPELINE_NAME = 64, PIPELINE_STEPS = 20 };

typedef struct pipeline_part {
  char name[PIPELINE_NAME]; /* its folder */
  bool repeats;             /* runs in each step of diffusion */
  bool ends; /* makes the picture of what the steps made: an autoencoder, of which only the decoder runs */
} pipeline_part;

/* The networks of model_index.json in the order in which they run: what encodes, what repeats, what ends. UNSUPPORTED
 * if it names none, or too many. */
situ_status pipeline_find(pipeline_part parts[PIPELINE_PARTS], int32_t *n, const json_value *index, const char *where,
                          situ_error *error);

/* One graph of their graphs: each part stays on one device, its operators are called "PART.NAME"; what repeats has the
 * work of `steps` runs. */
situ_status pipeline_join(situ_graph **out, const char *model, const pipeline_part *parts,
                          const situ_graph *const *graphs, int32_t n, int64_t steps, situ_error *error);

#endif
