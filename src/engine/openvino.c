/* OpenVINO, through its C library: ONNX models and its own files. */
#include "engine/openvino.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/library.h"
#include "base/os.h"
#include "base/wire.h"
#include "engine/engine.h"

enum { MAX_TYPES = 21, LEVEL_ALL = 99 };

static struct {
  ov_functions f;
  ov_core *core;
  int type_of[MAX_TYPES]; /* [ONNX type] -1: it has none */
} ov;

/* A loaded model, and its counters after the first run. */
typedef struct ov_session {
  ov_compiled *compiled;
  ov_request *request; /* the last that was bound */
  char *profile;
  bool averages; /* its counters are means of all runs */
  int64_t *first_us, n_runs;
  size_t n_first;
} ov_session;

typedef struct ov_binding {
  ov_session *session;
  ov_request *request;
  ov_port **outputs;
} ov_binding;

/* A failure of OpenVINO as an error: its message in one line, without positions in its sources. */
static situ_status to_error(int status, situ_error *error) {
  char line[400];
  if (status == 0) return SITU_STATUS_OK;
  const char *text = ov.f.get_last_err_msg();
  while (text && (strncmp(text, "Exception from ", 15) == 0 || strncmp(text, "Check ", 6) == 0)) {
    text = strchr(text, '\n');
    text += text != NULL;
  }
  snprintf(line, sizeof line, "%s", text && *text ? text : ov.f.get_error_info(status));
  for (size_t n = strlen(line); n > 0 && strchr("\n ", line[n - 1]); n--) line[n - 1] = '\0';
  for (char *end = line; (end = strchr(end, '\n'));) *end = ' ';
  return fail_with(error, SITU_STATUS_UNSUPPORTED, "openvino", "%s", line);
}
#define ASK(...) TRY(to_error(ov.f.__VA_ARGS__, error))

/* ---- element types ---- */

/* An ONNX model of one input of that type that is its output: operator set 13, field numbers of onnx.proto. */
static void add_model(text_buffer *model, int type) {
  text_buffer dim = {0}, shape = {0}, tensor = {0}, kind = {0}, value = {0}, graph = {0}, set = {0};
  wire_add_number(&dim, 1, 1);
  wire_add_bytes(&shape, 1, dim.bytes, dim.length);
  wire_add_number(&tensor, 1, (uint64_t)type);
  wire_add_bytes(&tensor, 2, shape.bytes, shape.length);
  wire_add_bytes(&kind, 1, tensor.bytes, tensor.length);
  wire_add_bytes(&value, 1, "x", 1);
  wire_add_bytes(&value, 2, kind.bytes, kind.length);
  wire_add_bytes(&graph, 2, "g", 1);
  wire_add_bytes(&graph, 11, value.bytes, value.length);
  wire_add_bytes(&graph, 12, value.bytes, value.length);
  wire_add_number(&set, 2, 13);
  wire_add_number(model, 1, 8);
  wire_add_bytes(model, 7, graph.bytes, graph.length);
  wire_add_bytes(model, 8, set.bytes, set.length);
  text_buffer *all[] = {&dim, &shape, &tensor, &kind, &value, &graph, &set};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) text_free(all[i]);
}

/* Releases renumber element types, so the library is asked for its number of each ONNX type. */
static int ask_type(int type) {
  text_buffer bytes = {0};
  ov_model *model = NULL;
  ov_port *port = NULL;
  int found = -1;
  add_model(&bytes, type);
  if (bytes.failed || ov.f.core_read_model_from_memory_buffer(ov.core, bytes.bytes, bytes.length, NULL, &model) != 0 ||
      ov.f.model_const_input_by_name(model, "x", &port) != 0 || ov.f.port_get_element_type(port, &found) != 0)
    found = -1;
  text_free(&bytes);
  return found;
}

static int number_of(int32_t type) {
  if (type < 0 || type >= MAX_TYPES || engine_type_bytes(type) == 0) return -1;
  if (ov.type_of[type] == 0) ov.type_of[type] = ask_type(type);
  return ov.type_of[type];
}

/* ---- sessions ---- */

