#include "base/file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/os.h"

enum { CHUNK_BYTES = 1 << 16, MAX_WIDE_BYTES = 1 << 30 };
static const char UTF8_MARK[] = "\xef\xbb\xbf";

static situ_status reserve(file_view *view, const char *path, situ_error *error) {
  void *at = os_view_new(view->handle, view->size_bytes);
  if (!at) return fail_with(error, SITU_STATUS_IO, path, "cannot be read: %s", c_locale_error(errno));
  view->bytes = at;
  view->mapped = true;
  view->there = calloc((view->size_bytes - 1) / CHUNK_BYTES + 1, sizeof *view->there);
  return view->there ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status file_begin(file_view *out, const char *path, situ_error *error) {
  *out = (file_view){0};
  int handle = os_open(path);
  if (handle < 0) return fail_with(error, SITU_STATUS_IO, path, "cannot be opened: %s", c_locale_error(errno));
  os_about about = os_look_at(handle);
  if (about.kind != OS_FILE) {
    os_close(handle);
    return fail_with(error, SITU_STATUS_IO, path, "%s",
                     file_is_folder(path) ? "is a folder; expected a file" : "is not a regular file");
  }
  *out = (file_view){.bytes = (const unsigned char *)"", .size_bytes = (size_t)about.size_bytes, .handle = handle};
  situ_status status = out->size_bytes > 0 ? reserve(out, path, error) : SITU_STATUS_OK;
  if (status != SITU_STATUS_OK) file_close(out);
  return status;
}

static int read_all(int handle, unsigned char *into, size_t n, size_t at) {
  while (n > 0) {
    ptrdiff_t done = os_view_read(handle, into, n, at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : FILE_CUT_OFF;
    into += done;
    at += (size_t)done;
    n -= (size_t)done;
  }
  return 0;
}

void file_need(file_view *view, size_t at, size_t n) {
  REQUIRE(at <= view->size_bytes && n <= view->size_bytes - at);
  if (n == 0 || view->failed) return;
  for (size_t chunk = at / CHUNK_BYTES; chunk <= (at + n - 1) / CHUNK_BYTES && !view->failed; chunk++) {
    if (view->there[chunk]) continue;
    size_t start = chunk * CHUNK_BYTES, left = view->size_bytes - start;
    unsigned char *into = (unsigned char *)(uintptr_t)view->bytes + start;
    view->failed = read_all(view->handle, into, left < CHUNK_BYTES ? left : CHUNK_BYTES, start);
    view->there[chunk] = true;
  }
}

situ_status file_result(const file_view *view, const char *path, situ_error *error) {
  if (!view->failed) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_IO, path, "cannot be read: %s",
                   view->failed == FILE_CUT_OFF ? "it was truncated while it was read" : c_locale_error(view->failed));
}

situ_status file_need_text(file_view *view, const char *path, situ_error *error) {
  for (size_t at = 0; at < view->size_bytes; at += CHUNK_BYTES) {
    size_t left = view->size_bytes - at, n = left < CHUNK_BYTES ? left : CHUNK_BYTES;
    file_need(view, at, n);
    TRY(file_result(view, path, error));
    if (memchr(view->bytes + at, '\0', n))
      return fail_with(error, SITU_STATUS_BAD_INPUT, path, "contains a zero byte; expected text");
  }
  return SITU_STATUS_OK;
}

static situ_status close_unless(situ_status status, file_view *view) {
  if (status != SITU_STATUS_OK) file_close(view);
  return status;
}

situ_status file_open(file_view *out, const char *path, situ_error *error) {
  TRY(file_begin(out, path, error));
  file_need(out, 0, out->size_bytes);
  return close_unless(file_result(out, path, error), out);
}

situ_status file_open_text(file_view *out, const char *path, situ_error *error) {
  TRY(file_begin(out, path, error));
  return close_unless(file_need_text(out, path, error), out);
}

/* Writes a character as UTF-8. Returns how many bytes it has, at most 4. */
static size_t put_character(char *to, uint32_t c) {
  size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char FIRST[] = {0, 0xc0, 0xe0, 0xf0};
  to[0] = (char)(FIRST[more] | c >> 6 * more);
  for (size_t k = 1; k <= more; k++) to[k] = (char)(0x80 | (c >> 6 * (more - k) & 0x3f));
  return more + 1;
}

/* UTF-16 behind its mark as UTF-8, which PowerShell writes to files. NULL without memory; empty where it is none. */
static char *from_wide(const unsigned char *bytes, size_t n, arena *a) {
  char *text = ARENA_NEW(a, char, (int64_t)(2 * n + 1));
  bool little = bytes[0] == 0xff, good = n % 2 == 0;
  size_t at = 0;
  uint32_t high = 0;
  for (size_t k = 2; text && good && k < n; k += 2) {
    uint32_t c = (uint32_t)bytes[k + little] << 8 | bytes[k + !little];
    bool second = c >= 0xdc00 && c < 0xe000;
    good = c != 0 && second == (high != 0);
    if (second) c = 0x10000 + ((high & 0x3ff) << 10) + (c & 0x3ff);
    high = c >= 0xd800 && c < 0xdc00 ? c : 0;
    if (!high) at += put_character(text + at, c);
  }
  if (text) text[good && !high ? at : 0] = '\0';
  return text;
}

size_t file_skip_mark(const file_view *view) {
  size_t n = strlen(UTF8_MARK);
  return view->size_bytes >= n && memcmp(view->bytes, UTF8_MARK, n) == 0 ? n : 0;
}

situ_status file_read_text(char **out, const char *path, arena *a, situ_error *error) {
  file_view view;
  *out = NULL;
  TRY(file_begin(&view, path, error));
  file_need(&view, 0, view.size_bytes < 2 ? view.size_bytes : 2);
  bool wide = view.size_bytes >= 2 && view.size_bytes <= MAX_WIDE_BYTES &&
              (memcmp(view.bytes, "\xff\xfe", 2) == 0 || memcmp(view.bytes, "\xfe\xff", 2) == 0);
  if (wide) file_need(&view, 0, view.size_bytes);
  TRY(close_unless(wide ? file_result(&view, path, error) : file_need_text(&view, path, error), &view));
  if (wide) {
    *out = from_wide(view.bytes, view.size_bytes, a);
  } else {
    size_t skip = file_skip_mark(&view);
    *out = arena_string_n(a, (const char *)view.bytes + skip, view.size_bytes - skip);
  }
  file_close(&view);
  return *out ? SITU_STATUS_OK : fail_no_memory(error);
}

void file_close(file_view *view) {
  if (view->mapped) os_view_free((void *)(uintptr_t)view->bytes, view->size_bytes);
  if (view->bytes) os_close(view->handle);
  free(view->there);
  *view = (file_view){0};
}

long long file_size(const char *path) {
  os_about about = os_look(path);
  return about.kind == OS_FILE ? about.size_bytes : -1;
}

bool file_is_folder(const char *path) { return os_look(path).kind == OS_FOLDER; }

bool file_exists(const char *path) { return file_size(path) >= 0; }

static int write_all(int handle, const char *bytes, size_t n) {
  while (n > 0) {
    ptrdiff_t done = os_write(handle, bytes, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return -1;
    bytes += done;
    n -= (size_t)done;
  }
  return 0;
}

static situ_status cannot_write(const char *path, int why, situ_error *error) {
  const char *slash = os_last_slash(path);
  if (why == ENOENT && slash)
    return fail_with(error, SITU_STATUS_IO, path, "cannot be written: there is no folder \"%.*s\"",
                     (int)(slash - path < 160 ? slash - path : 160), path);
  return fail_with(error, SITU_STATUS_IO, path, "cannot be written: %s", c_locale_error(why));
}

/* Devices, pipes and folders: everything that exists and is not a regular file. */
static bool is_special(const char *path) {
  os_about about = os_look(path);
  return about.kind != OS_ABSENT && about.kind != OS_FILE;
}

static situ_status write_into(const char *path, const void *bytes, size_t n, situ_error *error) {
  int handle = os_open_existing(path, true);
  if (handle < 0) return cannot_write(path, errno, error);
  int bad = write_all(handle, bytes, n), why = errno;
  bad |= !os_close(handle);
  return bad ? cannot_write(path, why, error) : SITU_STATUS_OK;
}

enum { MAX_NAMES = 10000 }; /* that files of other threads, or left by a process that died, may have taken */

/* Creates a file next to `path` (next to the target of a link): its handle, and its name and the target, which the
 * caller frees; -1 on failure.
 */
static int open_beside(const char *path, char **temporary, char **target) {
  *target = os_real_path(path);
  if (!*target) *target = strdup(path);
  size_t length = *target ? strlen(*target) + 32 : 0;
  *temporary = length ? malloc(length) : NULL;
  if (!*temporary) return -1;
  errno = ENOENT;
  int handle = -1;
  for (int k = 0; *path && handle < 0 && k < MAX_NAMES && (k == 0 || errno == EEXIST); k++) {
    snprintf(*temporary, length, "%s.%ld.%d", *target, os_own_process(), k);
    handle = os_create(*temporary);
  }
  return handle;
}

/* The outcome of the file next to `path`, whose names it frees; no names means out of memory. */
static situ_status end_beside(bool good, const char *path, int why, char *temporary, char *target, situ_error *error) {
  situ_status status = good ? SITU_STATUS_OK : !temporary ? fail_no_memory(error) : cannot_write(path, why, error);
  free(temporary);
  free(target);
  return status;
}

situ_status file_write(const char *path, const void *bytes, size_t n, situ_error *error) {
  REQUIRE(path && (bytes || n == 0));
  if (is_special(path)) return write_into(path, bytes, n, error);
  char *temporary, *target;
  int handle = open_beside(path, &temporary, &target), why = errno;
  if (handle >= 0) {
    bool bad = write_all(handle, bytes, n) || !os_flush(handle);
    why = errno;
    bad |= !os_close(handle);
    if (!bad && !os_rename(temporary, target)) {
      bad = true;
      why = errno;
    }
    if (bad) {
      os_remove(temporary);
      handle = -1;
    }
  }
  return end_beside(handle >= 0, path, why, temporary, target, error);
}

situ_status file_probe(const char *path, situ_error *error) {
  if (is_special(path)) {
    int handle = os_open_existing(path, false);
    if (handle < 0 && errno != ENXIO) return cannot_write(path, errno, error); /* ENXIO: a pipe without a reader yet */
    if (handle >= 0) os_close(handle);
    return SITU_STATUS_OK;
  }
  char *temporary, *target;
  os_signals before;
  os_signals_hold(&before); /* a signal that ends the process must not leave the file */
  int handle = open_beside(path, &temporary, &target), why = errno;
  if (handle >= 0) {
    os_close(handle);
    os_remove(temporary);
  }
  os_signals_release(&before);
  return end_beside(handle >= 0, path, why, temporary, target, error);
}

situ_status file_make_folder(const char *path, situ_error *error) {
  if (os_make_folder(path) || errno == EEXIST) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_IO, path, "cannot be made: %s", c_locale_error(errno));
}

const char *file_name(const char *path) {
  const char *slash = os_last_slash(path);
  return slash ? slash + 1 : path;
}

char *file_folder(arena *a, const char *path) {
  const char *slash = os_last_slash(path);
  return arena_string_n(a, path, slash ? (size_t)(slash - path + 1) : 0);
}
