#include "engine/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/os.h"
#include "base/resize.h"

enum { LOOK_NS = 10000000, MAX_FRAME_BYTES = 1 << 26, DOING_BYTES = 96 };
static const uint32_t MAGIC = 0x75746973; /* "situ" */

typedef enum frame_kind { FRAME_CALL = 1, FRAME_RUN, FRAME_ANSWER, FRAME_RAN, FRAME_FAILED } frame_kind;

/* A frame: this, then size bytes. CALL and ANSWER: JSON. RUN: int32 binding. RAN: two int64. FAILED: int32 status, then
 * a text. */
typedef struct frame_head {
  uint32_t magic, kind;
  uint64_t size;
} frame_head;

struct worker {
  long process;
  int line; /* -1: dead */
  int32_t n_under_way;
  bool in_process;
  worker_handler handler; /* in process, as are: */
  worker_ran *ran;        /* runs that ended and were not collected */
  int32_t ran_room;
  int64_t asked_ns; /* when the oldest pending request was sent or became the oldest */
  char name[96], doing[DOING_BYTES];
};

/* ---- both sides ---- */

/* Sends a frame in one message, since each message wakes the other side, which takes longer than sending it. */
static bool send_frame(int line, frame_kind kind, const void *bytes, size_t n) {
  frame_head head = {MAGIC, kind, n};
  return os_send(line, &head, sizeof head, bytes, n);
}

/* ---- the worker ---- */

static bool get_bytes(int line, void *into, size_t n) {
  for (char *at = into; n > 0;) {
    ptrdiff_t got = os_receive(line, at, n, true);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    n -= (size_t)got;
  }
  return true;
}

static bool send_failure(int line, const situ_error *error) {
  char bytes[sizeof(int32_t) + sizeof error->text];
  int32_t status = (int32_t)error->status;
  size_t n = strlen(error->text);
  memcpy(bytes, &status, sizeof status);
  memcpy(bytes + sizeof status, error->text, n);
  return send_frame(line, FRAME_FAILED, bytes, sizeof status + n);
}

static bool serve_call(const worker_handler *handler, int line, const char *bytes, size_t n) {
  situ_error error = {0};
  json_value *request = NULL, *answer = json_new_object();
  situ_status status = answer ? json_parse(&request, bytes, n, "request", &error) : fail_no_memory(&error);
  if (status == SITU_STATUS_OK)
    status = handler->call(handler->context, json_text(json_get(request, "verb"), ""), request, answer, &error);
  char *text = status == SITU_STATUS_OK ? json_print(answer, 0) : NULL;
  bool sent = text ? send_frame(line, FRAME_ANSWER, text, strlen(text))
                   : send_failure(line, status == SITU_STATUS_OK ? &(situ_error){.text = "out of memory"} : &error);
  free(text);
  json_free(request);
  json_free(answer);
  return sent;
}

static bool serve_run(const worker_handler *handler, int line, const char *bytes) {
  situ_error error = {0};
  int32_t binding;
  memcpy(&binding, bytes, sizeof binding);
  int64_t times_ns[2] = {clock_now_ns()};
  if (handler->run(handler->context, binding, &error) != SITU_STATUS_OK) return send_failure(line, &error);
  times_ns[1] = clock_now_ns();
  return send_frame(line, FRAME_RAN, times_ns, sizeof times_ns);
}

static void serve(const worker_handler *handler, int line) {
  frame_head head;
  while (get_bytes(line, &head, sizeof head) && head.magic == MAGIC && head.size <= MAX_FRAME_BYTES) {
    char *bytes = malloc(head.size + 1);
    bool going = bytes && get_bytes(line, bytes, head.size);
    if (going && head.kind == FRAME_CALL)
      going = serve_call(handler, line, bytes, head.size);
    else if (going)
      going = head.kind == FRAME_RUN && head.size == sizeof(int32_t) && serve_run(handler, line, bytes);
    free(bytes);
    if (!going) break;
  }
}

