/* Plan files in. Strict about form; numbers are claims, kept as read for the checker to judge. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "plan/certificate_json.h"
#include "plan/plan_source.h"
#include "plan/scope_json.h"

static const int64_t never = INT64_MAX;

static situ_status bad(const plan_source *s, situ_error *error, const char *key, const char *expected) {
  return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "\"%s\": expected %s", key, expected);
}

static situ_status read_outcome(situ_outcome *out, const plan_source *s, const json_value *root, situ_error *error) {
  const char *text = json_text(json_get(root, "outcome"), "");
  for (int i = SITU_OUTCOME_OPTIMAL; i <= SITU_OUTCOME_CANCELLED; i++) {
    *out = (situ_outcome)i;
    if (strcmp(text, situ_outcome_name(*out)) == 0) return SITU_STATUS_OK;
  }
  return bad(s, error, "outcome", "optimal, feasible, infeasible, limit or cancelled");
}

static situ_status check_format(const plan_source *s, const json_value *root, situ_error *error) {
  if (!json_get(root, "situ_plan"))
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "this is not a plan file: it has no \"situ_plan\"");
  return json_int(json_get(root, "situ_plan"), 0) == 1 ? SITU_STATUS_OK : bad(s, error, "situ_plan", "version 1");
}

static situ_status read_text(const char **out, arena *a, const plan_source *s, const json_value *root, const char *key,
                             situ_error *error) {
  const char *text = json_text(json_get(root, key), NULL);
  if (!text) return bad(s, error, key, "a text");
  *out = arena_string(a, text);
  return *out ? SITU_STATUS_OK : fail_no_memory(error);
}

/* Times that a stream under limits has, if there are any. */
static situ_status read_limited(situ_plan *plan, const plan_source *s, const json_value *o, situ_error *error) {
  if (json_get(o, "period_ns") || json_get(o, "latency_ns")) {
    TRY(plan_read_int(&plan->latency_ns, s, json_get(o, "latency_ns"), "latency_ns", NULL, error));
    TRY(plan_read_int(&plan->period_ns, s, json_get(o, "period_ns"), "period_ns", NULL, error));
  }
  if (!json_get(o, "other_ns")) return SITU_STATUS_OK;
  return plan_read_int(&plan->secondary_ns, s, json_get(o, "other_ns"), "other_ns", NULL, error);
}

static situ_status read_seed(uint64_t *out, const plan_source *s, const json_value *v, situ_error *error) {
  int64_t small;
  const char *text = json_text(v, NULL);
  if (!text) {
    TRY(plan_read_int(&small, s, v, "seed", NULL, error));
    *out = (uint64_t)small;
    return SITU_STATUS_OK;
  }
  char *end;
  *out = strtoull(text, &end, 10);
  char again[24];
  snprintf(again, sizeof again, "%llu", (unsigned long long)*out);
  return strcmp(again, text) == 0 ? SITU_STATUS_OK : bad(s, error, "seed", "a whole number below 2^64");
}

static situ_status read_best_found(situ_plan *plan, const plan_source *s, const json_value *found, situ_error *error) {
  int64_t n;
  if (!found) return SITU_STATUS_OK;
  TRY(plan_read_int(&plan->best_found_ns, s, json_get(found, "value_ns"), "best_found, value_ns", NULL, error));
  TRY(plan_read_int(&n, s, json_get(found, "handovers"), "best_found, handovers", NULL, error));
  if (n > INT32_MAX) return bad(s, error, "best_found", "a number of hand-overs");
  plan->best_found_handovers = (int32_t)n;
  return SITU_STATUS_OK;
}

/* A number of the robustness from 0 to `max`; 0 where it is absent. */
static situ_status read_share(double *out, const plan_source *s, const json_value *o, const char *key, double max,
                              situ_error *error) {
  const json_value *v = json_get(o, key);
  char what[64];
  snprintf(what, sizeof what, "robustness, %s", key);
  *out = v ? json_number(v, -1) : 0;
  return *out >= 0 && *out <= max ? SITU_STATUS_OK
                                  : bad(s, error, what, "a number of at least 0 that is not too large");
}

