/* engine/ranks.h - the processes of one run on several machines, as mpirun starts them, and messages between them
 * (ranks/mpi_port.h).
 *
 * Messages never block: a wait polls them, so that a time limit, a signal or the failure of another rank ends it.
 * `ranks` NULL is a run of one process. Functions fail with ENGINE if a rank is lost or MPI fails, with CANCELLED if
 * the caller stops, and with the status of the rank that failed first. */
#ifndef SITU_ENGINE_RANKS_H
#define SITU_ENGINE_RANKS_H

#include "engine/worker.h"
#include "ranks/mpi_port.h"

enum { RANKS_MOST = MPI_PORT_MOST, RANKS_TAGS = 1 << 14 /* lowest tag that callers may use */ };

typedef struct ranks ranks;
/* A pending message of MPI, or NULL; ranks_test sets it to NULL. */
typedef mpi_message ranks_message;

/* *out is NULL where this process was not started by mpirun, or as the only one. Otherwise all ranks have to call it.
 * A program that has initialised MPI keeps it. `wait` stays the caller's and must outlive the ranks. */
situ_status ranks_open(ranks **out, const patience *wait, situ_error *error);
/* After a failure: notifies all others, unless one of them reported it or mpirun stopped this one, and waits up to 1 s
 * until they have received it. No message is transferred after that, so call it before freeing memory that messages
 * use.
 */
void ranks_fail(ranks *r, const situ_error *error);
/* Waits for all others, except after a failure: mpirun then ends the remaining processes. */
void ranks_close(ranks *r);

int32_t ranks_own(const ranks *r);   /* number of this process, from 0 */
int32_t ranks_count(const ranks *r); /* at least 1 */

/* Starts a message of at most 2^31 - 1 bytes, which must not move until it is complete. It is complete when the
 * receiver has begun to receive it, so a sender is never ahead by more than was requested. */
situ_status ranks_send(ranks *r, ranks_message *out, int32_t to, int32_t tag, const void *bytes, int64_t n,
                       situ_error *error);
situ_status ranks_receive(ranks *r, ranks_message *out, int32_t from, int32_t tag, void *bytes, int64_t n,
                          situ_error *error);
/* Which of some messages, NULL ones left out, are done: their indices. */
situ_status ranks_test(ranks *r, ranks_message *messages, int32_t n, int32_t *done, int32_t *n_done, situ_error *error);
/* Whether the run goes on, where nothing has come from rank `whom` since `since_ns` on clock_now_ns: for limit_s at
 * most.
 */
situ_status ranks_watch(ranks *r, int32_t whom, double limit_s, int64_t since_ns, situ_error *error);

/* One message, with the wait for it; both sides must mean the same one. Waits twice as long as for an answer, since the
 * other may be waiting for one. */
situ_status ranks_tell(ranks *r, int32_t to, const void *bytes, int64_t n, situ_error *error);
situ_status ranks_hear(ranks *r, int32_t from, void *bytes, int64_t n, situ_error *error);

#endif
