#include "engine/measure.h"

#include <stdio.h>

#include "base/arguments.h"
#include "base/clock.h"

static bool tell(void *context) {
  measuring *m = context;
  situ_measure_callback *progress = m->options.progress;
  return progress && progress(m->options.context, m->phase, m->done, m->total);
}

static const int32_t levels[] = {99, 0, 1, 2}; /* of ONNX Runtime, by situ_level */

situ_status measure_options_take(measuring *m, const situ_measure_options *given, situ_error *error) {
  enum { LIMIT_S = 60, ITEMS = 20, WARM_UP = 3, QUEUE = 2, MOST = 1 << 20 };
  *m = (measuring){.phase = "starting", .begun_ns = clock_now_ns()};
  TRY(TAKE(m->options, given, SITU_MEASURE_OPTIONS_INIT, error));
  TRY(TAKE(m->read, m->options.read, SITU_READ_OPTIONS_INIT, error));
  situ_measure_options *o = &m->options;
  if (o->threads < 0 || o->items < 0 || o->warm_up < 0 || o->queue < 0 || !(o->time_limit_s >= 0) ||
      (unsigned)o->level >= sizeof levels / sizeof *levels || o->items > MOST || o->warm_up > MOST ||
      o->threads > MOST || o->queue > 64)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "an option of the measuring is out of range");
  if (o->time_limit_s == 0) o->time_limit_s = LIMIT_S;
  if (o->threads == 0) o->threads = 1;
  if (o->items == 0) o->items = ITEMS;
  if (o->warm_up == 0) o->warm_up = WARM_UP;
  if (o->queue == 0) o->queue = QUEUE;
  return SITU_STATUS_OK;
}

situ_status measure_begin(measuring *m, const situ_measure_options *given, arena *a, situ_error *error) {
  TRY(measure_options_take(m, given, error));
  const situ_measure_options *o = &m->options;
  m->arena = a;
  m->executor = (executor_options){.read = &m->read,
                                   .device = o->device,
                                   .threads = o->threads,
                                   .level = levels[o->level],
                                   .n_copies = 1,
                                   .cores = cores_allowed(),
                                   .seed = o->seed,
                                   .wait = {.limit_s = o->time_limit_s, .stop = tell, .context = m}};
  TRY(engine_find(&m->executor.engine, o->engine, error));
  return engine_locate(&m->executor.library, m->executor.engine, o->library, a, error);
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
