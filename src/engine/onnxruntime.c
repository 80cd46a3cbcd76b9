/* The worker of ONNX Runtime: everything here but the row at the end runs in a process of its own, whose end frees what
 * it holds. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/engine.h"
#include "engine/ort.h"

enum { MOST_SESSIONS = 256, MOST_BINDINGS = 4096, MOST_RANK = 64, MOST_PORTS = 4096, QUIET = 4 };

/* Tensors in shared memory for one session. */
typedef struct binding {
  ort_session *session;
  size_t n_inputs, n_outputs;
  const char **input_names, **output_names;
  ort_value **inputs, **outputs;
} binding;

typedef struct server {
  const engine_context *given;
  ort_functions f;
  const char *version;
  ort_env *env;
  ort_memory *memory;
  ort_allocator *allocator;
  ort_session *sessions[MOST_SESSIONS];
  binding bindings[MOST_BINDINGS];
  int32_t n_sessions, n_bindings;
} server;

static server the_server; /* of this process */

/* The message of ONNX Runtime, as an error of the model. */
static situ_status told(const server *s, ort_status *status, situ_error *error) {
  if (!status) return SITU_STATUS_OK;
  situ_status result = fail_with(error, SITU_STATUS_UNSUPPORTED, "onnxruntime", "%s", s->f.GetErrorMessage(status));
  s->f.ReleaseStatus(status);
  return result;
}
#define ASK(...) TRY(told(s, s->f.__VA_ARGS__, error))

