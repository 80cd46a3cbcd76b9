/* What a cut costs, from what parts took beyond the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/part_costs.h"

static void number_and_bytes_are_told_apart(void **state) {
  (void)state;
  /* 100 ns for each part and 1 ns for each 2 bytes: 100 + 200 = 300, 300 + 100 = 400, 500 + 4000 = 4500 */
  const cut_cost cuts[] = {{1, 400, 300}, {3, 200, 400}, {5, 8000, 4500}};
  part_costs found = {0};
  part_costs_fit(&found, cuts, 3);
  assert_int_equal(found.start_ns, 100);
  assert_float_equal(found.bytes_per_s, 2e9, 1);
}

static void what_bytes_would_lower_is_laid_to_the_number_alone(void **state) {
  (void)state;
  /* More bytes took less: without the bytes (1 * 300 + 1 * 100) / (1 + 1) = 200 a part. */
  const cut_cost cuts[] = {{1, 100, 300}, {1, 900, 100}};
  part_costs found = {0};
  part_costs_fit(&found, cuts, 2);
  assert_int_equal(found.start_ns, 200);
  assert_true(found.bytes_per_s == 0);
}

static void what_the_number_would_lower_is_laid_to_the_bytes_alone(void **state) {
  (void)state;
  /* Both would be start = -100, 1 ns a byte (200 - 100, 300 - 200); by bytes alone (200 * 100 + 300 * 100) /
   * (200^2 + 300^2) = 5/13 ns a byte */
  const cut_cost cuts[] = {{1, 200, 100}, {2, 300, 100}};
  part_costs found = {0};
  part_costs_fit(&found, cuts, 2);
  assert_int_equal(found.start_ns, 0);
  assert_float_equal(found.bytes_per_s, 13e9 / 5, 1);
}

static void parts_that_are_faster_than_the_whole_cost_nothing(void **state) {
  (void)state;
  const cut_cost cuts[] = {{1, 100, -50}, {2, 100, -10}};
  part_costs found = {.start_ns = 7};
  part_costs_fit(&found, cuts, 2);
  assert_true(found.start_ns == 0 && found.bytes_per_s == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(number_and_bytes_are_told_apart),
      cmocka_unit_test(what_bytes_would_lower_is_laid_to_the_number_alone),
      cmocka_unit_test(what_the_number_would_lower_is_laid_to_the_bytes_alone),
      cmocka_unit_test(parts_that_are_faster_than_the_whole_cost_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
