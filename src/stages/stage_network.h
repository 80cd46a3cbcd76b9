/* stages/stage_network.h - a network whose layers have several variants, and a machine of equal devices: what
 * Piper (Tarnawski, Narayanan, Phanishayee, NeurIPS 2021) plans training for. docs/theory/exact/stage_program.md has
 * the model. */
#ifndef SITU_STAGES_STAGE_NETWORK_H
#define SITU_STAGES_STAGE_NETWORK_H

#include "base/arena.h"
#include "situ/error.h"

enum { STAGE_MAX_LAYERS = 4096, STAGE_MAX_DEVICES = 10000, STAGE_MAX_INPUTS = 1000000, STAGE_MAX_VARIANTS = 64 };

/* A variant of a layer: what it takes on each of so many devices. */
typedef struct stage_variant {
  const char *name;
  int64_t time_ns;           /* forward and backward, of one input */
  int64_t weight_bytes;      /* replicas combine their gradients once a step */
  int64_t kept_bytes;        /* of memory, for each input that the stage keeps */
  int64_t fixed_bytes;       /* of memory, besides */
  const int64_t *sync_bytes; /* [edge of the layer] more to send where that edge leaves its stage */
  bool recomputes;           /* activations */
} stage_variant;

typedef struct stage_machine {
  int64_t n_devices, memory_bytes, bytes_per_s, n_inputs; /* micro-batches of a step */
} stage_machine;

typedef struct stage_network {
  arena *arena;
  int32_t n_layers, n_edges, n_degrees;
  const char **name;      /* [layer] */
  int32_t *order;         /* layers, each after those that lead to it */
  int32_t *degree;        /* [degree] ascending: the devices that a layer may be split over */
  int32_t *variant_start; /* [layer * n_degrees + degree], and the end */
  stage_variant *variant;
  int32_t *from, *to;         /* [edge] layers */
  int64_t *edge_bytes;        /* [edge] */
  int32_t *edge_start, *edge; /* [layer] its edges: those that enter, then those that leave */
  stage_machine machine;      /* that the file names */
} stage_network;

/* Reads a workload of Piper (docs/formats/stages.md). */
situ_status stage_network_read(stage_network **out, const char *path, situ_error *error);
void stage_network_free(stage_network *network);

/* The time of so many bytes, rounded up; at most 2^50 ns. */
int64_t stage_transfer_ns(const stage_machine *m, __int128 bytes);
/* No layer takes as long as this, or has more bytes than that. */
static const int64_t STAGE_NEVER_NS = (int64_t)1 << 50, STAGE_MAX_BYTES = 1000000000000000;

#endif
