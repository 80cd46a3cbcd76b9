/* engine/race.h - finds the fastest of several candidates by measuring them alternately and dropping losers early.
 *
 * In each round every remaining candidate is measured once, so that all see the same state of the machine. After some
 * rounds the one with the lowest median leads; another is dropped once a sign test shows that it is slower: it lost as
 * many rounds to the leader as an equal candidate would in 1 of 100 races (W. J. Dixon, A. M. Mood, "The statistical
 * sign test", JASA 41, 1946; races: O. Maron, A. W. Moore, "Hoeffding races", NIPS 1993). Only times decide, so that a
 * race replayed from its log has the same result. */
#ifndef SITU_ENGINE_RACE_H
#define SITU_ENGINE_RACE_H

#include "base/arena.h"
#include "situ/error.h"

typedef struct race_lane {
  int32_t n;         /* rounds that it took part in */
  int64_t *times_ns; /* [n] */
  int64_t median_ns, half_ns;
  bool out; /* dropped */
} race_lane;

/* One measurement of a candidate. */
typedef situ_status race_sample(void *context, int32_t candidate, int64_t *time_ns, situ_error *error);

/* Runs at most `rounds`; `late` (may be NULL) can end the race after any round. Lanes that are out at the start are
 * never measured. *winner: the lowest median of the remaining lanes, -1 if there are none. Arrays in the arena. */
situ_status race_run(race_lane *lanes, int32_t n, int32_t rounds, race_sample *sample, bool (*late)(void *context),
                     void *context, int32_t *winner, arena *a, situ_error *error);

#endif
