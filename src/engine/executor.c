#include "engine/executor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/os.h"
#include "base/rng.h"

static const int64_t MAX_SHARED_BYTES = (int64_t)1 << 36, MIN_SHARED_BYTES = (int64_t)1 << 28;

/* ---- the temporary folder ---- */

static void remove_below(const char *folder) {
  os_folder *all = os_folder_open(folder);
  for (const char *name; (name = os_folder_next(all));) {
    text_buffer path = {0};
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    text_add(&path, "%s/%s", folder, name);
    if (path.bytes && !os_remove(path.bytes)) remove_below(path.bytes);
    text_free(&path);
  }
  os_folder_close(all);
  os_remove_folder(folder);
}

static void drop_folder(executor *x) {
  if (x->folder[0]) remove_below(x->folder);
  x->folder[0] = '\0';
}

static situ_status write_parts(executor *x, situ_error *error) {
  if (!os_temporary_folder(x->folder, sizeof x->folder, "situ-"))
    return fail_with(error, SITU_STATUS_IO, "TMPDIR", "cannot create a temporary folder: %s", c_locale_error(errno));
  for (int32_t k = 0; k < x->parts->n_parts; k++)
    if (executor_owns(x, k)) TRY(model_part_write(x->parts, k, x->folder, x->options.named, error));
  return model_shared_write(x->parts->file, x->folder, error);
}

/* ---- inputs ---- */

/* The size of dimension d of an input: its own, or that given for its name, which is "NAME[d]" if the file has none (as
 * for the reader). */
static int64_t dimension(const executor *x, const model_port *port, int32_t d, const char *input) {
  const situ_read_options *o = x->options.read;
  char made[160];
  const char *name = port->dim_name[d];
  if (port->dims[d] >= 0) return port->dims[d];
  if (!*name) {
    snprintf(made, sizeof made, "%.128s[%d]", input, (int)d);
    name = made;
  }
  for (int32_t i = 0; o && i < o->n_dims; i++)
    if (strcmp(o->dims[i].name, name) == 0) return o->dims[i].value;
  return o && o->default_dim > 0 ? o->default_dim : 1;
}

static void fill(unsigned char *to, int64_t bytes, int32_t type, rng *r) {
  enum { FLOAT = 1, HALF = 10, DOUBLE = 11, BFLOAT = 16 };
  int64_t each = engine_type_bytes(type);
  for (int64_t i = 0; i + each <= bytes; i += each) {
    float single = (float)rng_unit(r) * 0.999f;
    double twice = (double)single;
    uint16_t half = (uint16_t)(0x3800 | rng_below(r, 1 << 10)), brain = (uint16_t)(0x3f00 | rng_below(r, 1 << 7));
    if (type == FLOAT) memcpy(to + i, &single, sizeof single);
    if (type == DOUBLE) memcpy(to + i, &twice, sizeof twice);
    if (type == HALF) memcpy(to + i, &half, sizeof half); /* in [0.5, 1) */
    if (type == BFLOAT) memcpy(to + i, &brain, sizeof brain);
    if (type != FLOAT && type != DOUBLE && type != HALF && type != BFLOAT) to[i] = (unsigned char)rng_below(r, 2);
  }
}

static situ_status fill_inputs(executor *x, situ_error *error) {
  const model_file *f = x->parts->file;
  rng r = rng_new(x->options.seed);
  for (int32_t i = 0; i < f->n_inputs; i++) {
    int32_t value = f->inputs[i];
    tensor_place place = {0};
    if (!f->format->port(f, value, &place.port) || place.port.rank < 0)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, f->values[value].name,
                       "is an input of unknown shape or not a tensor, so no test data can be generated for it");
    place.bytes = engine_type_bytes(place.port.type);
    if (place.bytes == 0)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, f->values[value].name,
                       "is an input of ONNX type %d, for which no test data can be generated", (int)place.port.type);
    for (int32_t d = 0; d < place.port.rank; d++) {
      place.port.dims[d] = dimension(x, &place.port, d, f->values[value].name);
      place.bytes = sat_mul(place.bytes, place.port.dims[d]);
    }
    place.at = x->used_bytes;
    if (place.bytes > x->shared_bytes - x->used_bytes - EXECUTOR_ALIGNMENT)
      return fail_with(error, SITU_STATUS_NO_MEMORY, f->values[value].name, "has %lld bytes, too many",
                       (long long)place.bytes);
    fill(x->shared + place.at, place.bytes, place.port.type, &r);
    x->used_bytes += (place.bytes + EXECUTOR_ALIGNMENT) / EXECUTOR_ALIGNMENT * EXECUTOR_ALIGNMENT;
    for (int32_t c = 0; c < x->options.n_copies; c++) x->places[(int64_t)c * f->n_values + value] = place;
  }
  return SITU_STATUS_OK;
}

