/* base/library.h - shared libraries that are loaded at run time and never linked: engines, MPI, and what only some
 * calls need and takes long to load. */
#ifndef SITU_BASE_LIBRARY_H
#define SITU_BASE_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "situ/error.h"

/* Loads a shared library, and finds an entry of it: NULL where it has none. A library is never closed. With `open`
 * libraries loaded later find its symbols. ENGINE where it cannot be loaded. */
situ_status library_load(void **library, const char *path, bool open, situ_error *error);
void *library_entry(void *library, const char *name);

/* Where a library may be that Python packages bring along. */
typedef struct library_place {
  const char *variable; /* of the environment: a path to the library or the folder that holds it */
  const char *package;  /* the folder of the library in the folders of a Python installation */
  const char *file;     /* prefix of its name */
  const char *system;   /* its name for the dynamic loader of the system */
} library_place;

/* Searches in this order: `given` unless NULL, the variable, the active Python environment (VIRTUAL_ENV), the package
 * folders of python3, the loader of the system (then *path is a bare name). *path is in the arena or static. ENGINE if
 * `given` or the variable names a place without it. */
situ_status library_locate(const char **path, const library_place *place, const char *given, arena *a,
                           situ_error *error);

/* A library that is loaded when it is first needed. Its functions are listed as
 *     #define CALLS(CALL) CALL(port_, open) CALL(port_, close)
 * as its header declares them (port_open, port_close); they go to a struct of pointers:
 *     static struct { CALLS(LIBRARY_POINTER) } port;
 *     static const char *const names[] = {CALLS(LIBRARY_NAME)};
 *     static lazy_library port_library = LAZY_LIBRARY("libport.so.1", port, names); */
typedef struct lazy_library {
  const char *path;
  const library_place *place; /* where to search for it; NULL: load `path` */
  void *functions;
  const char *const *names;
  int32_t n;
  pthread_mutex_t lock;
  int state; /* atomic; of enum library_state */
  situ_error why;
} lazy_library;

#define LIBRARY_POINTER(PREFIX, NAME) __typeof__(PREFIX##NAME) *NAME;
#define LIBRARY_NAME(PREFIX, NAME) #PREFIX #NAME,
#define LAZY_LIBRARY(PATH, FUNCTIONS, NAMES)                                                               \
  {                                                                                                        \
    .path = PATH, .functions = &FUNCTIONS, .names = NAMES, .n = (int32_t)(sizeof NAMES / sizeof NAMES[0]), \
    .lock = PTHREAD_MUTEX_INITIALIZER                                                                      \
  }
/* The same for one that is searched for: PATH is its name for messages. */
#define LAZY_LIBRARY_AT(PLACE, PATH, FUNCTIONS, NAMES)                                                     \
  {                                                                                                        \
    .path = PATH, .functions = &FUNCTIONS, .names = NAMES, .n = (int32_t)(sizeof NAMES / sizeof NAMES[0]), \
    .lock = PTHREAD_MUTEX_INITIALIZER, .place = &PLACE                                                     \
  }

/* Loads it once. NULL when its functions can be called, else why not. Any thread may ask. */
const char *library_missing(lazy_library *l);

#endif
