/* Tasks on several threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../../lab/test.h"
#include "base/parallel.h"

enum { TASKS = 50 };

typedef struct board {
  _Atomic int32_t n_begun;
  int32_t times[TASKS];
  bool here[TASKS];
  pthread_t caller;
  _Atomic int32_t n_watched, n_strange; /* strange: not on the thread that called */
  int64_t pause_ns;
} board;

static void task(void *context, int32_t number, bool here) {
  board *b = context;
  atomic_fetch_add(&b->n_begun, 1);
  b->times[number]++;
  b->here[number] = here;
  if (here != (pthread_equal(pthread_self(), b->caller) != 0)) atomic_fetch_add(&b->n_strange, 1);
  nanosleep(&(struct timespec){.tv_nsec = b->pause_ns}, NULL);
}

static void watch(void *context) {
  board *b = context;
  b->n_watched++;
  if (!pthread_equal(pthread_self(), b->caller)) b->n_strange++;
}

TEST(every_task_runs_once_with_any_number_of_threads) {
  static const int32_t threads[] = {-1, 0, 1, 2, 3, TASKS, 1000};
  for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
    board b = {.caller = pthread_self()};
    parallel_run(TASKS, threads[k], task, watch, &b);
    assert_int_equal(b.n_begun, TASKS);
    assert_int_equal(b.n_strange, 0);
    for (int32_t i = 0; i < TASKS; i++) {
      assert_int_equal(b.times[i], 1);
      assert_int_equal(b.here[i], threads[k] < 2);
    }
  }
  board none = {.caller = pthread_self()};
  parallel_run(0, 4, task, watch, &none);
  assert_int_equal(none.n_begun, 0);
}

TEST(the_caller_watches_while_others_work) {
  board b = {.caller = pthread_self(), .pause_ns = 60000000};
  parallel_run(3, 3, task, watch, &b);
  assert_true(b.n_watched >= 1); /* about every 10 ms, but the machine may be busy */
  assert_int_equal(b.n_strange, 0);
}

TEST_MAIN
