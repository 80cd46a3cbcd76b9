#include "write/placed_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

situ_status placed_nodes_open(placed_nodes *out, const situ_plan *plan, const char *model, situ_error *error) {
  const situ_problem *problem = plan->problem;
  *out = (placed_nodes){.arena = arena_new()};
  if (!out->arena) return fail_no_memory(error);
  TRY(model_file_open(&out->file, model, error));
  out->device = ARENA_NEW(out->arena, int32_t, out->file->n_nodes);
  if (!out->device) return fail_no_memory(error);
  return plan_parts_devices(out->device, out->file, problem->graph, plan, error);
}

void placed_nodes_free(placed_nodes *nodes) {
  model_file_free(nodes->file);
  arena_free(nodes->arena);
}

const char *placed_nodes_word(const situ_device *device) {
  switch (device->family) {
    case SITU_FAMILY_NPU: return "npu";
    case SITU_FAMILY_CPU:
    case SITU_FAMILY_CPU_AVX512:
    case SITU_FAMILY_CPU_AMX: return "cpu";
    case SITU_FAMILY_NONE: return device->is_host ? "cpu" : "gpu";
    default: return "gpu";
  }
}

static bool is_used(const placed_nodes *nodes, int32_t device) {
  for (int32_t v = 0; v < nodes->file->n_nodes; v++)
    if (nodes->device[v] == device) return true;
  return false;
}

situ_status placed_nodes_one_of_each(const placed_nodes *nodes, const situ_platform *platform, situ_error *error) {
  for (int32_t d = 0; d < platform->n_devices; d++)
    for (int32_t e = 0; e < d; e++) {
      const char *word = placed_nodes_word(&platform->devices[d]);
      if (strcmp(word, placed_nodes_word(&platform->devices[e])) != 0 || !is_used(nodes, d) || !is_used(nodes, e))
        continue;
      return fail_with(error, SITU_STATUS_UNSUPPORTED, platform->devices[d].name,
                       "is a %s like %s, but a session of ONNX Runtime can use only one %s; write the parts "
                       "(onnx-parts) instead, or place without one of them (--unused %s)",
                       word, platform->devices[e].name, word, platform->devices[e].name);
    }
  return SITU_STATUS_OK;
}

situ_status placed_nodes_json(json_value *root, const char *folder, const char *name, situ_error *error) {
  char *text = root ? json_print(root, 1) : NULL;
  json_free(root);
  situ_status status = text ? onnx_joined_write(folder, name, text, strlen(text), error) : fail_no_memory(error);
  free(text);
  return status;
}

static bool add_settings(text_buffer *out, const placed_nodes *nodes, const situ_platform *platform,
                         void (*list)(text_buffer *out, const placed_nodes *nodes, int32_t device)) {
  bool first = true;
  for (int32_t d = 0; d < platform->n_devices; d++) {
    if (!is_used(nodes, d)) continue;
    text_add(out, "%s%s(", first ? "" : ";", placed_nodes_word(&platform->devices[d]));
    list(out, nodes, d);
    text_add(out, ")");
    first = false;
  }
  return !out->failed;
}

situ_status placed_nodes_session(const placed_nodes *nodes, const situ_platform *platform, const char *folder,
                                 const char *key,
                                 void (*list)(text_buffer *out, const placed_nodes *nodes, int32_t device),
                                 situ_error *error) {
  text_buffer settings = {0};
  bool ok = add_settings(&settings, nodes, platform, list);
  json_value *root = ok ? JSON_OBJECT({key, json_new_text(settings.bytes)}) : NULL;
  text_free(&settings);
  return placed_nodes_json(root, folder, "session.json", error);
}
