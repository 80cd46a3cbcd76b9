/* Races: who is dropped when, and who wins. */
#include "../../lab/test.h"
#include "engine/race.h"

/* Times by candidate and round; each ends where its candidate ought to be out. */
typedef struct script {
  const int64_t *times_ns[3];
  int32_t read[3];
} script;

static situ_status sample(void *context, int32_t candidate, int64_t *time_ns, situ_error *error) {
  script *s = context;
  (void)error;
  *time_ns = s->times_ns[candidate][s->read[candidate]++];
  return SITU_STATUS_OK;
}

static int32_t run(race_lane *lanes, int32_t n, int32_t rounds, script *s) {
  OWN(arena) *a = arena_new();
  int32_t winner = -2;
  assert_int_equal(race_run(lanes, n, rounds, sample, NULL, s, &winner, a, NULL), SITU_STATUS_OK);
  for (int32_t i = 0; i < n; i++) lanes[i].times_ns = NULL;
  return winner;
}

TEST(who_loses_seven_rounds_of_seven_is_dropped) {
  /* 7 of 7 by chance: 1 of 128, below 1 of 100; 6 of 6: 1 of 64. */
  script s = {{(const int64_t[]){5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, (const int64_t[]){6, 6, 6, 6, 6, 6, 6}}, {0}};
  race_lane lanes[2] = {{0}};
  assert_int_equal(run(lanes, 2, 10, &s), 0);
  assert_true(lanes[1].out && lanes[1].n == 7);
  assert_int_equal(lanes[0].n, 7); /* alone, it need not run on */
}

TEST(who_wins_one_round_of_eight_stays) {
  /* At least 7 of 8: (8 + 1) / 256 = 3.5 %. Of 9: at least 8, (9 + 1) / 512 = 1.95 %; of 10: at least 9, 11 / 1024. */
  script s = {{(const int64_t[]){5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, (const int64_t[]){4, 6, 6, 6, 6, 6, 6, 6, 6, 6}}, {0}};
  race_lane lanes[2] = {{0}};
  assert_int_equal(run(lanes, 2, 10, &s), 0);
  assert_false(lanes[1].out);
  assert_int_equal(lanes[1].n, 10);
  assert_int_equal(lanes[1].median_ns, 6);
}

TEST(equals_stay_and_the_first_wins) {
  script s = {{(const int64_t[]){5, 5, 5, 5, 5, 5, 5, 5}, (const int64_t[]){5, 5, 5, 5, 5, 5, 5, 5}}, {0}};
  race_lane lanes[2] = {{0}};
  assert_int_equal(run(lanes, 2, 8, &s), 0);
  assert_false(lanes[0].out || lanes[1].out);
}

TEST(one_slow_round_does_not_decide) {
  /* Medians 10 and 11: the one of 1000 in the first does not count. */
  script s = {{(const int64_t[]){10, 1000, 10}, (const int64_t[]){11, 11, 11}}, {0}};
  race_lane lanes[2] = {{0}};
  assert_int_equal(run(lanes, 2, 3, &s), 0);
}

TEST(who_is_out_at_the_start_is_never_measured) {
  script s = {{NULL, (const int64_t[]){3}, (const int64_t[]){2}}, {0}};
  race_lane lanes[3] = {{.out = true}};
  assert_int_equal(run(lanes, 3, 1, &s), 2);
  assert_int_equal(lanes[0].n, 0);
}

TEST_MAIN
