/* Workers that work, and workers that crash, hang, eat memory and answer nonsense at every point of the protocol. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/os.h"
#include "engine/worker.h"

enum { LINE = 3, SHARED_BYTES = 1 << 20, SECOND_NS = 1000000000 };

typedef struct scene {
  int32_t *shared;
  worker *worker;
  situ_error error;
} scene;

/* Waits until a run of one of them has ended. */
static situ_status await_run(worker_ran *out, worker *const *workers, int32_t n, const wait_limit *wait,
                             situ_error *error) {
  do TRY(worker_poll(out, workers, n, 20000000, wait, error));
  while (out->worker < 0);
  return SITU_STATUS_OK;
}

/* What the fake engine does to a call is the verb. */
static situ_status fake_call(void *context, const char *verb, const json_value *request, json_value *answer,
                             situ_error *error) {
  int32_t *shared = context;
  if (strcmp(verb, "refuse") == 0) return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "no such operator: Frob");
  if (strcmp(verb, "exit") == 0) _exit(1);
  if (strcmp(verb, "crash") == 0) abort();
  if (strcmp(verb, "hang") == 0)
    for (;;) pause();
  if (strcmp(verb, "garbage") == 0) {
    char noise[64];
    memset(noise, 0xa5, sizeof noise);
    if (write(LINE, noise, sizeof noise) < 0) _exit(1);
  }
  if (strcmp(verb, "cut") == 0) { /* an answer of 100 bytes, of which 4 come */
    uint64_t head[2] = {0x75746973 | (uint64_t)3 << 32, 100};
    if (write(LINE, head, sizeof head) < 0 || write(LINE, "{\"a\"", 4) < 0) _exit(1);
    _exit(0);
  }
  if (strcmp(verb, "huge") == 0) { /* an answer of 2^60 bytes */
    uint64_t head[2] = {0x75746973 | (uint64_t)3 << 32, (uint64_t)1 << 60};
    if (write(LINE, head, sizeof head) < 0) _exit(1);
  }
  if (strcmp(verb, "no json") == 0) {
    uint64_t head[2] = {0x75746973 | (uint64_t)3 << 32, 4};
    if (write(LINE, head, sizeof head) < 0 || write(LINE, "abcd", 4) < 0) _exit(1);
  }
  if (strcmp(verb, "eat") == 0)
    for (size_t n = 0; n < 4096; n++) {
      char *volatile more = malloc(1 << 20); /* volatile: it is not left out though nobody reads it */
      if (!more) return fail_with(error, SITU_STATUS_NO_MEMORY, NULL, "out of memory after %zu MiB", n);
      memset(more, 1, 1 << 20);
    }
  if (strcmp(verb, "add") == 0) shared[2] = shared[0] + shared[1];
  return json_set(answer, "twice", json_new_int(2 * json_int(json_get(request, "n"), 0))) ? SITU_STATUS_OK
                                                                                          : fail_no_memory(error);
}

/* Binding k >= 0 counts in shared memory; -1 crashes, -2 hangs, -3 is refused. */
static situ_status fake_run(void *context, int32_t binding, situ_error *error) {
  int32_t *shared = context;
  if (binding == -1) abort();
  while (binding == -2) pause();
  if (binding == -3) return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "the shapes do not fit");
  shared[10 + binding] = ++shared[9];
  return SITU_STATUS_OK;
}

static void start(scene *s, int64_t memory_bytes) {
  worker_handler handler = {.call = fake_call, .run = fake_run};
  worker_options options = {.name = "fake on cpu0", .memory_bytes = memory_bytes, .core = 0};
  memset(s, 0, sizeof *s);
  s->shared = os_shared_new(SHARED_BYTES);
  assert_non_null(s->shared);
  handler.context = s->shared;
  assert_int_equal(worker_start(&s->worker, &handler, &options, &s->error), SITU_STATUS_OK);
}

static void stop(scene *s) {
  worker_stop(s->worker);
  os_shared_free(s->shared, SHARED_BYTES);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
}

static situ_status ask(scene *s, const char *verb, double limit_s) {
  json_value *answer = NULL, *request = json_new_object();
  wait_limit wait = {.limit_s = limit_s};
  assert_true(json_set(request, "n", json_new_int(21)));
  situ_status status = worker_call(&answer, s->worker, verb, request, &wait, &s->error);
  if (status == SITU_STATUS_OK) assert_int_equal(json_int(json_get(answer, "twice"), 0), 42);
  json_free(answer);
  return status;
}

