/* solve/baselines/peer_layers.h - a network as the placement rules of inference engines see it: operators before the
 * layers, the layers in order, and the head after them; devices with memory, and the host.
 * docs/theory/baselines/peers.md */
#ifndef SITU_SOLVE_BASELINES_PEER_LAYERS_H
#define SITU_SOLVE_BASELINES_PEER_LAYERS_H

#include "graph/layers.h"
#include "solve/common/solver.h"

typedef struct peer_layers {
  layer_list layers;
  int32_t n;            /* layers */
  int32_t n_gpus, *gpu; /* usable non-host devices, in the order of the platform */
  int32_t host;         /* -1 where there is none */
  int64_t *bytes;       /* [n + 1] of weights and caches; the head is layer n */
  int64_t *weights;     /* [n + 1] of these weights alone */
  int64_t *experts;     /* [n] of these, of routed experts; all 0 where they may not part from their layer */
  int64_t first_bytes;  /* of operators before the layers */
  int64_t room_bytes;   /* maximum additional memory of the operators of one layer */
  int32_t *device;      /* [operator] the placement in the making */
} peer_layers;

/* Streams, one input, of graphs whose operators are named by layer. */
bool peer_layers_serve(const situ_problem *problem);
/* The same, if some usable device is not a host. */
bool peer_layers_serve_gpus(const situ_problem *problem);
/* False without memory. Arrays in the run's arena. */
bool peer_layers_find(peer_layers *out, solve_run *run);
/* Memory of a device as its rule counts it. */
int64_t peer_layers_memory(const peer_layers *l, const situ_problem *problem, int32_t device);
/* Offers the placement: layer k on of_layer[k], routed experts of the first n_layers with `spilled` set on the host,
 * operators before the layers on `first`, the head (and all else after the layers) on of_layer[n]. spilled may be
 * NULL. */
void peer_layers_offer(peer_layers *l, solve_run *run, const int32_t *of_layer, const bool *spilled, int32_t first);

#endif
