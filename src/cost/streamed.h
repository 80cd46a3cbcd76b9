/* cost/streamed.h - engines that compute nothing on a host where there is an accelerator.
 *
 * accelerate calls a module's weights "on the CPU" offloaded: at each forward pass they are copied to the first
 * accelerator of the map, which computes with them and keeps their caches, and the copy is dropped. So an operator on a
 * host takes the copy of its weights and the time on that accelerator. docs/theory/models/language-models.md */
#ifndef SITU_COST_STREAMED_H
#define SITU_COST_STREAMED_H

#include "cost/costs.h"
#include "cost/fusion.h"
#include "graph/graph.h"

/* The accelerator to which the weights on a host are copied: the first in its machine that may be used; -1: none may,
 * and the host computes. `unused` is [n_devices], or NULL. */
int32_t streamed_to(const situ_platform *platform, int32_t host, const bool *unused);

/* What a copy from memory that is not pinned reaches at most: the driver copies it twice, the first time on one core.
 * Measured: 5.6 to 9 GB/s over PCIe 5 (bench/gpu_day), 7 over PCIe 3 (accelerate's benchmark on two Titan RTX). */
#define PAGEABLE_BYTES_PER_S 7e9

/* The time of a copy from memory to memory, at a share of the rates of links and at most at `max_bytes_per_s`. */
int64_t streamed_copy_ns(const situ_platform *platform, int32_t from, int32_t to, int64_t size_bytes, double share,
                         double max_bytes_per_s);

/* Replaces the times on hosts, each kernel's (`group`, or NULL) at its head, and sets costs->streamed_to. False without
 * memory. */
bool streamed_apply(situ_costs *costs, const situ_graph *graph, const situ_platform *platform, const int32_t *group,
                    const cost_engine *engine, const bool *unused);

#endif
