/* Classes of operators that move together: by hand, and against every placement of small random problems. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/rng.h"
#include "sim/simulate.h"
#include "view/contract.h"

static bool reaches(const constraint_graph *f, int32_t from, int32_t to, int32_t depth) {
  for (int64_t i = f->start[from]; depth > 0 && i < f->start[from + 1]; i++)
    if (f->to[i] == to || reaches(f, f->to[i], to, depth - 1)) return true;
  return false;
}

static lab small_lab(uint64_t seed, rng *r) {
  lab_options o = {.seed = seed,
                   .n_operators = 2 + (int32_t)rng_below(r, 6),
                   .n_devices = 2,
                   .density = 0.4,
                   .n_colocations = (int32_t)rng_below(r, 4),
                   .training = rng_below(r, 2),
                   .options = {.objective = SITU_OBJECTIVE_THROUGHPUT}};
  return lab_random(&o);
}

TEST(classes_partition_the_operators_and_their_graph_has_no_cycle) {
  int32_t n_fused = 0;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    rng r = rng_new(seed);
    OWN(lab) l = small_lab(seed, &r);
    OWN(arena) *a = arena_new();
    contraction c, groups;
    assert_true(contract(&c, l.problem, true, a) && contract(&groups, l.problem, false, a));
    int32_t seen = 0, last_first = -1;
    for (int32_t k = 0; k < c.n_classes; k++) {
      assert_true(c.member_start[k] < c.member_start[k + 1]);
      assert_true(c.member[c.member_start[k]] > last_first); /* in order of first operators */
      last_first = c.member[c.member_start[k]];
      for (int32_t i = c.member_start[k]; i < c.member_start[k + 1]; i++, seen++)
        assert_int_equal(c.class_of[c.member[i]], k);
      assert_false(reaches(&c.forward, k, k, c.n_classes));
      for (int64_t i = c.forward.start[k] + 1; i < c.forward.start[k + 1]; i++)
        assert_true(c.forward.to[i] > c.forward.to[i - 1]);
    }
    assert_int_equal(seen, l.problem->n_operators);
    for (int32_t v = 0; v < l.problem->n_operators; v++)
      for (int32_t w = 0; w < v; w++) { /* fused exactly where groups reach each other */
        int32_t x = groups.class_of[v], y = groups.class_of[w];
        bool together = x == y || (reaches(&groups.forward, x, y, 8) && reaches(&groups.forward, y, x, 8));
        assert_true(together == (c.class_of[v] == c.class_of[w]));
      }
    n_fused += c.n_classes < groups.n_classes;
  }
  assert_true(n_fused > 20);
}

TEST(no_contiguous_placement_parts_a_class) {
  for (uint64_t seed = 0; seed < 400; seed++) {
    rng r = rng_new(seed);
    OWN(lab) l = small_lab(seed, &r);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    contraction c;
    assert_true(contract(&c, p, true, a));
    simulator *s = simulator_new(p, a);
    int32_t device[64];
    for (int32_t bits = 0; bits < 1 << p->n_operators && p->n_operators <= 12; bits++) {
      bool colocated = true, parted = false;
      for (int32_t v = 0; v < p->n_operators; v++) device[v] = bits >> v & 1;
      for (int32_t v = 0; v < p->n_operators; v++)
        for (int32_t w = 0; w < v; w++) {
          bool apart = device[v] != device[w];
          colocated &= !apart || p->graph->colocation[v] < 0 || p->graph->colocation[v] != p->graph->colocation[w];
          parted |= apart && c.class_of[v] == c.class_of[w];
        }
      if (!colocated || !parted) continue;
      assert_true(simulator_run(s, &(placement){.device = device}, false).value_ns == SITU_NEVER_NS);
    }
  }
}

TEST_MAIN
