/* brute.h - every placement of a small problem, by counting. For tests that want the truth. */
#ifndef SITU_TESTS_BRUTE_H
#define SITU_TESTS_BRUTE_H

#include "sim/simulate.h"

/* Called with each placement that keeps support, pins, unused devices and colocation: for streams with each topological
 * order, for calls with each way to part the operators of an accelerator into no more calls than it may run, in every
 * order, for pipelines with all replicas that the rules allow. Memory and contiguity are for the visitor to see. At
 * most 16 operators. */
typedef void brute_visitor(void *context, const placement *where);
void brute_each(const situ_problem *problem, brute_visitor *visit, void *context);

/* The least value of all these that keep memory and limits too, and (in a contiguous pipeline) contiguity;
 * SITU_NEVER_NS when there is none. The devices of the best go to `device` unless that is NULL. */
int64_t brute_force(const situ_problem *problem, int32_t *device);

#endif
