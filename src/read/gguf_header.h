/* read/gguf_header.h - the header of a GGUF file: keys and tensors. Of the data nothing is read.
 *
 * The layout is that of ggml/docs/gguf.md, the limits those of ggml/src/gguf.cpp: docs/formats/language-models.md. */
#ifndef SITU_READ_GGUF_HEADER_H
#define SITU_READ_GGUF_HEADER_H

#include "base/hash.h"
#include "read/reader.h"

typedef enum gguf_type {
  GGUF_U8,
  GGUF_I8,
  GGUF_U16,
  GGUF_I16,
  GGUF_U32,
  GGUF_I32,
  GGUF_F32,
  GGUF_BOOL,
  GGUF_STRING,
  GGUF_ARRAY,
  GGUF_U64,
  GGUF_I64,
  GGUF_F64,
  GGUF_TYPES
} gguf_type;

/* A key with its value, which stays in the bytes of the file. */
typedef struct gguf_key {
  const char *name;
  gguf_type type; /* of an array that of its elements */
  bool is_array;
  uint64_t count;          /* of an array; 1 otherwise */
  const unsigned char *at; /* the first element */
} gguf_key;

typedef struct gguf_tensor {
  const char *name;
  int32_t type, rank;
  int64_t dims[4]; /* as in the file: the innermost first */
  int64_t bytes, offset;
} gguf_tensor;

typedef struct gguf_header {
  gguf_key *keys;
  string_map *key_by_name;
  gguf_tensor *tensors;
  int32_t n_keys, n_tensors;
  size_t end, data_start; /* of the infos; of the data */
  int64_t data_bytes;
  bool without_data; /* the file ends before its data */
} gguf_header;

/* BAD_INPUT, with the byte, for what no such file may hold; UNSUPPORTED for versions and types that are not known.
 * Names and arrays are in the arena. */
situ_status gguf_header_read(gguf_header *out, const read_source *source, arena *a, situ_error *error);

/* NULL where there is no such key. */
const gguf_key *gguf_find(const gguf_header *header, const char *name);
/* Element i as an integer, whatever its type; `otherwise` if it is not an integer or does not exist. A scalar has the
 * same value for every i. */
int64_t gguf_int(const gguf_key *key, uint64_t i, int64_t default_value);
/* A text of at most 200 bytes, in the arena; `otherwise` where the key holds none. */
const char *gguf_text(const gguf_key *key, arena *a, const char *default_value);

/* "Q4_K", ...; NULL for an unknown one. */
const char *gguf_type_name(int32_t type);
/* Bits of a whole number in which products with a tensor of this type compute. */
situ_dtype gguf_dtype(int32_t type);

#endif
