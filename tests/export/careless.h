/* careless.h - what calls with arguments that cannot be are asked for. */
#ifndef SITU_TESTS_CARELESS_H
#define SITU_TESTS_CARELESS_H

#include "situ.h"

/* Numbers that are no index of anything that has at most `n` members. */
#define EXTREMES(n) \
  { INT32_MIN, -1, (n), INT32_MAX }
enum { N_EXTREMES = 4 };

/* The call is refused, with a message or without room for one. */
#define REFUSED(CALL)                                       \
  do {                                                      \
    situ_error e_ = {SITU_STATUS_OK, "", ""}, *error = &e_; \
    assert_int_equal((CALL), SITU_STATUS_BAD_ARGUMENT);     \
    assert_int_equal(e_.status, SITU_STATUS_BAD_ARGUMENT);  \
    assert_true(e_.text[0] != '\0');                        \
    error = NULL;                                           \
    assert_int_equal((CALL), SITU_STATUS_BAD_ARGUMENT);     \
  } while (0)
/* The same, and *out, which pointed somewhere, is NULL afterwards. */
#define REFUSED_OUT(OUT, CALL)    \
  do {                            \
    (OUT) = (void *)(uintptr_t)1; \
    REFUSED(CALL);                \
    assert_null(OUT);             \
  } while (0)
#define DONE(CALL)                                                      \
  do {                                                                  \
    situ_error e_ = {SITU_STATUS_OK, "", ""}, *error = &e_;             \
    if ((CALL) != SITU_STATUS_OK) fail_msg("%s %s", e_.where, e_.text); \
  } while (0)

/* A summary of NULL, into NULL or into a struct without its size is none; that of a noun is `into`. */
#define SUMMARY(type, GET, noun, into)    \
  type into = SITU_SIZED(type);           \
  do {                                    \
    type unsized_ = {0};                  \
    assert_false(GET(NULL, &(into)));     \
    assert_false(GET((noun), NULL));      \
    assert_false(GET((noun), &unsized_)); \
    assert_true(GET((noun), &(into)));    \
  } while (0)

#endif
