/* base/clock.h - monotonic time. Only budgets, progress and the "seconds" of a report may look at it: results never
 * depend on it except through a time limit. */
#ifndef SITU_BASE_CLOCK_H
#define SITU_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_now_ns(void);

#endif