/* Opens the library at the first call. */
static situ_status load(server *s, situ_error *error) {
  if (s->env) return SITU_STATUS_OK;
  void *library = dlopen(s->given->library, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail_with(error, SITU_STATUS_ENGINE, s->given->library, "cannot be loaded: %s", dlerror());
  const ort_base *(*get_base)(void) = NULL;
  void *symbol = dlsym(library, "OrtGetApiBase");
  memcpy(&get_base, &symbol, sizeof symbol);
  const ort_base *base = get_base ? get_base() : NULL;
  const char *table = base ? base->GetApi(ORT_VERSION) : NULL;
  if (!table)
    return fail_with(error, SITU_STATUS_ENGINE, s->given->library,
                     "is no ONNX Runtime with version %d of its interface", (int)ORT_VERSION);
#define FILL(NUMBER, NAME, RESULT, ARGUMENTS) memcpy(&s->f.NAME, table + (NUMBER) * sizeof(void *), sizeof(void *));
  ORT_SLOTS(FILL)
  s->version = base->GetVersionString();
  ASK(GetAllocatorWithDefaultOptions(&s->allocator));
  ASK(CreateCpuMemoryInfo(0, 0, &s->memory));
  ASK(CreateEnv(QUIET, "situ", &s->env));
  return SITU_STATUS_OK;
}

static situ_status hello(server *s, json_value *answer, situ_error *error) {
  char **names;
  int n;
  ASK(GetAvailableProviders(&names, &n));
  json_value *list = json_new_array();
  bool ok = list && json_set(answer, "version", json_new_text(s->version));
  for (int i = 0; ok && i < n; i++) ok = json_push(list, json_new_text(names[i]));
  ok = json_set(answer, "providers", list) && ok;
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

/* ---- sessions ---- */

static json_value *new_dims(const int64_t *dims, size_t rank) {
  json_value *list = json_new_array();
  for (size_t i = 0; list && i < rank; i++)
    if (!json_push(list, json_new_whole(dims[i]))) {
      json_free(list);
      return NULL;
    }
  return list;
}

/* Adds the members type and dims. */
static situ_status tell_shape(server *s, json_value *to, const ort_shape *shape, int64_t *elements, int *type,
                              situ_error *error) {
  int64_t dims[MOST_RANK];
  size_t rank;
  ASK(GetTensorElementType(shape, type));
  ASK(GetDimensionsCount(shape, &rank));
  if (rank > MOST_RANK) return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "a tensor has %zu dimensions", rank);
  ASK(GetDimensions(shape, dims, rank));
  *elements = 1;
  for (size_t i = 0; i < rank; i++) *elements *= dims[i];
  bool ok = json_set(to, "type", json_new_whole(*type)) && json_set(to, "dims", new_dims(dims, rank));
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status tell_port(server *s, const ort_session *session, size_t i, bool is_input, json_value *list,
                             situ_error *error) {
  char *name;
  ort_type *type;
  const ort_shape *shape;
  int64_t elements;
  int number;
  json_value *port = json_new_object();
  if (!json_push(list, port)) return fail_no_memory(error);
  if (is_input)
    ASK(SessionGetInputName(session, i, s->allocator, &name));
  else
    ASK(SessionGetOutputName(session, i, s->allocator, &name));
  if (!json_set(port, "name", json_new_text(name))) return fail_no_memory(error);
  if (is_input)
    ASK(SessionGetInputTypeInfo(session, i, &type));
  else
    ASK(SessionGetOutputTypeInfo(session, i, &type));
  ASK(CastTypeInfoToTensorInfo(type, &shape));
  if (!shape) return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "value '%.100s' is no tensor", name);
  TRY(tell_shape(s, port, shape, &elements, &number, error));
  s->f.AllocatorFree(s->allocator, name);
  s->f.ReleaseTypeInfo(type);
  return SITU_STATUS_OK;
}

static situ_status tell_ports(server *s, const ort_session *session, bool is_input, json_value *answer,
                              situ_error *error) {
  size_t n;
  json_value *list = json_new_array();
  if (!json_set(answer, is_input ? "inputs" : "outputs", list)) return fail_no_memory(error);
  if (is_input)
    ASK(SessionGetInputCount(session, &n));
  else
    ASK(SessionGetOutputCount(session, &n));
  for (size_t i = 0; i < n; i++) TRY(tell_port(s, session, i, is_input, list, error));
  return SITU_STATUS_OK;
}

static situ_status open_session(server *s, const json_value *request, json_value *answer, situ_error *error) {
  const char *prefix = json_text(json_get(request, "profile"), NULL);
  ort_options *options;
  if (s->n_sessions == MOST_SESSIONS)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "more than %d sessions in one worker", (int)MOST_SESSIONS);
  ASK(CreateSessionOptions(&options));
  ASK(SetSessionLogSeverityLevel(options, QUIET));
  ASK(SetSessionGraphOptimizationLevel(options, (int)json_whole(json_get(request, "level"), 99)));
  ASK(SetIntraOpNumThreads(options, (int)json_whole(json_get(request, "threads"), 1)));
  ASK(SetInterOpNumThreads(options, 1));
  if (prefix) ASK(EnableProfiling(options, prefix));
  ort_session **opened = &s->sessions[s->n_sessions];
  ASK(CreateSession(s->env, json_text(json_get(request, "path"), ""), options, opened));
  s->f.ReleaseSessionOptions(options);
  TRY(tell_ports(s, *opened, true, answer, error));
  TRY(tell_ports(s, *opened, false, answer, error));
  return json_set(answer, "session", json_new_whole(s->n_sessions++)) ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status find_session(server *s, const json_value *request, ort_session **out, situ_error *error) {
  int64_t i = json_whole(json_get(request, "session"), -1);
  if (i < 0 || i >= s->n_sessions) return fail_with(error, SITU_STATUS_INTERNAL, NULL, "there is no such session");
  *out = s->sessions[i];
  return SITU_STATUS_OK;
}

static situ_status end_profile(server *s, const json_value *request, json_value *answer, situ_error *error) {
  ort_session *session;
  char *path;
  TRY(find_session(s, request, &session, error));
  ASK(SessionEndProfiling(session, s->allocator, &path));
  return json_set(answer, "path", json_new_text(path)) ? SITU_STATUS_OK : fail_no_memory(error);
}

/* ---- bindings ---- */

/* A tensor over the bytes [at, at + room) of the shared memory. */
static situ_status new_value(server *s, int64_t type, const int64_t *dims, size_t rank, int64_t at, int64_t room,
                             ort_value **out, situ_error *error) {
  int64_t bytes = engine_type_bytes(type);
  for (size_t i = 0; i < rank; i++)
    if (dims[i] < 0 || __builtin_mul_overflow(bytes, dims[i], &bytes)) bytes = 0, room = -1;
  int64_t end = (int64_t)s->given->shared_bytes;
  if (engine_type_bytes(type) == 0 || at < 0 || room < 0 || bytes > room || room > end || at > end - room)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL,
                     "a tensor of ONNX type %lld and %lld bytes cannot be handed over in %lld bytes", (long long)type,
                     (long long)bytes, (long long)room);
  ASK(CreateTensorWithDataAsOrtValue(s->memory, s->given->shared + at, (size_t)bytes, dims, rank, (int)type, out));
  return SITU_STATUS_OK;
}

static situ_status bind_input(server *s, const json_value *from, const char **name, ort_value **out,
                              situ_error *error) {
  const json_value *list = json_get(from, "dims");
  int64_t dims[MOST_RANK], at = json_whole(json_get(from, "at"), -1);
  size_t rank = json_size(list);
  if (rank > MOST_RANK) return fail_with(error, SITU_STATUS_INTERNAL, NULL, "an input has %zu dimensions", rank);
  for (size_t i = 0; i < rank; i++) dims[i] = json_whole(json_at(list, i), -1);
  *name = strdup(json_text(json_get(from, "name"), ""));
  if (!*name) return fail_no_memory(error);
  return new_value(s, json_whole(json_get(from, "type"), 0), dims, rank, at, json_whole(json_get(from, "bytes"), 0),
                   out, error);
}

/* Copies what the engine made to its place, and puts a tensor over that place in its stead. Without a place of its own
 * it goes to *free, which moves on. */
