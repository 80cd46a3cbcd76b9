/* learn/softmax_draw.h - devices drawn from the scores of a policy. */
#ifndef SITU_LEARN_SOFTMAX_DRAW_H
#define SITU_LEARN_SOFTMAX_DRAW_H

#include "nn/gemm.h"
#include "solve/stream/environment.h"

/* One of n devices that are open, at least one, by the softmax of its scores; random NULL: the best score, ties to the
 * lower number. */
int32_t softmax_choose(const nn_real *score, const bool *open, int32_t n, rng *random);

/* A device for each unit in order, by its scores ([unit * n_devices]), among those open to it at that point. open
 * ([unit * n_devices], may be NULL) returns which were. */
void softmax_draw(environment *env, const nn_real *score, rng *random, int32_t *device, bool *open);

#endif
