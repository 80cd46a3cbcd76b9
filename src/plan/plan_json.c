/* Plan files out. */
#include <stdio.h>

#include "base/contracts.h"
#include "plan/certificate_json.h"
#include "plan/plan_source.h"
#include "plan/scope_json.h"

static json_value *device_name(const situ_problem *p, int32_t device) {
  return device < 0 || device >= p->n_devices ? json_new_null() : json_new_text(p->platform->devices[device].name);
}

static json_value *devices_json(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  json_value *rows = json_new_array();
  bool good = rows != NULL;
  for (int32_t d = 0; good && d < p->n_devices; d++) {
    const situ_device_use *use = &plan->uses[d];
    good = json_push(
        rows, JSON_OBJECT({"name", device_name(p, d)}, {"operators", json_new_int(use->n_operators)},
                          {"load_ns", plan_int_json(use->load_ns)}, {"memory_bytes", plan_int_json(use->memory_bytes)},
                          {"memory_limit_bytes", plan_int_json(use->memory_limit_bytes)},
                          {"replica_of", use->replica_of < 0 ? JSON_ABSENT : device_name(p, use->replica_of)}));
  }
  return json_if(good, rows);
}

static json_value *operators_json(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  json_value *rows = json_new_array();
  bool good = rows != NULL;
  for (int32_t i = 0; good && i < p->n_operators; i++) {
    int32_t v = plan->order ? plan->order[i] : i;
    json_value *row = JSON_ARRAY(json_new_text(p->graph->name[v]), device_name(p, plan->device[v]));
    good = row != NULL;
    if (good && plan->start_ns && plan->finish_ns)
      good = json_push(row, plan_int_json(plan->start_ns[v])) && json_push(row, plan_int_json(plan->finish_ns[v]));
    if (good && plan->call) good = json_push(row, plan->call[v] < 0 ? json_new_null() : json_new_int(plan->call[v]));
    good = json_push(rows, row) && good;
  }
  return json_if(good, rows);
}

static json_value *links_json(const situ_problem *p) {
  json_value *rows = json_new_array();
  bool good = rows != NULL;
  for (int32_t l = 0; good && l < p->platform->n_links; l++) {
    const situ_link *link = &p->platform->links[l];
    good = json_push(rows, JSON_ARRAY(device_name(p, link->from_device), device_name(p, link->to_device)));
  }
  return json_if(good, rows);
}

/* The first device of a memory represents it. */
static int32_t device_of_memory(const situ_problem *p, int32_t m) {
  int32_t d = 0;
  while (d < p->n_devices && p->memory_of[d] != m) d++;
  return d;
}

static json_value *transfers_json(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  json_value *rows = json_new_array();
  bool good = rows != NULL;
  for (int32_t i = 0; good && i < plan->n_transfers; i++) {
    const situ_transfer *x = &plan->transfers[i];
    int32_t v = p->graph->producer[x->tensor];
    good =
        json_push(rows, JSON_ARRAY(json_new_text(p->graph->name[v]), json_new_int(x->tensor - p->graph->out_start[v]),
                                   json_new_int(x->link), device_name(p, device_of_memory(p, x->to_memory)),
                                   plan_int_json(x->start_ns), plan_int_json(x->finish_ns)));
  }
  return json_if(good, rows);
}

static json_value *single_json(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  if (plan->best_single_device < 0) return json_new_null();
  return JSON_OBJECT({"device", device_name(p, plan->best_single_device)},
                     {"value_ns", plan_int_json(plan->best_single_ns)});
}

/* The placement of a plan, with times: members of its object, and the links that transfers are numbers of. */
static bool set_placement(json_value *o, const situ_plan *plan, bool links) {
  const situ_problem *p = plan->problem;
  return JSON_SET(o, {"operators", operators_json(plan)}, {"devices", plan->uses ? devices_json(plan) : JSON_ABSENT},
                  {"links", plan->transfers && links ? links_json(p) : JSON_ABSENT},
                  {"transfers", plan->transfers ? transfers_json(plan) : JSON_ABSENT});
}

