#include "engine/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/clock.h"
#include "base/hash.h"
#include "platform/platform_sources.h"

static bool report_progress(void *context) {
  measuring *m = context;
  situ_measure_callback *progress = m->options.progress;
  return progress && progress(m->options.context, m->phase, m->done, m->total);
}

static situ_status take_measure(measure_options *out, const situ_measure_options *given, situ_error *error) {
  situ_measure_options o;
  TRY(TAKE(o, given, SITU_MEASURE_OPTIONS_INIT, error));
  *out = (measure_options){.engine = o.engine,
                           .library = o.library,
                           .device = o.device,
                           .time_limit_s = o.time_limit_s,
                           .progress = o.progress,
                           .context = o.context,
                           .seed = o.seed,
                           .level = o.level,
                           .threads = o.threads,
                           .items = o.items,
                           .warm_up = o.warm_up};
  return SITU_STATUS_OK;
}

situ_status measure_take_profile(measure_options *out, const situ_profile_options *given, situ_error *error) {
  situ_profile_options o;
  TRY(TAKE(o, given, SITU_PROFILE_OPTIONS_INIT, error));
  TRY(take_measure(out, o.measure, error));
  out->read = o.read;
  out->memory = o.memory;
  return SITU_STATUS_OK;
}

situ_status measure_take_run(measure_options *out, const situ_run_options *given, situ_error *error) {
  situ_run_options o;
  TRY(TAKE(o, given, SITU_RUN_OPTIONS_INIT, error));
  TRY(take_measure(out, o.measure, error));
  out->queue = o.queue;
  out->in_process = o.in_process;
  out->map = o.map;
  return SITU_STATUS_OK;
}

situ_status measure_take_race(measure_options *out, const situ_race_options *given, situ_error *error) {
  situ_race_options o;
  TRY(TAKE(o, given, SITU_RACE_OPTIONS_INIT, error));
  TRY(measure_take_run(out, o.run, error));
  out->log = o.log;
  out->replay = o.replay;
  return SITU_STATUS_OK;
}

static const int32_t levels[] = {99, 0, 1, 2}; /* of ONNX Runtime, by situ_level */

situ_status measure_options_take(measuring *m, const measure_options *given, situ_error *error) {
  enum { LIMIT_S = 60, ITEMS = 20, WARM_UP = 3, QUEUE = 2, MAX_COUNT = 1 << 20 };
  *m = (measuring){.phase = "starting", .begun_ns = clock_now_ns()};
  m->options = *given;
  TRY(TAKE(m->read, m->options.read, SITU_READ_OPTIONS_INIT, error));
  measure_options *o = &m->options;
  if (o->threads < 0 || o->items < 0 || o->warm_up < 0 || o->queue < 0 || !(o->time_limit_s >= 0) ||
      (unsigned)o->level >= sizeof levels / sizeof *levels || o->items > MAX_COUNT || o->warm_up > MAX_COUNT ||
      o->threads > MAX_COUNT || o->queue > 64)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "a measurement option is out of range");
  if (o->time_limit_s == 0) o->time_limit_s = LIMIT_S;
  m->threads_given = o->threads > 0;
  if (o->threads == 0) o->threads = 1;
  if (o->items == 0) o->items = ITEMS;
  if (o->warm_up == 0) o->warm_up = WARM_UP;
  if (o->queue == 0) o->queue = QUEUE;
  return SITU_STATUS_OK;
}

/* As many as the costs assume: all cores of this-host, unless they were measured. */
static int32_t threads_planned(const situ_problem *p) {
  return p->costs->table_hash ? 0 : this_host_threads(p->platform);
}

