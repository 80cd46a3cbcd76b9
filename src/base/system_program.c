#define _GNU_SOURCE
#include "base/system_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"

static const struct timespec LOOK = {.tv_nsec = 2000000};

static bool is_program(const char *path) {
  struct stat is;
  return stat(path, &is) == 0 && S_ISREG(is.st_mode) && access(path, X_OK) == 0;
}

const char *system_program_in_folder(const char *folder, size_t n, const char *name, arena *a) {
  text_buffer path = {0};
  text_add(&path, "%.*s/%s", (int)n, folder, name);
  const char *found = !path.failed && is_program(path.bytes) ? arena_string(a, path.bytes) : NULL;
  text_free(&path);
  return found;
}

const char *system_program_find(const char *name, arena *a) {
  const char *found = NULL;
  for (const char *at = getenv("PATH"); at && *at && !found; at += strspn(at, ":")) {
    size_t n = strcspn(at, ":");
    found = system_program_in_folder(at, n, name, a);
    at += n;
  }
  return found;
}

long system_program_start(const char *const *argv, int out) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  child_settle(parent);
  for (int fd = 1; fd <= 2; fd++) dup2(out, fd);
  execv(argv[0], (char *const *)(uintptr_t)argv);
  _exit(127);
}

void system_program_end(long process) {
  kill((pid_t)process, SIGKILL);
  while (waitpid((pid_t)process, NULL, 0) < 0 && errno == EINTR) continue;
}

bool system_program_output(text_buffer *into, const char *const *argv, size_t max_bytes, bool (*stop)(void *context),
                           void *context) {
  int ends[2];
  char bytes[4096];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  long child = fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? system_program_start(argv, ends[1]) : -1;
  close(ends[1]);
  for (bool open = child > 0; open && !(stop && stop(context));) {
    ssize_t n = read(ends[0], bytes, sizeof bytes);
    bool waits = n < 0 && (errno == EAGAIN || errno == EINTR);
    open = n > 0 || waits;
    if (n > 0 && into->length < max_bytes) text_add_bytes(into, bytes, (size_t)n);
    if (waits) nanosleep(&LOOK, NULL);
  }
  close(ends[0]);
  if (child > 0) system_program_end(child);
  return child > 0;
}
