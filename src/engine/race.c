#include "engine/race.h"

#include <string.h>

#include "base/contracts.h"
#include "base/fail.h"
#include "engine/profile.h"

enum { MIN_ROUNDS = 7 }; /* 1 / 2^7 is the first probability below CHANCE */
static const double CHANCE = 0.01;

/* The probability of at least k heads in n throws of a coin. */
static double tail(int32_t n, int32_t k) {
  double sum = 0, term = 1;
  for (int32_t i = 0; i < n; i++) term /= 2;
  for (int32_t i = 0; i <= n; i++) {
    if (i >= k) sum += term;
    term = term * (n - i) / (i + 1);
  }
  return sum;
}

static void sum_up(race_lane *lane, int64_t *scratch_ns) {
  memcpy(scratch_ns, lane->times_ns, (size_t)lane->n * sizeof *scratch_ns);
  lane->median_ns = median_of(scratch_ns, lane->n, &lane->half_ns);
}

static int32_t leader(const race_lane *lanes, int32_t n) {
  int32_t best = -1;
  for (int32_t i = 0; i < n; i++)
    if (!lanes[i].out && (best < 0 || lanes[i].median_ns < lanes[best].median_ns)) best = i;
  return best;
}

static void drop_losers(race_lane *lanes, int32_t n, int32_t best) {
  for (int32_t i = 0; i < n; i++) {
    int32_t lost = 0, decided = 0;
    if (lanes[i].out || i == best || lanes[i].n < MIN_ROUNDS) continue;
    for (int32_t r = 0; r < lanes[i].n; r++) {
      lost += lanes[i].times_ns[r] > lanes[best].times_ns[r];
      decided += lanes[i].times_ns[r] != lanes[best].times_ns[r];
    }
    lanes[i].out = decided > 0 && tail(decided, lost) <= CHANCE;
  }
}

situ_status race_run(race_lane *lanes, int32_t n, int32_t rounds, race_sample *sample, bool (*late)(void *context),
                     void *context, int32_t *winner, arena *a, situ_error *error) {
  int64_t *scratch_ns = ARENA_NEW(a, int64_t, rounds);
  for (int32_t i = 0; i < n; i++)
    if (!(lanes[i].times_ns = ARENA_NEW(a, int64_t, rounds))) return fail_no_memory(error);
  if (!scratch_ns) return fail_no_memory(error);
  int32_t n_in = 2;
  for (int32_t r = 0; r < rounds && n_in > 1; r++) {
    for (int32_t i = 0; i < n; i++) {
      if (lanes[i].out) continue;
      TRY(sample(context, i, &lanes[i].times_ns[lanes[i].n], error));
      lanes[i].n++;
      sum_up(&lanes[i], scratch_ns);
    }
    int32_t best = leader(lanes, n);
    if (best >= 0) drop_losers(lanes, n, best);
    n_in = 0;
    for (int32_t i = 0; i < n; i++) n_in += !lanes[i].out;
    if (late && late(context)) break;
  }
  *winner = leader(lanes, n);
  ENSURE(*winner >= -1 && *winner < n);
  return SITU_STATUS_OK;
}
