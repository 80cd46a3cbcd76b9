/* check/check_pipeline.h - rules of pipelines that other execution models also use. */
#ifndef SITU_CHECK_CHECK_PIPELINE_H
#define SITU_CHECK_CHECK_PIPELINE_H

#include "check/judge.h"

/* stream: the period of the placement, which is the maximum load of a device or channel when inputs follow each
 * other. */
situ_status check_period(judge *j, int64_t *period_ns, situ_error *error);

/* calls, pipeline: what each memory has to hold of the operators on its devices, in the scratch arena. kept[device]:
 * the inputs that it keeps; NULL for one each. shared[device]: how many run its part; NULL: it alone. */
situ_status check_static_memory(judge *j, const int64_t *kept, const int32_t *shared, int64_t **memory_bytes,
                                situ_error *error);
/* The same of a placement on a single device. */
situ_status check_memory_alone(judge *j, int64_t **memory_bytes, situ_error *error);

#endif
