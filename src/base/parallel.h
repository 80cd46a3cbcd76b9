/* base/parallel.h - independent tasks on several threads: the one place that starts any.
 *
 * What a task computes must depend on its number alone, never on which others have ended, and results must be put
 * together in the order of the numbers: then the answer is the same with any number of threads. */
#ifndef SITU_BASE_PARALLEL_H
#define SITU_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

/* `here`: on the thread that called parallel_run. */
typedef void parallel_task(void *context, int32_t number, bool here);
/* Called on the thread that called, about every 10 ms while tasks run on others. */
typedef void parallel_watch(void *context);

/* Runs task 0 .. n-1, begun in that order, at most n_threads of them at once; returns when all have ended. With one
 * thread, or where none can be started, they run here, one after the other, and `watch` is not called. */
void parallel_run(int32_t n, int32_t n_threads, parallel_task *task, parallel_watch *watch, void *context);

/* One thread beside the one that calls, for as long as it is wanted. NULL where none can be started. It takes no
 * signals. parallel_end waits until the task has returned, and frees; who wants that says so to the task first. */
typedef struct parallel_aside parallel_aside;
parallel_aside *parallel_begin(void (*task)(void *context), void *context);
void parallel_end(parallel_aside *aside);

#endif
