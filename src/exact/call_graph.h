/* exact/call_graph.h - a relaxation of a problem for the latency of calls: nodes of operators that can be merged
 * without loss, one kind of accelerator that is at least as good as each real one, and hosts.
 *
 * Every plan of the problem is, with the same units, a plan of the call graph of no greater latency: an operator takes
 * its minimum time over accelerators or hosts, a tensor its minimum transfer time, a call holds as many weights as the
 * largest memory, all calls together as many as all memories, and there are as many calls as all accelerators may run.
 * Footprints, the assignment of calls to accelerators and, except as stated below, colocation are ignored. A proved
 * bound of the call graph is therefore a bound of the problem.
 *
 * An operator that takes no time anywhere is fused if that loses no plan (docs/theory/exact/call_dp.md):
 * - a source into its only user, when it is without weights and in no group, or in the user's group;
 * - an operator whose inputs are all from one node into that node, when it is without weights and in no group, or in
 *     the producer's group, and nobody uses it, or it alone uses its one input (but for what is fused into the node
 *     already) and its outputs cost no more than that.
 * A source in no group whose tensors cost nothing is left out: it may be on a host. */
#ifndef SITU_EXACT_CALL_GRAPH_H
#define SITU_EXACT_CALL_GRAPH_H

#include "problem/problem.h"

typedef struct call_graph {
  const situ_problem *problem;
  int32_t n, n_tensors;       /* nodes, in a topological order; tensors that leave their node */
  int32_t *node_of;           /* [operator] its node, or -1 where it was left out */
  int64_t *call_ns, *host_ns; /* [node] time in a call, on a host; SITU_NEVER_NS where it may not be */
  int64_t *weight_bytes;      /* [node] */
  int32_t *out_start;         /* [node + 1] tensors of node v are out_start[v] .. out_start[v + 1] - 1 */
  int32_t *producer;          /* [tensor] */
  int64_t *in_ns, *out_ns;    /* [tensor] into a call, out of one */
  int32_t *use_start, *use;   /* [tensor + 1]: nodes that use it, ascending, distinct, without the producer */
  int32_t *in_start, *in;     /* [node + 1]: tensors it uses; in_use: the index into use that each is */
  int32_t *in_use;
  int32_t device_calls, all_calls; /* maximum number of calls of an accelerator, and of all; INT32_MAX: no limit */
  int64_t call_bytes, all_bytes;   /* memory of the largest accelerator, and of all; SITU_UNLIMITED_BYTES: no limit */
  int64_t total_ns;                /* no time of any chain of units is above this; SITU_NEVER_NS when it does not fit */
} call_graph;

/* Operators that take no time and have at most light_bytes of weights count as having none: with more than 0 there are
 * fewer nodes, and a weaker bound. False without memory. O((V + E) * devices). */
bool call_graph_find(call_graph *out, const situ_problem *problem, int64_t light_bytes, arena *a);

/* NULL, or which of the invariants above does not hold (base/contracts.h). */
const char *call_graph_check(const call_graph *g);

#endif
