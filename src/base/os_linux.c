/* What Linux has and POSIX lacks. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/os.h"

/* ---- time ---- */

int os_nap_slack(int slack_ns) {
  int before = prctl(PR_GET_TIMERSLACK);
  prctl(PR_SET_TIMERSLACK, slack_ns);
  return before;
}

void os_condition_new(pthread_cond_t *out) {
  pthread_condattr_t steady;
  pthread_condattr_init(&steady);
  pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
  pthread_cond_init(out, &steady);
  pthread_condattr_destroy(&steady);
}

void os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t max_ns) {
  static const int64_t SECOND_NS = 1000000000;
  int64_t until_ns = os_now_ns() + max_ns;
  struct timespec until = {.tv_sec = until_ns / SECOND_NS, .tv_nsec = until_ns % SECOND_NS};
  pthread_cond_timedwait(condition, lock, &until);
}

/* ---- the machine ---- */

int os_cores(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

bool os_affinity(uint64_t *words, size_t bytes) { return syscall(SYS_sched_getaffinity, 0, bytes, words) > 0; }

void os_set_affinity(const uint64_t *words, size_t bytes) { syscall(SYS_sched_setaffinity, 0, bytes, words); }

/* The first number of a file, or behind the colon of the first line that begins with `key`; 0 where there is none. */
static double read_number(const char *path, const char *key) {
  FILE *f = fopen(path, "re");
  char line[256];
  double number = 0;
  while (f && number == 0 && fgets(line, sizeof line, f)) {
    const char *at = *key ? strchr(line, ':') : line;
    if (strncmp(line, key, strlen(key)) != 0 || !at) continue;
    number = c_locale_number(at + (*at == ':'), NULL);
  }
  if (f) fclose(f);
  return number;
}

int64_t os_memory_bytes(void) {
  int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : 0;
}

double os_clock_hz(void) {
  double khz = read_number("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "");
  if (khz <= 0) khz = read_number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "");
  return 1000 * (khz > 0 ? khz : 1000 * read_number("/proc/cpuinfo", "cpu MHz"));
}

void os_machine_id(char *into, size_t n) {
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (f && !fgets(into, (int)n, f)) into[0] = '\0';
  if (f) fclose(f);
}

/* ---- processes ---- */

void os_die_with(long parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != (pid_t)parent) _exit(1);
}

void os_limit_memory(int64_t more_bytes) {
  long long pages = 0;
  int64_t page_bytes = sysconf(_SC_PAGESIZE);
  FILE *own = fopen("/proc/self/statm", "re"); /* total, resident, shared, code, 0, data */
  if (own && fscanf(own, "%*s %*s %*s %*s %*s %lld", &pages) != 1) pages = 0;
  if (own) fclose(own);
  rlim_t max = (rlim_t)sat_add(sat_mul(pages, page_bytes), more_bytes > 0 ? more_bytes : os_memory_bytes());
  setrlimit(RLIMIT_DATA, &(struct rlimit){max, max});
}

/* Neither every C library has a function for this (musl), nor every kernel the call. */
void os_close_from(int first) {
  enum { MAX_FILES = 1 << 16 };
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  long n = sysconf(_SC_OPEN_MAX);
  for (int file = first; file < (n > 0 && n < MAX_FILES ? n : MAX_FILES); file++) close(file);
}

/* ---- pipes and sockets ---- */

bool os_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

int os_stream_type(void) { return SOCK_STREAM | SOCK_CLOEXEC; }

int os_send_flags(int line) { return MSG_NOSIGNAL; }

int os_wait(const int *handles, int n, int64_t max_ns) {
  static const int64_t SECOND_NS = 1000000000;
  struct pollfd news[OS_MAX_WAITS];
  for (int i = 0; i < n; i++) news[i] = (struct pollfd){.fd = handles[i], .events = POLLIN};
  struct timespec max = {.tv_sec = max_ns / SECOND_NS, .tv_nsec = max_ns % SECOND_NS};
  if (ppoll(news, (nfds_t)n, &max, NULL) <= 0) return -1;
  int at = 0;
  while (!news[at].revents) at++;
  return at;
}
