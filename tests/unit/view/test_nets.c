/* The parts that tensors join, against looking at every pair of a tensor and a part. */
#include "../../lab/random_graph.h"
#include "../../lab/test.h"
#include "base/rng.h"
#include "view/nets.h"

TEST(pins_are_the_parts_of_producer_and_users_each_once) {
  for (uint64_t seed = 1; seed <= 300; seed++) {
    rng r = rng_new(seed);
    OWN(situ_graph) *g = NULL;
    graph_random_options o = {
        .n_operators = 1 + (int32_t)rng_below(&r, 30), .edge_density = 0.3, .seed = seed, .max_outputs = 3};
    assert_int_equal(graph_random(&g, &o, NULL), SITU_STATUS_OK);
    int32_t part_of[30], seen[30] = {0}, pins[30], n_parts = 1 + (int32_t)rng_below(&r, 30);
    for (int32_t v = 0; v < g->n_operators; v++) part_of[v] = (int32_t)rng_below(&r, n_parts);
    for (int32_t t = 0; t < g->n_tensors; t++) {
      int32_t n = nets_pins(g, t, part_of, seen, pins), n_expected = 0;
      assert_int_equal(pins[0], part_of[g->producer[t]]);
      for (int32_t part = 0; part < n_parts; part++) {
        bool joined = part == part_of[g->producer[t]];
        for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) joined |= part == part_of[g->use[i]];
        int32_t times = 0;
        for (int32_t i = 0; i < n; i++) times += pins[i] == part;
        assert_int_equal(times, joined);
        n_expected += joined;
      }
      assert_int_equal(n, n_expected);
    }
  }
}

TEST_MAIN
