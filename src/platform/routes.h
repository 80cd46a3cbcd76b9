/* platform/routes.h - the fixed route between each two memories of a platform. */
#ifndef SITU_PLATFORM_ROUTES_H
#define SITU_PLATFORM_ROUTES_H

#include "platform/platform.h"

/* Time of sending `size_bytes` over one link without contention: latency + ceil(size * 10^9 / rate), exact, INT64_MAX
 * when it does not fit. A transfer of 0 bytes still takes the latency. */
int64_t link_time_ns(int64_t latency_ns, double bytes_per_s, int64_t size_bytes);

/* Fills route_start and route_link from link_from, link_to and links. The weight of a link is its time for 1 MiB; among
 * the paths of minimum weight the one with the fewest hops is chosen, and among those the one whose links, in order
 * from the sender, have the lowest numbers. One search by Dijkstra ("A note on two problems in connexion with graphs",
 * 1959) towards each memory: O(n_memories * n_links * log n_links). BAD_INPUT names two memories without a path between
 * them. */
situ_status routes_find(situ_platform *platform, situ_error *error);

/* Gives a platform with the same memories and links the routes of `of`. */
situ_status routes_copy(situ_platform *platform, const situ_platform *of, situ_error *error);

#endif
