/* A device_map for accelerate and transformers: a module and where it is; whole layers, so that every parameter is in
 * one. docs/formats/language-models.md */
#include "base/json.h"
#include "write/module_names.h"
#include "write/writer.h"

enum { FORM = SITU_FORM_LAYERS | SITU_FORM_EXPERTS | SITU_FORM_NAMES | SITU_FORM_ONE_SERVER };

static void add_entry(text_buffer *out, const situ_problem *p, const char *module, int32_t device) {
  int32_t gpu = module_names_gpu(p, device);
  text_add(out, "%s  ", out->length > 2 ? ",\n" : "");
  json_quote(out, module);
  if (gpu < 0)
    text_add(out, ": \"cpu\"");
  else
    text_add(out, ": %d", (int)gpu);
}

/* Modules with weights outside of the layers, before or after them. */
static void add_outside(text_buffer *out, const layer_plan *l, const situ_plan *plan, bool before) {
  const situ_problem *p = plan->problem;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (l->layers.of[v] < 0 && l->layers.before[v] == before && p->graph->weight_bytes[v] > 0)
      add_entry(out, p, p->graph->name[v], plan->device[v]);
}

static situ_status write_layers(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error) {
  text_add(out, "{\n");
  add_outside(out, l, plan, true);
  for (int32_t k = 0; k < l->n; k++) add_entry(out, plan->problem, l->layers.name[k], l->device[k]);
  add_outside(out, l, plan, false);
  text_add(out, "\n}\n");
  return SITU_STATUS_OK;
}

const writer device_map_writer = {.name = "device-map",
                                  .title = "a device_map for transformers",
                                  .suffix = ".json",
                                  .target = "device-map",
                                  .write_layers = write_layers,
                                  .form = FORM,
                                  .reading = &device_map_reading,
                                  .engine = "accelerate"};
