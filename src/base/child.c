#define _GNU_SOURCE
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { LOOK_MS = 10 };
/* Frames: the size, then that many bytes. The last frame has size 0 and is followed by one byte: the result of the
 * work. */
typedef uint64_t frame_size;

struct child_line {
  int out, control; /* control is closed by the parent when the child shall stop */
};

/* ---- the child ---- */

static bool send_all(int to, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size > 0) {
    ssize_t n = write(to, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= (size_t)n;
  }
  return true;
}

bool child_send(child_line *line, const void *bytes, size_t size) {
  frame_size n = size;
  return send_all(line->out, &n, sizeof n) && send_all(line->out, bytes, size);
}

bool child_must_stop(const child_line *line) {
  struct pollfd control = {.fd = line->control};
  return poll(&control, 1, 0) > 0;
}

void child_settle(long parent) {
  sigset_t none;
  int nowhere = open("/dev/null", O_RDWR);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != (pid_t)parent) _exit(1);
  for (int signal_number = 1; signal_number < NSIG; signal_number++) signal(signal_number, SIG_DFL);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (nowhere >= 0)
    for (int fd = 0; fd <= 2; fd++) dup2(nowhere, fd);
}

/* What the parent has buffered must not be printed twice: hence _exit. */
static _Noreturn void be_child(child_work *work, child_line *line, void *context, pid_t parent) {
  child_settle(parent);
  char good = work(context, line);
  frame_size last = 0;
  _exit(send_all(line->out, &last, sizeof last) && send_all(line->out, &good, 1) ? 0 : 1);
}

/* ---- the parent ---- */

/* Data received through the pipe and not yet delivered. */
typedef struct inbox {
  char *bytes;
  size_t n, room;
  size_t max_bytes;
  bool ended, good; /* the last frame has arrived; the result of the work */
  bool broken;
} inbox;

/* Reads what is there. False at the end of the pipe. */
static bool receive(inbox *in, int from) {
  size_t wanted = in->n + ((size_t)1 << 16);
  if (in->room < wanted) {
    char *more = realloc(in->bytes, wanted * 2);
    in->broken |= !more;
    if (!more) return false;
    in->bytes = more;
    in->room = wanted * 2;
  }
  ssize_t n = read(from, in->bytes + in->n, in->room - in->n);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  in->n += (size_t)n;
  return n > 0;
}

/* Delivers all complete frames. */
static void tell(inbox *in, const child_limits *limits, void *context) {
  size_t at = 0;
  frame_size size;
  while (!in->broken && !in->ended && in->n - at >= sizeof size) {
    const char *frame = in->bytes + at + sizeof size;
    size_t here = in->n - at - sizeof size;
    memcpy(&size, in->bytes + at, sizeof size);
    if (size > in->max_bytes) in->broken = true;
    if (in->broken || here < (size ? size : 1)) break;
    if (size == 0) {
      in->ended = true;
      in->good = *frame;
      break;
    }
    void *message = malloc(size); /* aligned, unlike its place in the pipe */
    in->broken |= !message;
    if (message) limits->receive(context, memcpy(message, frame, size), size);
    free(message);
    at += sizeof size + size;
  }
  in->n -= at;
  if (at > 0) memmove(in->bytes, in->bytes + at, in->n);
}

/* Reads until the child ends or must be killed. Returns whether it was asked to stop. */
static bool listen_to(inbox *in, int from, int *control, const child_limits *limits, void *context) {
  int64_t killed_ns = INT64_MAX;
  bool open = true, stopped = false;
  while (open && !in->ended && !in->broken) {
    struct pollfd news = {.fd = from, .events = POLLIN};
    if (poll(&news, 1, LOOK_MS) > 0) open = receive(in, from);
    tell(in, limits, context);
    int64_t now_ns = clock_now_ns();
    if (!stopped && (now_ns >= limits->deadline_ns || (limits->stop && limits->stop(context)))) {
      stopped = true;
      killed_ns = now_ns + limits->grace_ns;
      close(*control);
      *control = -1;
    }
    if (now_ns >= killed_ns) break;
  }
  return stopped;
}

static void reap(pid_t child) {
  kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
}

static bool open_pipe(int ends[2]) {
  if (pipe(ends) != 0) return false;
  for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  return true;
}

child_end child_run(child_work *work, const child_limits *limits, void *context) {
  int out[2], control[2];
  if (!open_pipe(out)) return CHILD_NO_PROCESS;
  if (!open_pipe(control)) {
    close(out[0]);
    close(out[1]);
    return CHILD_NO_PROCESS;
  }
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(out[0]);
    close(control[1]);
    be_child(work, &(child_line){.out = out[1], .control = control[0]}, context, parent);
  }
  close(out[1]);
  close(control[0]);
  inbox in = {.max_bytes = limits->max_bytes};
  bool stopped = child > 0 && listen_to(&in, out[0], &control[1], limits, context);
  if (child > 0) reap(child);
  if (control[1] >= 0) close(control[1]);
  close(out[0]);
  free(in.bytes);
  if (child < 0) return CHILD_NO_PROCESS;
  if (in.ended && !stopped) return in.good ? CHILD_DONE : CHILD_FAILED;
  return stopped ? CHILD_STOPPED : CHILD_CRASHED;
}
