/* ONNX Runtime's assignment by names: a session setting alone, the model stays as it is. A pattern matches every name
 * that holds it and the longest one counts, so a list of whole names is exact (pull request 28903). */
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "write/placed_nodes.h"
#include "write/writer.h"

/* A constant without a name becomes a weight, which has no device. */
static bool counts(const placed_nodes *nodes, int32_t v) {
  return *nodes->file->nodes[v].name || strcmp(nodes->file->kind[v], "Constant") != 0;
}

static void list(text_buffer *out, const placed_nodes *nodes, int32_t device) {
  bool first = true;
  for (int32_t v = 0; v < nodes->file->n_nodes; v++) {
    if (nodes->device[v] != device || !counts(nodes, v)) continue;
    text_add(out, "%s%s", first ? "" : ",", nodes->file->nodes[v].name);
    first = false;
  }
}

/* The format cannot express nodes without a name, names with its separators, and one name on two devices. */
static situ_status check_names(const placed_nodes *nodes, const situ_platform *platform, situ_error *error) {
  string_map *device_of = string_map_new(nodes->arena, nodes->file->n_nodes);
  if (!device_of) return fail_no_memory(error);
  for (int32_t v = 0; v < nodes->file->n_nodes; v++) {
    const char *name = nodes->file->nodes[v].name;
    if (!counts(nodes, v)) continue;
    if (!*name || *name == '=' || strpbrk(name, ",;() \t\r\n"))
      return fail_with(error, SITU_STATUS_UNSUPPORTED, *name ? name : nodes->file->kind[v],
                       "is a node without a name, or with a name that ONNX Runtime's settings cannot express; write "
                       "ort-annotation instead");
    int64_t d = string_map_put(device_of, name, nodes->device[v]);
    if (d < 0) return fail_no_memory(error);
    if (d != nodes->device[v])
      return fail_with(error, SITU_STATUS_UNSUPPORTED, name, "is the name of nodes on %s and on %s",
                       platform->devices[d].name, platform->devices[nodes->device[v]].name);
  }
  return SITU_STATUS_OK;
}

static situ_status write_settings(const placed_nodes *nodes, const situ_problem *p, const char *folder,
                                  situ_error *error) {
  TRY(file_make_folder(folder, error));
  return placed_nodes_session(nodes, p->platform, folder, "session.name_based_layer_assignment", list, error);
}

static situ_status write_folder(const char *folder, const situ_plan *plan, const char *model, situ_error *error) {
  const situ_problem *p = plan->problem;
  placed_nodes nodes;
  situ_status status = placed_nodes_open(&nodes, plan, model, error);
  if (status == SITU_STATUS_OK) status = placed_nodes_one_of_each(&nodes, p->platform, error);
  if (status == SITU_STATUS_OK) status = check_names(&nodes, p->platform, error);
  if (status == SITU_STATUS_OK) status = write_settings(&nodes, p, folder, error);
  placed_nodes_free(&nodes);
  return status;
}

const writer ort_names_writer = {.name = "ort-names",
                                 .title = "a folder: settings for ONNX Runtime that place nodes by name",
                                 .suffix = "",
                                 .write_folder = write_folder,
                                 .reading = &ort_names_reading};
