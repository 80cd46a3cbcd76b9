/* Pins of a --fix file, in three forms. */
#include <stdio.h>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/plan_source.h"

/* A node of a split, by its identity in the workload file. */
static situ_status pin_node(int32_t *pins, const plan_source *s, const json_value *node, const int32_t *by_id,
                            int64_t min_id, int64_t n_ids, int32_t device, const char *what, situ_error *error) {
  int64_t id;
  TRY(plan_read_int(&id, s, node, what, NULL, error));
  int32_t v = id >= min_id && id - min_id < n_ids ? by_id[id - min_id] : -1;
  if (v < 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: the model %s has no node %lld", what, s->graph->model,
                     (long long)id);
  if (pins[v] >= 0 && pins[v] != device)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: node %lld is on two devices", what, (long long)id);
  pins[v] = device;
  return SITU_STATUS_OK;
}

/* The entries of "fpgas" (accelerators) or "cpus" (hosts), each {"nodes": [id, ...]}. Empty entries need no device. */
static situ_status pin_entries(int32_t *pins, const plan_source *s, const json_value *root, const char *key, bool host,
                               const int32_t *by_id, int64_t min_id, int64_t n_ids, situ_error *error) {
  const json_value *entries = json_get(root, key);
  int32_t device = -1;
  if (entries && json_kind_of(entries) != JSON_ARRAY_KIND)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "\"%s\": expected an array", key);
  for (size_t k = 0; k < json_size(entries); k++) {
    const json_value *nodes = json_get(json_at(entries, k), "nodes");
    char what[64];
    snprintf(what, sizeof what, "%s, entry %zu", key, k + 1);
    if (json_kind_of(nodes) != JSON_ARRAY_KIND)
      return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: expected an array \"nodes\"", what);
    if (device < s->platform->n_devices) device++;
    while (device < s->platform->n_devices && s->platform->devices[device].is_host != host) device++;
    if (json_size(nodes) == 0) continue;
    if (device >= s->platform->n_devices)
      return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "%s: the platform %s has no %s for it", what,
                       s->platform->name, host ? "host" : "accelerator");
    for (size_t i = 0; i < json_size(nodes); i++)
      TRY(pin_node(pins, s, json_at(nodes, i), by_id, min_id, n_ids, device, what, error));
  }
  return SITU_STATUS_OK;
}

/* Members of a colocation group that the file does not name go where the first named one is. */
static situ_status follow_groups(int32_t *pins, const situ_graph *g, arena *scratch, situ_error *error) {
  int32_t *device = ARENA_NEW(scratch, int32_t, g->n_colocations);
  if (!device) return fail_no_memory(error);
  for (int32_t k = 0; k < g->n_colocations; k++) device[k] = -1;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->colocation[v] >= 0 && device[g->colocation[v]] < 0) device[g->colocation[v]] = pins[v];
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->colocation[v] >= 0 && pins[v] < 0) pins[v] = device[g->colocation[v]];
  return SITU_STATUS_OK;
}

static situ_status pins_from_split(int32_t *pins, const plan_source *s, const json_value *root, arena *scratch,
                                   situ_error *error) {
  const situ_graph *g = s->graph;
  int64_t min = INT64_MAX, max = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (g->source_id[v] < 0) continue;
    if (g->source_id[v] < min) min = g->source_id[v];
    if (g->source_id[v] > max) max = g->source_id[v];
  }
  int64_t n_ids = max < 0 ? 0 : sat_add(max - min, 1);
  if (n_ids > 16 * (int64_t)g->n_operators + 1024)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, s->where,
                     "this split names nodes by number, but the numbers of the nodes of %s are too far apart",
                     g->model);
  int32_t *by_id = ARENA_NEW(scratch, int32_t, n_ids);
  if (!by_id) return fail_no_memory(error);
  for (int64_t i = 0; i < n_ids; i++) by_id[i] = -1;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->source_id[v] >= 0) by_id[g->source_id[v] - min] = v;
  TRY(pin_entries(pins, s, root, "fpgas", false, by_id, min, n_ids, error));
  TRY(pin_entries(pins, s, root, "cpus", true, by_id, min, n_ids, error));
  return follow_groups(pins, g, scratch, error);
}

static situ_status pins_from_plan(int32_t *pins, const plan_source *s, const json_value *root, situ_error *error) {
  const json_value *rows = json_get(root, "operators");
  if (json_kind_of(rows) != JSON_ARRAY_KIND)
    return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "this plan has no placement to take pins from");
  for (size_t i = 0; i < json_size(rows); i++) {
    int32_t v;
    char what[64];
    snprintf(what, sizeof what, "operators, row %zu", i + 1);
    TRY(plan_read_operator(&v, s, json_at(json_at(rows, i), 0), what, error));
    TRY(plan_read_device(&pins[v], s, json_at(json_at(rows, i), 1), what, error));
  }
  return SITU_STATUS_OK;
}

static situ_status pins_from_object(int32_t *pins, const plan_source *s, const json_value *root, situ_error *error) {
  for (json_member m = {0}; json_next(root, &m);) {
    int32_t v = situ_graph_find(s->graph, m.key);
    if (v < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, s->where, "the model %s has no operator '%s'", s->graph->model,
                       m.key);
    TRY(plan_read_device(&pins[v], s, m.value, m.key, error));
  }
  return SITU_STATUS_OK;
}

static situ_status pins_from(int32_t *pins, const plan_source *s, const json_value *root, arena *scratch,
                             situ_error *error) {
  if (json_kind_of(root) != JSON_OBJECT_KIND)
    return fail_with(
        error, SITU_STATUS_BAD_INPUT, s->where,
        "expected a plan, a split with \"fpgas\" and \"cpus\", or an object that maps operators to devices");
  if (json_kind_of(json_get(root, "situ_plan")) == JSON_INT) return pins_from_plan(pins, s, root, error);
  if (json_kind_of(json_get(root, "fpgas")) == JSON_ARRAY_KIND ||
      json_kind_of(json_get(root, "cpus")) == JSON_ARRAY_KIND)
    return pins_from_split(pins, s, root, scratch, error);
  return pins_from_object(pins, s, root, error);
}

situ_status plan_read_pins(int32_t *pins, const situ_graph *graph, const situ_platform *platform, const char *path,
                           situ_error *error) {
  for (int32_t v = 0; v < graph->n_operators; v++) pins[v] = -1;
  json_value *root;
  TRY(json_read(&root, path, error));
  arena *scratch = arena_new();
  plan_source s;
  situ_status status = SITU_STATUS_NO_MEMORY;
  if (scratch && plan_source_new(&s, graph, platform, path, scratch))
    status = pins_from(pins, &s, root, scratch, error);
  else
    fail_no_memory(error);
  arena_free(scratch);
  json_free(root);
  return status;
}