/* What streams have under limits. */
static bool set_limited(json_value *o, const situ_plan *plan) {
  bool limited = plan->period_ns != SITU_NEVER_NS;
  return JSON_SET(o, {"latency_ns", limited ? plan_int_json(plan->latency_ns) : JSON_ABSENT},
                  {"period_ns", limited ? plan_int_json(plan->period_ns) : JSON_ABSENT},
                  {"other_ns", plan->secondary_ns == SITU_NEVER_NS ? JSON_ABSENT : plan_int_json(plan->secondary_ns)});
}

/* A plan that a claim is of. */
static json_value *shown_json(const situ_plan *plan) {
  json_value *o = JSON_OBJECT({"value_ns", plan_int_json(plan->value_ns)});
  return json_if(set_limited(o, plan) && set_placement(o, plan, false), o);
}

static json_value *best_found_json(const situ_plan *plan) {
  return JSON_OBJECT({"value_ns", plan_int_json(plan->best_found_ns)},
                     {"handovers", json_new_int(plan->best_found_handovers)},
                     {"plan", plan->best_found ? shown_json(plan->best_found) : JSON_ABSENT});
}

static json_value *robustness_json(const situ_plan *plan) {
  const situ_robustness *r = &plan->robustness;
  return JSON_OBJECT({"uncertainty", json_new_number(r->uncertainty)}, {"draws", json_new_int(r->draws)},
                     {"preferred_single", json_new_bool(r->preferred)},
                     {"beats_single", json_new_number(r->beats_single)}, {"speedup_5", json_new_number(r->speedup_5)},
                     {"speedup_median", json_new_number(r->speedup_median)},
                     {"speedup_95", json_new_number(r->speedup_95)}, {"regret_ns", json_new_int(r->regret_ns)},
                     {"flip_factor", json_new_number(r->flip_factor)}, {"flip_what", json_new_text(r->flip_what)},
                     {"plan", plan->compared ? shown_json(plan->compared) : JSON_ABSENT});
}

/* Seeds are unsigned; those that JSON readers would spoil are written as text. */
static json_value *seed_json(uint64_t seed) {
  char text[24];
  if (seed <= INT64_MAX) return json_new_int((int64_t)seed);
  snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
  return json_new_text(text);
}

/* The seconds of the search stay out: one seed and one number of steps give one file, byte for byte. */
json_value *plan_to_json(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  REQUIRE(plan->n_operators == p->n_operators && plan->n_devices == p->n_devices);
  scope of;
  scope_find(&of, p, plan->form);
  json_value *o =
      JSON_OBJECT({"situ_plan", json_new_int(1)}, {"outcome", json_new_text(situ_outcome_name(plan->outcome))},
                  {"reason", json_new_text(plan->reason)}, {"value_ns", plan_int_json(plan->value_ns)},
                  {"lower_bound_ns", plan_int_json(plan->lower_bound_ns)});
  bool good = set_limited(o, plan) &&
              JSON_SET(o, {"gap", json_new_number(plan_gap(plan))}, {"bound", json_new_text(plan->bound)},
                       {"scope", scope_to_json(&of)}, {"form", plan->form ? form_to_json(plan->form) : JSON_ABSENT},
                       {"certificate", plan->proof.kind ? certificate_to_json(&plan->proof, p) : JSON_ABSENT},
                       {"solver", json_new_text(plan->solver)}, {"best_single", single_json(plan)},
                       {"best_found", plan->best_found_handovers < 0 ? JSON_ABSENT : best_found_json(plan)},
                       {"without_form_ns",
                        plan->unrestricted_ns == SITU_NEVER_NS ? JSON_ABSENT : plan_int_json(plan->unrestricted_ns)},
                       {"without_form", plan->unrestricted ? shown_json(plan->unrestricted) : JSON_ABSENT},
                       {"robustness", plan->robustness.size == 0 ? JSON_ABSENT : robustness_json(plan)},
                       {"steps", json_new_int(plan->steps)}, {"seed", seed_json(plan->seed)});
  if (good && plan->device) good = set_placement(o, plan, true);
  return json_if(good, o);
}