static situ_status place_output(server *s, const json_value *to, int64_t *free, ort_value **value, json_value *list,
                                situ_error *error) {
  enum { ALIGNMENT = 64 };
  int64_t at = json_whole(json_get(to, "at"), *free), elements;
  ort_shape *shape;
  ort_value *placed;
  int type;
  void *data;
  json_value *output = json_new_object();
  if (!json_push(list, output)) return fail_no_memory(error);
  ASK(GetTensorTypeAndShape(*value, &shape));
  TRY(tell_shape(s, output, shape, &elements, &type, error));
  s->f.ReleaseTensorTypeAndShapeInfo(shape);
  int64_t dims[MOST_RANK], bytes = elements * engine_type_bytes(type);
  const json_value *told_dims = json_get(output, "dims");
  size_t rank = json_size(told_dims);
  for (size_t i = 0; i < rank; i++) dims[i] = json_whole(json_at(told_dims, i), -1);
  TRY(new_value(s, type, dims, rank, at, bytes, &placed, error));
  ASK(GetTensorMutableData(*value, &data));
  if (bytes > 0) memcpy(s->given->shared + at, data, (size_t)bytes);
  s->f.ReleaseValue(*value);
  *value = placed;
  if (at == *free) *free += (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  bool ok = json_set(output, "at", json_new_whole(at)) && json_set(output, "bytes", json_new_whole(bytes));
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status run_binding(server *s, binding *b, situ_error *error) {
  ASK(Run(b->session, NULL, b->input_names, (const ort_value *const *)b->inputs, b->n_inputs, b->output_names,
          b->n_outputs, b->outputs));
  return SITU_STATUS_OK;
}

static situ_status bind(server *s, const json_value *request, json_value *answer, situ_error *error) {
  const json_value *inputs = json_get(request, "inputs"), *outputs = json_get(request, "outputs");
  if (s->n_bindings == MOST_BINDINGS || json_size(inputs) > MOST_PORTS || json_size(outputs) > MOST_PORTS)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "too many bindings or tensors");
  binding *b = &s->bindings[s->n_bindings];
  TRY(find_session(s, request, &b->session, error));
  b->n_inputs = json_size(inputs);
  b->n_outputs = json_size(outputs);
  b->input_names = calloc(b->n_inputs + 1, sizeof *b->input_names);
  b->output_names = calloc(b->n_outputs + 1, sizeof *b->output_names);
  b->inputs = calloc(b->n_inputs + 1, sizeof(ort_value *));
  b->outputs = calloc(b->n_outputs + 1, sizeof(ort_value *));
  json_value *list = json_new_array();
  if (!b->input_names || !b->output_names || !b->inputs || !b->outputs || !json_set(answer, "outputs", list))
    return fail_no_memory(error);
  for (size_t i = 0; i < b->n_inputs; i++)
    TRY(bind_input(s, json_at(inputs, i), &b->input_names[i], &b->inputs[i], error));
  for (size_t i = 0; i < b->n_outputs; i++) {
    b->output_names[i] = strdup(json_text(json_get(json_at(outputs, i), "name"), ""));
    if (!b->output_names[i]) return fail_no_memory(error);
  }
  TRY(run_binding(s, b, error));
  int64_t free = json_whole(json_get(request, "free"), -1);
  for (size_t i = 0; i < b->n_outputs; i++)
    TRY(place_output(s, json_at(outputs, i), &free, &b->outputs[i], list, error));
  return json_set(answer, "binding", json_new_whole(s->n_bindings++)) ? SITU_STATUS_OK : fail_no_memory(error);
}

/* ---- the duty ---- */

static situ_status call(void *context, const char *verb, const json_value *request, json_value *answer,
                        situ_error *error) {
  server *s = &the_server;
  s->given = context;
  TRY(load(s, error));
  if (strcmp(verb, "hello") == 0) return hello(s, answer, error);
  if (strcmp(verb, "open") == 0) return open_session(s, request, answer, error);
  if (strcmp(verb, "bind") == 0) return bind(s, request, answer, error);
  if (strcmp(verb, "end_profile") == 0) return end_profile(s, request, answer, error);
  return fail_with(error, SITU_STATUS_INTERNAL, NULL, "there is no call \"%s\"", verb);
}

static situ_status run(void *context, int32_t number, situ_error *error) {
  server *s = &the_server;
  if (number < 0 || number >= s->n_bindings)
    return fail_with(error, SITU_STATUS_INTERNAL, NULL, "there is no binding %d", (int)number);
  return run_binding(s, &s->bindings[number], error);
}

const engine onnxruntime_engine = {.name = "onnxruntime",
                                   .title = "ONNX Runtime, by its C interface",
                                   .variable = "SITU_ONNXRUNTIME",
                                   .package = "onnxruntime/capi",
                                   .file = "libonnxruntime.so",
                                   .system = "libonnxruntime.so.1",
                                   .duty = {.call = call, .run = run}};
