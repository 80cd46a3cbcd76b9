/* Placements by the names of nodes: session settings of ONNX Runtime, affinities of OpenVINO. docs/run-your-plan.md */
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "write/layer_reading.h"
#include "write/placed_nodes.h"
#include "write/writer.h"

/* The device number `index` of those that a word means, or -1. */
static int32_t find_word(const situ_problem *p, const char *word, size_t n, int64_t index) {
  for (int32_t d = 0; d < p->n_devices; d++) {
    const char *own = placed_nodes_word(&p->platform->devices[d]);
    if (strlen(own) == n && strncmp(own, word, n) == 0 && index-- == 0) return d;
  }
  return -1;
}

static situ_status parse(json_value **out, const char *text, situ_error *error) {
  TRY(json_parse(out, text, strlen(text), "command", error));
  if (json_kind_of(*out) == JSON_OBJECT_KIND) return SITU_STATUS_OK;
  json_free(*out);
  *out = NULL;
  return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "expected a JSON object");
}

/* ---- ONNX Runtime: "cpu(NAME,NAME);gpu(NAME)"; a pattern matches what holds it, "=NAME" what it is, and the longest
 * match counts ---- */

static const char BY_NAME[] = "session.name_based_layer_assignment";

static bool matches(const char *name, const char *pattern, size_t n) {
  if (n > 0 && *pattern == '=') return strlen(name) == n - 1 && strncmp(name, pattern + 1, n - 1) == 0;
  for (const char *at = name; n > 0 && (at = strchr(at, *pattern)); at++)
    if (strncmp(at, pattern, n) == 0) return true;
  return false;
}

/* Takes the patterns of one device, up to its bracket; *length ([operator]) is the longest match so far. */
static const char *take_patterns(int32_t *device, size_t *length, const situ_problem *p, const char *at, int32_t d) {
  while (*at && *at != ')') {
    size_t n = strcspn(at, ",)");
    for (int32_t v = 0; v < p->n_operators; v++)
      if (n > length[v] && matches(p->graph->name[v], at, n)) {
        length[v] = n;
        device[v] = d;
      }
    at += n + (at[n] == ',');
  }
  return at;
}

static situ_status take_settings(int32_t *device, size_t *length, const situ_problem *p, const char *settings,
                                 situ_error *error) {
  for (const char *at = settings; *at; at += strspn(at, "; ")) {
    size_t n = strcspn(at, "(");
    if (!at[n])
      return fail_with(error, SITU_STATUS_BAD_INPUT, BY_NAME, "%.60s: expected DEVICE(NAME,NAME);DEVICE(NAME)", at);
    int32_t d = find_word(p, at, n, 0);
    if (d < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, p->platform->name, "has no %.*s", (int)(n < 60 ? n : 60), at);
    at = take_patterns(device, length, p, at + n + 1, d);
    if (*at != ')') return fail_with(error, SITU_STATUS_BAD_INPUT, BY_NAME, "a bracket does not end");
    at++;
  }
  return SITU_STATUS_OK;
}

/* A placement that names no node of the model is that of another one, not one of all on the host. */
static situ_status check_named(const situ_problem *p, int32_t n_named, situ_error *error) {
  if (n_named > 0 || p->n_operators == 0) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "names no node of %.100s; expected names such as %.100s",
                   p->graph->model ? p->graph->model : "the model", p->graph->name[0]);
}

static situ_status session_devices(int32_t *device, const situ_problem *p, const char *text, situ_error *error) {
  json_value *root = NULL;
  TRY(parse(&root, text, error));
  const char *settings = json_text(json_get(root, BY_NAME), NULL);
  int32_t host = layer_reading_host(p);
  situ_status status = SITU_STATUS_OK;
  arena *a = arena_new();
  size_t *length = a ? ARENA_ZERO(a, size_t, p->n_operators) : NULL;
  if (!length)
    status = fail_no_memory(error);
  else if (!settings)
    status = fail_with(error, SITU_STATUS_BAD_INPUT, "command", "has no %s", BY_NAME);
  for (int32_t v = 0; v < p->n_operators && status == SITU_STATUS_OK; v++) device[v] = host;
  if (status == SITU_STATUS_OK) status = take_settings(device, length, p, settings, error);
  int32_t n_named = 0;
  for (int32_t v = 0; v < p->n_operators && status == SITU_STATUS_OK; v++) n_named += length[v] > 0;
  if (status == SITU_STATUS_OK) status = check_named(p, n_named, error);
  for (int32_t v = 0; v < p->n_operators && status == SITU_STATUS_OK; v++)
    if (device[v] < 0)
      status = fail_with(error, SITU_STATUS_BAD_INPUT, p->graph->name[v],
                         "is named by no pattern, and the platform has no host, which runs the rest");
  arena_free(a);
  json_free(root);
  return status;
}

const plan_reading ort_names_reading = {.marks = "session.name_based_layer_assignment", .devices = session_devices};

/* ---- OpenVINO: {"affinity": {"NAME": "GPU.1"}} ---- */

static situ_status affinity_request(plan_request *out, const char *text, arena *a, situ_error *error) {
  json_value *root = NULL;
  TRY(parse(&root, text, error));
  const char *model = json_text(json_get(root, "model"), NULL);
  out->group = 1;
  if (model) out->model = arena_string(a, model);
  json_free(root);
  return !model || out->model ? SITU_STATUS_OK : fail_no_memory(error);
}

/* The entry of an operator: by its name, or that of a tensor that it makes. */
static const json_value *entry_of(const json_value *map, const situ_graph *g, int32_t v) {
  const json_value *found = NULL;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1] && !found; t++)
    if (g->tensor_name[t]) found = json_get(map, g->tensor_name[t]);
  return found ? found : json_get(map, g->name[v]);
}

static int32_t affinity_device(const situ_problem *p, const char *name) {
  static const char *const words[][2] = {{"CPU", "cpu"}, {"GPU", "gpu"}, {"NPU", "npu"}};
  size_t n = strcspn(name, ".");
  int64_t index = 0;
  const char *end = name[n] ? text_scan_int(name + n + 1, 0, &index) : name + n;
  for (size_t k = 0; k < sizeof words / sizeof words[0] && end && !*end; k++)
    if (n == 3 && strncmp(name, words[k][0], n) == 0) return find_word(p, words[k][1], n, index);
  return -1;
}

static situ_status affinity_devices(int32_t *device, const situ_problem *p, const char *text, situ_error *error) {
  json_value *root = NULL;
  TRY(parse(&root, text, error));
  const json_value *map = json_get(root, "affinity");
  situ_status status = SITU_STATUS_OK;
  int32_t n_named = 0;
  for (int32_t v = 0; v < p->n_operators && status == SITU_STATUS_OK; v++) {
    const json_value *entry = entry_of(map, p->graph, v);
    n_named += entry != NULL;
    const char *word = json_text(entry, "CPU"); /* what has no affinity is on the CPU */
    device[v] = affinity_device(p, word);
    if (device[v] < 0)
      status = fail_with(error, SITU_STATUS_BAD_INPUT, p->graph->name[v], "is on %.40s, which %s has not", word,
                         p->platform->name);
  }
  if (status == SITU_STATUS_OK) status = check_named(p, n_named, error);
  json_free(root);
  return status;
}

const plan_reading openvino_affinity_reading = {
    .marks = "\"openvino_affinity\"", .request = affinity_request, .devices = affinity_devices};
