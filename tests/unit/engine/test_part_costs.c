/* What a cut costs, from what parts took beyond the whole. */
#include "../../lab/test.h"
#include "engine/part_costs.h"

TEST(number_and_bytes_are_told_apart) {
  /* 100 ns for each part and 1 ns for each 2 bytes: 100 + 200 = 300, 300 + 100 = 400, 500 + 4000 = 4500 */
  const cut_cost cuts[] = {{1, 400, 300, 0}, {3, 200, 400, 0}, {5, 8000, 4500, 0}};
  part_costs found = {0};
  part_costs_fit(&found, cuts, 3, cuts, 3);
  assert_int_equal(found.start_ns, 100);
  assert_float_equal(found.bytes_per_s, 2e9, 1);
}

TEST(what_bytes_would_lower_is_laid_to_the_number_alone) {
  /* More bytes took less: without the bytes (1 * 300 + 1 * 100) / (1 + 1) = 200 a part. */
  const cut_cost cuts[] = {{1, 100, 300, 0}, {1, 900, 100, 0}};
  part_costs found = {0};
  part_costs_fit(&found, cuts, 2, cuts, 2);
  assert_int_equal(found.start_ns, 200);
  assert_true(found.bytes_per_s == 0);
}

TEST(what_the_number_would_lower_is_laid_to_the_bytes_alone) {
  /* Both would be start = -100, 1 ns a byte (200 - 100, 300 - 200); by bytes alone (200 * 100 + 300 * 100) /
   * (200^2 + 300^2) = 5/13 ns a byte */
  const cut_cost cuts[] = {{1, 200, 100, 0}, {2, 300, 100, 0}};
  part_costs found = {0};
  part_costs_fit(&found, cuts, 2, cuts, 2);
  assert_int_equal(found.start_ns, 0);
  assert_float_equal(found.bytes_per_s, 13e9 / 5, 1);
}

TEST(parts_that_are_faster_than_the_whole_cost_nothing) {
  const cut_cost cuts[] = {{1, 100, -50, -90}, {2, 100, -10, -60}};
  part_costs found = {.start_ns = 7};
  part_costs_fit(&found, cuts, 2, cuts, 2);
  assert_true(found.start_ns == 0 && found.bytes_per_s == 0);
}

TEST(bytes_are_not_slower_than_memory) {
  /* 10 ns a byte would fit; at 1 ns a byte, the most, the rest is laid to the number: (1000 - 100) / 1. */
  const cut_cost cuts[] = {{1, 100, 1000, 0}};
  part_costs found = {0};
  part_costs_fit(&found, cuts, 1, cuts, 1);
  assert_true(found.bytes_per_s == 0 || found.bytes_per_s >= 1e9);
  assert_true((double)found.start_ns + (found.bytes_per_s > 0 ? 100e9 / found.bytes_per_s : 0) > 999);
}

TEST(no_way_is_told_to_take_less_than_it_mostly_does) {
  /* All take about the same, whatever their number: (500 + 4 * 600) / (1 + 16) = 171 a part would be the least squares.
   * The first took 450 and more in most rounds, (450 - 0) / 1; the second is content with 4 * 450. */
  const cut_cost cuts[] = {{1, 0, 500, 450}, {4, 0, 600, 550}};
  part_costs found = {0};
  part_costs_fit(&found, cuts, 2, cuts, 2);
  assert_int_equal(found.start_ns, 450);
  assert_true(found.bytes_per_s == 0);
}

TEST(parts_give_the_fit_and_ways_the_least) {
  /* Parts: 50 ns at each start and 1 ns for each 4 bytes; the first reads from no other device. The cut of all three
   * took 2 * 100 + 700 / 4 and more in undisturbed rounds, (375 - 175) / 2 = 100; the other is content with that. */
  const cut_cost parts[] = {{0, 200, 50, 0}, {1, 300, 125, 0}, {1, 200, 100, 0}};
  const cut_cost cuts[] = {{2, 700, 0, 375}, {3, 100, 0, 90}};
  part_costs found = {0};
  part_costs_fit(&found, parts, 3, cuts, 0);
  assert_int_equal(found.start_ns, 50);
  assert_float_equal(found.bytes_per_s, 4e9, 1);
  part_costs_fit(&found, parts, 3, cuts, 2);
  assert_int_equal(found.start_ns, 100);
  assert_float_equal(found.bytes_per_s, 4e9, 1);
}

TEST(what_varies_about_nothing_raises_nothing) {
  /* Rounds vary by more than the cut takes: least squares (1 * 10 + 3 * 30) / (1 + 9) = 10. */
  const cut_cost cuts[] = {{1, 0, 10, -500}, {3, 0, 30, -400}};
  part_costs found = {0};
  part_costs_fit(&found, cuts, 2, cuts, 2);
  assert_int_equal(found.start_ns, 10);
}

TEST(times_follow_what_parts_take) {
  /* Cut after the second operator: 30 and 10; after the first: at most 10, so the second has 20. */
  int64_t time_ns[] = {10, 10, 20, 0};
  const int32_t halves[] = {0, 0, 1, 1}, first[] = {0, 1, 1, -1};
  double exactly[] = {30, 10}, least[] = {0, 0}, most[] = {10, 40};
  const cut_times cuts[] = {{halves, 2, exactly, exactly}, {first, 2, least, most}};
  assert_int_equal(part_costs_spread(time_ns, 4, cuts, 2, NULL), SITU_STATUS_OK);
  assert_in_range(time_ns[0], 10, 11);
  assert_in_range(time_ns[1], 19, 20);
  assert_int_equal(time_ns[2], 10);
  assert_int_equal(time_ns[3], 0);
}

TEST(times_within_their_bounds_stay) {
  int64_t time_ns[] = {5, 7};
  const int32_t part_of[] = {0, 1};
  double least[] = {4, 4}, most[] = {8, 8};
  const cut_times cut = {part_of, 2, least, most};
  assert_int_equal(part_costs_spread(time_ns, 2, &cut, 1, NULL), SITU_STATUS_OK);
  assert_true(time_ns[0] == 5 && time_ns[1] == 7);
}

TEST_MAIN
