/* solve/calls/call_pack.h - from the units of a call graph to devices: which accelerator runs which call. */
#ifndef SITU_SOLVE_CALLS_CALL_PACK_H
#define SITU_SOLVE_CALLS_CALL_PACK_H

#include "exact/call_graph.h"

/* unit[node] numbers the units in a topological order; host[unit] marks nodes on hosts. Fills device and call, both
 * [operator]: every call on an accelerator that may run it, within the memories, colocation groups together, and no two
 * calls of one device at the same time. False if there is no such packing, if none was found within a fixed effort, or
 * without memory. */
bool call_pack(const call_graph *g, const int32_t *unit, const bool *host, int32_t n_units, int32_t *device,
               int32_t *call, arena *a);

#endif
