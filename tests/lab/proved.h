/* proved.h - what the judge works out of a certificate, whatever that claims. */
#ifndef SITU_TESTS_PROVED_H
#define SITU_TESTS_PROVED_H

#include "bound/bound.h"

enum { PROVED_MALFORMED = -1, PROVED_TOO_LONG = -2 };

/* The nanoseconds that the numbers of the certificate prove, SITU_NEVER_NS that there is no plan, or one of the above.
 * Only for kinds whose rule does not look at the claim: all but destructive. */
int64_t proved_by(const situ_problem *problem, const certificate *c);

/* A certificate of a kind with lists as text: "chain 0 1 2; byte_prices 0 0". At most 32 numbers in one. */
certificate proved_lists(const char *kind, const char *lists, arena *a);

/* What the judge verifies of the claim of the certificate, as it is; *objected: whether it calls it wrong. */
int64_t proved_of_claim(const situ_problem *problem, const certificate *c, bool *objected);
/* Whether that is all of it. */
bool proved_claim(const situ_problem *problem, const certificate *c);

/* What a bound finds without limits; *proof becomes its certificate, empty where it leaves none (NULL: not wanted).
 * Fails the test on any error. */
int64_t proved_bound(certificate *proof, const bound *row, const situ_problem *problem, arena *a);

#endif
