/* cost/offloaded.h - products of many tokens whose weights a host has and an accelerator computes.
 *
 * llama.cpp copies a weight in the host's memory to the first accelerator for each product of 32 tokens or more, as in
 * prefill, and computes it there; of experts, those that the tokens reach. So such a product takes the copy and the
 * time on the accelerator, which also needs memory for the largest copy. Each member of a group gets a copy of its own
 * and computes all of it. docs/theory/models/language-models.md */
#ifndef SITU_COST_OFFLOADED_H
#define SITU_COST_OFFLOADED_H

#include "cost/costs.h"
#include "cost/fusion.h"
#include "graph/graph.h"

/* Replaces the times of such products on the hosts of the requesting machine, each kernel's at its head (`work`). The
 * links are those of the platform, without the time of a hand-over. `unused` is [n_devices], or NULL. */
void offloaded_apply(situ_costs *costs, const situ_graph *graph, const situ_platform *platform, const fusion *work,
                     const cost_engine *engine, const bool *unused);

/* What an accelerator reserves for the largest copy; 0 where no plan needs to copy, since the accelerators together
 * hold all weights and caches, or the engine copies nothing. */
int64_t offloaded_bytes(const situ_graph *graph, const situ_platform *platform, const cost_engine *engine,
                        const bool *unused);

#endif
