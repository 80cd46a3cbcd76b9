/* Pairs against a stable sort by insertion. */
#include "../../lab/test.h"
#include "base/rng.h"
#include "base/sort.h"

enum { MAX_PAIRS = 700 };

/* Keys that differ in few digits or many, with many ties; `at` says how they came. */
TEST(pairs_are_sorted_and_ties_keep_their_order) {
  static const int32_t sizes[] = {0, 1, 2, 31, 32, 33, 200, MAX_PAIRS};
  static const uint64_t masks[] = {0, 1, 0xff, 0xff00, 0xf0f, 0xff000000000000ff, UINT64_MAX};
  static sort_pair pairs[MAX_PAIRS], spare[MAX_PAIRS], expected[MAX_PAIRS];
  rng r = rng_new(7);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
      int32_t n = sizes[s];
      for (int32_t i = 0; i < n; i++) {
        uint64_t high = rng_below(&r, UINT32_MAX), low = rng_below(&r, UINT32_MAX);
        int32_t k = i;
        pairs[i] = (sort_pair){((high << 33) ^ low ^ (high >> 1 << 62)) & masks[m], i};
        for (; k > 0 && expected[k - 1].key > pairs[i].key; k--) expected[k] = expected[k - 1];
        expected[k] = pairs[i];
      }
      sort_pairs(pairs, spare, n);
      for (int32_t i = 0; i < n; i++) assert_true(pairs[i].key == expected[i].key && pairs[i].at == expected[i].at);
    }
}

TEST_MAIN
