/* Nouns with one field broken: a check function must name the invariant, and be content once it is mended. */
#ifndef SITU_TESTS_BROKEN_H
#define SITU_TESTS_BROKEN_H

#include "../lab/test.h"

/* With `place` = `wrong` the check says `words`; before and after it says nothing. */
#define BREAKS(check, place, wrong, words)                                                                \
  do {                                                                                                    \
    __typeof__(place) was_ = (place);                                                                     \
    assert_null(check);                                                                                   \
    (place) = (wrong);                                                                                    \
    const char *said_ = (check);                                                                          \
    if (!said_ || !strstr(said_, words))                                                                  \
      fail_msg("%s = %s: expected \"%s\", got \"%s\"", #place, #wrong, words, said_ ? said_ : "nothing"); \
    (place) = was_;                                                                                       \
    assert_null(check);                                                                                   \
  } while (0)

#endif
