/* engine/worker.h - an engine in a process of its own, reached by one connection with framed messages; or, if
 * requested, on the thread of the caller.
 *
 * A worker is a fork of the caller. It answers requests sequentially, in the order in which they were sent:
 *
 *     call    a JSON object, answered by a JSON object: list devices, open a part, bind tensors, end a profile
 *     run     the number of a binding, answered by two times on clock_now_ns, with no other work before the run
 *
 * Tensors are not sent: they lie in memory that was shared before the fork. A worker that crashes, hangs, sends a
 * malformed message or runs out of memory gives one ENGINE error that names the request; after any failure the worker
 * is dead, and worker_stop must still be called. Nothing outlives the caller: workers die with it, and the shared
 * memory has no name.
 *
 * In process there are no messages: a call or run is complete when it returns, on any core, without a limit of time or
 * memory, and a crash of the engine is one of the caller. This shows the overhead of the process. */
#ifndef SITU_ENGINE_WORKER_H
#define SITU_ENGINE_WORKER_H

#include <stdbool.h>

#include "base/json.h"

/* How long a caller waits for one answer, and the callback that may end the wait. */
typedef struct wait_limit {
  double limit_s;              /* 0: 600 s */
  bool (*stop)(void *context); /* called about every 10 ms; true: CANCELLED. May be NULL */
  void *context;
} wait_limit;

static inline double wait_limit_s(const wait_limit *wait) { return wait->limit_s > 0 ? wait->limit_s : 600; }

/* The functions of a worker, in its own process. One that fails fills `error`, and the text of that is the answer. */
typedef struct worker_handler {
  /* Answers a call by adding members to `answer`. */
  situ_status (*call)(void *context, const char *verb, const json_value *request, json_value *answer,
                      situ_error *error);
  situ_status (*run)(void *context, int32_t binding, situ_error *error);
  void (*end)(void *context); /* in process, called by worker_stop: frees what the context holds. May be NULL */
  void *context;              /* in process used until then, else only by the fork */
} worker_handler;

typedef struct worker worker;

typedef struct worker_options {
  const char *name;     /* for messages: "onnxruntime on cpu0"; copied */
  int64_t memory_bytes; /* private memory that it may use in addition to that of the caller; 0: no limit */
  int32_t core;         /* it runs only on this core; -1: on any */
  int32_t n_cores;      /* on this and the next ones; 0 means 1 */
  bool in_process;      /* on the thread of the caller; the limits above do not apply */
} worker_options;

/* Starts a worker. NO_MEMORY if no process can be created. */
situ_status worker_start(worker **out, const worker_handler *handler, const worker_options *options, situ_error *error);
/* Ends it immediately and waits for its exit. NULL is allowed. */
void worker_stop(worker *w);

/* Sends a request and waits for the answer. Takes ownership of `request` (NULL: out of memory), also on failure;
 * *answer belongs to the caller. No run may be in progress. */
situ_status worker_call(json_value **answer, worker *w, const char *verb, json_value *request, const wait_limit *wait,
                        situ_error *error);

/* Requests a run and returns immediately. Several may be pending: they run in order. */
situ_status worker_run(worker *w, int32_t binding, situ_error *error);
/* A run that has ended. */
typedef struct worker_ran {
  int32_t worker; /* index into the list */
  int64_t start_ns, finish_ns;
} worker_ran;
/* Waits, at most `max_ns` (below 1 s), until a run of one of some workers has ended; out->worker -1: none has. */
situ_status worker_poll(worker_ran *out, worker *const *workers, int32_t n, int64_t max_ns, const wait_limit *wait,
                        situ_error *error);

#endif
