/* Work in a process of its own: whatever it does, the caller goes on. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "base/child.h"
#include "base/clock.h"

static const int64_t SECOND_NS = 1000000000;

typedef struct story {
  int n_messages, n_asked;
  int64_t sum;
  size_t longest;
  int64_t n;       /* what the child counts to */
  bool is_changed; /* by the child */
} story;

static void hear(void *context, const void *bytes, size_t size) {
  story *s = context;
  int64_t first;
  assert_true(size >= sizeof first);
  memcpy(&first, bytes, sizeof first);
  s->n_messages++;
  s->sum += first;
  if (size > s->longest) s->longest = size;
}

static bool ask(void *context) {
  story *s = context;
  return ++s->n_asked > 5;
}

static child_end run(child_work *work, story *s, child_stop *stop) {
  child_limits limits = {.deadline_ns = clock_now_ns() + 20 * SECOND_NS,
                         .grace_ns = SECOND_NS / 10,
                         .max_bytes = 1 << 22,
                         .stop = stop,
                         .receive = hear};
  child_end end = child_run(work, &limits, s);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
  return end;
}

static bool count(void *context, child_line *line) {
  story *s = context;
  s->is_changed = true;
  for (int64_t i = 1; i <= s->n; i++)
    if (!child_send(line, &i, sizeof i)) return false;
  return true;
}

TEST(messages_arrive_in_order_and_nothing_else_changes) {
  story s = {.n = 10000};
  assert_int_equal(run(count, &s, NULL), CHILD_DONE);
  assert_int_equal(s.n_messages, 10000);
  assert_int_equal(s.sum, 10000 * 10001 / 2);
  assert_false(s.is_changed);
}

static bool send_much(void *context, child_line *line) {
  size_t size = (size_t)((story *)context)->n;
  char *much = calloc(1, size);
  bool sent = much && child_send(line, much, size);
  free(much);
  return sent;
}

TEST(a_long_message_is_one_message) {
  story s = {.n = 1 << 22};
  assert_int_equal(run(send_much, &s, NULL), CHILD_DONE);
  assert_int_equal(s.n_messages, 1);
  assert_int_equal(s.longest, 1 << 22);
}

TEST(a_message_beyond_the_limit_is_a_crash) {
  story s = {.n = (1 << 22) + 1};
  assert_int_equal(run(send_much, &s, NULL), CHILD_CRASHED);
  assert_int_equal(s.n_messages, 0);
}

static bool fail_politely(void *context, child_line *line) { return false; }

static bool crash(void *context, child_line *line) {
  int64_t one = 1;
  child_send(line, &one, sizeof one);
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
  return true;
}

static bool leave(void *context, child_line *line) { _exit(0); }

static bool be_killed(void *context, child_line *line) { return kill(getpid(), SIGKILL) == 0; }

TEST(ends_are_told_apart) {
  story s = {0};
  assert_int_equal(run(fail_politely, &s, NULL), CHILD_FAILED);
  assert_int_equal(run(crash, &s, NULL), CHILD_CRASHED);
  assert_int_equal(s.n_messages, 1);
  assert_int_equal(run(leave, &s, NULL), CHILD_CRASHED);
  assert_int_equal(run(be_killed, &s, NULL), CHILD_CRASHED);
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

static bool wait_to_be_stopped(void *context, child_line *line) {
  while (!child_must_stop(line)) nap();
  int64_t last = 7;
  return child_send(line, &last, sizeof last);
}

static bool hang(void *context, child_line *line) {
  signal(SIGTERM, SIG_IGN);
  while (context) nap();
  return true;
}

TEST(a_child_that_is_stopped_may_say_a_last_word) {
  story s = {0};
  assert_int_equal(run(wait_to_be_stopped, &s, ask), CHILD_STOPPED);
  assert_int_equal(s.sum, 7);
}

TEST(a_child_that_hangs_is_killed) {
  story s = {0};
  int64_t begin_ns = clock_now_ns();
  assert_int_equal(run(hang, &s, ask), CHILD_STOPPED);
  assert_true(clock_now_ns() - begin_ns < 10 * SECOND_NS);
}

TEST(a_deadline_stops_it_too) {
  story s = {0};
  child_limits limits = {
      .deadline_ns = clock_now_ns() + SECOND_NS / 20, .grace_ns = SECOND_NS / 20, .max_bytes = 100, .receive = hear};
  assert_int_equal(child_run(hang, &limits, &s), CHILD_STOPPED);
  assert_int_equal(child_run(wait_to_be_stopped, &limits, &s), CHILD_STOPPED);
  assert_int_equal(s.sum, 7);
}

TEST_MAIN
