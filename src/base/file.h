/* base/file.h - files: mapped for reading, written whole under a temporary name and renamed. */
#ifndef SITU_BASE_FILE_H
#define SITU_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "situ/error.h"

typedef struct file_view {
  const unsigned char *bytes; /* read-only; never NULL after success */
  size_t size_bytes;
  bool mapped;
} file_view;

/* Maps (or reads) a regular file. IO when it cannot be opened or is a directory. */
situ_status file_open(file_view *out, const char *path, situ_error *error);
void file_close(file_view *view);

bool file_exists(const char *path);
/* Size of a regular file in bytes, or -1. */
long long file_size(const char *path);

/* Writes bytes to `path` by way of a temporary file in the same folder, flushed and renamed: either the whole file
 * appears or nothing changes. A link is followed and stays; a device or a pipe is written into. */
situ_status file_write(const char *path, const void *bytes, size_t n, situ_error *error);
/* Whether file_write could write there now; IO with the reason otherwise. Leaves nothing behind. */
situ_status file_probe(const char *path, situ_error *error);

/* The folder part of a path with its slash ("a/b.c" -> "a/", "b.c" -> ""), in the arena; NULL without memory. */
char *file_folder(arena *a, const char *path);

#endif
