/* read/safetensors_unpack.h - packed weights of safetensors (read/quantisers.h) get the shapes of what is packed. */
#ifndef SITU_READ_SAFETENSORS_UNPACK_H
#define SITU_READ_SAFETENSORS_UNPACK_H

#include "base/hash.h"
#include "read/lm.h"
#include "read/safetensors_config.h"

/* An element type of safetensors. */
typedef struct stored_type {
  const char *name;
  int32_t bits;
  situ_dtype dtype; /* in which products with weights of it compute */
} stored_type;

/* The tensors of a model as its files hold them. */
typedef struct stored_tensors {
  lm *model;
  const stored_type *const *types; /* [tensor]; NULL: of a file that is absent */
  const string_map *by_name;       /* tensor */
  const hf_config *config;         /* NULL: there is none */
} stored_tensors;

/* Gives packed weights the shape [.., out, in] of their values. Adds a note where their bits are assumed. UNSUPPORTED,
 * with the weight's name, for a packing that is in no row. */
situ_status safetensors_unpack(const stored_tensors *stored, const char *where, text_buffer *notes, situ_error *error);

#endif
