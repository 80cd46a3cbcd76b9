/* base/fail.h - filling a situ_error in one expression: `return fail_with(error, SITU_STATUS_BAD_INPUT, where, "...",
 * ...)`.
 *
 * `where` may be NULL. Control characters in either text are replaced, so that the message stays one line whatever a
 * hostile file puts in its names. Returns the status given. */
#ifndef SITU_BASE_FAIL_H
#define SITU_BASE_FAIL_H

#include "situ/error.h"

situ_status fail_with(situ_error *error, situ_status status, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The common case: memory ran out. */
situ_status fail_no_memory(situ_error *error);

#define TRY(expression)                                    \
  do {                                                     \
    situ_status try_status_ = (expression);                \
    if (try_status_ != SITU_STATUS_OK) return try_status_; \
  } while (0)

/* Ends a function that makes a noun: *out gets it where `making` is OK, else it is freed. */
#define HAND_OUT(out, noun, making, free_noun) \
  do {                                         \
    situ_status made_ = (making);              \
    if (made_ == SITU_STATUS_OK)               \
      *(out) = (noun);                         \
    else                                       \
      free_noun(noun);                         \
    return made_;                              \
  } while (0)

#endif