static void pin(const worker_options *o) {
  uint64_t cores[16] = {0};
  enum { WORD = 64, MAX_CORES = 16 * WORD };
  int32_t n = o->n_cores > 0 ? o->n_cores : 1;
  for (int32_t c = o->core; c >= 0 && c < o->core + n && c < MAX_CORES; c++) cores[c / WORD] |= UINT64_C(1) << c % WORD;
  if (o->core >= 0) os_set_affinity(cores, sizeof cores);
}

typedef struct birth {
  const worker_handler *handler;
  const worker_options *options;
  int line;
} birth;

static int be_worker(void *context) {
  birth *b = context;
  int line = os_keep_only(b->line);
  os_limit_memory(b->options->memory_bytes);
  pin(b->options);
  serve(b->handler, line);
  return 0;
}

/* ---- the caller ---- */

situ_status worker_start(worker **out, const worker_handler *handler, const worker_options *options,
                         situ_error *error) {
  int ends[2];
  *out = NULL;
  worker *w = calloc(1, sizeof *w);
  if (!w) return fail_no_memory(error);
  snprintf(w->name, sizeof w->name, "%s", options->name);
  if (options->in_process) {
    w->line = -1;
    w->in_process = true;
    w->handler = *handler;
    *out = w;
    return SITU_STATUS_OK;
  }
  if (!os_line(ends)) {
    free(w);
    return fail_with(error, errno == ENOSYS ? SITU_STATUS_ENGINE : SITU_STATUS_NO_MEMORY, options->name,
                     errno == ENOSYS ? "needs a process of its own, which situ can make on Linux and macOS only"
                                     : "cannot open a connection to a worker: %s",
                     c_locale_error(errno));
  }
  w->process = os_fork(be_worker, &(birth){handler, options, ends[1]});
  os_hang_up(ends[1]);
  w->line = ends[0];
  if (w->process < 0) {
    os_hang_up(ends[0]);
    free(w);
    return fail_with(error, SITU_STATUS_NO_MEMORY, options->name, "cannot start a worker process: %s",
                     c_locale_error(errno));
  }
  *out = w;
  return SITU_STATUS_OK;
}

static void end_process(worker *w) {
  if (w->line >= 0) os_hang_up(w->line);
  w->line = -1;
  if (w->process > 0) os_kill(w->process);
  w->process = 0;
}

void worker_stop(worker *w) {
  if (!w) return;
  end_process(w);
  if (w->in_process && w->handler.end) w->handler.end(w->handler.context);
  free(w->ran);
  free(w);
}

/* The connection is closed: reports how the worker ended, once the process has exited. */
static situ_status fail_dead(worker *w, situ_error *error) {
  int killed_by = 0, tries = 0;
  while (w->process > 0 && tries < 100) { /* wait for it to exit: its own status is more useful than that of a kill */
    if (os_has_ended(w->process, &killed_by)) w->process = 0;
    if (w->process > 0) os_nap(LOOK_NS);
    tries++;
  }
  bool lives = w->process > 0;
  end_process(w);
  if (lives) return fail_with(error, SITU_STATUS_ENGINE, w->name, "closed its connection during \"%s\"", w->doing);
  if (killed_by)
    return fail_with(error, SITU_STATUS_ENGINE, w->name, "was killed by signal %d (%s) during \"%s\"", killed_by,
                     c_locale_signal(killed_by), w->doing);
  return fail_with(error, SITU_STATUS_ENGINE, w->name, "ended during \"%s\"", w->doing);
}

static situ_status fail_nonsense(worker *w, situ_error *error) {
  end_process(w);
  return fail_with(error, SITU_STATUS_ENGINE, w->name, "gave a malformed answer to \"%s\"", w->doing);
}

