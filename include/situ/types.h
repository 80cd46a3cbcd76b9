/* situ/types.h - small types that several nouns share.
 *
 * Units are in the names: time_ns is int64 nanoseconds, size_bytes is int64 bytes. Both are exact. */
#ifndef SITU_TYPES_H
#define SITU_TYPES_H

#include <stdint.h>

#include "situ/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A time that means "cannot run here"; a sum that reaches it stays there. */
#define SITU_NEVER_NS INT64_MAX
/* A memory limit that means "no limit is known". */
#define SITU_UNLIMITED_BYTES INT64_MAX

/* Element types of tensors. */
typedef enum situ_dtype {
  SITU_DTYPE_UNKNOWN = 0,
  SITU_DTYPE_F64,
  SITU_DTYPE_F32,
  SITU_DTYPE_F16,
  SITU_DTYPE_BF16,
  SITU_DTYPE_F8,
  SITU_DTYPE_I64,
  SITU_DTYPE_I32,
  SITU_DTYPE_I16,
  SITU_DTYPE_I8,
  SITU_DTYPE_I4,
  SITU_DTYPE_U64,
  SITU_DTYPE_U32,
  SITU_DTYPE_U16,
  SITU_DTYPE_U8,
  SITU_DTYPE_BOOL,
  SITU_DTYPE_STRING,
  SITU_DTYPE_C64,  /* two F32 */
  SITU_DTYPE_C128, /* two F64 */
  SITU_DTYPE_COUNT
} situ_dtype;

/* The part of a training step that an operator belongs to; inference graphs are all forward. */
typedef enum situ_phase { SITU_PHASE_FORWARD = 0, SITU_PHASE_BACKWARD, SITU_PHASE_UPDATE } situ_phase;

/* "f32", "i8", ...; static storage. */
SITU_API const char *situ_dtype_name(situ_dtype dtype);
/* Bits of one element (4 for I4, 1 byte for BOOL, 64 for a STRING's handle, 0 for UNKNOWN). */
SITU_API int situ_dtype_bits(situ_dtype dtype);
/* "forward", "backward", "update"; static storage. */
SITU_API const char *situ_phase_name(situ_phase phase);

#ifdef __cplusplus
}
#endif
#endif
