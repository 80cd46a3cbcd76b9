/* solve/stream/layer_chain.h - whole layers, each device one interval of them. */
#ifndef SITU_SOLVE_STREAM_LAYER_CHAIN_H
#define SITU_SOLVE_STREAM_LAYER_CHAIN_H

#include "solve/common/solver.h"

/* Offers, for each number of devices, the best plan in which every device has one interval of the network and no layer
 * (graph/layers.h) is cut, as contiguous.h finds them: exact on chains of layers. Nothing where the network has no
 * layers. NO_MEMORY or OK. */
situ_status layer_chain_offer(solve_run *run);

#endif
