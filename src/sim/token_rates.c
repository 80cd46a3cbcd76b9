/* Tokens per second of a plan of a language model, for each kind of step. */
#include "sim/token_rates.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "cost/efficiency.h"
#include "sim/simulate.h"

static double rate(double tokens, int64_t repeats, int64_t value_ns) {
  return value_ns > 0 && value_ns < SITU_NEVER_NS ? tokens * (double)repeats * 1e9 / (double)value_ns : 0;
}

/* The value of the placement for a problem like that of the plan. */
static int64_t value_for(const situ_problem *problem, const situ_plan *plan) {
  placement where = {plan->device, plan->order, plan->call, plan->replica_of};
  arena *a = arena_new();
  simulator *s = a ? simulator_new(problem, a) : NULL;
  int64_t value_ns = s ? simulator_run(s, &where, false).value_ns : 0;
  arena_free(a);
  return value_ns;
}

/* The value of the plan where one step of a kind is all there is. */
static int64_t step_value(const situ_plan *plan, const situ_costs *step) {
  situ_problem view;
  problem_view_costs(&view, plan->problem, step);
  return value_for(&view, plan);
}

/* The part of their possible overlap that micro-batches of a prompt reach: llama.cpp overlaps them where several GPUs
 * hold all layers, and the host the embedding: a rule that moves it switches this off
 * (docs/theory/models/language-models.md). */
static double overlap_of(const situ_plan *plan, const situ_costs *step) {
  const situ_problem *p = plan->problem;
  int32_t gpu = -1;
  double share = 0;
  for (int32_t v = 0; v < p->n_operators && p->overlap == SITU_OVERLAP_NONE; v++) {
    int32_t d = plan->device[v];
    bool works = step->time_ns[(int64_t)v * step->n_classes + p->platform->class_of[d]] > 0,
         host = problem_is_host(p, d);
    bool embeds = strcmp(p->graph->kind_name[p->graph->kind[v]], "Gather") == 0;
    if (works && (host ? !embeds : embeds)) return 0;
    if (!works || host) continue;
    double own = efficiency_overlap(&p->platform->devices[d], p->platform->n_relayed > 0);
    if (gpu >= 0 && gpu != d) share = share > 0 ? fmin(share, own) : own;
    gpu = d;
  }
  return share;
}

/* The work of the busiest device or link in a step of prefill. */
static int64_t busiest_ns(const situ_plan *plan, const situ_costs *step) {
  situ_problem view, pipeline;
  problem_view_costs(&view, plan->problem, step);
  problem_view_pipeline(&pipeline, &view);
  return value_for(&pipeline, plan);
}

/* The time of all micro-batches of the prompt, one of which takes step_ns. */
static int64_t prefill_ns(const situ_plan *plan, const situ_costs *step, int64_t repeats, int64_t step_ns) {
  double share = step ? overlap_of(plan, step) : 0;
  int64_t busiest = share > 0 ? min64(busiest_ns(plan, step), step_ns) : 0;
  if (busiest <= 0) return sat_mul(repeats, step_ns);
  int64_t gained = sat_round(share * (double)(step_ns - busiest));
  return sat_add(step_ns, sat_mul(repeats - 1, step_ns - gained));
}

token_rates token_rates_of(const situ_plan *plan, const situ_model *model) {
  const situ_problem *p = plan->problem;
  token_rates out = {0};
  const read_steps *s = model ? &model->steps : NULL;
  if (!s || !s->other || !plan_exists(plan) || p->n_copies > 1) return out;
  for (int k = 0; k < 2; k++) {
    bool alone = s->repeats[1 - k] == 0, prefill = (k == 0) == s->prefill_first;
    const situ_costs *step = p->costs->step[k];
    int64_t repeats = s->whole[k], value_ns;
    if (alone && s->repeats[k] > 0)
      value_ns = plan->value_ns;
    else if (step)
      value_ns = sat_mul(repeats, step_value(plan, step));
    else
      continue;
    int64_t in_turn_ns = value_ns;
    if (prefill && repeats > 1) value_ns = prefill_ns(plan, step, repeats, value_ns / repeats);
    if (prefill && value_ns < in_turn_ns) out.sequential = rate(s->tokens[k], repeats, in_turn_ns);
    *(prefill ? &out.prefill : &out.decode) = rate(s->tokens[k], repeats, value_ns);
    if (prefill && out.prefill > 0) out.ttft_ns = value_ns;
  }
  return out;
}

double token_rates_main(token_rates rates, const situ_model *model) {
  bool decodes = rates.decode > 0 && model->steps.repeats[model->steps.prefill_first ? 1 : 0] > 0;
  return decodes ? rates.decode : rates.prefill;
}
