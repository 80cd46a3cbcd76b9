/* lab/tier.h - how many rounds a test takes: all of them in `make check`, a share of them in `make test`. */
#ifndef SITU_LAB_TIER_H
#define SITU_LAB_TIER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* `all` rounds, or the share of them that SITU_TEST_SHARE asks for in percent; at least one. */
static inline int32_t rounds_of(int32_t all) {
  const char *share = getenv("SITU_TEST_SHARE");
  int64_t percent = share ? strtol(share, NULL, 10) : 100;
  int64_t rounds = percent > 0 && percent < 100 ? all * percent / 100 : all;
  return rounds > 0 ? (int32_t)rounds : 1;
}

/* Whether all rounds run: what takes long and shows little that shorter cases do not is left to `make check`. */
static inline bool in_check(void) { return rounds_of(100) == 100; }

/* As rounds_of, of rounds that take milliseconds each: in `make test` half of the share. */
static inline int32_t few_rounds_of(int32_t all) { return in_check() ? all : (rounds_of(all) + 1) / 2; }

#endif
