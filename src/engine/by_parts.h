/* engine/by_parts.h - the predicted times of the parts of a placed model (sim/engine_parts.h). */
#ifndef SITU_ENGINE_BY_PARTS_H
#define SITU_ENGINE_BY_PARTS_H

#include "problem/problem.h"
#include "split/model_parts.h"

/* The latency by these parts; 0 if the costs have none of parts, if there is only one part, and for a pipeline.
 * time_ns[part] receives the time of each part: its operators and, if there is a latency, its own costs. */
situ_status by_parts_predict(int64_t *latency_ns, int64_t *time_ns, const model_parts *parts,
                             const situ_problem *problem, situ_error *error);

#endif
