#include "base/child.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"

static const int64_t LOOK_NS = 10000000;
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
    ptrdiff_t n = os_write(to, at, size);
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

bool child_must_stop(const child_line *line) { return os_wait(&line->control, 1, 0) == 0; }

/* The child before it begins, with both ends of its pipes. */
typedef struct birth {
  child_work *work;
  void *context;
  int out[2], control[2];
} birth;

static int be_child(void *context) {
  birth *b = context;
  child_line line = {.out = b->out[1], .control = b->control[0]};
  os_close(b->out[0]);
  os_close(b->control[1]);
  char good = b->work(b->context, &line);
  frame_size last = 0;
  return send_all(line.out, &last, sizeof last) && send_all(line.out, &good, 1) ? 0 : 1;
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
  ptrdiff_t n = os_read(from, in->bytes + in->n, in->room - in->n);
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
    if (os_wait(&from, 1, LOOK_NS) == 0) open = receive(in, from);
    tell(in, limits, context);
    int64_t now_ns = clock_now_ns();
    if (!stopped && (now_ns >= limits->deadline_ns || (limits->stop && limits->stop(context)))) {
      stopped = true;
      killed_ns = now_ns + limits->grace_ns;
      os_close(*control);
      *control = -1;
    }
    if (now_ns >= killed_ns) break;
  }
  return stopped;
}

child_end child_run(child_work *work, const child_limits *limits, void *context) {
  birth b = {.work = work, .context = context};
  if (!os_pipe(b.out)) return CHILD_NO_PROCESS;
  if (!os_pipe(b.control)) {
    os_close(b.out[0]);
    os_close(b.out[1]);
    return CHILD_NO_PROCESS;
  }
  long child = os_fork(be_child, &b);
  os_close(b.out[1]);
  os_close(b.control[0]);
  inbox in = {.max_bytes = limits->max_bytes};
  bool stopped = child > 0 && listen_to(&in, b.out[0], &b.control[1], limits, context);
  if (child > 0) os_kill(child);
  if (b.control[1] >= 0) os_close(b.control[1]);
  os_close(b.out[0]);
  free(in.bytes);
  if (child < 0) return CHILD_NO_PROCESS;
  if (in.ended && !stopped) return in.good ? CHILD_DONE : CHILD_FAILED;
  return stopped ? CHILD_STOPPED : CHILD_CRASHED;
}
