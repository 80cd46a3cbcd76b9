/* engine/by_parts.h - what a placed model takes by the parts that it is cut into.
 *
 * A plan lets a device work on while it hands over, and an operator begin as soon as its own inputs are there. Engines
 * run whole parts: one after the other on a device, each when all that it reads has come. */
#ifndef SITU_ENGINE_BY_PARTS_H
#define SITU_ENGINE_BY_PARTS_H

#include "problem/problem.h"
#include "split/model_parts.h"

/* The latency that these parts give, or 0 where the costs do not know what parts take, where there is one part only,
 * and for a pipeline. time_ns[part] receives what each part takes: its operators and, where it is a latency and the
 * costs know of parts, its share of the bytes that parts hand to each other and, where it reads from another device,
 * its start, but no more than its operators take: what a few small operators touch fills no caches. bytes[value] of the
 * file. A device needs its dispatch_ns between two parts. */
situ_status by_parts_predict(int64_t *latency_ns, int64_t *time_ns, const model_parts *parts,
                             const situ_problem *problem, const int64_t *bytes, situ_error *error);

#endif
