#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

situ_status file_open(file_view *out, const char *path, situ_error *error) {
  *out = (file_view){0};
  int handle = open(path, O_RDONLY | O_CLOEXEC);
  if (handle < 0) return fail_with(error, SITU_STATUS_IO, path, "cannot be opened: %s", strerror(errno));
  struct stat about;
  if (fstat(handle, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(handle);
    return fail_with(error, SITU_STATUS_IO, path, "is not a regular file");
  }
  out->size_bytes = (size_t)about.st_size;
  out->bytes = (const unsigned char *)"";
  if (out->size_bytes > 0) {
    void *at = mmap(NULL, out->size_bytes, PROT_READ, MAP_PRIVATE, handle, 0);
    if (at == MAP_FAILED) {
      close(handle);
      *out = (file_view){0};
      return fail_with(error, SITU_STATUS_IO, path, "cannot be read: %s", strerror(errno));
    }
    out->bytes = at;
    out->mapped = true;
  }
  close(handle);
  return SITU_STATUS_OK;
}

void file_close(file_view *view) {
  if (view->mapped) munmap((void *)(uintptr_t)view->bytes, view->size_bytes);
  *view = (file_view){0};
}

long long file_size(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? (long long)about.st_size : -1;
}

bool file_exists(const char *path) { return file_size(path) >= 0; }

static int write_all(int handle, const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t done = write(handle, bytes, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return -1;
    bytes += done;
    n -= (size_t)done;
  }
  return 0;
}

situ_status file_write(const char *path, const void *bytes, size_t n, situ_error *error) {
  size_t length = strlen(path) + 16;
  char *temporary = malloc(length);
  if (!temporary) return fail_no_memory(error);
  snprintf(temporary, length, "%s.XXXXXX", path);
  int handle = mkstemp(temporary);
  if (handle < 0) {
    int why = errno;
    free(temporary);
    return fail_with(error, SITU_STATUS_IO, path, "cannot be written: %s", strerror(why));
  }
  mode_t mask = umask(0);
  umask(mask);
  int bad = fchmod(handle, 0666 & ~mask) || write_all(handle, bytes, n) || fsync(handle);
  int why = errno;
  bad |= close(handle);
  if (!bad && rename(temporary, path) != 0) {
    bad = 1;
    why = errno;
  }
  if (bad) unlink(temporary);
  free(temporary);
  if (bad) return fail_with(error, SITU_STATUS_IO, path, "cannot be written: %s", strerror(why));
  return SITU_STATUS_OK;
}

char *file_folder(arena *a, const char *path) {
  const char *slash = strrchr(path, '/');
  return arena_string_n(a, path, slash ? (size_t)(slash - path + 1) : 0);
}
