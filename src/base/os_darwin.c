/* What macOS has and POSIX lacks. Written by its documentation: no test has run there. */
#define _DARWIN_C_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "base/os.h"

/* ---- time ---- */

int os_nap_slack(int slack_ns) { return slack_ns; }

void os_condition_new(pthread_cond_t *out) { pthread_cond_init(out, NULL); }

void os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t max_ns) {
  static const int64_t SECOND_NS = 1000000000;
  struct timespec max = {.tv_sec = max_ns / SECOND_NS, .tv_nsec = max_ns % SECOND_NS};
  pthread_cond_timedwait_relative_np(condition, lock, &max);
}

/* ---- the machine ---- */

static int64_t read_number(const char *name) {
  int64_t number = 0;
  size_t n = sizeof number;
  return sysctlbyname(name, &number, &n, NULL, 0) == 0 ? number : 0; /* the processors are little-endian */
}

int os_cores(void) { return (int)read_number("hw.physicalcpu"); }

int64_t os_memory_bytes(void) { return read_number("hw.memsize"); }

double os_clock_hz(void) { return (double)read_number("hw.cpufrequency"); }

void os_machine_id(char *into, size_t n) { sysctlbyname("kern.bootsessionuuid", into, &n, NULL, 0); }

/* Threads cannot be bound to cores: all may be used. */
bool os_affinity(uint64_t *words, size_t bytes) {
  for (size_t c = 0; c < (size_t)os_cores() && c < 8 * bytes; c++) words[c / 64] |= UINT64_C(1) << c % 64;
  return os_cores() > 0;
}

void os_set_affinity(const uint64_t *words, size_t bytes) {}

/* ---- processes ---- */

/* Of a thread that waits for the end of the parent; a program that is started later has none. */
static void *wait_for_end(void *queue) {
  struct kevent end;
  while (kevent((int)(intptr_t)queue, NULL, 0, &end, 1, NULL) < 0 && errno == EINTR) continue;
  _exit(1);
}

void os_die_with(long parent) {
  struct kevent end;
  pthread_t thread;
  int queue = kqueue();
  EV_SET(&end, (uintptr_t)parent, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, NULL);
  if (queue >= 0 && kevent(queue, &end, 1, NULL, 0, NULL) == 0 &&
      pthread_create(&thread, NULL, wait_for_end, (void *)(intptr_t)queue) == 0)
    pthread_detach(thread);
  if (getppid() != (pid_t)parent) _exit(1);
}

void os_limit_memory(int64_t more_bytes) {} /* the kernel counts no limit of private memory */

void os_close_from(int first) {
  int n = getdtablesize();
  for (int file = first; file < n; file++) close(file);
}

/* ---- pipes and sockets ---- */

bool os_pipe(int ends[2]) {
  if (pipe(ends) != 0) return false;
  for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  return true;
}

int os_stream_type(void) { return SOCK_STREAM; }

int os_send_flags(int line) {
  setsockopt(line, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
  return 0;
}

int os_wait(const int *handles, int n, int64_t max_ns) {
  struct pollfd news[OS_MAX_WAITS];
  for (int i = 0; i < n; i++) news[i] = (struct pollfd){.fd = handles[i], .events = POLLIN};
  if (poll(news, (nfds_t)n, (int)((max_ns + 999999) / 1000000)) <= 0) return -1;
  int at = 0;
  while (!news[at].revents) at++;
  return at;
}
