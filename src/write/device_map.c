/* A device_map for accelerate and transformers: a module and where it is; whole layers, so that every parameter is in
 * one. docs/formats/language-models.md */
#include "base/fail.h"
#include "base/json.h"
#include "write/layer_plan.h"
#include "write/writer.h"

static void add_entry(text_buffer *out, const situ_problem *p, const char *module, int32_t device) {
  int32_t gpu = layer_plan_gpu(p, device);
  text_add(out, "%s  ", out->length > 2 ? ",\n" : "");
  json_quote(out, module);
  if (gpu < 0)
    text_add(out, ": \"cpu\"");
  else
    text_add(out, ": %d", (int)gpu);
}

static situ_status write_in(text_buffer *out, const situ_plan *plan, const situ_problem *p, arena *a,
                            situ_error *error) {
  layer_list l;
  if (!layers_find(&l, p->given, a)) return fail_no_memory(error);
  if (l.n == 0 || !l.name)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model, "has no named layers, and device-map names them");
  int32_t *of = ARENA_NEW(a, int32_t, l.n);
  if (!of) return fail_no_memory(error);
  for (int32_t k = 0; k < l.n; k++) of[k] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = l.of[v], d = plan->device[v];
    if (k >= 0 && of[k] >= 0 && of[k] != d)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->name[v],
                       "is not on the device of the rest of its layer; device-map places whole layers");
    if (k >= 0) of[k] = d;
  }
  text_add(out, "{\n");
  for (int32_t v = 0; v < p->n_operators; v++)
    if (l.of[v] < 0 && l.before[v] && p->graph->weight_bytes[v] > 0)
      add_entry(out, p, p->graph->name[v], plan->device[v]);
  for (int32_t k = 0; k < l.n; k++) add_entry(out, p, l.name[k], of[k]);
  for (int32_t v = 0; v < p->n_operators; v++)
    if (l.of[v] < 0 && !l.before[v] && p->graph->weight_bytes[v] > 0)
      add_entry(out, p, p->graph->name[v], plan->device[v]);
  text_add(out, "\n}\n");
  return SITU_STATUS_OK;
}

static situ_status write(text_buffer *out, const situ_plan *plan, const situ_problem *p, situ_error *error) {
  arena *a = arena_new();
  situ_status status = a ? write_in(out, plan, p, a, error) : fail_no_memory(error);
  arena_free(a);
  return status;
}

const writer device_map_writer = {
    .name = "device-map", .title = "a device_map for transformers", .suffix = ".json", .write = write};
