/* Placements that stand in the nodes of an ONNX file: the labels of ONNX Runtime, whose devices session settings name,
 * and the device configurations of the standard. docs/run-your-plan.md */
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "split/model_file.h"
#include "write/layer_reading.h"
#include "write/placed_nodes.h"
#include "write/writer.h"

enum { NODE_METADATA = 9, ENTRY_KEY = 1, ENTRY_VALUE = 2 };
enum { MODEL_CONFIGURATION = 26, CONFIGURATION_DEVICE = 3, NODE_CONFIGURATION = 10, PLACED_SPEC = 2, SPEC_DEVICE = 2 };
enum { MAX_NAMED = 4096 };
static const char BY_LABEL[] = "session.layer_assignment_settings";

static bool is_text(wire_span s, const char *text) {
  size_t n = (size_t)(s.end - s.at);
  return n == strlen(text) && memcmp(s.at, text, n) == 0;
}

/* The first field of bytes with that number in a message; at NULL: there is none. */
static wire_span find_bytes(wire_span s, uint32_t number) {
  wire_field f;
  while (s.at < s.end && !wire_next(&s, &f))
    if (f.number == number && f.wire == WIRE_BYTES) return f.value;
  return (wire_span){0};
}

/* ---- labels ---- */

static wire_span label_of(const model_file *file, int32_t node) {
  wire_span s = file->nodes[node].bytes;
  wire_field f;
  while (s.at < s.end && !wire_next(&s, &f))
    if (f.number == NODE_METADATA && f.wire == WIRE_BYTES && is_text(find_bytes(f.value, ENTRY_KEY), "layer_ann"))
      return find_bytes(f.value, ENTRY_VALUE);
  return (wire_span){0};
}

/* How well an item of the settings fits a label: "=d0" is all of it, "d" its beginning; the longest counts, and first
 * of all an exact one. 0: not at all. */
static size_t fit_of(const char *item, size_t n, wire_span label) {
  size_t length = label.at ? (size_t)(label.end - label.at) : 0, exact = n > 0 && *item == '=';
  if (n <= exact || length < n - exact || memcmp(label.at, item + exact, n - exact) != 0) return 0;
  return !exact ? n : length == n - 1 ? SIZE_MAX : 0;
}

/* The device whose brackets in "cpu(=d0);gpu(=d1,d)" have the label: the first of that word; -1: none. */
static int32_t device_of_label(const situ_problem *p, const char *settings, wire_span label) {
  int32_t best = -1;
  size_t best_fit = 0;
  for (const char *at = settings; *at; at += strspn(at, "; )")) {
    size_t word = strcspn(at, "(");
    const char *name = at;
    at += word + (at[word] == '(');
    for (; *at && *at != ')'; at += *at == ',') {
      size_t n = strcspn(at, ",)"), fit = fit_of(at, n, label);
      for (int32_t d = 0; fit > best_fit && d < p->n_devices; d++) {
        const char *own = placed_nodes_word(&p->platform->devices[d]);
        if (strlen(own) != word || strncmp(own, name, word) != 0) continue;
        best = d;
        best_fit = fit;
      }
      at += n;
    }
  }
  return best;
}

/* ---- device configurations ---- */

/* The number of a node's device among those that the model names; -1: it has none. */
static int64_t number_of(const model_file *file, int32_t node) {
  wire_span spec = find_bytes(find_bytes(file->nodes[node].bytes, NODE_CONFIGURATION), PLACED_SPEC);
  wire_field f;
  while (spec.at && spec.at < spec.end && !wire_next(&spec, &f))
    if (f.number == SPEC_DEVICE && f.wire == WIRE_VARINT) return f.varint > INT32_MAX ? INT32_MAX : (int64_t)f.varint;
  return -1;
}

/* The device of the platform that the model calls so, else that of this number. */
static int32_t device_of_number(const situ_problem *p, const model_file *file, int64_t number) {
  wire_span s = find_bytes(file->model, MODEL_CONFIGURATION);
  wire_field f;
  int64_t k = 0;
  while (s.at && s.at < s.end && !wire_next(&s, &f)) {
    if (f.number != CONFIGURATION_DEVICE || f.wire != WIRE_BYTES || k++ != number) continue;
    for (int32_t d = 0; d < p->n_devices; d++)
      if (is_text(f.value, p->platform->devices[d].name)) return d;
  }
  return number >= 0 && number < p->n_devices ? (int32_t)number : -1;
}

/* ---- both ---- */

static situ_status by_nodes(int32_t *device, const situ_problem *p, const char *settings, const char *model,
                            situ_error *error) {
  model_file *file = NULL;
  int32_t host = layer_reading_host(p), found = 0;
  TRY(model_file_open(&file, model, error));
  situ_status status = SITU_STATUS_OK;
  for (int32_t v = 0; v < p->n_operators && status == SITU_STATUS_OK; v++) {
    int64_t id = p->graph->source_id[v];
    int32_t node = id >= 0 ? model_file_node(file, id) : -1;
    device[v] = host >= 0 ? host : 0; /* what has no node is not computed, and runtimes run the rest on the host */
    if (node < 0) continue;
    wire_span label = settings ? label_of(file, node) : (wire_span){0};
    int64_t number = settings ? -1 : number_of(file, node);
    bool said = settings ? label.at != NULL : number >= 0;
    if (!said) continue;
    int32_t d = settings ? device_of_label(p, settings, label) : device_of_number(p, file, number);
    found++;
    if (d >= 0) device[v] = d;
    if (d < 0 && !settings)
      status = fail_with(error, SITU_STATUS_BAD_INPUT, p->graph->name[v], "is on device %lld, which %s has not",
                         (long long)number, p->platform->name);
  }
  if (status == SITU_STATUS_OK && found == 0)
    status = fail_with(error, SITU_STATUS_BAD_INPUT, model,
                       settings ? "has no labels (layer_ann) at its nodes: name the annotated model"
                                : "has no device configurations at its nodes");
  model_file_free(file);
  return status;
}

static situ_status label_devices(int32_t *device, const situ_problem *p, const char *text, const char *model,
                                 situ_error *error) {
  json_value *root = NULL;
  TRY(json_parse(&root, text, strlen(text), "command", error));
  const char *settings = json_text(json_get(root, BY_LABEL), NULL);
  situ_status status = settings ? by_nodes(device, p, settings, model, error)
                                : fail_with(error, SITU_STATUS_BAD_INPUT, "command", "has no %s", BY_LABEL);
  json_free(root);
  return status;
}

static situ_status number_devices(int32_t *device, const situ_problem *p, const char *text, const char *model,
                                  situ_error *error) {
  (void)text;
  return by_nodes(device, p, NULL, model, error);
}

const plan_reading ort_annotation_reading = {.marks = "session.layer_assignment_settings",
                                             .model_devices = label_devices};
const plan_reading onnx_multidevice_reading = {.marks = "onnx-multidevice", .model_devices = number_devices};
