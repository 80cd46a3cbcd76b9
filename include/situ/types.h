/* situ/types.h - small shared types, and the rules by which structs grow.
 *
 * Units are in the names: time_ns is int64 nanoseconds, size_bytes is int64 bytes. Both are exact.
 *
 * Structs that may grow begin with `size`, the size in bytes of the struct that the caller was compiled with. Create
 * one with its initialiser (SITU_SOLVE_OPTIONS_INIT, ...) or set `size` to its sizeof; all other fields may then stay
 * 0. Option structs: a newer library treats fields that the caller does not have as 0; an older library returns
 * BAD_ARGUMENT if a field that it does not know is not 0. Info structs: the library writes the fields that both know,
 * and 0 into the rest. Structs without `size` are closed: they never change.
 *
 * Every function here may be called from any thread; texts are static unless a comment says who frees them. */
#ifndef SITU_TYPES_H
#define SITU_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "situ/error.h"

/* Used by the initialisers: all fields 0 except `size`, which is that of the type. */
#ifdef __cplusplus
template <class T>
inline T situ_sized() {
  T made = T();
  made.size = sizeof(T);
  return made;
}
#define SITU_SIZED(type) situ_sized<type>()
#else
#define SITU_SIZED(type) \
  { .size = sizeof(type) }
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A time that means "cannot run here". Sums saturate at it. */
#define SITU_NEVER_NS INT64_MAX
/* A memory limit that means "no known limit". */
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
  SITU_DTYPE_C64, /* two F32 */
  SITU_DTYPE_C128 /* two F64 */
} situ_dtype;
/* Arrays by element type have this many entries; later versions may name more types, never more than this. */
#define SITU_DTYPE_MAX 32

/* The part of a training step that an operator belongs to; inference graphs are all forward. RECOMPUTE: a forward
 * operator that runs once more before the backward pass needs what it makes. */
typedef enum situ_phase {
  SITU_PHASE_FORWARD = 0,
  SITU_PHASE_BACKWARD,
  SITU_PHASE_UPDATE,
  SITU_PHASE_RECOMPUTE
} situ_phase;

/* "f32", "i8", ...; "unknown" for any other value. */
SITU_API const char *situ_dtype_name(situ_dtype dtype);
/* Bits of one element (4 for I4, 8 for BOOL, 64 for a STRING's handle, 0 for UNKNOWN). */
SITU_API int32_t situ_dtype_bits(situ_dtype dtype);
/* "forward", "backward", "update", "recompute"; "unknown" for any other value. */
SITU_API const char *situ_phase_name(situ_phase phase);

/* Levels of messages during a call. A NOTE explains how a result came about; a WARNING says that the result may be
 * worse than the caller expects. */
typedef enum situ_log_level { SITU_LOG_NOTE = 0, SITU_LOG_WARNING } situ_log_level;
/* Called on the calling thread with one line, without a newline. `text` is valid only during the callback. */
typedef void situ_log_callback(void *context, situ_log_level level, const char *text);

/* The one of `n` names that the unknown `word` most likely means: a name that begins with it, else one that differs in
 * few letters, ignoring case. The first of equally near names; NULL if none is near. */
SITU_API const char *situ_nearest_name(const char *word, const char *const *names, int32_t n);

/* Frees a text that a function of situ returned as char *. NULL is allowed. */
SITU_API void situ_text_free(char *text);
/* Writes a text to a file, completely or not at all. IO, with the reason, if it fails. */
SITU_API situ_status situ_text_write(const char *text, const char *path, situ_error *error);
/* Tests whether a file could be written at `path` now, without changing anything. IO, with the reason, if not. */
SITU_API situ_status situ_path_check_writable(const char *path, situ_error *error);

#ifdef __cplusplus
}
#endif
#endif
