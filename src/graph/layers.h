/* graph/layers.h - the layers of a network: blocks of operators that repeat along its depth. */
#ifndef SITU_GRAPH_LAYERS_H
#define SITU_GRAPH_LAYERS_H

#include "graph/graph.h"

typedef struct layer_list {
  int32_t n;         /* layers, numbered 0 .. n-1 along the network; 0 where none were found */
  int32_t *of;       /* [operator] its layer, or -1 outside of all layers */
  const char **name; /* [layer] the common beginning of its operators' names ("model/layers.3"); NULL without names */
  bool *before; /* [operator] of those with -1: whether a layer depends on it (embeddings, masks), directly or not */
} layer_list;

/* Finds layers, first by names: an operator belongs to the layer of the outermost number in its path ("blk.7.attn_q",
 * "/model/layers.3/mlp/Mul", "encoder.layer_11/x") that takes several values among operators of the same prefix; a
 * number directly below it ("layer1.0", "block2/unit_1") counts too. The operator's own name, the last step of a path,
 * says nothing. Layers are numbered by the median place of their operators in a topological order, and names that this
 * order contradicts are ignored, those with most contradictions first. Operators without a name of a layer belong to
 * the layer from which they follow, if a layer follows from them.
 *
 * Where names give less than two layers, or layers of less than half of the operators, by structure: a topological
 * order is cut where at most one tensor crosses, not counting those that live for a third of the network (masks);
 * pieces without weights join the one before; and the period of pieces that repeat most is one layer.
 *
 * Whatever the names, contracting every layer to one node leaves an acyclic graph. Only forward operators have layers.
 * O(V + E) and, where names contradict each other, O(rounds * E * layers / 64). False without memory. */
bool layers_find(layer_list *out, const situ_graph *g, arena *a);

#endif