/* ---- workers and sessions ---- */

static const executor_lane *lane_of(const executor *x, int32_t device) {
  return x->options.lanes ? &x->options.lanes[device] : &x->options.lane;
}

/* How many devices share the parts of one. */
static int32_t n_sharing(const executor_options *o, int32_t device) {
  int32_t n = 1;
  for (int32_t d = 0; o->replica_of && d < o->n_devices; d++) n += o->replica_of[d] == device;
  return n;
}

/* The device that runs the parts of `device` for a copy: that itself, then its replicas by number, in turn. */
static int32_t device_in_turn(const executor_options *o, int32_t device, int32_t copy) {
  int32_t turn = copy % n_sharing(o, device), d = device;
  for (int32_t next = 0; turn > 0; next++)
    if (o->replica_of[next] == device) {
      d = next;
      turn--;
    }
  return d;
}

void executor_queue(executor_options *o, const model_parts *parts, const int32_t *replica_of, int32_t n_devices,
                    int32_t queue) {
  enum { MAX_COPIES = 64 };
  int64_t copies = 0, round = 1; /* inputs that divide evenly among the replicas of each part */
  o->replica_of = replica_of;
  o->n_devices = n_devices;
  for (int32_t k = 0; k < parts->n_parts; k++) {
    int64_t n = n_sharing(o, parts->parts[k].device), each = round;
    copies = sat_add(copies, queue * n);
    while (round % n > 0 && round <= MAX_COPIES) round += each;
  }
  copies = min64(copies, MAX_COPIES);
  o->n_copies = (int32_t)(round <= copies ? copies / round * round : copies);
}

/* The worker of each own part: one for each device. Returns how many there are. */
static int32_t number_workers(executor *x) {
  const model_parts *p = x->parts;
  int32_t n_used = 0;
  for (int32_t job = 0; job < x->options.n_copies * p->n_parts; job++) {
    int32_t w = 0, k = job % p->n_parts;
    x->worker_of[job] = -1;
    if (!executor_owns(x, k)) continue;
    int32_t device = device_in_turn(&x->options, p->parts[k].device, job / p->n_parts);
    while (w < n_used && x->devices[w] != device) w++;
    x->devices[w] = device;
    x->worker_of[job] = w;
    if (w == n_used) n_used++;
    x->n_own += job < p->n_parts;
  }
  return n_used;
}

/* Each worker gets cores of its own for its threads, or none does. */
static void assign_cores(executor *x, int32_t n_used) {
  core_set left = x->options.cores;
  bool enough = true;
  for (int32_t w = 0; w < n_used; w++) {
    cores_take(&left, &x->cores[w], 1, lane_of(x, x->devices[w])->threads);
    enough = enough && x->cores[w] >= 0;
  }
  for (int32_t w = 0; w < n_used && !enough; w++) x->cores[w] = -1;
}

static situ_status start_workers(executor *x, situ_error *error) {
  int32_t n_used = number_workers(x);
  assign_cores(x, n_used);
  engine_context context = {
      .library = x->options.library, .shared = x->shared, .shared_bytes = (size_t)x->shared_bytes};
  for (int32_t w = 0; w < n_used; w++) {
    char name[96];
    const char *device = x->options.names ? x->options.names[x->devices[w]] : "the whole model";
    snprintf(name, sizeof name, "%s on %.60s", x->options.engine->name, device);
    int32_t threads = lane_of(x, x->devices[w])->threads;
    worker_options o = {.name = name, .core = x->cores[w], .n_cores = threads, .in_process = x->options.in_process};
    json_value *answer = NULL;
    TRY(engine_start(&x->workers[w], x->options.engine, &context, &o, error));
    x->n_workers++;
    situ_status status =
        engine_hello(&answer, x->workers[w], x->options.engine, x->options.library, &x->options.wait, error);
    json_free(answer);
    TRY(status);
  }
  return SITU_STATUS_OK;
}

