/* base/parallel.h - independent tasks on several threads: the only place that starts threads. The result of a task must
 * depend only on its number, never on which other tasks have ended, and results must be combined in the order of the
 * numbers.
 *
 * The answer is then the same with any number of threads. */
#ifndef SITU_BASE_PARALLEL_H
#define SITU_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

/* `here`: on the thread that called parallel_run. */
typedef void parallel_task(void *context, int32_t number, bool here);
/* Called on the thread that called, about every 10 ms while tasks run on others. */
typedef void parallel_watch(void *context);

/* Runs tasks 0 .. n-1, started in that order, at most n_threads at once; returns when all have ended. With one thread,
 * or if none can be started, they run sequentially on the calling thread, and `watch` is not called. */
void parallel_run(int32_t n, int32_t n_threads, parallel_task *task, parallel_watch *watch, void *context);

/* A single background thread, which blocks all signals. NULL if none can be started. parallel_end waits until the task
 * has returned, and frees; the caller must make the task return first. */
typedef struct parallel_aside parallel_aside;
parallel_aside *parallel_begin(void (*task)(void *context), void *context);
void parallel_end(parallel_aside *aside);

#endif
