/* read/lm_caches.h - what a block keeps of the tokens before: caches of keys and values, states of recurrences. */
#ifndef SITU_READ_LM_CACHES_H
#define SITU_READ_LM_CACHES_H

#include "read/lm_operators.h"

/* The operators of a block. */
typedef struct block_part {
  const lm_operator *ops;
  int32_t n;
  char prefix[96];
  int32_t block;
} block_part;

/* An operator with one of the words, or NULL; `cross`: of the attention to the encoder, else of all others. */
const lm_operator *block_find(const block_part *p, bool cross, const char *words);

/* The elements of a token in the cache of a block, and the work of a query for each: 2 FLOP for each element of the key
 * and of the value. */
typedef struct lm_cache {
  int64_t row, work;
  int64_t index_row, index_work, top; /* of an indexer, and how many tokens it chooses; 0: all are looked at */
  bool guessed;                       /* the file does not say the heads, or its shapes are others */
} lm_cache;

/* Of a block with the hyper-parameters `l`; its row is 0 where it keeps none. Shapes that contradict them become a
 * note; NULL: not wanted. */
lm_cache lm_cache_of(const lm *model, lm_layer l, const block_part *p, bool cross, text_buffer *notes);

/* The elements of the state that a recurrent block keeps of a stream; 0 where it keeps none. */
int64_t lm_state_of(const lm *model, const block_part *p);

/* The tokens of a micro-batch. */
int64_t lm_most_tokens(const lm_step *step);
/* The tokens for which a cache has room, of one stream. */
int64_t lm_cells_of(const lm_step *step, lm_layer l);

/* What attention meets in a step: tokens that look, what each of them sees, rows that are read and written for a
 * stream, and the bytes of its cache. */
typedef struct lm_reach {
  double tokens, seen, rows;
  double indexed, looked_at; /* rows and tokens of what an indexer goes through */
  int64_t cached_bytes;
} lm_reach;

/* `encodes`: of an encoder, which keeps nothing; `cross`: of a decoder to what its encoder made. */
lm_reach lm_reach_of(const lm_step *step, lm_layer l, lm_cache c, bool cross, bool encodes);

#endif
