/* base/clock.h - monotonic time. Only budgets, progress and the "seconds" of a report may read it: results never depend
 * on it except through a time limit. */
#ifndef SITU_BASE_CLOCK_H
#define SITU_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>

int64_t clock_now_ns(void);

/* A condition to wait for by this clock; pthread_cond_destroy ends it. */
void clock_condition(pthread_cond_t *out);
/* Waits for it at most that long, which may end early as any such wait. The caller holds the lock. */
void clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t max_ns);

#endif
