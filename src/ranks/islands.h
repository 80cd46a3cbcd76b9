/* ranks/islands.h - the processes that mpirun started, as islands: each searches independently, and from time to time
 * all exchange results. NULL means a single process.
 *
 * The only operation is islands_gather, which all call in the same order. Rank 0 collects the messages and distributes
 * them, so that all agree on the participants. A rank that is silent for 10 s (killed, stopped, machine down) is lost,
 * and the others continue; a thread in each process sends signs of life, so that long work is not mistaken for a loss.
 * Without rank 0 no exchange is possible. */
#ifndef SITU_RANKS_ISLANDS_H
#define SITU_RANKS_ISLANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "situ/ranks.h"

typedef struct situ_ranks islands;

enum { ISLANDS_MAX = 256 };

/* The message of a rank: borrowed until the next gather. bytes NULL: it no longer participates. */
typedef struct islands_given {
  const unsigned char *bytes;
  int64_t n;
} islands_given;

/* Called about every 10 ms of a wait. If it returns true, the wait ends soon: rank 0 continues with the current ranks,
 * others end with CANCELLED. */
typedef bool islands_stop(void *context);

/* Sends n bytes to all, and receives those of all: given[islands_count]. All must pass the same `kind`; rank 0
 * continues without a rank that passes another. ENGINE if rank 0 is lost or MPI fails. */
situ_status islands_gather(islands *all, islands_given *given, int32_t kind, const void *bytes, int64_t n,
                           islands_stop *stop, void *context, situ_error *error);

int32_t islands_own(const islands *all);
int32_t islands_count(const islands *all);
/* As of the last gather: how many take part, and which of them this one is; which rank is number k of them. */
int32_t islands_alive(const islands *all);
int32_t islands_place(const islands *all);
bool islands_is_alive(const islands *all, int32_t rank);
/* A copy of a text that stays as long as the islands; the same one for equal texts. NULL without memory. */
const char *islands_name(islands *all, const char *text);

#endif
