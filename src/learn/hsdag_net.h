/* learn/hsdag_net.h - the networks of HSDAG: features of groups in, clusters and scores of devices for each
 * cluster out. Layers and widths are those of the released code (141,076 parameters for 17 features and two devices).
 *
 * The published head has one output for each device. Here the last layer's column of a device is made from what is
 * known of the device: with one-hot rows for the devices this is the published head. */
#ifndef SITU_LEARN_HSDAG_NET_H
#define SITU_LEARN_HSDAG_NET_H

#include "learn/hsdag_parsing.h"
#include "nn/params.h"

typedef struct net_dense {
  int32_t weight, bias; /* numbers of parameters */
} net_dense;
typedef struct net_norm {
  int32_t gain, shift;
} net_norm;

typedef struct hsdag_net {
  const params *params;
  int32_t n_features;
  net_dense input[2], embed[2], pool, edge[2], before, after, output[2], head[2];
  net_norm input_norm[2], embed_norm, pool_norm, edge_norm, before_norm, after_norm;
} hsdag_net;

/* Adds the parameters: weights as Glorot, biases 0. n_marks: numbers that describe a device. False without memory or
 * room. */
bool hsdag_net_make(hsdag_net *net, params *p, int32_t n_features, int32_t n_marks, rng *random);

/* How to go through it. */
typedef struct hsdag_pass {
  const parse_graph *graph;
  const nn_real *feature; /* [node * n_features] */
  const nn_real *used;    /* [n_features] 1 or 0: outputs of columns that are not used are 0 */
  const nn_real *mark;    /* [device * n_marks] */
  int32_t n_devices;
  int32_t levels,
      target;    /* of parsing: at most so many, 0: as long as clusters get fewer; none once there are `target` */
  bool declines; /* a node follows its edge with the chance that is its score; without `random` from a half on (ours) */
  bool published; /* an edge has a score for each direction, and clusters are made by the released procedure */
  rng *random;    /* of dropout; NULL: without */
} hsdag_pass;

/* What comes out; arrays and variables are the tape's. */
typedef struct hsdag_view {
  int32_t n_clusters;
  int32_t *cluster_of; /* [node] */
  int32_t *class_of;   /* [cluster] */
  nn_var follow;       /* [edge of the graph] scores of the first level; NN_NONE where nothing was parsed */
  nn_var state;        /* [cluster * n_features] what the released code adds to the features of its nodes */
  nn_var score;        /* [cluster * device] logarithms of weights, not yet normalised */
} hsdag_view;

/* False when the tape has no memory left. */
bool hsdag_net_run(hsdag_view *out, const hsdag_net *net, const hsdag_pass *pass, tape *t);

#endif
