/* base/library.h - shared libraries that are found at run time and never linked: engines, and MPI. */
#ifndef SITU_BASE_LIBRARY_H
#define SITU_BASE_LIBRARY_H

#include <stdbool.h>

#include "situ/error.h"

/* Loads a shared library, and finds an entry of it: NULL where it has none. A library is never closed. With `open`
 * libraries loaded later find its symbols. ENGINE where it cannot be loaded. */
situ_status library_load(void **library, const char *path, bool open, situ_error *error);
void *library_entry(void *library, const char *name);

#endif
