/* read/safetensors_config.h - config.json of Hugging Face models: its description of the network, and the shapes that
 * follow for the tensors of the usual modules. */
#ifndef SITU_READ_SAFETENSORS_CONFIG_H
#define SITU_READ_SAFETENSORS_CONFIG_H

#include "base/json.h"
#include "read/lm.h"

typedef struct hf_config {
  int64_t hidden, embedding, ff, heads, kv_heads, head, vocab, experts, expert_ff, shared_ff;
  int64_t q_rank, kv_rank, nope, rope, value; /* attention over a latent vector */
  const json_value *quantization;             /* what it says of quantised weights, borrowed from the root; or NULL */
  bool gated;                                 /* queries come with a gate of their size */
  bool pair;                                  /* an encoder and a decoder */
  situ_dtype dtype;
} hf_config;

/* Reads `root` into both, which must outlive `out`: the arrays of `model` are in its arena. BAD_INPUT for what cannot
 * be. */
situ_status hf_config_read(hf_config *out, lm *model, const json_value *root, const char *path, situ_error *error);

/* The shape of tensor `name` by the configuration; false if it does not determine it. */
bool hf_config_shape(int32_t *rank, int64_t dims[LM_MAX_RANK], const hf_config *config, const char *name);

#endif
