#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/contracts.h"
#include "base/os.h"

enum { MAX_THREADS = 256, WATCH_NS = 10000000 };

typedef struct crew {
  parallel_task *task;
  void *context;
  int32_t n;
  _Atomic int32_t next;
  pthread_mutex_t lock;
  pthread_cond_t ended; /* one more of the threads is at its end */
  int32_t n_working;    /* under the lock */
} crew;

static void *work(void *context) {
  crew *c = context;
  for (int32_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;) c->task(c->context, i, false);
  pthread_mutex_lock(&c->lock);
  c->n_working--;
  pthread_cond_signal(&c->ended);
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

/* Starts as many as can be, deaf to signals: these are for the thread that called. */
static int32_t start(pthread_t *thread, int32_t wanted, void *(*function)(void *), void *context) {
  os_signals before;
  os_signals_hold(&before);
  int32_t n = 0;
  while (n < wanted && pthread_create(&thread[n], NULL, function, context) == 0) n++;
  os_signals_release(&before);
  return n;
}

static void wait_and_watch(crew *c, int32_t n_missing, parallel_watch *watch) {
  pthread_mutex_lock(&c->lock);
  c->n_working -= n_missing;
  while (c->n_working > 0) {
    clock_wait(&c->ended, &c->lock, WATCH_NS);
    pthread_mutex_unlock(&c->lock);
    watch(c->context);
    pthread_mutex_lock(&c->lock);
  }
  pthread_mutex_unlock(&c->lock);
}

void parallel_run(int32_t n, int32_t n_threads, parallel_task *task, parallel_watch *watch, void *context) {
  REQUIRE(n >= 0 && task);
  crew c = {.task = task, .context = context, .n = n};
  pthread_t thread[MAX_THREADS];
  int32_t wanted = n_threads < n ? n_threads : n, started = 0;
  if (wanted > MAX_THREADS) wanted = MAX_THREADS;
  if (wanted > 1) {
    pthread_mutex_init(&c.lock, NULL);
    clock_condition(&c.ended);
    c.n_working = wanted;
    started = start(thread, wanted, work, &c);
    wait_and_watch(&c, wanted - started, watch);
    for (int32_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
    pthread_cond_destroy(&c.ended);
    pthread_mutex_destroy(&c.lock);
  }
  for (int32_t i = 0; started == 0 && i < n; i++) task(context, i, true);
}

struct parallel_aside {
  pthread_t thread;
  void (*task)(void *context);
  void *context;
};

static void *run_aside(void *context) {
  parallel_aside *aside = context;
  aside->task(aside->context);
  return NULL;
}

parallel_aside *parallel_begin(void (*task)(void *context), void *context) {
  parallel_aside *aside = malloc(sizeof *aside);
  if (!aside) return NULL;
  *aside = (parallel_aside){.task = task, .context = context};
  if (start(&aside->thread, 1, run_aside, aside) == 1) return aside;
  free(aside);
  return NULL;
}

void parallel_end(parallel_aside *aside) {
  if (aside) pthread_join(aside->thread, NULL);
  free(aside);
}
