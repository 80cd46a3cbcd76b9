/* learn/group.h - an environment with fewer units, for policies that take one decision after the other.
 *
 * The units whose tensors are the most expensive to cut are joined, by heavy edges (Karypis, Kumar, "A fast and high
 * quality multilevel scheme for partitioning irregular graphs", 1998) and a limit on the work of a group that doubles
 * until few enough are left: 2, 4, 8, ... times an equal share. What no tensor joins is then joined along the numbers
 * of units. Groups keep a device that may run all of them and has four times the room of their weights, so that they
 * still pack.
 */
#ifndef SITU_LEARN_GROUP_H
#define SITU_LEARN_GROUP_H

#include "solve/stream/environment.h"

/* As many as the baselines that group at the start learn to place within some thousands of trials. */
enum { GROUP_MAX = 64 };

/* Joins units until at most `most` are left, or more where constraints keep them apart. O(E log E). False without
 * memory. */
bool environment_group(environment *env, int32_t most, arena *a);

#endif
