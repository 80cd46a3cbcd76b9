#include "api/variants.h"

#include "base/checked.h"
#include "plan/plan.h"

void variants_describe(text_buffer *t, const variant *rows, int32_t n, const char *head, const char *tail) {
  int64_t bound_ns = SITU_NEVER_NS;
  char a[TEXT_UNIT_BYTES];
  const char *between = "";
  text_add(t, "%s:", head);
  for (int32_t i = 0; i < n; i++) {
    if (!*rows[i].name) continue;
    bool found = rows[i].value_ns < SITU_NEVER_NS; /* else the bound may be years: what does not fit has no limit */
    text_add(t, "%s %s %s", between, rows[i].name, found ? text_time(a, rows[i].value_ns) : "none found");
    if (found && rows[i].bound_ns < SITU_NEVER_NS) text_add(t, " (at least %s)", text_time(a, rows[i].bound_ns));
    bound_ns = min64(bound_ns, rows[i].bound_ns);
    between = ",";
  }
  if (bound_ns < SITU_NEVER_NS) text_add(t, "; %s less than %s", tail, text_time(a, bound_ns));
}

void variants_keep_best(situ_plan **best, situ_instance **its, situ_plan *plan, situ_instance *instance, variant *row) {
  bool exists = plan_exists(plan);
  row->value_ns = exists ? plan->value_ns : SITU_NEVER_NS;
  row->bound_ns = plan->outcome == SITU_OUTCOME_INFEASIBLE ? SITU_NEVER_NS : plan->lower_bound_ns;
  bool better = !*best || (exists && (!plan_exists(*best) || plan->value_ns < (*best)->value_ns));
  situ_plan *other = better ? *best : plan;
  situ_instance *unused = better ? *its : instance;
  if (better) {
    *best = plan;
    *its = instance;
  }
  situ_plan_free(other);
  situ_instance_free(unused);
}
