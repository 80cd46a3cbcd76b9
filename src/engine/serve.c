/* The worker of any engine: reads and answers requests, and keeps tensors in the shared memory. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/os.h"
#include "engine/engine.h"

enum { MAX_SESSIONS = 256, MAX_BINDINGS = 4096, MAX_PORTS = 4096, MAX_LOADED = 16, ALIGNMENT = 64 };

typedef struct server {
  engine_context own;
  const engine_context *given; /* own */
  void *sessions[MAX_SESSIONS], *bindings[MAX_BINDINGS];
  int32_t slower[MAX_SESSIONS], session_of[MAX_BINDINGS];
  int32_t n_sessions, n_bindings;
} server;

/* Drivers that this process has loaded; one keeps its library until the end. */
static struct {
  const driver *driver;
  char library[512];
} loaded[MAX_LOADED];

static situ_status load(server *s, situ_error *error) {
  const char *library = s->given->library;
  int i = 0;
  while (i < MAX_LOADED - 1 && loaded[i].driver && loaded[i].driver != s->given->driver) i++;
  if (loaded[i].driver == s->given->driver && strcmp(loaded[i].library, library) == 0) return SITU_STATUS_OK;
  if (loaded[i].driver || strlen(library) >= sizeof loaded[i].library)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, library,
                     "cannot be loaded together with %s, which this process already uses", loaded[i].library);
  TRY(s->given->driver->load(library, error));
  loaded[i].driver = s->given->driver;
  strcpy(loaded[i].library, library);
  return SITU_STATUS_OK;
}

static situ_status open_session(server *s, const json_value *request, json_value *answer, situ_error *error) {
  driver_options o = {.path = json_text(json_get(request, "path"), ""),
                      .device = json_text(json_get(request, "device"), NULL),
                      .profile = json_text(json_get(request, "profile"), NULL),
                      .level = (int32_t)json_int(json_get(request, "level"), 99),
                      .threads = (int32_t)json_int(json_get(request, "threads"), 1)};
  if (s->n_sessions == MAX_SESSIONS)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "more than %d sessions in one worker", (int)MAX_SESSIONS);
  TRY(s->given->driver->open(&s->sessions[s->n_sessions], &o, error));
  s->slower[s->n_sessions] = (int32_t)json_int(json_get(request, "slower"), 0);
  return json_set(answer, "session", json_new_int(s->n_sessions++)) ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status find_session(server *s, const json_value *request, void **out, situ_error *error) {
  int64_t i = json_int(json_get(request, "session"), -1);
  if (i < 0 || i >= s->n_sessions) return fail_with(error, SITU_STATUS_INTERNAL, NULL, "there is no such session");
  *out = s->sessions[i];
  return SITU_STATUS_OK;
}

static situ_status end_profile(server *s, const json_value *request, json_value *answer, situ_error *error) {
  void *session;
  const char *path = NULL;
  int32_t n_first = -1;
  TRY(find_session(s, request, &session, error));
  TRY(s->given->driver->end_profile(session, &path, &n_first, error));
  bool ok = json_set(answer, "path", json_new_text(path)) && json_set(answer, "n_first", json_new_int(n_first));
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

/* ---- tensors ---- */

/* Puts a tensor at [at, at + room) of the shared memory. */
static situ_status put_at(const server *s, driver_tensor *t, int64_t at, int64_t room, situ_error *error) {
  int64_t end = (int64_t)s->given->shared_bytes, bytes = engine_type_bytes(t->type);
  for (int32_t i = 0; i < t->rank; i++)
    if (t->dims[i] < 0 || __builtin_mul_overflow(bytes, t->dims[i], &bytes)) bytes = 0, room = -1;
  if (engine_type_bytes(t->type) == 0 || t->rank < 0 || at < 0 || room < 0 || bytes > room || room > end ||
      at > end - room)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL,
                     "a tensor of ONNX type %d and %lld bytes cannot be handed over in %lld bytes", (int)t->type,
                     (long long)bytes, (long long)room);
  t->data = s->given->shared + at;
  t->bytes = bytes;
  return SITU_STATUS_OK;
}

