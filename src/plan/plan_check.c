/* The shape of plans and placements: what every reader of them relies on. Whether a plan is true is for check/. */
#include "base/contracts.h"
#include "plan/plan.h"

const char *placement_check(const placement *w, const situ_problem *p) {
  EXPECT(w && (w->device || p->n_operators == 0), "a placement has devices");
  EXPECT(contracts_within(w->device, p->n_operators, 0, p->n_devices), "every operator is on a device");
  EXPECT(!w->order || contracts_permutation(w->order, p->n_operators), "the order is a permutation");
  EXPECT(!w->call || contracts_within(w->call, p->n_operators, -1, p->n_operators), "calls are numbers or -1");
  for (int32_t d = 0; w->replica_of && d < p->n_devices; d++) {
    int32_t of = w->replica_of[d];
    EXPECT(of >= -1 && of < p->n_devices && of != d, "a replica is of another device");
    EXPECT(of < 0 || w->replica_of[of] < 0, "a replica is of a device that is none");
  }
  return NULL;
}

static const char *check_schedule(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  EXPECT(!plan->start_ns == !plan->finish_ns, "starts and ends come together");
  EXPECT(!plan->start_ns ||
             (contracts_amounts(plan->start_ns, p->n_operators) && contracts_amounts(plan->finish_ns, p->n_operators)),
         "times are at least 0");
  EXPECT(plan->n_transfers >= 0 && (plan->n_transfers == 0 || plan->transfers), "transfers are there");
  for (int32_t i = 0; i < plan->n_transfers; i++) {
    const situ_transfer *x = &plan->transfers[i];
    EXPECT(x->tensor >= 0 && x->tensor < p->graph->n_tensors, "a transfer is of a tensor");
    EXPECT(x->link >= 0 && x->link < p->platform->n_links, "a transfer is over a link");
    EXPECT(x->to_memory >= 0 && x->to_memory < p->n_memories, "a transfer is to a memory");
  }
  return NULL;
}

const char *plan_check_shape(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  EXPECT(plan && plan->arena, "a plan has an arena");
  EXPECT(plan->n_operators == p->n_operators && plan->n_devices == p->n_devices, "a plan is of its problem's size");
  EXPECT(plan->solver && plan->bound && plan->reason, "names and reasons of a plan are texts");
  EXPECT(plan->value_ns >= 0 && plan->lower_bound_ns >= 0 && plan->best_single_ns >= 0, "values are at least 0");
  EXPECT(plan->n_statistics >= 0 && plan->n_statistics <= MAX_STATISTICS, "statistics fit their table");
  EXPECT(plan->n_handovers >= -1 && plan->best_found_handovers >= -1, "counts are at least 0");
  if (!plan->device) {
    EXPECT(!plan->order && !plan->start_ns && !plan->call && !plan->uses && !plan->replica_of && plan->n_transfers == 0,
           "a plan without a placement has nothing of one");
    return NULL;
  }
  placement where = {plan->device, plan->order, plan->call, plan->replica_of};
  EXPECT_CHECK(placement_check(&where, p));
  return check_schedule(plan);
}
