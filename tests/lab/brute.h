/* brute.h - every placement of a small problem, by counting. For tests that want the truth. */
#ifndef SITU_TESTS_BRUTE_H
#define SITU_TESTS_BRUTE_H

#include "sim/simulate.h"

/* The least value over all placements that keep support, pins, unused devices, colocation and memory, and (in a
 * contiguous pipeline) contiguity, with all replicas that the rules allow; SITU_NEVER_NS when there is none. The best
 * placement goes to `device` unless that is NULL. Takes devices ^ operators simulations; for streams each with all
 * topological orders, for calls each with all ways to part the operators of an accelerator into calls, in every order
 * (8 operators at most). */
int64_t brute_force(const situ_problem *problem, int32_t *device);

#endif
