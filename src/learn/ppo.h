/* learn/ppo.h - the loss of proximal policy optimisation (Schulman et al., 2017) for placements.
 *
 * The ratio of chances is taken and clipped unit by unit: the chance of a whole placement is a product over all units,
 * and its ratio leaves every range after one step. Placements that are shown (not drawn) are imitated: their term is
 * minus the logarithm of their chance. */
#ifndef SITU_LEARN_PPO_H
#define SITU_LEARN_PPO_H

#include "nn/functions.h"
#include "situ/platform.h"

typedef struct ppo_batch {
  int32_t n_units, n_devices, n_draws; /* drawn placements first, then n_shown others */
  int32_t n_shown;
  const int32_t *device;    /* [placement * n_units] */
  const bool *open;         /* [(placement * n_units + unit) * n_devices] what there was to choose from */
  nn_real *chance;          /* [placement * n_units] logarithm when drawn */
  const nn_real *advantage; /* [placement]; of one that is shown: its weight */
  double clip, entropy;     /* range of the ratio around 1; the weight of entropy */
} ppo_batch;

/* Writes the logarithms of the chances that the draws have under these scores into batch->chance. */
void ppo_remember(ppo_batch *batch, const nn_real *scores);

/* The loss, 1 x 1, of scores[n_units x ((n_draws + n_shown) * n_devices)]: means over units and draws. The batch is
 * borrowed until the tape is reset. */
nn_var ppo_loss(tape *t, nn_var scores, const ppo_batch *batch);

#endif
