#include "api/variants.h"

#include <stdio.h>

#include "base/checked.h"
#include "plan/group_times.h"

void variants_describe(text_buffer *t, const variant *rows, int32_t n, const char *head, const char *tail) {
  int64_t bound_ns = SITU_NEVER_NS;
  char a[TEXT_UNIT_BYTES];
  const char *between = "";
  text_add(t, "%s:", head);
  for (int32_t i = 0; i < n; i++) {
    if (!*rows[i].name) continue;
    bool found = rows[i].value_ns < SITU_NEVER_NS; /* else the bound may be years: what does not fit has no limit */
    text_add(t, "%s ", between);
    for (const char *c = rows[i].name; *c; c++) text_add(t, "%c", *c == ',' ? ':' : *c); /* shares */
    text_add(t, " %s", found ? text_time(a, rows[i].value_ns) : "none found");
    bool bounded = found && rows[i].bound_ns < SITU_NEVER_NS, waits = found && rows[i].collective_ns > 0;
    if (bounded) text_add(t, " (at least %s%s", text_time(a, rows[i].bound_ns), waits ? "" : ")");
    if (waits) text_add(t, "%s", bounded ? "; " : " (");
    if (waits && rows[i].split_ns > 0) text_add(t, "split %s, ", text_time(a, rows[i].split_ns));
    if (waits) text_add(t, "%s of it collectives)", text_time(a, rows[i].collective_ns));
    bound_ns = min64(bound_ns, rows[i].bound_ns);
    between = ",";
  }
  if (bound_ns < SITU_NEVER_NS) text_add(t, "; %s less than %s", tail, text_time(a, bound_ns));
}

/* What groups of devices cost in a plan, or would cost where it splits nothing. */
static void find_collectives(variant *row, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  const situ_costs *c = p->costs;
  for (int32_t d = 0; d < plan->n_devices; d++)
    row->collective_ns = sat_add(row->collective_ns, group_times_of(plan, d).collective_ns);
  if (row->collective_ns > 0 || !c->collective_ns || p->objective != SITU_OBJECTIVE_LATENCY) return;
  int32_t d = 0;
  int64_t split_ns = 0, collective_ns = 0, weight_bytes = 0;
  while (d < p->n_devices && platform_members(p->platform, d) < 2) d++;
  if (d == p->n_devices) return;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t at = (int64_t)v * p->n_classes + p->class_of[d];
    split_ns = sat_add(split_ns, c->time_ns[at]);
    collective_ns = sat_add(collective_ns, c->collective_ns[at]);
    weight_bytes = sat_add(weight_bytes, p->graph->weight_bytes[v]);
  }
  if (split_ns == SITU_NEVER_NS || weight_bytes > situ_platform_memory_bytes(p->platform, p->memory_of[d])) return;
  row->split_ns = split_ns;
  row->collective_ns = collective_ns;
}

void variants_keep_best(situ_plan **best, situ_instance **its, situ_plan *plan, situ_instance *instance, variant *row) {
  bool exists = plan_exists(plan);
  snprintf(row->left_out, sizeof row->left_out, "%s", instance->left_out ? instance->left_out : "");
  row->value_ns = exists ? plan->value_ns : SITU_NEVER_NS;
  if (exists) find_collectives(row, plan);
  bool none = plan->outcome == SITU_OUTCOME_INFEASIBLE;
  row->bound_ns = none ? SITU_NEVER_NS : plan->lower_bound_ns;
  row->verified_ns = none ? SITU_NEVER_NS : max64(plan->verified_ns, 0);
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
