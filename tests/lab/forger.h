/* forger.h - forged certificates of every kind, for small random problems whose optimum brute force knows: real ones of
 * the bounds and made-up ones, with numbers at the edges of their fields, lists cut, extended and swapped, and claims
 * above the optimum. Whatever the judge verifies of them must be true. */
#ifndef SITU_TESTS_FORGER_H
#define SITU_TESTS_FORGER_H

#include "lab.h"
#include "problem/certificate.h"

enum { FORGER_KINDS = 13 };

/* What became of forgeries, by kind in the order of the judge's table of fields. */
typedef struct forger_count {
  int64_t all, out_of_range, less, too_long, verified; /* verified: true, and it counts */
  int64_t problems, feasible, wrong; /* wrong: more is verified than is true, or no objection is made */
  int64_t verified_of[FORGER_KINDS];
} forger_count;

/* The name of a kind, NULL beyond the last. */
const char *forger_kind(int32_t k);

/* Makes `n` forgeries, the same for the same seed, and prints what is wrong. */
void forger_run(forger_count *count, int64_t n, uint64_t seed);

#endif