static situ_status open_part(executor *x, int32_t job, situ_error *error) {
  char path[320], prefix[320];
  int32_t k = job % x->parts->n_parts, w = x->worker_of[job];
  const executor_lane *lane = lane_of(x, x->devices[w]);
  for (int32_t before = k; before < job; before += x->parts->n_parts)
    if (x->worker_of[before] == w) {
      x->session[job] = x->session[before];
      return SITU_STATUS_OK;
    }
  json_value *answer = NULL;
  snprintf(path, sizeof path, "%s/part%d%s", x->folder, (int)k, x->parts->file->format->suffix);
  snprintf(prefix, sizeof prefix, "%s/profile", x->folder);
  json_value *request = JSON_OBJECT({"path", json_new_text(path)}, {"level", json_new_int(x->options.level)},
                                    {"threads", json_new_int(lane->threads)}, {"slower", json_new_int(lane->slower)},
                                    {"device", lane->device ? json_new_text(lane->device) : JSON_ABSENT},
                                    {"profile", x->options.profile ? json_new_text(prefix) : JSON_ABSENT});
  if (!request) return fail_no_memory(error);
  situ_error own = {0};
  const char *made_up = x->parts->file->made_up;
  situ_status status = worker_call(&answer, x->workers[w], "open", request, &x->options.wait, &own);
  if (status != SITU_STATUS_OK)
    return fail_with(error, status, own.where, made_up ? "%s (random weights: %s is missing)" : "%s", own.text,
                     made_up);
  x->session[job] = json_int(json_get(answer, "session"), -1);
  json_free(answer);
  return SITU_STATUS_OK;
}

static bool tell_place(json_value *list, const executor *x, int32_t value, const tensor_place *place) {
  const model_port *port = &place->port;
  return json_push(
      list, JSON_OBJECT({"name", json_new_text(x->parts->file->values[value].name)}, {"type", json_new_int(port->type)},
                        {"dims", json_new_ints(port->dims, port->rank)}, {"at", json_new_int(place->at)},
                        {"bytes", json_new_int(place->bytes)}));
}

static json_value *bind_request(const executor *x, int32_t copy, int32_t k) {
  const model_part *part = &x->parts->parts[k];
  const tensor_place *places = x->places + (int64_t)copy * x->parts->file->n_values;
  json_value *inputs = json_new_array(), *outputs = json_new_array();
  bool ok = inputs && outputs;
  for (int32_t i = 0; ok && i < part->n_inputs; i++)
    ok = tell_place(inputs, x, part->inputs[i], &places[part->inputs[i]]);
  for (int32_t i = 0; ok && i < part->n_outputs; i++)
    ok = json_push(outputs, JSON_OBJECT({"name", json_new_text(x->parts->file->values[part->outputs[i]].name)}));
  json_value *request = JSON_OBJECT({"inputs", inputs}, {"outputs", outputs},
                                    {"session", json_new_int(x->session[(int64_t)copy * x->parts->n_parts + k])},
                                    {"free", json_new_int(x->used_bytes)});
  return json_if(ok, request);
}

/* Notes where a worker laid an output; whatever it says is checked. */
static bool take_place(executor *x, tensor_place *place, const json_value *given) {
  const json_value *dims = json_get(given, "dims");
  place->at = json_int(json_get(given, "at"), -1);
  place->bytes = json_int(json_get(given, "bytes"), -1);
  int64_t type = json_int(json_get(given, "type"), 0);
  if (type < 0 || type > INT32_MAX) return false;
  place->port.type = (int32_t)type;
  if (place->at < 0 || place->bytes < 0 || json_size(dims) > MODEL_MAX_RANK) return false;
  if (place->at > x->shared_bytes || place->bytes > x->shared_bytes - place->at) return false;
  place->port.rank = (int32_t)json_size(dims);
  for (int32_t d = 0; d < place->port.rank; d++) {
    place->port.dims[d] = json_int(json_at(dims, (size_t)d), -1);
    if (place->port.dims[d] < 0) return false;
  }
  int64_t end = place->at + place->bytes;
  if (end >= x->used_bytes) x->used_bytes = (end + EXECUTOR_ALIGNMENT) / EXECUTOR_ALIGNMENT * EXECUTOR_ALIGNMENT;
  return true;
}

