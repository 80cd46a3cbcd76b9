/* base/child.h - runs work that may crash, hang or exhaust memory (foreign engines) in a process of its own.
 *
 * The child is a fork of the caller: it sees the caller's memory, changes nothing there, and reports its results by
 * messages through a pipe. It must not touch locks, threads or files of the caller. Whatever happens to the child,
 * child_run leaves no process behind. */
#ifndef SITU_BASE_CHILD_H
#define SITU_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The child's end of the pipes. */
typedef struct child_line child_line;

/* The work of the child. Returns whether it completed. */
typedef bool child_work(void *context, child_line *line);
/* In the child: sends a message of `size` bytes (at least 1). False when the parent no longer reads. */
bool child_send(child_line *line, const void *bytes, size_t size);
/* In the child: whether it is asked to come to an end. Cheap: one poll of a pipe. */
bool child_must_stop(const child_line *line);

/* In the parent: is given each message, as sent; the bytes are valid during the call and aligned as malloc aligns. */
typedef void child_receive(void *context, const void *bytes, size_t size);
/* In the parent: asked about every 10 ms; true stops the child. */
typedef bool child_stop(void *context);

typedef enum child_end {
  CHILD_DONE,      /* its work returned true */
  CHILD_FAILED,    /* its work returned false */
  CHILD_CRASHED,   /* it ended without returning, or sent a malformed message */
  CHILD_STOPPED,   /* it was asked to stop, and did or was killed */
  CHILD_NO_PROCESS /* no process or memory for one; nothing was done */
} child_end;

typedef struct child_limits {
  int64_t deadline_ns; /* time of clock_now_ns at which it is asked to stop; INT64_MAX: none */
  int64_t grace_ns;    /* how long it may take to stop before it is killed */
  size_t max_bytes;    /* of one message: a child that sends more has crashed */
  child_stop *stop;    /* may be NULL */
  child_receive *receive;
} child_limits;

/* Runs `work` in a child and waits for it. `context` goes to all three functions. Signals that reach the whole process
 * group (SIGINT, SIGTERM and SIGHUP of a terminal or of `timeout`) do not end the child: the caller decides. It dies
 * with its parent. CHILD_NO_PROCESS on Windows, which has no fork. */
child_end child_run(child_work *work, const child_limits *limits, void *context);

#endif
