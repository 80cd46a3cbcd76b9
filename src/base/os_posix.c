#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#include "base/os.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

static const int64_t SECOND_NS = 1000000000;
_Static_assert(sizeof(sigset_t) <= sizeof(os_signals), "a mask of signals has room");

/* ---- files ---- */

static os_about about(const struct stat *is) {
  if (S_ISREG(is->st_mode)) return (os_about){OS_FILE, (int64_t)is->st_size};
  return (os_about){S_ISDIR(is->st_mode) ? OS_FOLDER : OS_SPECIAL, 0};
}

os_about os_look(const char *path) {
  struct stat is;
  return stat(path, &is) == 0 ? about(&is) : (os_about){0};
}

os_about os_look_at(int handle) {
  struct stat is;
  return fstat(handle, &is) == 0 ? about(&is) : (os_about){0};
}

bool os_is_same(const char *path, const char *other) {
  struct stat a, b;
  return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int os_open(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

int os_create(const char *path) {
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); /* less the umask, as for any new file */
}

int os_open_existing(const char *path, bool waits) {
  return open(path, O_WRONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK));
}

bool os_close(int handle) { return close(handle) == 0; }

ptrdiff_t os_read(int handle, void *into, size_t n) { return read(handle, into, n); }

ptrdiff_t os_write(int handle, const void *bytes, size_t n) { return write(handle, bytes, n); }

bool os_flush(int handle) { return fsync(handle) == 0; }

bool os_rename(const char *from, const char *to) { return rename(from, to) == 0; }

bool os_remove(const char *path) { return unlink(path) == 0; }

bool os_make_folder(const char *path) { return mkdir(path, 0777) == 0; }

bool os_remove_folder(const char *path) { return rmdir(path) == 0; }

static bool name_temporary(char *into, size_t n, const char *prefix) {
  const char *given = getenv("TMPDIR");
  bool usable = given && *given && strlen(given) + strlen(prefix) + sizeof "/XXXXXX" < n;
  return snprintf(into, n, "%s/%sXXXXXX", usable ? given : "/tmp", prefix) < (int)n;
}

bool os_temporary_folder(char *into, size_t n, const char *prefix) {
  bool made = name_temporary(into, n, prefix) && mkdtemp(into);
  if (!made) *into = '\0';
  return made;
}

int os_temporary_file(char *into, size_t n, const char *prefix) {
  int handle = name_temporary(into, n, prefix) ? mkostemp(into, O_CLOEXEC) : -1;
  if (handle < 0) *into = '\0';
  return handle;
}

os_folder *os_folder_open(const char *path) { return (os_folder *)(void *)opendir(path); }

const char *os_folder_next(os_folder *folder) {
  struct dirent *at = folder ? readdir((DIR *)(void *)folder) : NULL;
  return at ? at->d_name : NULL;
}

void os_folder_close(os_folder *folder) {
  if (folder) closedir((DIR *)(void *)folder);
}

char *os_real_path(const char *path) { return realpath(path, NULL); }

bool os_is_absolute(const char *path) { return *path == '/'; }

const char *os_last_slash(const char *path) { return strrchr(path, '/'); }

char os_path_separator(void) { return ':'; }

/* Memory without cost until it is written. */
static void *reserve(size_t bytes, int sharing) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

/* The file itself is never mapped: when another process cuts it off, an access beyond its new end would be SIGBUS. */
void *os_view_new(int handle, size_t bytes) { return reserve(bytes, MAP_PRIVATE); }

ptrdiff_t os_view_read(int handle, void *into, size_t n, size_t at) { return pread(handle, into, n, (off_t)at); }

void os_view_free(void *view, size_t bytes) { munmap(view, bytes); }

/* ---- memory, time, threads ---- */

void *os_shared_new(size_t bytes) { return reserve(bytes, MAP_SHARED); }

void os_shared_free(void *memory, size_t bytes) {
  if (memory) munmap(memory, bytes);
}

int64_t os_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

int64_t os_thread_time_ns(void) {
  struct timespec now;
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0 ? (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec : 0;
}

void os_nap(int64_t ns) { nanosleep(&(struct timespec){.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS}, NULL); }

/* A search for a byte that is not there: what the C library has made fast for this machine. */
void os_read_through(const void *bytes, size_t n) {
  const void *volatile found = memchr(bytes, 2, n);
  (void)found;
}

void os_signals_hold(os_signals *before) {
  sigset_t all, was;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &was);
  memcpy(before, &was, sizeof was);
}

void os_signals_release(const os_signals *before) {
  sigset_t was;
  memcpy(&was, before, sizeof was);
  pthread_sigmask(SIG_SETMASK, &was, NULL);
}

bool os_locale_enter(void **own, void **before) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  *own = (void *)c;
  if (c) *before = (void *)uselocale(c);
  return c;
}

void os_locale_leave(void *own, void *before) {
  uselocale((locale_t)before);
  freelocale((locale_t)own);
}

const char *os_signal_name(int number) { return strsignal(number); }

/* ---- shared libraries ---- */

void *os_library_load(const char *path, bool open) {
  return dlopen(path, RTLD_NOW | (open ? RTLD_GLOBAL : RTLD_LOCAL));
}

void *os_library_entry(void *library, const char *name) { return dlsym(library, name); }

const char *os_library_error(void) { return dlerror(); }

/* ---- regular expressions ---- */

os_pattern *os_pattern_new(const char *extended) {
  regex_t *compiled = malloc(sizeof *compiled);
  if (compiled && regcomp(compiled, extended, REG_EXTENDED | REG_NOSUB) == 0) return (os_pattern *)(void *)compiled;
  free(compiled);
  return NULL;
}

bool os_pattern_fits(const os_pattern *pattern, const char *text) {
  return regexec((const regex_t *)(const void *)pattern, text, 0, NULL, 0) == 0;
}

void os_pattern_free(os_pattern *pattern) {
  if (pattern) regfree((regex_t *)(void *)pattern);
  free(pattern);
}