/* Fails after the time limit of a request or if the caller stops, and kills the worker then. */
static situ_status keep_waiting(worker *w, const wait_limit *wait, situ_error *error) {
  double limit_s = wait_limit_s(wait);
  if (wait->stop && wait->stop(wait->context)) {
    end_process(w);
    return fail_with(error, SITU_STATUS_CANCELLED, w->name, "was stopped during \"%s\"", w->doing);
  }
  if ((double)(clock_now_ns() - w->asked_ns) < limit_s * 1e9) return SITU_STATUS_OK;
  end_process(w);
  return fail_with(error, SITU_STATUS_ENGINE, w->name, "gave no answer to \"%s\" within %g s", w->doing, limit_s);
}

static situ_status receive(worker *w, void *into, size_t n, const wait_limit *wait, situ_error *error) {
  for (char *at = into; n > 0;) {
    ptrdiff_t got = os_receive(w->line, at, n, false);
    bool later = got < 0 && (errno == EINTR || errno == EAGAIN);
    if (later) os_wait(&w->line, 1, LOOK_NS);
    TRY(keep_waiting(w, wait, error));
    if (later) continue;
    if (got <= 0) return fail_dead(w, error);
    at += got;
    n -= (size_t)got;
  }
  return SITU_STATUS_OK;
}

/* Reports a failure of the engine: statuses about the model are kept, all others become ENGINE. */
static situ_status fail_reported(const worker *w, int status, const char *text, situ_error *error) {
  bool known = status == SITU_STATUS_UNSUPPORTED || status == SITU_STATUS_BAD_INPUT || status == SITU_STATUS_IO;
  return fail_with(error, known ? (situ_status)status : SITU_STATUS_ENGINE, w->name, "%s", text);
}

/* The next frame: its bytes are malloc'ed and end with a zero. Returns a failure that the worker reports. */
static situ_status receive_frame(worker *w, frame_kind wanted, char **bytes, size_t *n, const wait_limit *wait,
                                 situ_error *error) {
  frame_head head;
  *bytes = NULL;
  TRY(receive(w, &head, sizeof head, wait, error));
  bool known = head.kind == wanted || head.kind == FRAME_FAILED;
  if (head.magic != MAGIC || !known || head.size > MAX_FRAME_BYTES) return fail_nonsense(w, error);
  *bytes = malloc(head.size + 1);
  if (!*bytes) return fail_no_memory(error);
  *n = head.size;
  TRY(receive(w, *bytes, head.size, wait, error));
  (*bytes)[head.size] = '\0';
  if (head.kind == wanted) return SITU_STATUS_OK;
  int32_t status = 0;
  if (head.size < sizeof status) return fail_nonsense(w, error);
  memcpy(&status, *bytes, sizeof status);
  return fail_reported(w, status, *bytes + sizeof status, error);
}

/* ---- in process ---- */

static situ_status call_here(json_value **answer, worker *w, const char *verb, const json_value *request,
                             situ_error *error) {
  situ_error own = {0};
  *answer = json_new_object();
  if (!*answer) return fail_no_memory(error);
  situ_status status = w->handler.call(w->handler.context, verb, request, *answer, &own);
  if (status == SITU_STATUS_OK) return status;
  json_free(*answer);
  *answer = NULL;
  return fail_reported(w, status, own.text, error);
}

static situ_status run_here(worker *w, int32_t binding, situ_error *error) {
  situ_error own = {0};
  worker_ran ran = {.start_ns = clock_now_ns()};
  situ_status status = w->handler.run(w->handler.context, binding, &own);
  if (status != SITU_STATUS_OK) return fail_reported(w, status, own.text, error);
  ran.finish_ns = clock_now_ns();
  if (w->n_under_way == w->ran_room) {
    w->ran_room = w->ran_room ? 2 * w->ran_room : 16;
    if (!array_resize(&w->ran, w->ran_room, sizeof *w->ran)) return fail_no_memory(error);
  }
  w->ran[w->n_under_way++] = ran;
  return SITU_STATUS_OK;
}

