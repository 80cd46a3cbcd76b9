/* situ/ranks.h - processes started by mpirun (Open MPI) that solve one problem together.
 *
 * Every process must call the same functions with the same arguments in the same order. The MPI library is loaded at
 * run time, so building situ does not need it. */
#ifndef SITU_RANKS_H
#define SITU_RANKS_H

#include <stdint.h>

#include "situ/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_ranks situ_ranks;

/* Connects to the other processes. *out is NULL if this process was not started by mpirun, or is the only one. MPI can
 * be initialised only once in a process, so a program opens its ranks once; a program that has initialised MPI itself
 * needs MPI_THREAD_MULTIPLE. ENGINE if the library is missing or is not Open MPI; UNSUPPORTED for more than 256
 * processes. */
SITU_API situ_status situ_ranks_open(situ_ranks **out, situ_error *error);
/* Disconnects from the other processes, and waits for them unless one was lost. NULL is allowed. */
SITU_API void situ_ranks_free(situ_ranks *ranks);

/* The rank of this process, from 0; the number of processes at the start, at least 1; how many were lost. NULL: 0, 1,
 * 0. */
SITU_API int32_t situ_ranks_own(const situ_ranks *ranks);
SITU_API int32_t situ_ranks_count(const situ_ranks *ranks);
SITU_API int32_t situ_ranks_lost(const situ_ranks *ranks);

#ifdef __cplusplus
}
#endif
#endif
