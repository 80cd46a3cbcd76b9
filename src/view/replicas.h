/* view/replicas.h - parts of a pipeline that several equal devices run, each every r-th input (docs/model.md,
 * "Replication"). One of them, the leader, is the device of the part's operators; the others are its replicas. */
#ifndef SITU_VIEW_REPLICAS_H
#define SITU_VIEW_REPLICAS_H

#include "base/arena.h"
#include "problem/problem.h"

/* The exchange of gradients, and where weights are shared of weights too, in rings over r devices: bytes that each
 * sends, and as many that it receives, for each round of r inputs and for each step. 0 where nothing is trained. */
typedef struct replicas_sync {
  int64_t round_bytes, step_bytes;
} replicas_sync;
replicas_sync replicas_sync_of(const situ_problem *problem, int64_t weight_bytes, int32_t r);
/* Inputs of a step at least: r of them, or its micro-batches. */
int64_t replicas_step(const situ_problem *problem, int32_t r);
/* The cost of the rings for a device of the kind of d, one of r, if transfers are staged through the host: sent, and
 * received, for r inputs; 0 for hosts. */
void replicas_staged_sync(const situ_problem *problem, int32_t d, int32_t r, int64_t weight_bytes, int64_t *in_ns,
                          int64_t *out_ns);
/* The cost of the rings for a link of the costs on the way round, for each input. */
int64_t replicas_link_sync_ns(const situ_problem *problem, const situ_link *link, int32_t r, int64_t weight_bytes);
/* How often each of r devices makes an update, in inputs of its own: r times where each makes the whole update of a
 * step of r inputs or more, once where they share it. */
int64_t replicas_updates(const situ_problem *problem, int32_t r);

/* Whether replicas keep the rules: no replicas where the problem has none, leaders that lead themselves, replicas
 * without operators of their own, equal devices that may have any. replica_of may be NULL. O(V + devices^2). */
bool replicas_keep_rules(const situ_problem *problem, const int32_t *device, const int32_t *replica_of);

#endif
