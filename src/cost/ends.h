/* cost/ends.h - where a step of a language model begins and ends.
 *
 * Tokens come from the machine of the first host, which requests them, and results return there. On its own devices
 * that is part of the rates. On those of other machines the operators at the ends take as much longer as the network
 * takes for tokens and for logits, so that every simulator, bound and certificate counts it.
 * docs/theory/models/language-models.md */
#ifndef SITU_COST_ENDS_H
#define SITU_COST_ENDS_H

#include "cost/costs.h"
#include "cost/fusion.h"

/* Whether some device of the platform is on another machine than the requesting one, and the graph says where its ends
 * are. */
bool ends_matter(const situ_graph *graph, const situ_platform *platform);

/* The platform with classes "CLASS:DEVICE" where devices of one class differ in network distance from the requesting
 * machine. */
situ_status ends_platform(situ_platform **out, const situ_platform *platform, situ_error *error);

/* Adds the network to the times of the operators at the ends, each to that of the head of its kernel (`group`, or
 * NULL), over the links of `linked`, the platform with the latencies of the engine. False without memory. */
bool ends_add(situ_costs *costs, const situ_graph *graph, const situ_platform *linked, const int32_t *group,
              const cost_engine *engine);

#endif
