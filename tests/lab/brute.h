/* brute.h - every placement of a small problem, by counting. For tests that want the truth. */
#ifndef SITU_TESTS_BRUTE_H
#define SITU_TESTS_BRUTE_H

#include "sim/simulate.h"

/* The least value over all placements that keep support, pins, unused devices, colocation and memory, and (in a
 * contiguous pipeline) contiguity; SITU_NEVER_NS when there is none. The best placement goes to `device` unless that is
 * NULL. Takes devices ^ operators simulations. */
int64_t brute_force(const situ_problem *problem, int32_t *device);

/* For calls: the same over all placements and all ways to run a device's operators as calls, one after the other. Takes
 * some thousand simulations for 5 operators on 3 devices. */
int64_t brute_force_calls(const situ_problem *problem);

#endif
