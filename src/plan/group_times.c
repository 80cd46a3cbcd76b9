#include "plan/group_times.h"

#include "base/checked.h"
#include "problem/problem.h"

/* Costs of several steps are sums: a step that happens once, and no other, has all of it. */
static bool is_one_step(const situ_plan *plan, int32_t device, int64_t sum_ns) {
  const situ_problem *p = plan->problem;
  bool one = !p->costs->step[0];
  for (int32_t k = 0; k < 2 && p->costs->step[k]; k++) {
    const situ_costs *step = p->costs->step[k];
    int64_t step_ns = 0;
    for (int32_t v = 0; v < step->n_operators && step->collective_ns; v++)
      if (plan->device[v] == device)
        step_ns = sat_add(step_ns, step->collective_ns[(int64_t)v * step->n_classes + p->class_of[device]]);
    one |= step_ns == sum_ns;
  }
  return one;
}

group_times group_times_of(const situ_plan *plan, int32_t device) {
  const situ_problem *p = plan->problem;
  const situ_costs *c = p->costs;
  group_times t = {0};
  if (!c->collective_ns || platform_members(p->platform, device) < 2) return t;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t at = (int64_t)v * p->n_classes + p->class_of[device];
    if (plan->device[v] != device) continue;
    t.n_operators++;
    t.n_collectives += c->collective_ns[at] > 0;
    t.one_member_ns = sat_add(t.one_member_ns, c->one_member_ns[at]);
    t.split_ns = sat_add(t.split_ns, c->time_ns[at] - c->collective_ns[at]);
    t.collective_ns = sat_add(t.collective_ns, c->collective_ns[at]);
  }
  t.one_step = is_one_step(plan, device, t.collective_ns);
  return t;
}