situ_status measure_begin(measuring *m, const measure_options *given, const situ_problem *p, const char *model,
                          arena *a, situ_error *error) {
  const model_format *format;
  TRY(measure_options_take(m, given, error));
  if (p && !m->threads_given && threads_planned(p) > 0) m->options.threads = threads_planned(p);
  TRY(model_format_find(&format, model, error));
  const measure_options *o = &m->options;
  m->arena = a;
  m->executor = (executor_options){.read = &m->read,
                                   .lane = {.threads = o->threads, .device = o->device},
                                   .level = levels[o->level],
                                   .in_process = o->in_process,
                                   .n_copies = 1,
                                   .cores = cores_allowed(),
                                   .seed = o->seed,
                                   .wait = {.limit_s = o->time_limit_s, .stop = report_progress, .context = m}};
  TRY(engine_find(&m->executor.engine, o->engine, format, error));
  return library_locate(&m->executor.library, &m->executor.engine->place, o->library, a, error);
}

/* One NAME=THREADS[/SLOWER][@DEVICE] of a map, which ends at `end`. */
static situ_status take_lane(executor_lane *lanes, const char *at, const char *end, const situ_platform *p, arena *a,
                             situ_error *error) {
  enum { MAX_COUNT = 1024 };
  const char *equals = memchr(at, '=', (size_t)(end - at));
  char *rest = NULL;
  long threads = equals ? strtol(equals + 1, &rest, 10) : 0, slower = 1;
  if (rest && *rest == '/') slower = strtol(rest + 1, &rest, 10);
  if (threads < 1 || threads > MAX_COUNT || slower < 1 || slower > MAX_COUNT || (rest != end && *rest != '@'))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, "map",
                     "must be NAME=THREADS[/SLOWER][@DEVICE],..., not \"%.60s\"", at);
  int32_t d = 0;
  size_t n = (size_t)(equals - at);
  while (d < p->n_devices && (strncmp(p->devices[d].name, at, n) != 0 || p->devices[d].name[n])) d++;
  if (d == p->n_devices)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, "map", "names \"%.*s\", which is not a device of the platform",
                     (int)n, at);
  lanes[d].threads = (int32_t)threads;
  lanes[d].slower = (int32_t)slower;
  if (rest == end) return SITU_STATUS_OK;
  char *device = ARENA_ZERO(a, char, end - rest);
  if (!device) return fail_no_memory(error);
  memcpy(device, rest + 1, (size_t)(end - rest) - 1);
  lanes[d].device = device;
  return SITU_STATUS_OK;
}

situ_status measure_lanes(executor_options *x, const measuring *m, const situ_platform *p, arena *a,
                          situ_error *error) {
  executor_lane *lanes = ARENA_NEW(a, executor_lane, p->n_devices);
  if (!lanes) return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices; d++) lanes[d] = m->executor.lane;
  for (const char *at = m->options.map; at && *at;) {
    const char *end = at + strcspn(at, ",");
    TRY(take_lane(lanes, at, end, p, a, error));
    at = *end ? end + 1 : end;
  }
  x->lanes = lanes;
  return SITU_STATUS_OK;
}

uint64_t measure_hash(const int32_t *device, const int32_t *order, int32_t n_operators) {
  size_t bytes = (size_t)n_operators * sizeof(int32_t);
  uint64_t hash = hash_bytes(device, bytes, 1);
  return order ? hash_bytes(order, bytes, hash) : hash;
}

int64_t measure_logged_ns(const json_value *list, int64_t at) {
  int64_t time_ns = at >= 0 ? json_int(json_at(list, (size_t)at), -1) : -1;
  return time_ns <= (int64_t)1 << 54 ? time_ns : -1;
}

bool measure_is_late(const measuring *m) {
  return (double)(clock_now_ns() - m->begun_ns) > m->options.time_limit_s * 1e9;
}

situ_status measure_version(char into[MEASURE_NAME_BYTES], const measuring *m, situ_error *error) {
  worker *w;
  json_value *answer = NULL;
  const executor_options *x = &m->executor;
  engine_context context = {.library = x->library};
  TRY(engine_start(&w, x->engine, &context, &(worker_options){.name = x->engine->name, .core = -1}, error));
  situ_status status = engine_hello(&answer, w, x->engine, x->library, &x->wait, error);
  snprintf(into, MEASURE_NAME_BYTES, "%s", json_text(json_get(answer, "version"), "?"));
  json_free(answer);
  worker_stop(w);
  return status;
}
