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

enum { RANKS_MAX = MPI_PORT_MAX, RANKS_TAGS = 1 << 14 /* lowest tag that callers may use */ };

typedef struct ranks ranks;
/* A pending message of MPI, or NULL; ranks_test sets it to NULL. */
typedef mpi_message ranks_message;

/* *out is NULL if mpirun did not start this process, or started only it. Otherwise all ranks must call it. If the
 * caller has initialised MPI, it stays initialised. `wait` stays the caller's and must outlive the ranks. */
situ_status ranks_open(ranks **out, const wait_limit *wait, situ_error *error);
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
/* The indices of complete messages; NULL ones are skipped. */
situ_status ranks_test(ranks *r, ranks_message *messages, int32_t n, int32_t *done, int32_t *n_done, situ_error *error);
/* Call it while waiting for rank `whom`, from which nothing has arrived since `since_ns` on clock_now_ns. Fails after
 * limit_s, after a failure of another rank, or if the caller stops. */
situ_status ranks_watch(ranks *r, int32_t whom, double limit_s, int64_t since_ns, situ_error *error);

/* Sends or receives one message and waits for it; both sides must make matching calls. Waits twice as long as for an
 * answer of a worker, since the other side may be waiting for one. */
situ_status ranks_send_wait(ranks *r, int32_t to, const void *bytes, int64_t n, situ_error *error);
situ_status ranks_receive_wait(ranks *r, int32_t from, void *bytes, int64_t n, situ_error *error);

#endif
