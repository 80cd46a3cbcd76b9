/* cost/host_states.h - states of the optimizer in the memory of the host, which makes the updates.
 *
 * Once a step a device sends the gradients of its weights to the host, which updates them and sends them back. The
 * accelerators have equal shares of what the host moves in a second, where many inputs follow each other: a pipeline
 * ends its step everywhere at once. One input goes from device to device, and each has the host for itself.
 * docs/how-to/training.md */
#ifndef SITU_COST_HOST_STATES_H
#define SITU_COST_HOST_STATES_H

#include "cost/costs.h"
#include "cost/fusion.h"
#include "graph/graph.h"

/* The platform whose host has so much less memory. BAD_ARGUMENT where there are several machines, no host, or one with
 * less. */
situ_status host_states_platform(situ_platform **out, const situ_platform *platform, int64_t bytes, situ_error *error);

/* Adds what the host takes to the times of the updates that it makes, each to that of the head of its kernel (`group`,
 * or NULL). `share`: of the bandwidth that all devices reach, or 0: the usual.
 * `unused` is [n_devices], or NULL; `in_turn`: devices have the host one after the other. */
void host_states_add(situ_costs *costs, const situ_graph *graph, const situ_platform *linked, const int32_t *group,
                     const cost_engine *engine, double share, const bool *unused, bool in_turn);

#endif
