/* OpenVINO's affinities: the device of each operation by its friendly name, for HETERO. Of an IR that is the name of
 * the layer; of an ONNX model that of the node, or of its last output where it has none or makes an output of the
 * model. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "write/placed_nodes.h"
#include "write/writer.h"

/* "CPU", "NPU"; "GPU", or "GPU.1" where the platform has several. */
static void device_word(char into[24], const situ_platform *p, int32_t device) {
  const char *word = placed_nodes_word(&p->devices[device]);
  int32_t n = 0, before = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (strcmp(placed_nodes_word(&p->devices[d]), word) != 0) continue;
    n++;
    before += d < device;
  }
  const char *name = *word == 'c' ? "CPU" : *word == 'n' ? "NPU" : "GPU";
  if (*word == 'g' && n > 1)
    snprintf(into, 24, "%s.%d", name, (int)before);
  else
    snprintf(into, 24, "%s", name);
}

static const char *friendly_name(const model_file *f, int32_t v) {
  int32_t first = f->makes.start[v], end = f->makes.start[v + 1];
  if (f->ir) return f->nodes[v].name;
  for (int32_t k = end - 1; k >= first; k--)
    if (f->values[f->makes.item[k]].is_output) return f->values[f->makes.item[k]].name;
  if (*f->nodes[v].name) return f->nodes[v].name;
  return end > first ? f->values[f->makes.item[end - 1]].name : "";
}

/* Constants of an IR are layers, too: each is where it is first read. */
static bool add_constants(json_value *map, const placed_nodes *nodes, const situ_platform *p) {
  const model_file *f = nodes->file;
  char word[24];
  bool ok = true;
  for (int32_t v = 0; f->ir && v < f->n_nodes && ok; v++)
    for (int32_t k = f->reads.start[v]; k < f->reads.start[v + 1] && ok; k++) {
      int32_t weight = f->values[f->reads.item[k]].weight;
      if (weight < 0 || json_get(map, f->weights[weight].name)) continue;
      device_word(word, p, nodes->device[v]);
      ok = json_set(map, f->weights[weight].name, json_new_text(word));
    }
  return ok;
}

static json_value *affinities(const placed_nodes *nodes, const situ_platform *p, const char *model) {
  json_value *map = json_new_object();
  text_buffer hetero = {0};
  char word[24];
  bool ok = map, first = true;
  for (int32_t v = 0; ok && v < nodes->file->n_nodes; v++) {
    device_word(word, p, nodes->device[v]);
    ok = json_set(map, friendly_name(nodes->file, v), json_new_text(word));
  }
  ok = ok && add_constants(map, nodes, p);
  text_add(&hetero, "HETERO:");
  for (int32_t k = p->n_devices - 1; k >= 0; k--) { /* the host last: it takes what others refuse */
    bool used = false;
    for (int32_t v = 0; v < nodes->file->n_nodes && !used; v++) used = nodes->device[v] == k;
    device_word(word, p, k);
    if (!used || (!first && strstr(hetero.bytes, word))) continue;
    text_add(&hetero, "%s%s", first ? "" : ",", word);
    first = false;
  }
  json_value *root = JSON_OBJECT({"openvino_affinity", json_new_int(1)}, {"model", json_new_text(model)},
                                 {"device", json_new_text(hetero.bytes)}, {"affinity", map});
  text_free(&hetero);
  return json_if(ok, root);
}

static situ_status write_folder(const char *folder, const situ_plan *plan, const char *model, situ_error *error) {
  const situ_problem *p = plan->problem;
  placed_nodes nodes;
  situ_status status = placed_nodes_open(&nodes, plan, model, error);
  if (status == SITU_STATUS_OK) status = file_make_folder(folder, error);
  if (status == SITU_STATUS_OK)
    status = placed_nodes_json(affinities(&nodes, p->platform, model), folder, "affinity.json", error);
  placed_nodes_free(&nodes);
  return status;
}

const writer openvino_affinity_writer = {.name = "openvino-affinity",
                                         .title = "a folder: the device of each operation, for OpenVINO's HETERO",
                                         .suffix = "",
                                         .write_folder = write_folder,
                                         .or_format = &openvino_format,
                                         .reading = &openvino_affinity_reading};
