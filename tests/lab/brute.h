/* brute.h - every placement of a small problem, by counting. For tests that want the truth. */
#ifndef SITU_TESTS_BRUTE_H
#define SITU_TESTS_BRUTE_H

#include "sim/simulate.h"

/* The least value over all placements that keep support, pins, unused devices, colocation and memory, and (in a
 * contiguous pipeline) contiguity; SITU_NEVER_NS when there is none. The best placement goes to `device` unless that is
 * NULL. Takes devices ^ operators simulations. */
int64_t brute_force(const situ_problem *problem, int32_t *device);

/* Called with each placement that keeps support, pins, unused devices and colocation, for stream with each topological
 * order; memory and contiguity are for the visitor to see. */
typedef void brute_visitor(void *context, const placement *where);
void brute_each(const situ_problem *problem, brute_visitor *visit, void *context);
/* The least value over all of these that fit: the optimum of a stream problem of a few operators. */
int64_t brute_force_orders(const situ_problem *problem);

#endif
