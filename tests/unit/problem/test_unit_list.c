/* Units: a partition by key against comparing all pairs, and those that a problem holds against its colocation groups.
 */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/rng.h"
#include "view/unit.h"

static void check_list(const unit_list *u, int32_t n_operators) {
  int32_t n_listed = 0, last = -1;
  for (int32_t k = 0; k < u->n; k++) {
    unit_members m = unit_list_members(u, k);
    assert_true(m.n > 0 && m.member[0] > last); /* in order of first operators */
    last = m.member[0];
    for (int32_t i = 0; i < m.n; i++, n_listed++) {
      assert_true(i == 0 || m.member[i] > m.member[i - 1]);
      assert_int_equal(u->of[m.member[i]], k);
    }
  }
  assert_int_equal(n_listed, n_operators);
}

TEST(operators_of_one_key_are_one_unit) {
  enum { MAX_N = 20 };
  for (uint64_t seed = 0; seed < 1000; seed++) {
    rng r = rng_new(seed);
    int32_t n = (int32_t)rng_below(&r, MAX_N), n_keys = 1 + (int32_t)rng_below(&r, MAX_N), key[MAX_N], drawn[MAX_N];
    OWN(arena) *a = arena_new();
    for (int32_t v = 0; v < n; v++) drawn[v] = key[v] = (int32_t)rng_below(&r, n_keys);
    unit_list u;
    assert_true(unit_list_find(&u, key, n, n_keys, a));
    assert_ptr_equal(u.of, key);
    check_list(&u, n);
    for (int32_t v = 0; v < n; v++)
      for (int32_t w = 0; w < v; w++) assert_int_equal(u.of[v] == u.of[w], drawn[v] == drawn[w]);
  }
}

TEST(the_units_of_a_problem_are_its_groups_and_what_is_in_none) {
  int32_t n_grouped = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 12,
                     .n_devices = 3,
                     .density = 0.2,
                     .n_colocations = (int32_t)(seed % 4),
                     .pinned = seed % 3 == 0,
                     .unsupported = seed % 2};
    OWN(lab) l = lab_random(&o);
    const situ_problem *p = l.problem;
    const int32_t *group = p->graph->colocation;
    check_list(&p->units, p->n_operators);
    for (int32_t v = 0; v < p->n_operators; v++)
      for (int32_t w = 0; w < v; w++) {
        assert_int_equal(unit_joins(p, v, w), group[v] >= 0 && group[v] == group[w]);
        n_grouped += unit_joins(p, v, w);
      }
    for (int32_t v = 0; v < p->n_operators; v++)
      for (int32_t d = 0; d < p->n_devices; d++) {
        bool all = true;
        int32_t device[12], expected[12];
        for (int32_t w = 0; w < p->n_operators; w++) {
          bool moves = w == v || (group[v] >= 0 && group[w] == group[v]);
          if (moves) all &= problem_allows(p, w, d);
          device[w] = -1;
          expected[w] = moves ? d : -1;
        }
        assert_int_equal(unit_allows(p, v, d), all);
        assert_int_equal(unit_put(p, device, v, d), all);
        if (all) assert_memory_equal(device, expected, sizeof expected);
      }
  }
  assert_true(n_grouped > 100);
}

TEST_MAIN
