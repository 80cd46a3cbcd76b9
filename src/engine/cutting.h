/* engine/cutting.h - measures the cost of cutting a model (engine/part_costs.h) by cutting it several times. */
#ifndef SITU_ENGINE_CUTTING_H
#define SITU_ENGINE_CUTTING_H

#include "engine/measure.h"

/* `whole` runs the model in one part; kernel[operator] is the first operator of its kernel, which is never cut, and
 * time_ns[operator] its time, which the times of parts correct (part_costs_spread). A cut that the engine
 * rejects is skipped. */
situ_status cutting_measure(part_costs *out, measuring *m, executor *whole, const situ_graph *graph,
                            const int32_t *kernel, int64_t *time_ns, situ_error *error);

#endif
