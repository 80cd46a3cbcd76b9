/* view/replicas.h - parts of a pipeline that several equal devices run, each every r-th input (docs/model.md,
 * "Replication"). One of them, the leader, is the device of the part's operators; the others are its replicas. */
#ifndef SITU_VIEW_REPLICAS_H
#define SITU_VIEW_REPLICAS_H

#include "base/arena.h"
#include "problem/problem.h"

/* Bytes that each of r devices sends, and as many that it receives, in the ring all-reduce after r inputs:
 * ceil(2 (r - 1) / r * weights); 0 where nothing is trained. */
int64_t replicas_sync_bytes(const situ_problem *problem, int64_t weight_bytes, int32_t r);
/* Inputs for which one such ring runs: r of them, or all of a step. */
int64_t replicas_round(const situ_problem *problem, int32_t r);
/* The cost of the ring for a device of the kind of d, one of r, if transfers are staged through the host: sent, and
 * received, for r inputs; 0 for hosts. */
void replicas_staged_sync(const situ_problem *problem, int32_t d, int32_t r, int64_t sync_bytes, int64_t *in_ns,
                          int64_t *out_ns);

/* Whether replicas keep the rules: no replicas where the problem has none, leaders that lead themselves, replicas
 * without operators of their own, equal devices that may have any. replica_of may be NULL. O(V + devices^2). */
bool replicas_keep_rules(const situ_problem *problem, const int32_t *device, const int32_t *replica_of);

#endif
