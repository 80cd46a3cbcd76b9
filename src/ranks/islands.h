/* ranks/islands.h - the processes that mpirun started, as islands: each searches by itself, and now and then all tell
 * each other what they have. NULL stands for a process that is alone.
 *
 * Everything is one operation, islands_gather, which all call in the same order. Rank 0 puts together what came, and
 * tells all: so who takes part is the same for all. A rank that nothing was heard from for 10 s (killed, stopped,
 * machine gone) is lost, and the others go on; each has a thread that tells the others that it is there, so that long
 * work is not taken for a loss. Without rank 0 nothing goes on. */
#ifndef SITU_RANKS_ISLANDS_H
#define SITU_RANKS_ISLANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "situ/ranks.h"

typedef struct situ_ranks islands;

enum { ISLANDS_MOST = 256 };

/* What a rank gave: borrowed until the next gather. bytes NULL: it takes part no more. */
typedef struct islands_given {
  const unsigned char *bytes;
  int64_t n;
} islands_given;

/* Asked about every 10 ms of a wait. When it says true, the wait ends soon: rank 0 goes on with who is there, others
 * end with CANCELLED. */
typedef bool islands_stop(void *context);

/* Gives n bytes to all, and gets what all gave: given[islands_count]. All name the same `kind`; rank 0 goes on without
 * one that names another. ENGINE where rank 0 is lost or MPI fails. */
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