static situ_status name_tensor(driver_tensor *t, const json_value *from, situ_error *error) {
  t->name = strdup(json_text(json_get(from, "name"), ""));
  return t->name ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status read_input(const server *s, driver_tensor *t, const json_value *from, situ_error *error) {
  const json_value *dims = json_get(from, "dims");
  if (json_size(dims) > DRIVER_MAX_RANK)
    return fail_with(error, SITU_STATUS_INTERNAL, NULL, "an input has %zu dimensions", json_size(dims));
  t->rank = (int32_t)json_size(dims);
  for (int32_t i = 0; i < t->rank; i++) t->dims[i] = json_int(json_at(dims, (size_t)i), -1);
  t->type = (int32_t)json_int(json_get(from, "type"), 0);
  TRY(name_tensor(t, from, error));
  return put_at(s, t, json_int(json_get(from, "at"), -1), json_int(json_get(from, "bytes"), 0), error);
}

/* Copies an output of the engine to *free, which advances, and adds it to the answer. */
static situ_status move_output(const server *s, driver_tensor *t, int64_t *free, json_value *list, situ_error *error) {
  const void *made = t->data;
  TRY(put_at(s, t, *free, t->bytes, error));
  if (t->bytes > 0) memmove(t->data, made, (size_t)t->bytes);
  bool ok = json_push(list, JSON_OBJECT({"dims", json_new_ints(t->dims, t->rank)}, {"type", json_new_int(t->type)},
                                        {"at", json_new_int(*free)}, {"bytes", json_new_int(t->bytes)}));
  *free += (t->bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status bind_tensors(server *s, void *session, driver_tensor *inputs, driver_tensor *outputs,
                                const json_value *request, json_value *list, situ_error *error) {
  const json_value *from = json_get(request, "inputs"), *to = json_get(request, "outputs");
  const driver *d = s->given->driver;
  void **binding = &s->bindings[s->n_bindings];
  int64_t free = json_int(json_get(request, "free"), -1);
  for (size_t i = 0; i < json_size(from); i++) TRY(read_input(s, &inputs[i], json_at(from, i), error));
  for (size_t i = 0; i < json_size(to); i++) TRY(name_tensor(&outputs[i], json_at(to, i), error));
  TRY(d->bind(binding, session, inputs, json_size(from), outputs, json_size(to), error));
  for (size_t i = 0; i < json_size(to); i++) {
    TRY(move_output(s, &outputs[i], &free, list, error));
    TRY(d->place(*binding, i, &outputs[i], error));
  }
  return SITU_STATUS_OK;
}

static situ_status bind(server *s, const json_value *request, json_value *answer, situ_error *error) {
  size_t n_inputs = json_size(json_get(request, "inputs")), n_outputs = json_size(json_get(request, "outputs"));
  void *session;
  if (s->n_bindings == MAX_BINDINGS || n_inputs > MAX_PORTS || n_outputs > MAX_PORTS)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "too many bindings or tensors");
  TRY(find_session(s, request, &session, error));
  driver_tensor *inputs = calloc(n_inputs + 1, sizeof *inputs), *outputs = calloc(n_outputs + 1, sizeof *outputs);
  json_value *list = json_new_array();
  bool ok = json_set(answer, "outputs", list) && inputs && outputs;
  situ_status status = ok ? bind_tensors(s, session, inputs, outputs, request, list, error) : fail_no_memory(error);
  free(inputs); /* names stay: the driver may keep them */
  free(outputs);
  TRY(status);
  s->session_of[s->n_bindings] = (int32_t)json_int(json_get(request, "session"), 0);
  return json_set(answer, "binding", json_new_int(s->n_bindings++)) ? SITU_STATUS_OK : fail_no_memory(error);
}

/* ---- requests ---- */

static situ_status call(void *context, const char *verb, const json_value *request, json_value *answer,
                        situ_error *error) {
  server *s = context;
  TRY(load(s, error));
  if (strcmp(verb, "hello") == 0) return s->given->driver->hello(answer, error);
  if (strcmp(verb, "open") == 0) return open_session(s, request, answer, error);
  if (strcmp(verb, "bind") == 0) return bind(s, request, answer, error);
  if (strcmp(verb, "end_profile") == 0) return end_profile(s, request, answer, error);
  return fail_with(error, SITU_STATUS_INTERNAL, NULL, "there is no call \"%s\"", verb);
}

static situ_status run(void *context, int32_t number, situ_error *error) {
  server *s = context;
  if (number < 0 || number >= s->n_bindings)
    return fail_with(error, SITU_STATUS_INTERNAL, NULL, "there is no binding %d", (int)number);
  int64_t start_ns = clock_now_ns(), slower = s->slower[s->session_of[number]];
  TRY(s->given->driver->run(s->bindings[number], error));
  int64_t wait_ns = slower > 1 ? (slower - 1) * (clock_now_ns() - start_ns) : 0;
  if (wait_ns > 0) os_nap(wait_ns);
  return SITU_STATUS_OK;
}

/* Bindings are closed before their sessions. */
static void end(void *context) {
  server *s = context;
  const driver *d = s->given->driver;
  for (int32_t i = 0; i < s->n_bindings; i++)
    if (d->unbind) d->unbind(s->bindings[i]);
  for (int32_t i = 0; i < s->n_sessions; i++)
    if (d->close) d->close(s->sessions[i]);
  free(s);
}

situ_status engine_start(worker **out, const engine *e, const engine_context *context, const worker_options *options,
                         situ_error *error) {
  server *s = calloc(1, sizeof *s);
  if (!s) return fail_no_memory(error);
  s->own = *context;
  s->own.driver = &e->driver;
  s->given = &s->own;
  worker_handler handler = {.call = call, .run = run, .end = end, .context = s};
  situ_status status = worker_start(out, &handler, options, error);
  if (status != SITU_STATUS_OK || !options->in_process) free(s); /* the fork has a copy */
  return status;
}
