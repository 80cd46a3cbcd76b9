#include "base/system_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

enum { LOOK_NS = 2000000 };

const char *system_program_in_folder(const char *folder, size_t n, const char *name, arena *a) {
  text_buffer path = {0};
  text_add(&path, "%.*s/%s%s", (int)n, folder, name, OS_PROGRAM_SUFFIX);
  const char *found = !path.failed && os_is_program(path.bytes) ? arena_string(a, path.bytes) : NULL;
  text_free(&path);
  return found;
}

const char *system_program_find(const char *name, arena *a) {
  const char *found = NULL;
  const char separator[] = {os_path_separator(), '\0'};
  for (const char *at = getenv("PATH"); at && *at && !found; at += strspn(at, separator)) {
    size_t n = strcspn(at, separator);
    found = system_program_in_folder(at, n, name, a);
    at += n;
  }
  return found;
}

bool system_program_output(text_buffer *into, const char *const *argv, size_t max_bytes, bool (*stop)(void *context),
                           void *context) {
  int ends[2];
  char bytes[4096];
  if (!os_pipe(ends)) return false;
  long child = os_unblock(ends[0]) ? os_start(argv, ends[1]) : -1;
  os_close(ends[1]);
  for (bool open = child > 0; open && !(stop && stop(context));) {
    ptrdiff_t n = os_read(ends[0], bytes, sizeof bytes);
    bool waits = n < 0 && (errno == EAGAIN || errno == EINTR);
    open = n > 0 || waits;
    if (n > 0 && into->length < max_bytes) text_add_bytes(into, bytes, (size_t)n);
    if (waits) os_nap(LOOK_NS);
  }
  os_close(ends[0]);
  if (child > 0) os_kill(child);
  return child > 0;
}
