/* The multi-device form of the ONNX standard (IR version 11, onnx.proto: DeviceConfigurationProto and
 * NodeDeviceConfigurationProto): the model names devices, each node says on which one its outputs are, and in which
 * stage of a pipeline it runs. */
#include <string.h>

#include "base/fail.h"
#include "write/placed_nodes.h"
#include "write/writer.h"

enum { MODEL_IR_VERSION = 1, MODEL_CONFIGURATION = 26, NODE_CONFIGURATION = 10, LOWEST_IR_VERSION = 11 };
enum { CONFIGURATION_NAME = 1, CONFIGURATION_N_DEVICES = 2, CONFIGURATION_DEVICE = 3 };
enum { PLACED_BY = 1, PLACED_SPEC = 2, PLACED_STAGE = 3, SPEC_TENSOR = 1, SPEC_DEVICE = 2 };
static const char NAME[] = "situ";

typedef struct multidevice {
  placed_nodes nodes;
  int32_t *stage; /* [device] of a pipeline; NULL: none */
} multidevice;

static void add(text_buffer *node, int32_t v, void *context) {
  const multidevice *m = context;
  const model_file *f = m->nodes.file;
  text_buffer placed = {0};
  wire_add_bytes(&placed, PLACED_BY, NAME, strlen(NAME));
  for (int32_t k = f->makes.start[v]; k < f->makes.start[v + 1]; k++) {
    text_buffer spec = {0};
    const char *name = f->values[f->makes.item[k]].name;
    wire_add_bytes(&spec, SPEC_TENSOR, name, strlen(name));
    wire_add_number(&spec, SPEC_DEVICE, (uint64_t)m->nodes.device[v]);
    wire_add_bytes(&placed, PLACED_SPEC, spec.bytes, spec.length);
    placed.failed |= spec.failed;
    text_free(&spec);
  }
  if (m->stage) wire_add_number(&placed, PLACED_STAGE, (uint64_t)m->stage[m->nodes.device[v]]);
  wire_add_bytes(node, NODE_CONFIGURATION, placed.bytes, placed.length);
  node->failed |= placed.failed;
  text_free(&placed);
}

static bool drops(const wire_field *field) { return field->number == NODE_CONFIGURATION; }

static bool model_drops(const wire_field *field) {
  return field->number == MODEL_CONFIGURATION ||
         (field->number == MODEL_IR_VERSION && field->varint < LOWEST_IR_VERSION);
}

/* Fields of the model: the devices, and the lowest version that knows of them where the file has a lower one. */
static void add_to_model(text_buffer *out, const model_file *file, const situ_platform *p) {
  wire_span s = file->model;
  wire_field f;
  text_buffer devices = {0};
  bool low = true;
  while (s.at < s.end && !wire_next(&s, &f))
    if (f.number == MODEL_IR_VERSION && f.varint >= LOWEST_IR_VERSION) low = false;
  if (low) wire_add_number(out, MODEL_IR_VERSION, LOWEST_IR_VERSION);
  wire_add_bytes(&devices, CONFIGURATION_NAME, NAME, strlen(NAME));
  wire_add_number(&devices, CONFIGURATION_N_DEVICES, (uint64_t)p->n_devices);
  for (int32_t d = 0; d < p->n_devices; d++)
    wire_add_bytes(&devices, CONFIGURATION_DEVICE, p->devices[d].name, strlen(p->devices[d].name));
  wire_add_bytes(out, MODEL_CONFIGURATION, devices.bytes, devices.length);
  out->failed |= devices.failed;
  text_free(&devices);
}

/* Stages in the order in which devices first appear. */
static situ_status find_stages(multidevice *m, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  int32_t n = 0;
  if (p->execution != SITU_EXECUTION_PIPELINE) return SITU_STATUS_OK;
  m->stage = ARENA_NEW(m->nodes.arena, int32_t, p->n_devices);
  if (!m->stage) return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices; d++) m->stage[d] = -1;
  for (int32_t v = 0; v < plan->n_operators; v++)
    if (m->stage[plan->device[v]] < 0) m->stage[plan->device[v]] = n++;
  return SITU_STATUS_OK;
}

static situ_status write_folder(const char *folder, const situ_plan *plan, const char *model, situ_error *error) {
  const situ_problem *p = plan->problem;
  multidevice m = {.stage = NULL};
  text_buffer fields = {0};
  onnx_edit edit = {.add = add, .drops = drops, .model_drops = model_drops, .model = &fields, .context = &m};
  situ_status status = placed_nodes_open(&m.nodes, plan, model, error);
  if (status == SITU_STATUS_OK) status = find_stages(&m, plan, error);
  if (status == SITU_STATUS_OK) {
    add_to_model(&fields, m.nodes.file, p->platform);
    status = fields.failed ? fail_no_memory(error) : onnx_edit_write(m.nodes.file, &edit, folder, error);
  }
  text_free(&fields);
  placed_nodes_free(&m.nodes);
  return status;
}

const writer onnx_multidevice_writer = {.name = "onnx-multidevice",
                                        .title = "a folder: the model with ONNX's device configuration of each node",
                                        .suffix = "",
                                        .write_folder = write_folder,
                                        .reading = &onnx_multidevice_reading};
