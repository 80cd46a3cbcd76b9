/* Lists in two arrays against looking for every item anew. */
#include "../../lab/test.h"
#include "base/csr.h"
#include "base/rng.h"

enum { MAX_N = 30 };

TEST(items_are_listed_by_key_in_rising_order) {
  OWN(arena) *a = arena_new();
  for (uint64_t seed = 0; seed < 1000; seed++) {
    rng r = rng_new(seed);
    int32_t n_items = (int32_t)rng_below(&r, MAX_N), n = 1 + (int32_t)rng_below(&r, MAX_N), key[MAX_N], *start, *item;
    for (int32_t i = 0; i < n_items; i++) key[i] = (int32_t)rng_below(&r, n + 1) - 1;
    assert_true(csr_by_key(&start, &item, key, n_items, n, a));
    int32_t at = 0;
    for (int32_t k = 0; k < n; k++) {
      assert_int_equal(start[k], at);
      for (int32_t i = 0; i < n_items; i++)
        if (key[i] == k) assert_int_equal(item[at++], i);
    }
    assert_int_equal(start[n], at);
  }
}

TEST(the_transpose_lists_who_lists_whom) {
  OWN(arena) *a = arena_new();
  for (uint64_t seed = 0; seed < 1000; seed++) {
    rng r = rng_new(seed);
    int32_t n_lists = 1 + (int32_t)rng_below(&r, 8), n = 1 + (int32_t)rng_below(&r, 8), start[9] = {0}, item[9 * MAX_N];
    for (int32_t k = 0; k < n_lists; k++) {
      start[k + 1] = start[k] + (int32_t)rng_below(&r, MAX_N);
      for (int32_t i = start[k]; i < start[k + 1]; i++) item[i] = (int32_t)rng_below(&r, n);
    }
    int32_t *back_start, *back, at = 0;
    assert_true(csr_transpose(&back_start, &back, start, item, n_lists, n, a));
    for (int32_t x = 0; x < n; x++) {
      assert_int_equal(back_start[x], at);
      for (int32_t k = 0; k < n_lists; k++)
        for (int32_t i = start[k]; i < start[k + 1]; i++)
          if (item[i] == x) assert_int_equal(back[at++], k);
    }
    assert_int_equal(back_start[n], at);
  }
}

TEST(keys_are_numbered_as_they_appear) {
  int32_t key[] = {7, 3, 7, 9, 3, 0}, of_key[10];
  const int32_t expected[] = {0, 1, 0, 2, 1, 3};
  assert_int_equal(csr_number_keys(key, key, 6, of_key, 10), 4); /* in place */
  for (int i = 0; i < 6; i++) assert_int_equal(key[i], expected[i]);
  assert_int_equal(csr_number_keys(key, key, 0, of_key, 10), 0);
}

TEST(without_memory_there_are_no_lists) {
  int32_t *start, *item;
  assert_false(csr_by_key(&start, &item, NULL, 0, 1, NULL));
}

TEST_MAIN