static situ_status read_robustness(situ_plan *plan, const plan_source *s, const json_value *o, situ_error *error) {
  static const double max = 1e18; /* of a ratio of times */
  if (!o) return SITU_STATUS_OK;
  if (json_kind_of(o) != JSON_OBJECT_KIND) return bad(s, error, "robustness", "an object");
  situ_robustness *r = &plan->robustness;
  int64_t draws = json_int(json_get(o, "draws"), json_get(o, "draws") ? -1 : 0);
  *r = (situ_robustness){.size = sizeof *r,
                         .draws = (int32_t)draws,
                         .preferred = json_bool(json_get(o, "preferred_single"), false),
                         .regret_ns = json_int(json_get(o, "regret_ns"), json_get(o, "regret_ns") ? -1 : 0)};
  if (draws < 0 || draws > INT32_MAX) return bad(s, error, "robustness, draws", "a whole number below 2^31");
  if (r->regret_ns < 0) return bad(s, error, "robustness, regret_ns", "a whole number of at least 0");
  TRY(read_share(&r->uncertainty, s, o, "uncertainty", max, error));
  TRY(read_share(&r->beats_single, s, o, "beats_single", 1, error));
  TRY(read_share(&r->speedup_5, s, o, "speedup_5", max, error));
  TRY(read_share(&r->speedup_median, s, o, "speedup_median", max, error));
  TRY(read_share(&r->speedup_95, s, o, "speedup_95", max, error));
  TRY(read_share(&r->flip_factor, s, o, "flip_factor", max, error));
  snprintf(r->flip_what, sizeof r->flip_what, "%s", json_text(json_get(o, "flip_what"), ""));
  text_make_utf8(r->flip_what); /* it may be cut within a character */
  return SITU_STATUS_OK;
}

static situ_status read_summary(situ_plan *plan, const plan_source *s, const json_value *root, situ_error *error) {
  const json_value *single = json_get(root, "best_single");
  TRY(read_outcome(&plan->outcome, s, root, error));
  TRY(read_text(&plan->reason, plan->arena, s, root, "reason", error));
  TRY(read_text(&plan->bound, plan->arena, s, root, "bound", error));
  TRY(certificate_from_json(&plan->proof, s, json_get(root, "certificate"), plan->arena, error));
  TRY(read_text(&plan->solver, plan->arena, s, root, "solver", error));
  TRY(plan_read_int(&plan->value_ns, s, json_get(root, "value_ns"), "value_ns", &never, error));
  TRY(plan_read_int(&plan->lower_bound_ns, s, json_get(root, "lower_bound_ns"), "lower_bound_ns", &never, error));
  TRY(read_limited(plan, s, root, error));
  if (json_get(root, "without_form_ns"))
    TRY(plan_read_int(&plan->unrestricted_ns, s, json_get(root, "without_form_ns"), "without_form_ns", NULL, error));
  if (json_get(root, "form") && !form_from_json(&plan->form, json_get(root, "form")))
    return bad(s, error, "form", "a list of conditions, such as \"layers\"");
  TRY(plan_read_int(&plan->steps, s, json_get(root, "steps"), "steps", NULL, error));
  TRY(read_seed(&plan->seed, s, json_get(root, "seed"), error));
  TRY(read_robustness(plan, s, json_get(root, "robustness"), error));
  TRY(read_best_found(plan, s, json_get(root, "best_found"), error));
  if (json_kind_of(single) == JSON_NULL_KIND) return SITU_STATUS_OK;
  if (json_kind_of(single) != JSON_OBJECT_KIND) return bad(s, error, "best_single", "an object or null");
  TRY(plan_read_device(&plan->best_single_device, s, json_get(single, "device"), "best_single", error));
  return plan_read_int(&plan->best_single_ns, s, json_get(single, "value_ns"), "best_single", &never, error);
}

