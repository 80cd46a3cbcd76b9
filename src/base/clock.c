#include "base/clock.h"

#include "base/os.h"

int64_t clock_now_ns(void) { return os_now_ns(); }

void clock_condition(pthread_cond_t *out) { os_condition_new(out); }

void clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t max_ns) {
  os_condition_wait(condition, lock, max_ns);
}
