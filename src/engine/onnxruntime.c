/* ONNX Runtime, through its C interface. */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/library.h"
#include "base/os.h"
#include "engine/engine.h"
#include "engine/ort.h"

enum { QUIET = 4 };

/* The data of a run: the tensors of one session. */
typedef struct ort_binding {
  ort_session *session;
  size_t n_inputs, n_outputs;
  const char **input_names, **output_names;
  ort_value **inputs, **outputs;
} ort_binding;

/* A provider, which runs nodes: its name in the interface, the name in lists, and the option that selects one of
 * several devices. CUDA has entries of its own. */
static const struct ort_provider {
  const char *name, *listed, *which;
} providers[] = {
    {"CPU", "CPUExecutionProvider", NULL},
    {"CUDA", "CUDAExecutionProvider", "device_id"},
    {"OpenVINO", "OpenVINOExecutionProvider", "device_type"},
    {"MIGraphX", "MIGraphXExecutionProvider", "device_id"},
    {"WebGPU", "WebGpuExecutionProvider", NULL},
    {"XNNPACK", "XnnpackExecutionProvider", NULL},
    {"CoreML", "CoreMLExecutionProvider", NULL},
};

static struct {
  const ort_base *base;
  ort_functions f;
  ort_provider_functions p;
  const char *version;
  ort_env *env;
  ort_memory *memory;
  ort_allocator *allocator;
} ort;

/* A failure of ONNX Runtime as an error of the model. */
static situ_status to_error(ort_status *status, situ_error *error) {
  if (!status) return SITU_STATUS_OK;
  situ_status result = fail_with(error, SITU_STATUS_UNSUPPORTED, "onnxruntime", "%s", ort.f.GetErrorMessage(status));
  ort.f.ReleaseStatus(status);
  return result;
}
#define ASK(...) TRY(to_error(ort.f.__VA_ARGS__, error))

static situ_status load(const char *path, situ_error *error) {
  void *library;
  TRY(library_load(&library, path, false, error));
  const ort_base *(*get_base)(void) = NULL;
  void *symbol = library_entry(library, "OrtGetApiBase");
  memcpy(&get_base, &symbol, sizeof symbol);
  const ort_base *base = get_base ? get_base() : NULL;
  const char *table = base ? base->GetApi(ORT_VERSION) : NULL;
  if (!table)
    return fail_with(error, SITU_STATUS_ENGINE, path, "is not an ONNX Runtime with version %d of its API",
                     (int)ORT_VERSION);
#define FILL(NUMBER, NAME, RESULT, ARGUMENTS) memcpy(&ort.f.NAME, table + (NUMBER) * sizeof(void *), sizeof(void *));
  ORT_SLOTS(FILL)
#undef FILL
  ort.base = base;
  ort.version = base->GetVersionString();
  ASK(GetAllocatorWithDefaultOptions(&ort.allocator));
  ASK(CreateCpuMemoryInfo(0, 0, &ort.memory));
  ASK(CreateEnv(QUIET, "situ", &ort.env));
  return SITU_STATUS_OK;
}

static situ_status hello(json_value *answer, situ_error *error) {
  char **names;
  int n;
  ASK(GetAvailableProviders(&names, &n));
  json_value *list = json_new_array();
  bool ok = list && json_set(answer, "version", json_new_text(ort.version));
  for (int i = 0; ok && i < n; i++) ok = json_push(list, json_new_text(names[i]));
  ok = json_set(answer, "providers", list) && ok;
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

static const struct ort_provider *provider_of(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof providers / sizeof *providers; i++) {
    const struct ort_provider *p = &providers[i];
    if ((strlen(p->name) == length && ascii_same_n(p->name, name, length)) ||
        (strlen(p->listed) == length && ascii_same_n(p->listed, name, length)))
      return p;
  }
  return NULL;
}

/* The same if the model is not the cause. */
static situ_status to_engine_error(ort_status *status, situ_error *error) {
  if (!status) return SITU_STATUS_OK;
  situ_status result = fail_with(error, SITU_STATUS_ENGINE, NULL, "%s", ort.f.GetErrorMessage(status));
  ort.f.ReleaseStatus(status);
  return result;
}

static situ_status append_cuda(ort_options *options, const char *const *key, const char *const *value, size_t n,
                               situ_error *error) {
  ort_cuda *cuda;
  TRY(to_engine_error(ort.p.CreateCudaOptions(&cuda), error));
  ort_status *failed = ort.p.UpdateCudaOptions(cuda, key, value, n);
  if (!failed) failed = ort.p.AppendCuda(options, cuda);
  ort.p.ReleaseCudaOptions(cuda);
  return to_engine_error(failed, error);
}

/* Puts the provider that `device` names, NAME or NAME:WHICH, before the CPU, which runs nodes without a kernel there.
 */
static situ_status append_provider(ort_options *options, const char *device, situ_error *error) {
  const char *which = strchr(device, ':');
  size_t length = which ? (size_t)(which - device) : strlen(device);
  const struct ort_provider *p = provider_of(device, length);
  if (!p || (which && !p->which))
    return fail_with(
        error, SITU_STATUS_UNSUPPORTED, NULL,
        "there is no device `%s`; expected CPU, CUDA[:NUMBER], OpenVINO[:TYPE], MIGraphX[:NUMBER], WebGPU, "
        "XNNPACK or CoreML",
        device);
  if (p == providers) return SITU_STATUS_OK;
  const char *table = ort.base->GetApi(ORT_PROVIDER_VERSION);
  if (!table)
    return fail_with(error, SITU_STATUS_ENGINE, NULL, "%s needs ONNX Runtime 1.12 or later; this is %s", device,
                     ort.version);
#define FILL(NUMBER, NAME, RESULT, ARGUMENTS) memcpy(&ort.p.NAME, table + (NUMBER) * sizeof(void *), sizeof(void *));
  ORT_PROVIDER_SLOTS(FILL)
#undef FILL
  const char *key[] = {p->which}, *value[] = {which ? which + 1 : NULL};
  if (strcmp(p->name, "CUDA") == 0) return append_cuda(options, key, value, which != NULL, error);
  return to_engine_error(ort.p.AppendProvider(options, p->name, key, value, which != NULL), error);
}

