/* What operators take in memory, by arithmetic, and when a device's own operators tell its load. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "graph/builder.h"
#include "view/footprint.h"

/* a (5 bytes of weights, 2 of workspace) makes x (3 bytes) for b and y (4 bytes) for c; c is backward. */
TEST(bytes_are_those_of_the_memory_rules) {
  OWN(lab) s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  int32_t a = lab_operator(&s, "a", 1, 5, 2), b = lab_operator(&s, "b", 1, 0, 0);
  int32_t c = lab_add(&s, (situ_operator){.name = "c", .colocation = -1, .phase = SITU_PHASE_BACKWARD}, 0);
  lab_tensor(&s, a, 3, b, -1);
  lab_tensor(&s, a, 4, c, -1);
  lab_pose(&s, &(situ_problem_options){
                   .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .in_flight = 3});
  const situ_graph *g = s.graph;
  a = situ_graph_find(g, "a");
  c = situ_graph_find(g, "c");
  assert_int_equal(footprint_bytes(g, a), 2 + 3 + 4);
  assert_int_equal(footprint_bytes(g, c), 4);
  assert_int_equal(footprint_stash_bytes(g, a), 4); /* a backward operator uses y, none uses x */
  assert_int_equal(footprint_stash_bytes(g, c), 0);
  assert_int_equal(footprint_held_bytes(s.problem, a), 5 + 3 * 4);
  assert_int_equal(footprint_running_bytes(s.problem, a), 9); /* of one input: it is trained */
  assert_int_equal(footprint_running_bytes(s.problem, c), 0); /* y is in the stash */
}

/* Devices 1 and 2 share a memory: two hosts without limit, two with one, a host and an accelerator. Nothing is said
 * against the last when one of the two must stay empty, unless an operator is pinned to it all the same. */
TEST(loads_are_told_where_nobody_else_is_in_the_memory) {
  for (int kind = 0; kind < 5; kind++) {
    OWN(lab) s = lab_new();
    int32_t pins[] = {2};
    bool unused[] = {false, false, true};
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    lab_device(&s, kind == 1 ? 100 : SITU_UNLIMITED_BYTES, -1, true);
    lab_device(&s, kind == 1 ? 100 : SITU_UNLIMITED_BYTES, 1, kind < 2);
    lab_link(&s, 0, 1, 0, -1);
    lab_link(&s, 1, 0, 0, -1);
    lab_operator(&s, "a", 1, 0, 0);
    situ_problem_options o = {.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT};
    if (kind > 2) o.unused = unused;
    if (kind > 3) o.pins = pins;
    lab_pose(&s, &o);
    assert_int_equal(footprint_is_per_device(s.problem), kind == 0 || kind == 3);
  }
}

TEST_MAIN
