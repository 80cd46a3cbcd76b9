/* Which rank runs which devices and cores, and clocks of other machines. */
#include "../../lab/test.h"
#include "engine/run_ranks.h"
#include "platform/platform.h"

static core_set cores(uint64_t first_64) { return (core_set){.words = {first_64}}; }

TEST(workers_get_neighbouring_cores_and_the_set_loses_them) {
  core_set set = cores(0x37); /* 0, 1, 2, 4, 5 */
  int32_t first[2];
  cores_take(&set, first, 2, 2);
  assert_int_equal(first[0], 0);
  assert_int_equal(first[1], 4); /* 2 has no free neighbour */
  assert_int_equal(set.words[0], 0x04);
}

TEST(where_cores_do_not_suffice_nobody_gets_any) {
  core_set set = cores(0x0b); /* 0, 1, 3 */
  int32_t first[2];
  cores_take(&set, first, 2, 2);
  assert_int_equal(first[0], -1);
  assert_int_equal(first[1], -1);
  assert_int_equal(set.words[0], 0x0b);
}

TEST(sets_of_cores_are_joined_and_parted) {
  core_set set = cores(0x03), more = cores(0x06);
  cores_add(&set, &more);
  assert_int_equal(set.words[0], 0x07);
  cores_remove(&set, &more);
  assert_int_equal(set.words[0], 0x01);
}

TEST(a_process_may_run_somewhere) {
  core_set set = cores_allowed();
  int32_t first;
  cores_take(&set, &first, 1, 1);
  assert_true(first >= 0);
}

TEST(each_server_has_a_rank_and_each_device_of_a_single_one) {
  situ_platform *p = NULL;
  situ_error error;
  int32_t rank_of[4];
  assert_int_equal(situ_platform_read(&p, "2*(cpu+t4-16g)@ethernet-10g", &error), SITU_STATUS_OK);
  assert_int_equal(run_ranks_map(rank_of, p, 2, &error), SITU_STATUS_OK);
  for (int32_t d = 0; d < 4; d++) assert_int_equal(rank_of[d], p->devices[d].server);
  assert_int_equal(run_ranks_map(rank_of, p, 4, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "2 servers"));
  situ_platform_free(p);
  assert_int_equal(situ_platform_read(&p, "3*cpu", &error), SITU_STATUS_OK);
  assert_int_equal(run_ranks_map(rank_of, p, 3, &error), SITU_STATUS_OK);
  for (int32_t d = 0; d < 3; d++) assert_int_equal(rank_of[d], d);
  assert_int_equal(run_ranks_map(rank_of, p, 1, &error), SITU_STATUS_BAD_ARGUMENT);
  situ_platform_free(p);
}

/* Their clock shows 5,000,000 more at 1,000,000 of ours, and 5,000,100 more at 2,000,000: it gains 100 in 1,000,000. At
 * 1,500,000 of ours it shows 1,500,000 + 5,000,050. */
TEST(clocks_that_drift_are_read_on_the_line_between_two_comparisons) {
  run_clock early = {.at_ns = 1000000, .more_ns = 5000000}, late = {.at_ns = 2000000, .more_ns = 5000100};
  assert_int_equal(run_clock_own_ns(early, late, 6000000), 1000000);
  assert_int_equal(run_clock_own_ns(early, late, 7000100), 2000000);
  assert_int_equal(run_clock_own_ns(early, late, 6500050), 1500000);
  assert_int_equal(run_clock_own_ns(early, early, 6500050), 1500050); /* one comparison: no drift is known */
}

/* Without mpirun there is one rank, and what concerns ranks is left out. */
TEST(a_process_alone_is_rank_0_of_1) {
  ranks *r;
  wait_limit wait = {0};
  unsetenv("OMPI_COMM_WORLD_SIZE");
  assert_int_equal(ranks_open(&r, &wait, NULL), SITU_STATUS_OK);
  assert_null(r);
  assert_int_equal(ranks_own(r), 0);
  assert_int_equal(ranks_count(r), 1);
  ranks_fail(r, &(situ_error){.status = SITU_STATUS_ENGINE});
  ranks_close(r);
}

TEST_MAIN