static situ_status bind_part(executor *x, int32_t copy, int32_t k, situ_error *error) {
  const model_part *part = &x->parts->parts[k];
  tensor_place *places = x->places + (int64_t)copy * x->parts->file->n_values;
  int64_t job = (int64_t)copy * x->parts->n_parts + k;
  json_value *answer = NULL, *request = bind_request(x, copy, k);
  if (!request) return fail_no_memory(error);
  TRY(worker_call(&answer, x->workers[x->worker_of[job]], "bind", request, &x->options.wait, error));
  const json_value *outputs = json_get(answer, "outputs");
  bool ok = json_size(outputs) == (size_t)part->n_outputs;
  for (int32_t i = 0; ok && i < part->n_outputs; i++)
    ok = take_place(x, &places[part->outputs[i]], json_at(outputs, (size_t)i));
  x->binding[job] = (int32_t)json_int(json_get(answer, "binding"), -1);
  json_free(answer);
  return ok ? SITU_STATUS_OK
            : fail_with(error, SITU_STATUS_ENGINE, x->options.engine->name, "placed outputs outside its memory");
}

static situ_status start(executor *x, situ_error *error) {
  const model_parts *p = x->parts;
  int64_t n_places = sat_mul(x->options.n_copies, p->file->n_values), n = (int64_t)x->options.n_copies * p->n_parts;
  bool room =
      ARENA_ARRAYS(x->arena, ZEROS(x->workers, n), ZEROS(x->devices, n), ZEROS(x->cores, n), ZEROS(x->worker_of, n),
                   ZEROS(x->session, n), ZEROS(x->binding, n), ARRAY(x->places, n_places));
  for (int64_t bytes = MAX_SHARED_BYTES; room && !x->shared && bytes >= MIN_SHARED_BYTES; bytes /= 2) {
    x->shared = os_shared_new((size_t)bytes);
    x->shared_bytes = bytes;
  }
  if (!x->shared) return fail_no_memory(error);
  for (int64_t i = 0; i < n_places; i++) x->places[i].at = -1;
  TRY(write_parts(x, error));
  TRY(fill_inputs(x, error));
  TRY(start_workers(x, error));
  TRY(channels_find(x, error));
  for (int32_t job = 0; job < n; job++)
    if (executor_owns(x, job % p->n_parts)) TRY(open_part(x, job, error));
  if (!x->options.profile)
    drop_folder(x); /* sessions are loaded: no file is left behind, whoever is killed from now on */
  for (int32_t c = 0; c < x->options.n_copies; c++)
    for (int32_t k = 0; k < p->n_parts; k++) {
      if (executor_owns(x, k)) TRY(bind_part(x, c, k, error));
      TRY(channels_send_part(x, c, k, error));
    }
  return SITU_STATUS_OK;
}

situ_status executor_start(executor **out, const model_parts *parts, const executor_options *options,
                           situ_error *error) {
  *out = NULL;
  executor *x = NOUN_NEW(executor, NULL);
  if (!x) return fail_no_memory(error);
  x->parts = parts;
  x->options = *options;
  situ_status status = start(x, error);
  if (status == SITU_STATUS_OK)
    *out = x;
  else {
    ranks_fail(x->options.ranks, error);
    executor_stop(x);
  }
  return status;
}

void executor_stop(executor *x) {
  if (!x) return;
  for (int32_t w = 0; w < x->n_workers; w++) worker_stop(x->workers[w]);
  drop_folder(x);
  os_shared_free(x->shared, (size_t)x->shared_bytes);
  arena_free(x->arena);
}

situ_status executor_profile(executor *x, const char **path, int32_t *n_first, situ_error *error) {
  json_value *request = JSON_OBJECT({"session", json_new_int(x->session[0])}), *answer = NULL;
  *path = NULL;
  if (!request) return fail_no_memory(error);
  TRY(worker_call(&answer, x->workers[0], "end_profile", request, &x->options.wait, error));
  *path = arena_string(x->arena, json_text(json_get(answer, "path"), ""));
  *n_first = (int32_t)json_int(json_get(answer, "n_first"), -1);
  json_free(answer);
  return *path ? SITU_STATUS_OK : fail_no_memory(error);
}
