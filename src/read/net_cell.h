/* read/net_cell.h - a layer of long short-term memory, unrolled: the grain of exported graphs, twelve operators a
 * step. Its steps share the weights, so its matrix products and their biases are colocated. */
#ifndef SITU_READ_NET_CELL_H
#define SITU_READ_NET_CELL_H

#include "read/net.h"

typedef struct net_cell {
  net_value matrix, bias;
  net_value h, c; /* the state after the last step; inputs of the model at first */
} net_cell;

net_cell net_cell_new(net *n, int64_t batch, int64_t in, int64_t hidden);
/* One step on [batch, in]: x, concatenated with y unless that is NET_NONE. Returns the new h. */
net_value net_cell_step(net *n, net_cell *k, int64_t step, net_value x, net_value y);
/* Word vectors of a sentence, one [batch, hidden] for each step. */
void net_embed_steps(net *n, const char *name, net_value *words, int64_t batch, int64_t steps, int64_t vocab,
                     int64_t hidden);
/* [batch, steps, hidden] out of one value for each step. `scratch` is room for as many. */
net_value net_stack_steps(net *n, const char *name, const net_value *values, net_value *scratch, int64_t steps);

#endif
