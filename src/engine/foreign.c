#include "engine/foreign.h"

#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/file.h"
#include "engine/torch_trace.h"

/* Adds a kernel and its time; of the joined names of a fusion the first counts. */
static bool add_kernel(json_value *events, const char *name, size_t n, double ms) {
  static const char *const joints[] = {" + ", " || "};
  text_buffer full = {0};
  json_value *event = json_new_object();
  for (size_t i = 0; i < sizeof joints / sizeof *joints; i++)
    for (size_t k = 0; k + strlen(joints[i]) <= n; k++)
      if (strncmp(name + k, joints[i], strlen(joints[i])) == 0) n = k;
  text_add(&full, "%.*s_kernel_time", (int)n, name);
  bool ok = json_push(events, event) && json_set(event, "cat", json_new_text("Node")) &&
            json_set(event, "name", json_new_text(full.bytes)) &&
            json_set(event, "ts", json_new_int((int64_t)json_size(events))) &&
            json_set(event, "dur", json_new_number(1000 * ms));
  text_free(&full);
  return ok;
}

static situ_status end_run(json_value *events, bool ok, situ_error *error) {
  json_value *event = json_new_object();
  ok = json_push(events, event) && ok && json_set(event, "name", json_new_text("model_run"));
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

/* ---- TensorRT: [{"count": 100}, {"name": "conv1 + relu1", "averageMs": 0.08, "medianMs": 0.08}, ...] ---- */

static bool is_tensorrt(const json_value *root) {
  for (size_t i = 0; i < json_size(root) && i < 2; i++)
    if (json_get(json_at(root, i), "averageMs")) return true;
  return false;
}

static situ_status read_tensorrt(json_value *events, const json_value *root, situ_error *error) {
  bool ok = true;
  for (size_t i = 0; ok && i < json_size(root); i++) {
    const json_value *layer = json_at(root, i);
    const char *name = json_text(json_get(layer, "name"), NULL);
    double ms = json_number(json_get(layer, "medianMs"), json_number(json_get(layer, "averageMs"), -1));
    if (name && ms >= 0) ok = add_kernel(events, name, strlen(name), ms);
  }
  return end_run(events, ok, error);
}

/* ---- OpenVINO: layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms) ---- */

static const char OPENVINO_HEAD[] = "layerName;execStatus;";
enum { NAME = 0, STATUS = 1, REAL_TIME = 4, CELLS = 5 };

static situ_status read_openvino(json_value *events, const char *line, situ_error *error) {
  bool ok = true;
  while ((line = strchr(line, '\n')) && *++line && ok) {
    const char *cell[CELLS], *end = line + strcspn(line, "\r\n"), *at = line;
    int n = 0;
    for (; n < CELLS && at && at <= end; n++) {
      cell[n] = at;
      at = memchr(at, ';', (size_t)(end - at));
      at = at ? at + 1 : NULL;
    }
    double ms;
    if (n < CELLS || strncmp(cell[STATUS], "EXECUTED", 8) != 0 || !text_scan_number(cell[REAL_TIME], &ms)) continue;
    ok = add_kernel(events, cell[NAME], (size_t)(cell[STATUS] - cell[NAME] - 1), ms);
  }
  return end_run(events, ok, error);
}

/* ---- the format ---- */

static situ_status read_text(foreign_profile *out, const char *path, situ_error *error) {
  char *text;
  arena *a = arena_new();
  out->events = json_new_array();
  out->title = "counters of OpenVINO";
  out->n_first = 0;
  situ_status status = a && out->events ? file_read_text(&text, path, a, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = read_openvino(out->events, text, error);
  arena_free(a);
  return status;
}

static bool begins_as_openvino(const char *path) {
  file_view view = {0};
  size_t n = strlen(OPENVINO_HEAD);
  bool same = file_open(&view, path, NULL) == SITU_STATUS_OK && view.size_bytes > n &&
              ascii_same_n((const char *)view.bytes, OPENVINO_HEAD, n);
  file_close(&view);
  return same;
}

situ_status foreign_read(foreign_profile *out, const char *path, const model_parts *parts, situ_error *error) {
  *out = (foreign_profile){.title = "a profile of ONNX Runtime", .n_first = 1};
  if (begins_as_openvino(path)) return read_text(out, path, error);
  TRY(json_read(&out->events, path, error));
  bool tensorrt = is_tensorrt(out->events), torch = torch_trace_is(out->events);
  if (!tensorrt && !torch) return SITU_STATUS_OK;
  json_value *root = out->events;
  out->events = json_new_array();
  out->title = torch ? "a trace of PyTorch" : "a profile of TensorRT";
  out->named = torch;
  out->n_first = 0;
  int32_t n_runs = 1;
  situ_status status = !out->events ? fail_no_memory(error)
                       : torch      ? torch_trace_read(out->events, &n_runs, root, parts, error)
                                    : read_tensorrt(out->events, root, error);
  if (n_runs > 1) out->n_first = 1;
  json_free(root);
  return status;
}