/* One row of "operators": [name, device], with times [.., start, finish], with a call [.., call]. */
static situ_status read_operator_row(situ_plan *plan, const plan_source *s, const json_value *row, int32_t at,
                                     situ_error *error) {
  static const int64_t host = -1;
  int32_t v;
  int64_t call;
  char what[64];
  snprintf(what, sizeof what, "operators, row %d", (int)at + 1);
  TRY(plan_read_operator(&v, s, json_at(row, 0), what, error));
  if (plan->device[v] >= 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: the operator '%s' appears twice", what,
                     s->graph->name[v]);
  TRY(plan_read_device(&plan->device[v], s, json_at(row, 1), what, error));
  if (plan->order) plan->order[at] = v;
  if (plan->start_ns) {
    TRY(plan_read_int(&plan->start_ns[v], s, json_at(row, 2), what, NULL, error));
    TRY(plan_read_int(&plan->finish_ns[v], s, json_at(row, 3), what, NULL, error));
  }
  if (!plan->call) return SITU_STATUS_OK;
  TRY(plan_read_int(&call, s, json_at(row, 4), what, &host, error));
  if (call >= plan->n_operators)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: call %lld is out of range; expected 0 to %d", what,
                     (long long)call, (int)plan->n_operators - 1);
  plan->call[v] = (int32_t)call;
  return SITU_STATUS_OK;
}

static situ_status read_operators(situ_plan *plan, const plan_source *s, const json_value *rows, situ_error *error) {
  const situ_problem *p = plan->problem;
  if (json_kind_of(rows) != JSON_ARRAY_KIND) return bad(s, error, "operators", "an array");
  int32_t n = plan->n_operators;
  if (json_size(rows) != (size_t)n) {
    int32_t missing = -1, v;
    bool *seen = ARENA_ZERO(plan->arena, bool, n);
    if (!seen) return fail_no_memory(error);
    for (size_t i = 0; i < json_size(rows); i++) {
      TRY(plan_read_operator(&v, s, json_at(json_at(rows, i), 0), "operators", error));
      seen[v] = true;
    }
    for (v = n - 1; v >= 0; v--)
      if (!seen[v]) missing = v;
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "\"operators\" has %zu rows, the model %d operators%s%s",
                     json_size(rows), (int)n, missing < 0 ? "" : "; missing is ",
                     missing < 0 ? "" : s->graph->name[missing]);
  }
  size_t columns = json_size(json_at(rows, 0));
  if (columns != 2 && columns != 4 && columns != 5)
    return bad(s, error, "operators", "rows of 2, 4 or 5 entries: name, device, start, finish, call");
  plan->device = ARENA_NEW(plan->arena, int32_t, n);
  if (p->execution == SITU_EXECUTION_STREAM) plan->order = ARENA_NEW(plan->arena, int32_t, n);
  if (columns >= 4) plan->start_ns = ARENA_NEW(plan->arena, int64_t, n);
  if (columns >= 4) plan->finish_ns = ARENA_NEW(plan->arena, int64_t, n);
  if (columns == 5) plan->call = ARENA_NEW(plan->arena, int32_t, n);
  if (!plan->device || (p->execution == SITU_EXECUTION_STREAM && !plan->order) ||
      (columns >= 4 && (!plan->start_ns || !plan->finish_ns)) || (columns == 5 && !plan->call))
    return fail_no_memory(error);
  for (int32_t v = 0; v < n; v++) plan->device[v] = -1;
  for (int32_t i = 0; i < n; i++) {
    const json_value *row = json_at(rows, (size_t)i);
    if (json_kind_of(row) != JSON_ARRAY_KIND || json_size(row) != columns)
      return bad(s, error, "operators", "rows that are arrays of one length");
    TRY(read_operator_row(plan, s, row, i, error));
  }
  return SITU_STATUS_OK;
}

