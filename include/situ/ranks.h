/* situ/ranks.h - the processes that mpirun (Open MPI) started, solving one problem together.
 *
 * Every process calls the same functions with the same arguments in the same order. The library is found at run time,
 * so a build needs no MPI. */
#ifndef SITU_RANKS_H
#define SITU_RANKS_H

#include <stdint.h>

#include "situ/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_ranks situ_ranks;

/* Meets the other processes. *out is NULL where this one was not started by mpirun or as the only one: it is then
 * alone. MPI is initialised once in a process, so a program opens its ranks once; one that has initialised MPI by
 * itself needs MPI_THREAD_MULTIPLE. ENGINE where the library is not there or is not Open MPI; UNSUPPORTED for more than
 * 256 processes. */
SITU_API situ_status situ_ranks_open(situ_ranks **out, situ_error *error);
/* Parts from the others, and waits for them unless one was lost. NULL is allowed. */
SITU_API void situ_ranks_free(situ_ranks *ranks);

/* The number of this process, from 0; how many there were, at least 1; how many were lost. NULL: 0, 1, 0. */
SITU_API int32_t situ_ranks_own(const situ_ranks *ranks);
SITU_API int32_t situ_ranks_count(const situ_ranks *ranks);
SITU_API int32_t situ_ranks_lost(const situ_ranks *ranks);

#ifdef __cplusplus
}
#endif
#endif
