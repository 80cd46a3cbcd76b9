#include "plan/plan_source.h"

#include "base/fail.h"

bool plan_source_new(plan_source *s, const situ_graph *graph, const situ_platform *platform, const char *where,
                     arena *a) {
  *s = (plan_source){graph, platform, where, string_map_new(a, platform->n_devices)};
  for (int32_t d = 0; s->device_by_name && d < platform->n_devices; d++)
    if (string_map_put(s->device_by_name, platform->devices[d].name, d) < 0) return false;
  return s->device_by_name != NULL;
}

situ_status plan_read_device(int32_t *device, const plan_source *s, const json_value *name, const char *what,
                             situ_error *error) {
  const char *text = json_text(name, NULL);
  if (!text)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: expected the name of a device as a text", what);
  *device = (int32_t)string_map_get(s->device_by_name, text);
  char near[160];
  if (*device < 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: the platform %s has no device '%s'; %s", what,
                     s->platform->name, text, platform_near_devices(near, sizeof near, s->platform, text));
  return SITU_STATUS_OK;
}

situ_status plan_read_operator(int32_t *op, const plan_source *s, const json_value *name, const char *what,
                               situ_error *error) {
  const char *text = json_text(name, NULL);
  if (!text)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: expected the name of an operator as a text", what);
  *op = situ_graph_find(s->graph, text);
  if (*op < 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: the model %s has no operator '%s'", what,
                     s->graph->model, text);
  return SITU_STATUS_OK;
}

situ_status plan_read_int(int64_t *out, const plan_source *s, const json_value *v, const char *what,
                          const int64_t *null_is, situ_error *error) {
  if (null_is && json_kind_of(v) == JSON_NULL_KIND) {
    *out = *null_is;
    return SITU_STATUS_OK;
  }
  *out = json_int(v, -1);
  if (json_kind_of(v) != JSON_INT || *out < 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: expected a whole number of at least 0%s", what,
                     null_is ? " or null" : "");
  return SITU_STATUS_OK;
}

json_value *plan_int_json(int64_t value) { return value == INT64_MAX ? json_new_null() : json_new_int(value); }
