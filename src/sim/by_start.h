/* sim/by_start.h - operators by the time at which they start. */
#ifndef SITU_SIM_BY_START_H
#define SITU_SIM_BY_START_H

#include "base/sort.h"

/* Fills out ([n]) with the operators by start; ties follow the given order (NULL: by number), so that the sequence of
 * every device is kept. start_ns NULL: none has started. rows: scratch [n]. */
void order_by_start(int32_t *out, keyed *rows, const int64_t *start_ns, const int32_t *order, int32_t n);

#endif