static situ_status open_session(void **session, const driver_options *o, situ_error *error) {
  ort_options *options;
  ort_session *opened;
  ASK(CreateSessionOptions(&options));
  ASK(SetSessionLogSeverityLevel(options, QUIET));
  ASK(SetSessionGraphOptimizationLevel(options, o->level));
  ASK(SetIntraOpNumThreads(options, o->threads));
  ASK(SetInterOpNumThreads(options, 1));
  if (o->device) TRY(append_provider(options, o->device, error));
  if (o->profile) ASK(EnableProfiling(options, o->profile));
  ASK(CreateSession(ort.env, o->path, options, &opened));
  ort.f.ReleaseSessionOptions(options);
  *session = opened;
  return SITU_STATUS_OK;
}

static situ_status end_profile(void *session, const char **path, int32_t *n_first, situ_error *error) {
  char *told_path;
  ASK(SessionEndProfiling(session, ort.allocator, &told_path));
  *path = told_path;
  return SITU_STATUS_OK;
}

/* ---- bindings ---- */

static situ_status new_value(const driver_tensor *t, ort_value **out, situ_error *error) {
  ASK(CreateTensorWithDataAsOrtValue(ort.memory, t->data, (size_t)t->bytes, t->dims, (size_t)t->rank, t->type, out));
  return SITU_STATUS_OK;
}

static situ_status describe(driver_tensor *t, ort_value *value, situ_error *error) {
  ort_shape *shape;
  size_t rank;
  int type;
  ASK(GetTensorTypeAndShape(value, &shape));
  ASK(GetTensorElementType(shape, &type));
  ASK(GetDimensionsCount(shape, &rank));
  if (rank > DRIVER_MAX_RANK)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "a tensor has %zu dimensions", rank);
  ASK(GetDimensions(shape, t->dims, rank));
  ort.f.ReleaseTensorTypeAndShapeInfo(shape);
  t->type = type;
  t->rank = (int32_t)rank;
  t->bytes = engine_type_bytes(type);
  for (size_t i = 0; i < rank; i++) t->bytes *= t->dims[i];
  ASK(GetTensorMutableData(value, &t->data));
  return SITU_STATUS_OK;
}

static situ_status run(void *binding, situ_error *error) {
  ort_binding *b = binding;
  ASK(Run(b->session, NULL, b->input_names, (const ort_value *const *)b->inputs, b->n_inputs, b->output_names,
          b->n_outputs, b->outputs));
  return SITU_STATUS_OK;
}

static situ_status bind(void **binding, void *session, const driver_tensor *inputs, size_t n_inputs,
                        driver_tensor *outputs, size_t n_outputs, situ_error *error) {
  ort_binding *b = calloc(1, sizeof *b);
  if (!b) return fail_no_memory(error);
  *b = (ort_binding){.session = session,
                     .n_inputs = n_inputs,
                     .n_outputs = n_outputs,
                     .input_names = calloc(n_inputs + 1, sizeof *b->input_names),
                     .output_names = calloc(n_outputs + 1, sizeof *b->output_names),
                     .inputs = calloc(n_inputs + 1, sizeof(ort_value *)),
                     .outputs = calloc(n_outputs + 1, sizeof(ort_value *))};
  *binding = b;
  if (!b->input_names || !b->output_names || !b->inputs || !b->outputs) return fail_no_memory(error);
  for (size_t i = 0; i < n_inputs; i++) {
    b->input_names[i] = inputs[i].name;
    TRY(new_value(&inputs[i], &b->inputs[i], error));
  }
  for (size_t i = 0; i < n_outputs; i++) b->output_names[i] = outputs[i].name;
  TRY(run(b, error));
  for (size_t i = 0; i < n_outputs; i++) TRY(describe(&outputs[i], b->outputs[i], error));
  return SITU_STATUS_OK;
}

static situ_status place(void *binding, size_t i, const driver_tensor *output, situ_error *error) {
  ort_binding *b = binding;
  ort.f.ReleaseValue(b->outputs[i]);
  return new_value(output, &b->outputs[i], error);
}

static void unbind(void *binding) {
  ort_binding *b = binding;
  for (size_t i = 0; i < b->n_inputs; i++) ort.f.ReleaseValue(b->inputs[i]);
  for (size_t i = 0; i < b->n_outputs; i++) ort.f.ReleaseValue(b->outputs[i]);
}

static void close_session(void *session) { ort.f.ReleaseSession(session); }

const engine onnxruntime_engine = {.name = "onnxruntime",
                                   .title = "ONNX Runtime, by its C interface",
                                   .place = {.variable = "SITU_ONNXRUNTIME",
                                             .package = "onnxruntime/capi",
                                             .file = OS_LIBRARY("onnxruntime", ""),
                                             .system = OS_LIBRARY("onnxruntime", ".1")},
                                   .install = "pip install onnxruntime",
                                   .reads = "onnx",
                                   .driver = {.load = load,
                                              .hello = hello,
                                              .open = open_session,
                                              .bind = bind,
                                              .place = place,
                                              .run = run,
                                              .unbind = unbind,
                                              .close = close_session,
                                              .end_profile = end_profile}};
