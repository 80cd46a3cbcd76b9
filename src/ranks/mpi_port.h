/* ranks/mpi_port.h - the only interface to MPI: the processes that mpirun started, and non-blocking messages between
 * them. The library is that of mpirun (Open MPI); it is found at run time and never linked.
 *
 * Waiting is polling, so that time limits, signals and lost processes end a wait. ENGINE if MPI fails. */
#ifndef SITU_RANKS_MPI_PORT_H
#define SITU_RANKS_MPI_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "situ/error.h"

enum { MPI_PORT_MAX = 256 /* processes */, MPI_PORT_ANY = -1 /* source */ };

typedef struct mpi_port mpi_port;
/* A pending message of MPI, or NULL; mpi_port_test sets it to NULL. */
typedef void *mpi_message;

/* Whether mpirun started this process as one of several. */
bool mpi_port_wanted(void);
/* All processes have to call it. A program that has initialised MPI keeps it. `threads`: several threads will use the
 * port, one at a time; UNSUPPORTED where the program has initialised MPI for fewer. */
situ_status mpi_port_open(mpi_port **out, bool threads, situ_error *error);
/* Waits for all others. With `broken`, after a failure, it waits for no one: mpirun ends the remaining processes. */
void mpi_port_close(mpi_port *p, bool broken);

int32_t mpi_port_own(const mpi_port *p); /* number of this process, from 0 */
int32_t mpi_port_count(const mpi_port *p);

/* Begins a message of at most 2^31 - 1 bytes, which must stay where they are until it is done: when the receiver has
 * begun to receive it. */
situ_status mpi_port_send(mpi_port *p, mpi_message *out, int32_t to, int32_t tag, const void *bytes, int64_t n,
                          situ_error *error);
situ_status mpi_port_receive(mpi_port *p, mpi_message *out, int32_t from, int32_t tag, void *bytes, int64_t n,
                             situ_error *error);
/* Which of some messages, NULL ones left out, are done: their indices. */
situ_status mpi_port_test(mpi_port *p, mpi_message *messages, int32_t n, int32_t *done, int32_t *n_done,
                          situ_error *error);
/* Takes back a receive that nothing has answered, and waits until it is taken back. */
void mpi_port_cancel(mpi_port *p, mpi_message *message);
/* A pause so short that it delays no message. */
void mpi_port_nap(void);

#endif