TEST(a_worker_answers_and_shares_memory) {
  scene s;
  start(&s, 0);
  s.shared[0] = 40;
  s.shared[1] = 2;
  assert_int_equal(ask(&s, "add", 10), SITU_STATUS_OK);
  assert_int_equal(s.shared[2], 42);
  stop(&s);
}

TEST(runs_are_done_in_the_order_in_which_they_were_asked_for) {
  scene s;
  worker_ran ran;
  wait_limit wait = {.limit_s = 10};
  int64_t last_ns = 0;
  start(&s, 0);
  for (int32_t k = 0; k < 5; k++) assert_int_equal(worker_run(s.worker, k, &s.error), SITU_STATUS_OK);
  for (int32_t k = 0; k < 5; k++) {
    assert_int_equal(await_run(&ran, &s.worker, 1, &wait, &s.error), SITU_STATUS_OK);
    assert_true(ran.start_ns >= last_ns && ran.finish_ns >= ran.start_ns);
    last_ns = ran.finish_ns;
  }
  for (int32_t k = 0; k < 5; k++) assert_int_equal(s.shared[10 + k], k + 1);
  stop(&s);
}

TEST(what_an_engine_refuses_is_told_and_the_worker_goes_on) {
  scene s;
  worker_ran ran;
  wait_limit wait = {.limit_s = 10};
  start(&s, 0);
  assert_int_equal(ask(&s, "refuse", 10), SITU_STATUS_UNSUPPORTED);
  assert_string_equal(s.error.text, "no such operator: Frob");
  assert_string_equal(s.error.where, "fake on cpu0");
  assert_int_equal(worker_run(s.worker, -3, &s.error), SITU_STATUS_OK);
  assert_int_equal(await_run(&ran, &s.worker, 1, &wait, &s.error), SITU_STATUS_UNSUPPORTED);
  assert_string_equal(s.error.text, "the shapes do not fit");
  assert_int_equal(ask(&s, "add", 10), SITU_STATUS_OK);
  stop(&s);
}

/* A verb that ends the worker, the error that it gives, and what every later call gives. */
static void ends_in(const char *verb, double limit_s, const char *expected) {
  scene s;
  start(&s, 0);
  int64_t begun_ns = clock_now_ns();
  assert_int_equal(ask(&s, verb, limit_s), SITU_STATUS_ENGINE);
  assert_non_null(strstr(s.error.text, expected));
  assert_true(clock_now_ns() - begun_ns < 5ll * SECOND_NS);
  assert_int_equal(ask(&s, "add", 10), SITU_STATUS_ENGINE);
  stop(&s);
}

TEST(a_worker_that_ends_or_crashes_is_one_clear_error) {
  ends_in("exit", 10, "ended during \"exit\"");
  ends_in("crash", 10, "killed by signal 6");
}
TEST(a_worker_that_hangs_is_killed_at_its_limit) { ends_in("hang", 0.3, "gave no answer to \"hang\" within 0.3 s"); }
TEST(nonsense_is_recognised) {
  ends_in("garbage", 10, "malformed answer");
  ends_in("huge", 10, "malformed answer");
  ends_in("no json", 10, "malformed answer");
  ends_in("cut", 10, "ended during \"cut\"");
}

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

TEST(memory_is_limited) {
  if (SANITIZED) skip(); /* its memory is reserved before anything is limited */
  scene s;
  start(&s, (int64_t)256 << 20);
  assert_int_equal(ask(&s, "eat", 30), SITU_STATUS_ENGINE);
  assert_non_null(strstr(s.error.text, "out of memory after"));
  stop(&s);
}

TEST(runs_that_crash_or_hang_end_in_one_error) {
  for (int32_t binding = -2; binding < 0; binding++) {
    scene s;
    worker_ran ran;
    wait_limit wait = {.limit_s = 0.3};
    start(&s, 0);
    assert_int_equal(worker_run(s.worker, 0, &s.error), SITU_STATUS_OK);
    assert_int_equal(worker_run(s.worker, binding, &s.error), SITU_STATUS_OK);
    assert_int_equal(await_run(&ran, &s.worker, 1, &wait, &s.error), SITU_STATUS_OK);
    assert_int_equal(await_run(&ran, &s.worker, 1, &wait, &s.error), SITU_STATUS_ENGINE);
    assert_non_null(strstr(s.error.text, binding == -1 ? "signal 6" : "within 0.3 s"));
    stop(&s);
  }
}

