/* The shape of plans and placements: one broken field is named. */
#include "../../lab/lab.h"
#include "../broken.h"
#include "sim/simulate.h"

enum { N = 12 };

typedef struct made {
  lab l;
  arena *arena;
  situ_plan *plan;
} made;

/* A plan of operators on devices in turn. */
static made make(situ_execution execution) {
  lab_options o = {.seed = 4, .n_operators = N, .n_devices = 3, .density = 0.3};
  o.options.execution = execution;
  o.options.contention = SITU_CONTENTION_LINK;
  made m = {.l = lab_random(&o), .arena = arena_new()};
  int32_t device[N];
  for (int32_t v = 0; v < N; v++) device[v] = execution == SITU_EXECUTION_STREAM ? v % 3 : 0;
  simulator *s = simulator_new(m.l.problem, m.arena);
  placement where = {.device = device};
  assert_int_equal(simulator_plan(&m.plan, s, &where, NULL), SITU_STATUS_OK);
  return m;
}

static void drop(made *m) {
  situ_plan_free(m->plan);
  arena_free(m->arena);
  lab_free(&m->l);
}

TEST(a_broken_plan_is_named) {
  made m = make(SITU_EXECUTION_STREAM);
  situ_plan *plan = m.plan;
  const situ_problem *p = m.l.problem;
  assert_true(plan->n_transfers > 0 && plan->order && plan->start_ns);
  BREAKS(plan_check_shape(plan), plan->n_operators, N - 1, "problem's size");
  BREAKS(plan_check_shape(plan), plan->solver, NULL, "texts");
  BREAKS(plan_check_shape(plan), plan->value_ns, -1, "values");
  BREAKS(plan_check_shape(plan), plan->n_statistics, MAX_STATISTICS + 1, "statistics");
  BREAKS(plan_check_shape(plan), plan->device, NULL, "nothing of one");
  BREAKS(plan_check_shape(plan), plan->device[2], 3, "on a device");
  BREAKS(plan_check_shape(plan), plan->device[2], -1, "on a device");
  BREAKS(plan_check_shape(plan), plan->order[2], plan->order[3], "permutation");
  BREAKS(plan_check_shape(plan), plan->start_ns, NULL, "come together");
  BREAKS(plan_check_shape(plan), plan->finish_ns[2], -1, "times");
  BREAKS(plan_check_shape(plan), plan->transfers, NULL, "transfers are there");
  BREAKS(plan_check_shape(plan), plan->transfers[0].tensor, p->graph->n_tensors, "of a tensor");
  BREAKS(plan_check_shape(plan), plan->transfers[0].link, -1, "over a link");
  BREAKS(plan_check_shape(plan), plan->transfers[0].to_memory, p->n_memories, "to a memory");
  drop(&m);
}

TEST(a_broken_placement_is_named) {
  made m = make(SITU_EXECUTION_CALLS);
  const situ_problem *p = m.l.problem;
  int32_t replica_of[3] = {-1, 0, -1}, call[N], order[N];
  for (int32_t v = 0; v < N; v++) {
    call[v] = -1;
    order[v] = N - 1 - v;
  }
  placement where = {.device = m.plan->device, .order = order, .call = call, .replica_of = replica_of};
  BREAKS(placement_check(&where, p), where.device, NULL, "has devices");
  BREAKS(placement_check(&where, p), where.device[0], 3, "on a device");
  BREAKS(placement_check(&where, p), order[0], N, "permutation");
  BREAKS(placement_check(&where, p), call[0], N, "calls");
  BREAKS(placement_check(&where, p), replica_of[1], 1, "another device");
  BREAKS(placement_check(&where, p), replica_of[0], 2, "a device that is none");
  drop(&m);
}

TEST(a_plan_without_a_placement_has_nothing_of_one) {
  made m = make(SITU_EXECUTION_STREAM);
  situ_plan *plan = plan_new(m.l.problem);
  BREAKS(plan_check_shape(plan), plan->order, m.plan->order, "nothing of one");
  BREAKS(plan_check_shape(plan), plan->n_transfers, 1, "nothing of one");
  situ_plan_free(plan);
  drop(&m);
}

TEST_MAIN