static situ_status read_devices(situ_plan *plan, const plan_source *s, const json_value *rows, situ_error *error) {
  if (json_kind_of(rows) != JSON_ARRAY_KIND || json_size(rows) != (size_t)plan->n_devices)
    return bad(s, error, "devices", "an array with every device of the platform");
  plan->uses = ARENA_ZERO(plan->arena, situ_device_use, plan->n_devices);
  bool *seen = ARENA_ZERO(plan->arena, bool, plan->n_devices);
  bool replicas = false;
  if (!plan->uses || !seen) return fail_no_memory(error);
  for (size_t i = 0; i < json_size(rows); i++) {
    const json_value *o = json_at(rows, i);
    int64_t count;
    int32_t d;
    TRY(plan_read_device(&d, s, json_get(o, "name"), "devices", error));
    if (seen[d]) return bad(s, error, "devices", "every device once");
    seen[d] = true;
    situ_device_use *use = &plan->uses[d];
    TRY(plan_read_int(&count, s, json_get(o, "operators"), "devices, operators", NULL, error));
    if (count > plan->n_operators) return bad(s, error, "devices", "no more operators on a device than there are");
    use->n_operators = (int32_t)count;
    TRY(plan_read_int(&use->load_ns, s, json_get(o, "load_ns"), "devices, load_ns", &never, error));
    TRY(plan_read_int(&use->memory_bytes, s, json_get(o, "memory_bytes"), "devices, memory_bytes", &never, error));
    TRY(plan_read_int(&use->memory_limit_bytes, s, json_get(o, "memory_limit_bytes"), "devices, memory_limit_bytes",
                      &never, error));
    use->replica_of = -1;
    if (!json_get(o, "replica_of")) continue;
    TRY(plan_read_device(&use->replica_of, s, json_get(o, "replica_of"), "devices, replica_of", error));
    replicas = true;
  }
  if (!replicas) return SITU_STATUS_OK;
  plan->replica_of = ARENA_NEW(plan->arena, int32_t, plan->n_devices);
  if (!plan->replica_of) return fail_no_memory(error);
  for (int32_t d = 0; d < plan->n_devices; d++) plan->replica_of[d] = plan->uses[d].replica_of;
  return SITU_STATUS_OK;
}

/* Links are numbers in "transfers"; the list gives their ends, so that a plan for another platform is detected. Plans
 * of 0.2 lack those that stand for routes through a host. */
static situ_status check_links(const plan_source *s, const json_value *rows, situ_error *error) {
  size_t all = (size_t)s->platform->n_links, own = all - (size_t)s->platform->n_relayed;
  if (json_kind_of(rows) != JSON_ARRAY_KIND || (json_size(rows) != all && json_size(rows) != own))
    return bad(s, error, "links", "the links of the platform; was the plan made for another one?");
  for (size_t i = 0; i < json_size(rows); i++) {
    int32_t from, to;
    TRY(plan_read_device(&from, s, json_at(json_at(rows, i), 0), "links", error));
    TRY(plan_read_device(&to, s, json_at(json_at(rows, i), 1), "links", error));
    if (from != s->platform->links[i].from_device || to != s->platform->links[i].to_device)
      return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "link %zu goes from %s to %s, but not on platform %s", i,
                       s->platform->devices[from].name, s->platform->devices[to].name, s->platform->name);
  }
  return SITU_STATUS_OK;
}

/* Rows [operator, output, link, device of the destination, start, finish]. */
static situ_status read_transfers(situ_plan *plan, const plan_source *s, const json_value *rows, situ_error *error) {
  const situ_graph *g = s->graph;
  if (json_kind_of(rows) != JSON_ARRAY_KIND || json_size(rows) > INT32_MAX)
    return bad(s, error, "transfers", "an array");
  plan->n_transfers = (int32_t)json_size(rows);
  plan->transfers = ARENA_NEW(plan->arena, situ_transfer, plan->n_transfers);
  if (!plan->transfers) return fail_no_memory(error);
  for (int32_t i = 0; i < plan->n_transfers; i++) {
    const json_value *row = json_at(rows, (size_t)i);
    situ_transfer *x = &plan->transfers[i];
    char what[64];
    int32_t v, d;
    int64_t output, link;
    snprintf(what, sizeof what, "transfers, row %d", (int)i + 1);
    if (json_size(row) != 6 || json_kind_of(row) != JSON_ARRAY_KIND)
      return bad(s, error, what, "[operator, output, link, device, start, finish]");
    TRY(plan_read_operator(&v, s, json_at(row, 0), what, error));
    TRY(plan_read_int(&output, s, json_at(row, 1), what, NULL, error));
    TRY(plan_read_int(&link, s, json_at(row, 2), what, NULL, error));
    TRY(plan_read_device(&d, s, json_at(row, 3), what, error));
    if (output >= g->out_start[v + 1] - g->out_start[v] || link >= s->platform->n_links)
      return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: there is no output %lld of %s or no link %lld",
                       what, (long long)output, g->name[v], (long long)link);
    x->tensor = g->out_start[v] + (int32_t)output;
    x->link = (int32_t)link;
    x->to_memory = s->platform->memory_of[d];
    TRY(plan_read_int(&x->start_ns, s, json_at(row, 4), what, NULL, error));
    TRY(plan_read_int(&x->finish_ns, s, json_at(row, 5), what, NULL, error));
  }
  return SITU_STATUS_OK;
}

