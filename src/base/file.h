/* base/file.h - files: read into memory, whole or in parts; written whole under a temporary name and renamed. */
#ifndef SITU_BASE_FILE_H
#define SITU_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "situ/error.h"

typedef struct file_view {
  const unsigned char *bytes; /* read-only; never NULL after success */
  size_t size_bytes;
  int handle, failed; /* failed: an errno or FILE_CUT_OFF, kept from the first failure of file_need */
  bool *there;        /* by chunk: whether it was read */
  bool mapped;
} file_view;

enum { FILE_CUT_OFF = -1 };

/* Reads a regular file. IO when it cannot be opened or read, became shorter meanwhile or is a directory. What happens
 * to the file afterwards does not change the bytes. Close it with file_close, which takes a failed view too. */
situ_status file_open(file_view *out, const char *path, situ_error *error);
/* The same for a text: BAD_INPUT at its first zero byte. Nothing after it is read, so that a huge binary file costs
 * neither time nor memory. */
situ_status file_open_text(file_view *out, const char *path, situ_error *error);
/* The bytes of a mark of UTF-8 in front of a text: 3 or 0. */
size_t file_skip_mark(const file_view *view);
/* The whole text followed by a zero byte, in the arena: without a mark of UTF-8 in front; up to 1 GiB of UTF-16 behind
 * its mark is made UTF-8, or an empty text where it is none. */
situ_status file_read_text(char **out, const char *path, arena *a, situ_error *error);
/* The same for parts of large files: nothing is read, and no memory is used, before file_need asks for the bytes
 * [at, at + n). What cannot be read is zero and leaves a failure in the view, which file_result reports. */
situ_status file_begin(file_view *out, const char *path, situ_error *error);
void file_need(file_view *view, size_t at, size_t n);
situ_status file_need_text(file_view *view, const char *path, situ_error *error); /* all of it, up to a zero byte */
situ_status file_result(const file_view *view, const char *path, situ_error *error);
void file_close(file_view *view);

bool file_exists(const char *path);
bool file_is_folder(const char *path);
/* Size of a regular file in bytes, or -1. */
long long file_size(const char *path);

/* Writes bytes to `path` through a temporary file in the same folder, which is flushed and renamed: either the whole
 * file appears or nothing changes. A link is followed and kept; a device or a pipe is written directly. */
situ_status file_write(const char *path, const void *bytes, size_t n, situ_error *error);
/* Whether file_write could write to `path` now; IO with the reason if not. Changes nothing. */
situ_status file_probe(const char *path, situ_error *error);

/* Makes a folder unless it is there. */
situ_status file_make_folder(const char *path, situ_error *error);

/* The last name of a path. */
const char *file_name(const char *path);
/* The folder part of a path with its slash ("a/b.c" -> "a/", "b.c" -> ""), in the arena; NULL without memory. */
char *file_folder(arena *a, const char *path);

#endif
