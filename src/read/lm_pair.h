/* read/lm_pair.h - encoder-decoders (T5, BART, Whisper, ...): an encoder reads the prompt, and a decoder makes tokens,
 * attending to what the encoder made of it. */
#ifndef SITU_READ_LM_PAIR_H
#define SITU_READ_LM_PAIR_H

#include "read/lm.h"

/* Finds the stacks of an encoder and of a decoder that attends to it, by the names of the tensors, and sets `encoder`
 * and `decoder` of the model; leaves them NULL where there are others, or no such two. */
situ_status lm_pair_find(lm *model, arena *a, situ_error *error);

/* Whether a tensor is a convolution of an encoder that listens: Whisper's, before its blocks. */
bool lm_pair_listens(const lm *model, const lm_place *place);

#endif
