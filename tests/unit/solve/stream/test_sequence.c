/* An order for devices that are settled. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "solve/common/solver.h"
#include "solve/stream/sequence.h"

/* a (4 ns) sends 3 bytes to b (5 ns), b to c (6 ns); d (7 ns) stands alone. a and d are on device 0, b and c on device
 * 1, a byte a nanosecond between them. With d first: d ends at 7, a at 11, b starts at 14, c ends at 25. a has 18 ns to
 * the end of everything, d 7: with a first b starts at 7 and c ends at 18, d at 11. */
TEST(the_best_placement_is_dispatched_anew) {
  OWN(lab) s = lab_new();
  OWN(arena) *a = arena_new();
  budget limit = budget_new(10, 0, NULL, NULL);
  incumbent best;
  lab_device(&s, 1000, -1, true);
  lab_device(&s, 1000, -1, false);
  lab_star(&s);
  const char *names[] = {"a", "b", "c", "d"};
  for (int32_t v = 0; v < 4; v++) lab_operator(&s, names[v], 4 + v, 0, 0);
  lab_tensor(&s, 0, 3, 1, -1);
  lab_tensor(&s, 1, 3, 2, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_LINK});
  assert_true(incumbent_init(&best, s.problem, a));
  solve_run run = {.problem = s.problem,
                   .simulator = s.simulator,
                   .budget = &limit,
                   .incumbent = &best,
                   .solver = "sequence",
                   .arena = a};
  assert_int_equal(sequence_offer(&run), SITU_STATUS_OK); /* there is nothing to order yet */
  assert_int_equal(limit.steps, 0);
  int32_t device[] = {0, 1, 1, 0}, d_first[] = {3, 0, 1, 2};
  assert_int_equal(solve_offer(&run, &(placement){.device = device, .order = d_first}), 25);
  assert_int_equal(sequence_offer(&run), SITU_STATUS_OK);
  assert_int_equal(best.value_ns, 18);
  assert_int_equal(best.best.order[0], 0);
}

TEST_MAIN