static situ_status load(const char *path, situ_error *error) {
  void *library;
  TRY(library_load(&library, path, false, error));
  void *symbol;
#define FIND(NAME, ARGUMENTS)                                                                                 \
  symbol = library_entry(library, "ov_" #NAME);                                                               \
  if (!symbol)                                                                                                \
    return fail_with(error, SITU_STATUS_ENGINE, path, "is not OpenVINO 2023.1 or later: it lacks ov_" #NAME); \
  memcpy(&ov.f.NAME, &symbol, sizeof symbol);
  OV_CALLS(FIND)
  FIND(get_last_err_msg, )
  FIND(get_error_info, )
  ASK(core_create(&ov.core));
  return SITU_STATUS_OK;
}

static situ_status hello(json_value *answer, situ_error *error) {
  ov_version version;
  ov_devices devices;
  char release[64];
  ASK(get_openvino_version(&version));
  ASK(core_get_available_devices(ov.core, &devices));
  snprintf(release, sizeof release, "%.*s", (int)strcspn(version.build, "-"), version.build);
  json_value *list = json_new_array();
  bool ok = list && json_set(answer, "version", json_new_text(release));
  for (size_t i = 0; ok && i < devices.n; i++) ok = json_push(list, json_new_text(devices.names[i]));
  ok = json_set(answer, "providers", list) && ok;
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

/* One stream, so that one input has all threads. Types of the model are kept, which some devices would round by
 * default. */
static situ_status compile(ov_session *s, const ov_model *model, const driver_options *o, situ_error *error) {
  const char *device = o->device ? o->device : "CPU";
  char threads[16];
  snprintf(threads, sizeof threads, "%d", (int)o->threads);
  s->averages = strcmp(device, "CPU") == 0;
  if (!s->averages) {
    ASK(core_compile_model(ov.core, model, device, 6, &s->compiled, "PERF_COUNT", o->profile ? "YES" : "NO",
                           "EXECUTION_MODE_HINT", "ACCURACY", "PERFORMANCE_HINT", "LATENCY"));
    return SITU_STATUS_OK;
  }
  ASK(core_compile_model(ov.core, model, device, 10, &s->compiled, "PERF_COUNT", o->profile ? "YES" : "NO",
                         "EXECUTION_MODE_HINT", "ACCURACY", "NUM_STREAMS", "1", "INFERENCE_NUM_THREADS", threads,
                         "ENABLE_CPU_PINNING", "NO"));
  return SITU_STATUS_OK;
}

static situ_status open_session(void **session, const driver_options *o, situ_error *error) {
  ov_model *model;
  ov_session *s = calloc(1, sizeof *s);
  if (!s) return fail_no_memory(error);
  *session = s;
  if (o->level != LEVEL_ALL)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, "openvino", "has only one level of graph optimisation: all");
  if (o->profile && !(s->profile = strdup(o->profile))) return fail_no_memory(error);
  ASK(core_read_model(ov.core, o->path, NULL, &model));
  return compile(s, model, o, error);
}

/* ---- bindings ---- */

static situ_status new_tensor(const driver_tensor *t, ov_tensor **out, situ_error *error) {
  int type = number_of(t->type);
  if (type < 0)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, t->name, "has ONNX type %d, which OpenVINO does not support",
                     (int)t->type);
  int64_t dims[DRIVER_MAX_RANK];
  memcpy(dims, t->dims, sizeof dims);
  ASK(tensor_create_from_host_ptr(type, (ov_shape){t->rank, dims}, t->data, out));
  return SITU_STATUS_OK;
}

/* The library gives no shape of a scalar, since it rejects shapes without dimensions. */
static situ_status describe(driver_tensor *t, const ov_tensor *made, situ_error *error) {
  ov_shape shape = {0};
  size_t bytes;
  int type;
  ASK(tensor_get_element_type(made, &type));
  ASK(tensor_get_byte_size(made, &bytes));
  ASK(tensor_data(made, &t->data));
  t->type = 1;
  while (t->type < MAX_TYPES && number_of(t->type) != type) t->type++;
  bool scalar = bytes == (size_t)engine_type_bytes(t->type) && ov.f.tensor_get_shape(made, &shape) != 0;
  if (scalar) shape.rank = 0;
  if (!scalar && !shape.dims) ASK(tensor_get_shape(made, &shape));
  if (t->type == MAX_TYPES || shape.rank > DRIVER_MAX_RANK)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, t->name, "has type %d of OpenVINO and rank %d", type,
                     (int)shape.rank);
  t->rank = (int32_t)shape.rank;
  t->bytes = (int64_t)bytes;
  if (t->rank > 0) memcpy(t->dims, shape.dims, (size_t)t->rank * sizeof *t->dims);
  return SITU_STATUS_OK;
}

/* Keeps the counters of the first run, a warm-up that all later means include. */
static situ_status count_run(ov_session *s, ov_request *request, situ_error *error) {
  ov_counters c;
  s->request = request;
  if (!s->profile || s->n_runs++ > 0) return SITU_STATUS_OK;
  ASK(infer_request_get_profiling_info(request, &c));
  s->first_us = calloc(c.n + 1, sizeof *s->first_us);
  if (!s->first_us) return fail_no_memory(error);
  s->n_first = c.n;
  for (size_t i = 0; i < c.n; i++) s->first_us[i] = c.items[i].real_us;
  ov.f.profiling_info_list_free(&c);
  return SITU_STATUS_OK;
}

