/* Disjoint sets against labels that are all rewritten at each join. */
#include "../../lab/test.h"
#include "base/disjoint.h"
#include "base/rng.h"

enum { MAX_N = 40 };

TEST(joined_sets_are_those_of_rewritten_labels) {
  for (uint64_t seed = 0; seed < 2000; seed++) {
    rng r = rng_new(seed);
    int32_t n = 1 + (int32_t)rng_below(&r, MAX_N), into[MAX_N], label[MAX_N], number[MAX_N], of_label[MAX_N],
            n_sets = 0;
    disjoint_init(into, n);
    for (int32_t x = 0; x < n; x++) label[x] = x;
    for (int64_t joins = rng_below(&r, 2 * n); joins > 0; joins--) {
      int32_t x = (int32_t)rng_below(&r, n), y = (int32_t)rng_below(&r, n), from = label[x], to = label[y];
      disjoint_join(into, x, y);
      for (int32_t i = 0; i < n; i++)
        if (label[i] == from) label[i] = to;
    }
    for (int32_t x = 0; x < n; x++) of_label[x] = -1;
    for (int32_t x = 0; x < n; x++) {
      if (of_label[label[x]] < 0) of_label[label[x]] = x; /* the first member */
      assert_int_equal(disjoint_root(into, x), of_label[label[x]]);
    }
    int32_t found = disjoint_number(number, into, n);
    for (int32_t x = 0; x < n; x++) {
      bool first = of_label[label[x]] == x;
      assert_int_equal(number[x], first ? n_sets++ : number[of_label[label[x]]]);
    }
    assert_int_equal(found, n_sets);
  }
}

TEST(the_caller_may_say_which_root_stays) {
  int32_t into[3];
  disjoint_init(into, 3);
  into[0] = 2;
  into[2] = 1;
  for (int32_t x = 0; x < 3; x++) assert_int_equal(disjoint_root(into, x), 1);
}

TEST_MAIN
