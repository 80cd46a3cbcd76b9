/* engine/by_parts.h - what a placed model takes by the parts that it is cut into (sim/engine_parts.h). */
#ifndef SITU_ENGINE_BY_PARTS_H
#define SITU_ENGINE_BY_PARTS_H

#include "problem/problem.h"
#include "split/model_parts.h"

/* The latency that these parts give, or 0 where the costs do not know what parts take, where there is one part only,
 * and for a pipeline. time_ns[part] receives what each part takes: its operators and, where there is a latency, what it
 * takes beyond them. */
situ_status by_parts_predict(int64_t *latency_ns, int64_t *time_ns, const model_parts *parts,
                             const situ_problem *problem, situ_error *error);

#endif
