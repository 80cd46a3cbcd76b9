/* engine/race.h - which of some candidates is fastest: measured in turn, losers dropped early.
 *
 * In each round every candidate that is still in is measured once, one after the other, so that all see the same
 * machine. After some rounds the one with the lowest median leads; another is dropped once a sign test says that it is
 * slower: it lost so many of the rounds to the leader as would happen to an equal one in 1 of 100 races (W. J. Dixon,
 * A. M. Mood, "The statistical sign test", JASA 41, 1946; races: O. Maron, A. W. Moore, "Hoeffding races", NIPS 1993).
 * Times alone decide, so that a race whose times are read from its log ends the same. */
#ifndef SITU_ENGINE_RACE_H
#define SITU_ENGINE_RACE_H

#include "base/arena.h"
#include "situ/error.h"

typedef struct race_lane {
  int32_t n;         /* rounds that it was in */
  int64_t *times_ns; /* [n] */
  int64_t median_ns, half_ns;
  bool out; /* dropped */
} race_lane;

/* One measurement of a candidate. */
typedef situ_status race_sample(void *context, int32_t candidate, int64_t *time_ns, situ_error *error);

/* Runs at most `rounds`; `late` (may be NULL) ends the race after any of them. Lanes that are out at the start are
 * never measured. *winner: the lowest median of those that are in, -1 where there is none. Arrays in the arena. */
situ_status race_run(race_lane *lanes, int32_t n, int32_t rounds, race_sample *sample, bool (*late)(void *context),
                     void *context, int32_t *winner, arena *a, situ_error *error);

#endif
