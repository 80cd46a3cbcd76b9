/* What views promise: one broken field is named. */
#include "../../lab/lab.h"
#include "../broken.h"
#include "view/contract.h"
#include "view/hypergraph.h"

TEST(a_broken_contraction_is_named) {
  lab_options o = {.seed = 6, .n_operators = 24, .n_devices = 3, .density = 0.2, .n_colocations = 3};
  o.options.execution = SITU_EXECUTION_PIPELINE;
  OWN(lab) l = lab_random(&o);
  OWN(arena) *a = arena_new();
  contraction c;
  assert_true(contract(&c, l.problem, true, a));
  int32_t n = 24, twice = 0, many = 0;
  while (c.member_start[twice + 1] - c.member_start[twice] < 2) twice++;
  while (c.forward.start[many + 1] - c.forward.start[many] < 2) many++;
  int32_t *member = c.member + c.member_start[twice], *to = c.forward.to + c.forward.start[many];
  BREAKS(contraction_check(&c, n), c.class_of[0], c.n_classes, "in a unit");
  BREAKS(contraction_check(&c, n), c.class_of[0], 1, "by their first operator");
  BREAKS(contraction_check(&c, n), c.n_classes, c.n_classes + 1, "no unit is empty");
  BREAKS(contraction_check(&c, n), c.member_start[1], 0, "members");
  BREAKS(contraction_check(&c, n), member[0], member[1], "members of a unit ascend");
  BREAKS(contraction_check(&c, n), c.member[0], -1, "members are operators");
  BREAKS(contraction_check(&c, n), c.forward.n, c.n_classes - 1, "F has the classes");
  BREAKS(contraction_check(&c, n), to[0], c.n_classes, "successors are classes");
  BREAKS(contraction_check(&c, n), to[0], to[1], "successors ascend");
}

TEST(a_broken_hypergraph_is_named) {
  lab l;
  OWN(arena) *a = arena_new();
  hypergraph h;
  int32_t e = 0, u = 0;
  for (uint64_t seed = 0;; seed++) { /* one with an edge of three pins */
    l = lab_random_free_pipeline(seed, 14);
    if (hypergraph_serves(l.problem)) {
      assert_true(hypergraph_find(&h, l.problem, false, a));
      for (e = 0; e < h.n_edges && h.pin_start[e + 1] - h.pin_start[e] < 3;) e++;
      if (e < h.n_edges && h.n_footprints > 1) break;
    }
    lab_free(&l);
  }
  while (h.touch_start[u + 1] - h.touch_start[u] < 2) u++;
  int32_t *pin = h.pin + h.pin_start[e];
  int32_t *unit_of = l.problem->units.of, *row_of = h.equal.type_of; /* what h borrows */
  touch *touches = h.touch + h.touch_start[u];
  BREAKS(hypergraph_check(&h), unit_of[0], h.n_units, "in a unit");
  BREAKS(hypergraph_check(&h), row_of[0], h.n_rows, "has a row");
  BREAKS(hypergraph_check(&h), h.time_ns[0], -1, "times");
  BREAKS(hypergraph_check(&h), h.bytes[0], -1, "sizes");
  BREAKS(hypergraph_check(&h), h.footprint[0], h.n_footprints, "has a footprint");
  BREAKS(hypergraph_check(&h), h.footprint_bytes[0], h.footprint_bytes[1], "footprints ascend");
  BREAKS(hypergraph_check(&h), h.pin_start[1], -1, "pin_start");
  BREAKS(hypergraph_check(&h), pin[1], h.n_units, "pins are units");
  BREAKS(hypergraph_check(&h), pin[1], pin[2], "none twice");
  BREAKS(hypergraph_check(&h), pin[0], pin[2], "a pin once");
  BREAKS(hypergraph_check(&h), h.touch_start[1], -1, "touch_start");
  BREAKS(hypergraph_check(&h), touches[0].edge, h.n_edges, "touch edges");
  BREAKS(hypergraph_check(&h), touches[1].edge, touches[0].edge, "edges of a unit ascend");
  BREAKS(hypergraph_check(&h), touches[0].produces, !touches[0].produces, "is its producer");
  BREAKS(hypergraph_check(&h), h.price[0].in_ns, -1, "prices");
  lab_free(&l);
}

TEST_MAIN
