/* check/check_claims.h - the judge of what a plan says beyond its own placement: the best plan found, the answer
 * without a form, what drawn costs say of it, times that only some problems have. Each claim must be possible, and each
 * plan that a claim is of is judged like the plan itself. Draws of costs are simulations: api/robustness_check.c
 * repeats them. */
#ifndef SITU_CHECK_CHECK_CLAIMS_H
#define SITU_CHECK_CHECK_CLAIMS_H

#include "check/judge.h"

enum { CHECK_SHOWN = 3, CHECK_NO_HANDOVERS = -1 };

/* A plan that a claim is of; plan: NULL where there is none. */
typedef struct check_shown_plan {
  const char *name;
  const situ_plan *plan;
  int64_t value_ns;  /* that is claimed; SITU_NEVER_NS: none is */
  int32_t handovers; /* likewise; CHECK_NO_HANDOVERS: none are */
} check_shown_plan;

/* Notes claims that cannot be true, and which can be recomputed; lists the plans to be judged. */
void check_claims(judge *j, check_shown_plan shown[CHECK_SHOWN]);
/* Compares a plan that keeps all rules (j->plan) with what is claimed of it. NO_MEMORY or OK. */
situ_status check_shown_claim(judge *j, const check_shown_plan *shown, situ_error *error);

#endif
