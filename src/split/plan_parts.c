#include "split/plan_parts.h"

#include <stdio.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"

bool plan_parts_folded(const situ_graph *g, int32_t v) {
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (g->size_bytes[t] > 0 || g->use_start[t] < g->use_start[t + 1]) return false;
  return g->in_start[v] == g->in_start[v + 1];
}

/* device and turn, by node of the file. */
static situ_status read_plan(int32_t *device, node_turn *turn, const model_file *file, const situ_graph *g,
                             const situ_plan *plan, situ_error *error) {
  for (int32_t i = 0; i < file->n_nodes; i++) {
    device[i] = -1;
    turn[i] = (node_turn){.rank = -1};
  }
  for (int32_t i = 0; i < g->n_operators; i++) {
    int32_t v = plan && plan->order ? plan->order[i] : i;
    int32_t node = model_file_node(file, g->source_id[v]);
    if (node < 0 || turn[node].rank >= 0)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, g->name[v],
                       "is not a node of %s; only plans of forward passes of model files can be split", file->path);
    turn[node].rank = i;
    if (plan && plan->start_ns) {
      turn[node].start_ns = plan->start_ns[v];
      turn[node].finish_ns = plan->finish_ns[v];
    }
    if (!plan_parts_folded(g, v)) device[node] = plan ? plan->device[v] : 0;
  }
  return SITU_STATUS_OK;
}

situ_status plan_parts_find(model_parts **out, const model_file *file, const situ_graph *graph, const situ_plan *plan,
                            situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  int32_t *device = a ? ARENA_NEW(a, int32_t, file->n_nodes) : NULL;
  node_turn *turn = device ? ARENA_NEW(a, node_turn, file->n_nodes) : NULL;
  situ_status status = turn ? read_plan(device, turn, file, graph, plan, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK)
    status = model_parts_find(out, file, graph, device, plan && plan->order ? turn : NULL, error);
  arena_free(a);
  return status;
}

situ_status plan_parts_devices(int32_t *device, const model_file *file, const situ_graph *graph, const situ_plan *plan,
                               situ_error *error) {
  arena *a = arena_new();
  node_turn *turn = a ? ARENA_NEW(a, node_turn, file->n_nodes) : NULL;
  situ_status status = turn ? read_plan(device, turn, file, graph, plan, error) : fail_no_memory(error);
  arena_free(a);
  return status == SITU_STATUS_OK ? model_devices_fill(device, file, error) : status;
}

/* ---- manifest ---- */

/* {name, from}: from is the part that makes it, null for an input of the model. */
static json_value *value_list(const model_parts *p, const int32_t *values, int32_t n, bool with_source) {
  json_value *list = json_new_array();
  for (int32_t i = 0; list && i < n; i++) {
    int32_t from = p->value_part[values[i]];
    json_value *source = !with_source ? JSON_ABSENT : from >= 0 ? json_new_int(from) : json_new_null();
    json_value *one = JSON_OBJECT({"name", json_new_text(p->file->values[values[i]].name)}, {"from", source});
    list = json_if(json_push(list, one), list);
  }
  return list;
}

static json_value *manifest(const model_parts *p, const situ_platform *platform) {
  json_value *list = json_new_array();
  char key[32];
  snprintf(key, sizeof key, "%s_parts", p->file->format->reader);
  bool ok = list != NULL;
  for (int32_t k = 0; ok && k < p->n_parts; k++) {
    const model_part *part = &p->parts[k];
    char name[32];
    snprintf(name, sizeof name, "part%d%s", (int)k, p->file->format->suffix);
    ok = json_push(list, JSON_OBJECT({"file", json_new_text(name)},
                                     {"device", json_new_text(platform->devices[part->device].name)},
                                     {"nodes", json_new_int(part->n_nodes)},
                                     {"inputs", value_list(p, part->inputs, part->n_inputs, true)},
                                     {"outputs", value_list(p, part->outputs, part->n_outputs, false)}));
  }
  json_value *root = JSON_OBJECT({key, json_new_int(1)}, {"model", json_new_text(p->file->path)}, {"parts", list},
                                 {"inputs", value_list(p, p->file->inputs, p->file->n_inputs, false)},
                                 {"outputs", value_list(p, p->file->outputs, p->file->n_outputs, true)});
  return json_if(ok, root);
}

situ_status plan_parts_write(const model_parts *parts, const char *folder, const situ_platform *platform,
                             situ_error *error) {
  TRY(file_make_folder(folder, error));
  for (int32_t k = 0; k < parts->n_parts; k++) TRY(model_part_write(parts, k, folder, false, error));
  TRY(model_shared_write(parts->file, folder, error));
  text_buffer path = {0};
  text_add(&path, "%s/manifest.json", folder);
  situ_status status =
      path.failed ? fail_no_memory(error) : json_write(path.bytes, manifest(parts, platform), 1, error);
  text_free(&path);
  return status;
}

situ_status plan_parts_write_by(situ_status (*write)(const model_parts *parts, const char *folder,
                                                     const situ_platform *platform, situ_error *error),
                                const char *folder, const situ_plan *plan, const char *path, situ_error *error) {
  const situ_problem *p = plan->problem;
  model_file *file;
  model_parts *parts;
  TRY(model_file_open(&file, path, error));
  situ_status status = plan_parts_find(&parts, file, p->graph, plan, error);
  if (status == SITU_STATUS_OK) status = write(parts, folder, p->platform, error);
  model_parts_free(parts);
  model_file_free(file);
  return status;
}
