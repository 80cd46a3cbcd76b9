/* read/lm_operators.h - the operators with weights of a language model, assembled from its tensors. */
#ifndef SITU_READ_LM_OPERATORS_H
#define SITU_READ_LM_OPERATORS_H

#include "read/lm.h"

/* An operator with weights: one matrix with its scales and biases, or all experts of one. */
typedef struct lm_operator {
  const char *name, *within;
  int32_t block; /* -1 outside */
  lm_role role;
  lm_group group;
  int64_t in, out; /* of one expert; 0 if the shape does not show it */
  int64_t experts; /* 1 for others */
  int64_t elements, bytes;
  situ_dtype dtype;
  const lm_tensor *weight; /* that it has its shape from; NULL: only parts of it are there */
} lm_operator;

typedef struct lm_operators {
  const char *stack; /* of the blocks, as in lm_place */
  lm_operator *all;  /* blocks ascending, then in the order of the tensors; first those outside of blocks */
  int32_t n, n_blocks;
  int32_t *start;                      /* [block] the first of its operators; [n_blocks] the end */
  int32_t n_beyond;                    /* blocks after the trunk */
  int64_t skipped_bytes, beyond_bytes; /* of other stacks (images, sound); of blocks after the trunk */
} lm_operators;

/* Whether a tensor is of another input than text, by how its name begins. */
bool lm_is_of_another_input(const char *name);

/* Those of the trunk; with `encoder` those of the encoder before a decoder, else, where there is one, those of the
 * decoder. Arrays in the arena. BAD_INPUT where the model has no tensors. */
situ_status lm_operators_find(lm_operators *out, const lm *model, bool encoder, arena *a, situ_error *error);

/* The expected number of E experts that `tokens` tokens reach, `used` each: E (1 - (1 - used / E)^tokens). */
double lm_distinct_experts(double experts, double used, double tokens);

#endif
