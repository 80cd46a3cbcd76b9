/* ONNX Runtime's layer annotations: metadata "layer_ann" on each node, and the session setting that maps them to
 * devices (onnxruntime, docs on layer assignment; pull request 27595). */
#include <stdio.h>
#include <string.h>

#include "write/placed_nodes.h"
#include "write/writer.h"

enum { NODE_METADATA = 9, ENTRY_KEY = 1, ENTRY_VALUE = 2 };
static const char KEY[] = "layer_ann";

static void name_of(char into[16], int32_t device) { snprintf(into, 16, "d%d", (int)device); }

static void add(text_buffer *node, int32_t v, void *context) {
  const placed_nodes *nodes = context;
  char name[16];
  text_buffer entry = {0};
  name_of(name, nodes->device[v]);
  wire_add_bytes(&entry, ENTRY_KEY, KEY, strlen(KEY));
  wire_add_bytes(&entry, ENTRY_VALUE, name, strlen(name));
  wire_add_bytes(node, NODE_METADATA, entry.bytes, entry.length);
  node->failed |= entry.failed;
  text_free(&entry);
}

/* An annotation that is there already. */
static bool drops(const wire_field *field) {
  wire_span s = field->value;
  wire_field f;
  if (field->number != NODE_METADATA || field->wire != WIRE_BYTES) return false;
  while (s.at < s.end && !wire_next(&s, &f))
    if (f.number == ENTRY_KEY && f.wire == WIRE_BYTES)
      return (size_t)(f.value.end - f.value.at) == strlen(KEY) && memcmp(f.value.at, KEY, strlen(KEY)) == 0;
  return false;
}

static void list(text_buffer *out, const placed_nodes *nodes, int32_t device) {
  char name[16];
  (void)nodes;
  name_of(name, device);
  text_add(out, "=%s", name);
}

static situ_status write_folder(const char *folder, const situ_plan *plan, const char *model, situ_error *error) {
  const situ_problem *p = plan->problem;
  placed_nodes nodes;
  onnx_edit edit = {.add = add, .drops = drops, .context = &nodes};
  situ_status status = placed_nodes_open(&nodes, plan, model, error);
  if (status == SITU_STATUS_OK) status = placed_nodes_one_of_each(&nodes, p->platform, error);
  if (status == SITU_STATUS_OK) status = onnx_edit_write(nodes.file, &edit, folder, error);
  if (status == SITU_STATUS_OK)
    status = placed_nodes_session(&nodes, p->platform, folder, "session.layer_assignment_settings", list, error);
  placed_nodes_free(&nodes);
  return status;
}

const writer ort_annotation_writer = {
    .name = "ort-annotation",
    .title = "a folder: the model with layer annotations for ONNX Runtime, and settings",
    .suffix = "",
    .write_folder = write_folder,
    .reading = &ort_annotation_reading};