static situ_status run(void *binding, situ_error *error) {
  ov_binding *b = binding;
  ASK(infer_request_infer(b->request));
  return count_run(b->session, b->request, error);
}

static situ_status bind(void **binding, void *session, const driver_tensor *inputs, size_t n_inputs,
                        driver_tensor *outputs, size_t n_outputs, situ_error *error) {
  ov_session *s = session;
  ov_binding *b = calloc(1, sizeof *b);
  ov_port *port;
  ov_tensor *tensor;
  if (!b || !(b->outputs = calloc(n_outputs + 1, sizeof *b->outputs))) return fail_no_memory(error);
  *binding = b;
  b->session = s;
  ASK(compiled_model_create_infer_request(s->compiled, &b->request));
  for (size_t i = 0; i < n_inputs; i++) {
    TRY(new_tensor(&inputs[i], &tensor, error));
    ASK(compiled_model_input_by_name(s->compiled, inputs[i].name, &port));
    ASK(infer_request_set_tensor_by_const_port(b->request, port, tensor));
  }
  for (size_t i = 0; i < n_outputs; i++)
    ASK(compiled_model_output_by_name(s->compiled, outputs[i].name, &b->outputs[i]));
  TRY(run(b, error));
  for (size_t i = 0; i < n_outputs; i++) {
    ASK(infer_request_get_tensor_by_const_port(b->request, b->outputs[i], &tensor));
    TRY(describe(&outputs[i], tensor, error));
  }
  return SITU_STATUS_OK;
}

static situ_status place(void *binding, size_t i, const driver_tensor *output, situ_error *error) {
  ov_binding *b = binding;
  ov_tensor *tensor;
  TRY(new_tensor(output, &tensor, error));
  ASK(infer_request_set_tensor_by_const_port(b->request, b->outputs[i], tensor));
  return SITU_STATUS_OK;
}

/* ---- profiles ---- */

static void add_event(text_buffer *t, const char *name, const char *kind, int64_t start_us, int64_t duration_us) {
  bool convolves = kind && strstr(kind, "Convolution"); /* the only kind that it also names by numbers of its own */
  text_buffer full = {0};
  text_add(&full, "%s_kernel_time", name);
  text_add(t, "{\"cat\":\"Node\",\"name\":");
  json_quote(t, full.bytes ? full.bytes : "");
  text_add(t, ",\"ts\":%lld,\"dur\":%lld%s},\n", (long long)start_us, (long long)duration_us,
           convolves ? ",\"args\":{\"op_name\":\"Conv\"}" : "");
  text_free(&full);
}

/* One run that stands for all: of means, the mean of those after the first. */
static void add_runs(text_buffer *t, const ov_session *s, const ov_counters *c) {
  int64_t at_us = 0, later = s->n_runs - 1;
  for (size_t i = 0; i < c->n; i++) {
    int64_t us = c->items[i].real_us;
    if (c->items[i].status != OV_EXECUTED) continue;
    if (s->averages && i < s->n_first && later > 0) us = (s->n_runs * us - s->first_us[i]) / later;
    add_event(t, c->items[i].name, c->items[i].kind, at_us, us > 0 ? us : 0);
    at_us += us > 0 ? us : 0;
  }
  text_add(t, "{\"cat\":\"Session\",\"name\":\"model_run\"}]\n");
}

static situ_status end_profile(void *session, const char **path, int32_t *n_first, situ_error *error) {
  ov_session *s = session;
  ov_counters c;
  text_buffer events = {0}, name = {0};
  if (!s->request || !s->profile) return fail_with(error, SITU_STATUS_INTERNAL, NULL, "there is no profile to end");
  ASK(infer_request_get_profiling_info(s->request, &c));
  text_add(&events, "[");
  add_runs(&events, s, &c);
  text_add(&name, "%s.json", s->profile);
  *path = text_take(&name);
  *n_first = 0;
  situ_status status =
      *path && !events.failed ? file_write(*path, events.bytes, events.length, error) : fail_no_memory(error);
  text_free(&events);
  return status;
}

static void unbind(void *binding) { ov.f.infer_request_free(((ov_binding *)binding)->request); }
static void close_session(void *session) { ov.f.compiled_model_free(((ov_session *)session)->compiled); }

const engine openvino_engine = {.name = "openvino",
                                .title = "OpenVINO, by its C library",
                                .place = {.variable = "SITU_OPENVINO",
                                          .package = "openvino/libs",
                                          .file = OS_LIBRARY("openvino_c", ""),
                                          .system = OS_LIBRARY("openvino_c", "")},
                                .install = "pip install openvino",
                                .reads = "onnx openvino",
                                .driver = {.load = load,
                                           .hello = hello,
                                           .open = open_session,
                                           .bind = bind,
                                           .place = place,
                                           .run = run,
                                           .unbind = unbind,
                                           .close = close_session,
                                           .end_profile = end_profile}};
