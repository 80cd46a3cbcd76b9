/* solve/baselines/llamacpp.h - the split that both rules of llama.cpp begin with. */
#ifndef SITU_SOLVE_BASELINES_LLAMACPP_H
#define SITU_SOLVE_BASELINES_LLAMACPP_H

#include "solve/baselines/peer_layers.h"

/* of_layer: [n + 1], the head last. */
void llamacpp_split(int32_t *of_layer, const peer_layers *l, const situ_problem *problem);

#endif