/* Operators, devices and transfers of a plan, or of one that a claim is of; the links are those of the file. */
static situ_status read_placement(situ_plan *plan, const plan_source *s, const json_value *o, const json_value *links,
                                  situ_error *error) {
  const json_value *devices = json_get(o, "devices"), *transfers = json_get(o, "transfers");
  TRY(read_operators(plan, s, json_get(o, "operators"), error));
  if (!plan_count_handovers(plan)) return fail_no_memory(error);
  if (devices) TRY(read_devices(plan, s, devices, error));
  if (!transfers) return SITU_STATUS_OK;
  TRY(check_links(s, links, error));
  return read_transfers(plan, s, transfers, error);
}

/* A plan that a claim is of, if the file shows it. */
static situ_status read_shown(situ_plan *of, situ_plan **slot, const plan_source *s, const json_value *o,
                              const json_value *links, situ_error *error) {
  if (!o) return SITU_STATUS_OK;
  if (json_kind_of(o) != JSON_OBJECT_KIND) return bad(s, error, "plan", "an object");
  situ_plan *plan = plan_new(of->problem);
  if (!plan) return fail_no_memory(error);
  TRY(plan_show(of, slot, plan, error));
  plan->outcome = SITU_OUTCOME_FEASIBLE;
  plan->claimed = true;
  TRY(plan_read_int(&plan->value_ns, s, json_get(o, "value_ns"), "plan, value_ns", NULL, error));
  TRY(read_limited(plan, s, o, error));
  return read_placement(plan, s, o, links, error);
}

static situ_status read_all(situ_plan *plan, const json_value *root, const char *where, situ_error *error) {
  const situ_problem *p = plan->problem;
  plan_source s;
  if (!plan_source_new(&s, p->graph, p->platform, where, plan->arena)) return fail_no_memory(error);
  TRY(check_format(&s, root, error));
  TRY(read_summary(plan, &s, root, error));
  const json_value *operators = json_get(root, "operators"), *links = json_get(root, "links");
  bool placed = plan->outcome == SITU_OUTCOME_OPTIMAL || plan->outcome == SITU_OUTCOME_FEASIBLE;
  if (placed && !operators) return bad(&s, error, "operators", "an array: the outcome says that there is a placement");
  if (!operators) return SITU_STATUS_OK;
  TRY(read_placement(plan, &s, root, links, error));
  TRY(read_shown(plan, &plan->best_found, &s, json_get(json_get(root, "best_found"), "plan"), links, error));
  TRY(read_shown(plan, &plan->unrestricted, &s, json_get(root, "without_form"), links, error));
  return read_shown(plan, &plan->compared, &s, json_get(json_get(root, "robustness"), "plan"), links, error);
}

situ_status plan_from_json(situ_plan **out, const situ_problem *problem, const json_value *root, const char *where,
                           situ_error *error) {
  *out = NULL;
  situ_plan *plan = plan_new(problem);
  if (!plan) return fail_no_memory(error);
  plan->claimed = true;
  HAND_OUT(out, plan, read_all(plan, root, where, error), situ_plan_free);
}
