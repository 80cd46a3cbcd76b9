/* read/lm_known.h - whether weights are those of a language model as situ reads them. */
#ifndef SITU_READ_LM_KNOWN_H
#define SITU_READ_LM_KNOWN_H

#include "read/lm.h"

/* UNSUPPORTED, naming the architecture and what is missing, unless the weights are those of one decoder or encoder, or
 * of a pair (read/lm_pair.h): an embedding of tokens, attention (or a recurrence), feed-forward parts or experts, and a
 * role for every weight by its name. For formats that hold weights of any network. `a` is scratch. */
situ_status lm_check_known(const lm *model, const char *where, arena *a, situ_error *error);
/* How many blocks of the trunk have no weight at all: the file is a part of a model. `a` is scratch. */
situ_status lm_count_absent(int64_t *absent, const lm *model, arena *a, situ_error *error);
/* UNSUPPORTED for architectures of GGUF that are no decoders. Its writers know the architecture, and name weights after
 * their roles. */
situ_status lm_check_architecture(const lm *model, const char *where, situ_error *error);
/* Whether the name of a tensor says what its weight is used for, as far as a language model has use for it. */
bool lm_is_known(const lm_tensor *tensor, const lm_place *place);
/* Whether a matrix outside of blocks is a table of which each token takes a row. */
bool lm_is_table(const char *name);
/* Of tables: whether its rows are tokens, not positions or kinds of tokens. */
bool lm_is_of_tokens(const char *table);

#endif