TEST(a_worker_killed_from_outside_is_told_as_such) {
  scene s;
  start(&s, 0);
  assert_int_equal(ask(&s, "add", 10), SITU_STATUS_OK);
  assert_int_equal(worker_run(s.worker, -2, &s.error), SITU_STATUS_OK);
  int64_t child = 0;
  memcpy(&child, s.worker, sizeof(pid_t)); /* its first field */
  kill((pid_t)child, SIGTERM);             /* ignored: only the caller ends a worker */
  kill((pid_t)child, SIGKILL);
  worker_ran ran;
  wait_limit wait = {.limit_s = 10};
  assert_int_equal(await_run(&ran, &s.worker, 1, &wait, &s.error), SITU_STATUS_ENGINE);
  assert_non_null(strstr(s.error.text, "killed by signal 9"));
  stop(&s);
}

static bool stop_at_third(void *context) { return ++*(int *)context >= 3; }

TEST(a_caller_who_asks_to_stop_is_heard) {
  scene s;
  int asked = 0;
  json_value *answer;
  wait_limit wait = {.stop = stop_at_third, .context = &asked};
  start(&s, 0);
  assert_int_equal(worker_call(&answer, s.worker, "hang", json_new_object(), &wait, &s.error), SITU_STATUS_CANCELLED);
  assert_null(answer);
  stop(&s);
}

TEST(two_workers_run_side_by_side) {
  scene a, b;
  worker_ran ran;
  wait_limit wait = {.limit_s = 10};
  start(&a, 0);
  start(&b, 0);
  worker *both[] = {a.worker, b.worker};
  bool seen[2] = {false};
  assert_int_equal(worker_run(a.worker, 0, &a.error), SITU_STATUS_OK);
  assert_int_equal(worker_run(b.worker, 0, &b.error), SITU_STATUS_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(await_run(&ran, both, 2, &wait, &a.error), SITU_STATUS_OK);
    seen[ran.worker] = true;
  }
  assert_true(seen[0] && seen[1]);
  worker_stop(b.worker);
  os_shared_free(b.shared, SHARED_BYTES);
  stop(&a);
}

static void count_end(void *context) { ((int32_t *)context)[20]++; }

/* The same calls without a process: nothing is left to wait for, and the end is reported once. */
TEST(in_process_the_same_calls_work_on_the_callers_thread) {
  scene s = {.shared = os_shared_new(SHARED_BYTES)};
  worker_handler handler = {.call = fake_call, .run = fake_run, .end = count_end, .context = s.shared};
  worker_options options = {.name = "fake here", .core = -1, .in_process = true};
  wait_limit wait = {.limit_s = 10};
  worker_ran ran;
  int64_t before_ns = clock_now_ns();
  assert_non_null(s.shared);
  assert_int_equal(worker_start(&s.worker, &handler, &options, &s.error), SITU_STATUS_OK);
  s.shared[0] = 40;
  s.shared[1] = 2;
  assert_int_equal(ask(&s, "add", 10), SITU_STATUS_OK);
  assert_int_equal(s.shared[2], 42);
  assert_int_equal(ask(&s, "refuse", 10), SITU_STATUS_UNSUPPORTED);
  assert_string_equal(s.error.where, "fake here");
  assert_string_equal(s.error.text, "no such operator: Frob");
  for (int32_t k = 0; k < 3; k++) assert_int_equal(worker_run(s.worker, k, &s.error), SITU_STATUS_OK);
  assert_int_equal(s.shared[9], 3); /* done before anybody waits */
  for (int32_t k = 0; k < 3; k++) {
    assert_int_equal(await_run(&ran, &s.worker, 1, &wait, &s.error), SITU_STATUS_OK);
    assert_int_equal(ran.worker, 0);
    assert_true(before_ns <= ran.start_ns && ran.start_ns <= ran.finish_ns);
    before_ns = ran.finish_ns; /* in the order in which they were asked for */
  }
  assert_int_equal(worker_run(s.worker, -3, &s.error), SITU_STATUS_UNSUPPORTED);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* there is no process */
  worker_stop(s.worker);
  assert_int_equal(s.shared[20], 1);
  os_shared_free(s.shared, SHARED_BYTES);
}

TEST_MAIN
