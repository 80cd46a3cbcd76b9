#include "base/clock.h"

#include <time.h>

static const int64_t SECOND_NS = 1000000000;

int64_t clock_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

void clock_condition(pthread_cond_t *out) {
  pthread_condattr_t steady;
  pthread_condattr_init(&steady);
  pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
  pthread_cond_init(out, &steady);
  pthread_condattr_destroy(&steady);
}

void clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t max_ns) {
  int64_t until_ns = clock_now_ns() + max_ns;
  struct timespec until = {.tv_sec = until_ns / SECOND_NS, .tv_nsec = until_ns % SECOND_NS};
  pthread_cond_timedwait(condition, lock, &until);
}
