/* situ/ranks.h - processes started by mpirun (Open MPI) that solve one problem together.
 *
 * Every process must call the same functions with the same arguments in the same order. The MPI library is loaded at
 * run time, so building situ does not need it. */
#ifndef SITU_RANKS_H
#define SITU_RANKS_H

#include <stdbool.h>

#include "situ/types.h"

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

typedef struct situ_ranks_summary {
  size_t size;
  int32_t own;   /* the rank of this process, from 0 */
  int32_t count; /* processes at the start, at least 1 */
  int64_t lost;  /* of these */
} situ_ranks_summary;
#define SITU_RANKS_SUMMARY_INIT SITU_SIZED(situ_ranks_summary)
/* NULL: one process, which is none of several. False, and nothing is written, if `out` is NULL or has no size. */
SITU_API bool situ_ranks_get_summary(const situ_ranks *ranks, situ_ranks_summary *out);

#ifdef __cplusplus
}
#endif
#endif