/* The oldest run of the first worker that has one. */
static bool poll_in_process(worker_ran *out, worker *const *workers, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    worker *w = workers[i];
    if (!w->in_process || w->n_under_way == 0) continue;
    *out = w->ran[0];
    out->worker = i;
    memmove(w->ran, w->ran + 1, (size_t)--w->n_under_way * sizeof *w->ran);
    return true;
  }
  return false;
}

/* ---- requests ---- */

static void note_request(worker *w, const char *doing) {
  if (w->n_under_way++ > 0) return;
  w->asked_ns = clock_now_ns();
  snprintf(w->doing, sizeof w->doing, "%s", doing);
}

situ_status worker_call(json_value **answer, worker *w, const char *verb, json_value *request, const wait_limit *wait,
                        situ_error *error) {
  REQUIRE(w->n_under_way == 0);
  *answer = NULL;
  if (w->in_process) {
    situ_status status = request ? call_here(answer, w, verb, request, error) : fail_no_memory(error);
    json_free(request);
    return status;
  }
  bool made = request && json_set(request, "verb", json_new_text(verb));
  char *text = made ? json_print(request, 0) : NULL;
  json_free(request);
  if (!text) return fail_no_memory(error);
  note_request(w, verb);
  bool sent = w->line >= 0 && send_frame(w->line, FRAME_CALL, text, strlen(text));
  free(text);
  char *bytes = NULL;
  size_t n = 0;
  situ_status status = sent ? receive_frame(w, FRAME_ANSWER, &bytes, &n, wait, error) : fail_dead(w, error);
  if (status == SITU_STATUS_OK && json_parse(answer, bytes, n, w->name, NULL) != SITU_STATUS_OK)
    status = fail_nonsense(w, error);
  free(bytes);
  w->n_under_way = 0;
  return status;
}

situ_status worker_run(worker *w, int32_t binding, situ_error *error) {
  if (w->in_process) return run_here(w, binding, error);
  note_request(w, "run");
  bool sent = w->line >= 0 && send_frame(w->line, FRAME_RUN, &binding, sizeof binding);
  return sent ? SITU_STATUS_OK : fail_dead(w, error);
}

static situ_status take_run(worker *w, worker_ran *out, const wait_limit *wait, situ_error *error) {
  char *bytes;
  size_t n = 0;
  int64_t times_ns[2] = {0};
  situ_status status = receive_frame(w, FRAME_RAN, &bytes, &n, wait, error);
  if (status == SITU_STATUS_OK && n != sizeof times_ns) status = fail_nonsense(w, error);
  if (status == SITU_STATUS_OK) memcpy(times_ns, bytes, sizeof times_ns);
  free(bytes);
  out->start_ns = times_ns[0];
  out->finish_ns = times_ns[1];
  w->n_under_way--;
  w->asked_ns = clock_now_ns();
  return status;
}

situ_status worker_poll(worker_ran *out, worker *const *workers, int32_t n, int64_t max_ns, const wait_limit *wait,
                        situ_error *error) {
  int lines[OS_MAX_WAITS] = {0};
  int32_t busy[OS_MAX_WAITS], n_busy = 0;
  out->worker = -1;
  if (poll_in_process(out, workers, n)) return SITU_STATUS_OK;
  for (int32_t i = 0; i < n; i++) {
    if (workers[i]->n_under_way == 0) continue;
    if (workers[i]->line < 0 || n_busy == OS_MAX_WAITS) return fail_dead(workers[i], error);
    lines[n_busy] = workers[i]->line;
    busy[n_busy++] = i;
  }
  int at = os_wait(lines, n_busy, max_ns);
  if (at < 0) {
    for (int32_t i = 0; i < n_busy; i++) TRY(keep_waiting(workers[busy[i]], wait, error));
    return SITU_STATUS_OK;
  }
  out->worker = busy[at];
  return take_run(workers[busy[at]], out, wait, error);
}
