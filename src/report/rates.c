/* Tokens per second: what a plan of a language model comes to in each kind of step. */
#include "report/rates.h"

#include <stdio.h>

#include "report/table.h"
#include "sim/simulate.h"

static double rate(double tokens, int64_t repeats, int64_t value_ns) {
  return value_ns > 0 && value_ns < SITU_NEVER_NS ? tokens * (double)repeats * 1e9 / (double)value_ns : 0;
}

/* The value of the plan where one step of a kind is all there is. */
static int64_t step_value(const situ_plan *plan, const situ_problem *p, const situ_costs *step) {
  situ_problem view = *p;
  view.costs = step;
  view.time_ns = step->time_ns;
  view.transfer_ns = step->transfer_ns;
  placement where = {plan->device, plan->order, plan->call, plan->replica_of};
  arena *a = arena_new();
  simulator *s = a ? simulator_new(&view, a) : NULL;
  int64_t value_ns = s ? simulator_run(s, &where, false).value_ns : 0;
  arena_free(a);
  return value_ns;
}

token_rates rates_of(const situ_plan *plan, const situ_problem *p, const situ_model *model) {
  token_rates out = {0};
  const read_steps *s = model ? &model->steps : NULL;
  if (!s || !s->other || !situ_plan_exists(plan) || p->n_copies > 1) return out;
  for (int k = 0; k < 2; k++) {
    bool alone = s->repeats[1 - k] == 0;
    double *to = (k == 0) == s->prefill_first ? &out.prefill : &out.decode;
    if (alone)
      *to = rate(s->tokens[k], s->repeats[k], situ_plan_value_ns(plan));
    else if (p->costs->step[k] && p->costs->table_hash == 0)
      *to = rate(s->tokens[k], 1, step_value(plan, p, p->costs->step[k]));
  }
  return out;
}

double rates_told(token_rates rates, const situ_model *model) {
  bool decodes = rates.decode > 0 && !(model->steps.prefill_first && model->steps.repeats[1] == 0);
  return decodes ? rates.decode : rates.prefill;
}

const char *rates_text(char into[TEXT_UNIT_BYTES], double rate) {
  if (rate >= 1000 && rate < 1e15) return grouped(into, (int64_t)(rate + 0.5));
  snprintf(into, TEXT_UNIT_BYTES, "%.4g", rate);
  return into;
}
