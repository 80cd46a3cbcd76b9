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
    json_value *o = json_new_object();
    good = json_set(o, "name", device_name(p, d)) && json_set(o, "operators", json_new_int(use->n_operators)) &&
           json_set(o, "load_ns", plan_int_json(use->load_ns)) &&
           json_set(o, "memory_bytes", plan_int_json(use->memory_bytes)) &&
           json_set(o, "memory_limit_bytes", plan_int_json(use->memory_limit_bytes));
    if (use->replica_of >= 0) good = good && json_set(o, "replica_of", device_name(p, use->replica_of));
    good = json_push(rows, o) && good;
  }
  if (good) return rows;
  json_free(rows);
  return NULL;
}

static json_value *operators_json(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  json_value *rows = json_new_array();
  bool good = rows != NULL;
  for (int32_t i = 0; good && i < p->n_operators; i++) {
    int32_t v = plan->order ? plan->order[i] : i;
    json_value *row = json_new_array();
    good = json_push(row, json_new_text(p->graph->name[v])) && json_push(row, device_name(p, plan->device[v]));
    if (good && plan->start_ns && plan->finish_ns)
      good = json_push(row, plan_int_json(plan->start_ns[v])) && json_push(row, plan_int_json(plan->finish_ns[v]));
    if (good && plan->call) good = json_push(row, plan->call[v] < 0 ? json_new_null() : json_new_int(plan->call[v]));
    good = json_push(rows, row) && good;
  }
  if (good) return rows;
  json_free(rows);
  return NULL;
}

static json_value *links_json(const situ_problem *p) {
  json_value *rows = json_new_array();
  bool good = rows != NULL;
  for (int32_t l = 0; good && l < p->platform->n_links; l++) {
    json_value *row = json_new_array();
    good = json_push(row, device_name(p, p->platform->links[l].from_device)) &&
           json_push(row, device_name(p, p->platform->links[l].to_device));
    good = json_push(rows, row) && good;
  }
  if (good) return rows;
  json_free(rows);
  return NULL;
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
    json_value *row = json_new_array();
    good = json_push(row, json_new_text(p->graph->name[v])) &&
           json_push(row, json_new_int(x->tensor - p->graph->out_start[v])) && json_push(row, json_new_int(x->link)) &&
           json_push(row, device_name(p, device_of_memory(p, x->to_memory))) &&
           json_push(row, plan_int_json(x->start_ns)) && json_push(row, plan_int_json(x->finish_ns));
    good = json_push(rows, row) && good;
  }
  if (good) return rows;
  json_free(rows);
  return NULL;
}

static json_value *single_json(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  if (plan->best_single_device < 0) return json_new_null();
  json_value *o = json_new_object();
  if (json_set(o, "device", device_name(p, plan->best_single_device)) &&
      json_set(o, "value_ns", plan_int_json(plan->best_single_ns)))
    return o;
  json_free(o);
  return NULL;
}

/* The placement of a plan, with times: members of its object, and the links that transfers are numbers of. */
static bool set_placement(json_value *o, const situ_plan *plan, bool links) {
  const situ_problem *p = plan->problem;
  return json_set(o, "operators", operators_json(plan)) &&
         (!plan->uses || json_set(o, "devices", devices_json(plan))) &&
         (!plan->transfers || !links || json_set(o, "links", links_json(p))) &&
         (!plan->transfers || json_set(o, "transfers", transfers_json(plan)));
}

/* What streams have under limits. */
static bool set_limited(json_value *o, const situ_plan *plan) {
  return (plan->period_ns == SITU_NEVER_NS || (json_set(o, "latency_ns", plan_int_json(plan->latency_ns)) &&
                                               json_set(o, "period_ns", plan_int_json(plan->period_ns)))) &&
         (plan->secondary_ns == SITU_NEVER_NS || json_set(o, "other_ns", plan_int_json(plan->secondary_ns)));
}

/* A plan that a claim is of. */
static json_value *shown_json(const situ_plan *plan) {
  json_value *o = json_new_object();
  if (json_set(o, "value_ns", plan_int_json(plan->value_ns)) && set_limited(o, plan) && set_placement(o, plan, false))
    return o;
  json_free(o);
  return NULL;
}

static json_value *best_found_json(const situ_plan *plan) {
  json_value *o = json_new_object();
  if (json_set(o, "value_ns", plan_int_json(plan->best_found_ns)) &&
      json_set(o, "handovers", json_new_int(plan->best_found_handovers)) &&
      (!plan->best_found || json_set(o, "plan", shown_json(plan->best_found))))
    return o;
  json_free(o);
  return NULL;
}

static json_value *robustness_json(const situ_plan *plan) {
  const situ_robustness *r = &plan->robustness;
  json_value *o = json_new_object();
  if (json_set(o, "uncertainty", json_new_number(r->uncertainty)) && json_set(o, "draws", json_new_int(r->draws)) &&
      json_set(o, "preferred_single", json_new_bool(r->preferred)) &&
      json_set(o, "beats_single", json_new_number(r->beats_single)) &&
      json_set(o, "speedup_5", json_new_number(r->speedup_5)) &&
      json_set(o, "speedup_median", json_new_number(r->speedup_median)) &&
      json_set(o, "speedup_95", json_new_number(r->speedup_95)) &&
      json_set(o, "regret_ns", json_new_int(r->regret_ns)) &&
      json_set(o, "flip_factor", json_new_number(r->flip_factor)) &&
      json_set(o, "flip_what", json_new_text(r->flip_what)) &&
      (!plan->compared || json_set(o, "plan", shown_json(plan->compared))))
    return o;
  json_free(o);
  return NULL;
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
  json_value *o = json_new_object();
  scope of;
  scope_find(&of, p, plan->form);
  bool good =
      o && json_set(o, "situ_plan", json_new_int(1)) &&
      json_set(o, "outcome", json_new_text(situ_outcome_name(plan->outcome))) &&
      json_set(o, "reason", json_new_text(plan->reason)) && json_set(o, "value_ns", plan_int_json(plan->value_ns)) &&
      json_set(o, "lower_bound_ns", plan_int_json(plan->lower_bound_ns)) && set_limited(o, plan) &&
      json_set(o, "gap", json_new_number(plan_gap(plan))) && json_set(o, "bound", json_new_text(plan->bound)) &&
      json_set(o, "scope", scope_to_json(&of)) && (plan->form == 0 || json_set(o, "form", form_to_json(plan->form))) &&
      (!plan->proof.kind || json_set(o, "certificate", certificate_to_json(&plan->proof, p))) &&
      json_set(o, "solver", json_new_text(plan->solver)) && json_set(o, "best_single", single_json(plan)) &&
      (plan->best_found_handovers < 0 || json_set(o, "best_found", best_found_json(plan))) &&
      (plan->unrestricted_ns == SITU_NEVER_NS ||
       json_set(o, "without_form_ns", plan_int_json(plan->unrestricted_ns))) &&
      (!plan->unrestricted || json_set(o, "without_form", shown_json(plan->unrestricted))) &&
      (plan->robustness.size == 0 || json_set(o, "robustness", robustness_json(plan))) &&
      json_set(o, "steps", json_new_int(plan->steps)) && json_set(o, "seed", seed_json(plan->seed));
  if (good && plan->device) good = set_placement(o, plan, true);
  if (good) return o;
  json_free(o);
  return NULL;
}
