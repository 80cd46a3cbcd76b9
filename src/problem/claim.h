/* problem/claim.h - how far what is unknown (problem/unknown.h) leaves a claim: every output that says "optimal" takes
 * the words from here. */
#ifndef SITU_PROBLEM_CLAIM_H
#define SITU_PROBLEM_CLAIM_H

#include "problem/problem.h"

/* The share of the time that may be guessed by an option in percent, 0 being the default. */
double claim_max_share(double max_percent);
/* "proved optimal for these costs", or "optimal for guessed costs"; and "these costs" or "guessed costs", for other
 * claims. Static storage. */
const char *claim_optimal(const situ_problem *problem);
const char *claim_costs(const situ_problem *problem);

#endif
