/* read/lm_doubts.h - what of a language model's structure its weights and its configuration leave open although every
 * weight has a role. What is found is stated as a guess. */
#ifndef SITU_READ_LM_DOUBTS_H
#define SITU_READ_LM_DOUBTS_H

#include "read/lm.h"
#include "read/lm_operators.h"

/* Whether nobody has compared what is read of this architecture, by the name that Hugging Face gives it, with what its
 * code computes. */
bool lm_doubts_architecture(const char *name);
/* Whether the use of a weight of a block is in doubt although its own name is known: it is below a module that no
 * network has which we know, its name is numbered, or it is a product with inputs of another width than the block's. */
bool lm_doubts_role(const lm *model, const lm_operator *op);
/* What of a block's structure is in doubt, in words, static; NULL: nothing. `ops` are the n operators of the block. */
const char *lm_doubts_block(const lm *model, const lm_operator *ops, int32_t n);

#endif
