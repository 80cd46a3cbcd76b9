/* Certificates in plan files: an object with kind, bound, lower_bound_ns, and a member for each list. What cannot be
 * read becomes the certificate's fault, which the checker reports: a spoilt proof does not make the plan unreadable. */
#include "plan/certificate_json.h"

#include <stdio.h>
#include <string.h>

#include "base/contracts.h"
#include "base/fail.h"

static json_value *list_json(const certificate_list *list, const situ_problem *p) {
  json_value *row = json_new_array();
  bool good = row != NULL;
  for (int64_t i = 0; good && i < list->n; i++) {
    bool named = list->of_operators && list->values[i] >= 0 && list->values[i] < p->n_operators;
    good = json_push(row, named ? json_new_text(p->graph->name[list->values[i]]) : plan_int_json(list->values[i]));
  }
  return json_if(good, row);
}

json_value *certificate_to_json(const certificate *c, const situ_problem *p) {
  REQUIRE(c->kind && c->bound);
  json_value *o = JSON_OBJECT({"kind", json_new_text(c->kind)}, {"bound", json_new_text(c->bound)},
                              {"lower_bound_ns", plan_int_json(c->lower_ns)});
  bool good = o != NULL;
  for (int32_t i = 0; good && i < c->n_lists; i++) good = json_set(o, c->list[i].name, list_json(&c->list[i], p));
  return json_if(good, o);
}

static situ_status found_fault(certificate *c, const char *member, const char *expected, arena *a, situ_error *error) {
  char line[256];
  snprintf(line, sizeof line, "certificate.%.64s: expected %s", member, expected);
  c->fault = arena_string(a, line);
  return c->fault ? SITU_STATUS_OK : fail_no_memory(error);
}

static const char list_form[] = "a list of whole numbers, or one of operators of the model";

static situ_status read_list(certificate *c, const plan_source *s, const json_member *m, arena *a, situ_error *error) {
  int64_t n = (int64_t)json_size(m->value), never = INT64_MAX;
  if (json_kind_of(m->value) != JSON_ARRAY_KIND) return found_fault(c, m->key, list_form, a, error);
  const char *name = arena_string(a, m->key);
  bool named = n > 0 && json_kind_of(json_at(m->value, 0)) == JSON_TEXT;
  int64_t *values = !name ? NULL : named ? certificate_add_operators(c, name, n, a) : certificate_add(c, name, n, a);
  if (!values) return fail_no_memory(error);
  for (int64_t i = 0; i < n && !c->fault; i++) {
    const json_value *v = json_at(m->value, (size_t)i);
    int32_t op = -1;
    if (named) {
      const char *text = json_text(v, NULL);
      values[i] = op = text ? situ_graph_find(s->graph, text) : -1;
    }
    bool good = named ? op >= 0 : plan_read_int(&values[i], s, v, m->key, &never, NULL) == SITU_STATUS_OK;
    if (!good) return found_fault(c, m->key, list_form, a, error);
  }
  return SITU_STATUS_OK;
}

static situ_status read_members(certificate *c, const plan_source *s, const json_value *v, arena *a,
                                situ_error *error) {
  int64_t never = INT64_MAX;
  const char *kind = json_text(json_get(v, "kind"), NULL), *bound = json_text(json_get(v, "bound"), NULL);
  if (!kind || !bound) return found_fault(c, kind ? "bound" : "kind", "a text", a, error);
  c->kind = arena_string(a, kind);
  c->bound = arena_string(a, bound);
  if (!c->kind || !c->bound) return fail_no_memory(error);
  if (plan_read_int(&c->lower_ns, s, json_get(v, "lower_bound_ns"), "", &never, NULL) != SITU_STATUS_OK)
    return found_fault(c, "lower_bound_ns", "a whole number of at least 0 or null", a, error);
  json_member m = {0};
  while (!c->fault && json_next(v, &m)) {
    if (!strcmp(m.key, "kind") || !strcmp(m.key, "bound") || !strcmp(m.key, "lower_bound_ns")) continue;
    if (c->n_lists == CERTIFICATE_LISTS) return found_fault(c, m.key, "no more members", a, error);
    TRY(read_list(c, s, &m, a, error));
  }
  return SITU_STATUS_OK;
}

situ_status certificate_from_json(certificate *out, const plan_source *s, const json_value *v, arena *a,
                                  situ_error *error) {
  *out = (certificate){0};
  if (json_kind_of(v) == JSON_NONE || json_kind_of(v) == JSON_NULL_KIND) return SITU_STATUS_OK;
  if (json_kind_of(v) == JSON_OBJECT_KIND) return read_members(out, s, v, a, error);
  out->fault = "certificate: expected an object";
  return SITU_STATUS_OK;
}
