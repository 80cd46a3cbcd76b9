/* learn/seq2seq.h - from a sequence to a device for each of its rows, one at a time: a bidirectional gated recurrent
 * encoder, and a gated recurrent decoder with additive attention over the encoder's outputs (Bahdanau, Cho, Bengio,
 * ICLR 2015), as in Mirhoseini et al., ICML 2017 and ICLR 2018 (there LSTM; the unit of Cho et al. has a third fewer
 * numbers). */
#ifndef SITU_LEARN_SEQ2SEQ_H
#define SITU_LEARN_SEQ2SEQ_H

#include "learn/reinforce.h"
#include "nn/params.h"

/* Numbers of parameters (nn/params.h). */
typedef struct seq2seq {
  const params *params;
  int32_t hidden, n_devices;
  int32_t into[2], into_shift[2], around[2], around_shift[2]; /* the encoder, forward and backward */
  int32_t key, query, score;                                  /* attention */
  int32_t read, chosen, shift, state, state_shift;            /* the decoder: from the row, from the device before */
  int32_t out, out_shift;
} seq2seq;

/* Adds its parameters to a set: rows of `width` numbers, a state of `hidden`. False without memory. */
bool seq2seq_init(seq2seq *s, params *p, int32_t width, int32_t hidden, int32_t n_devices, rng *random);

/* A device for each row of x, which are the units of env: drawn from the devices open to it (environment_open) at that
 * point, or (random NULL) the best. Sums over the units. */
decision seq2seq_decide(const seq2seq *s, tape *t, nn_var x, environment *env, rng *random, int32_t *device);

#endif
