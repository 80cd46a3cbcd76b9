/* read/builtin.h - models generated in code. Each is one file with one const struct, listed in read/builtins.c.
 *
 * A generator writes its network with the calls of read/net.h, which take shapes and FLOPs from the table of operator
 * kinds: the generator says only what the network is. */
#ifndef SITU_READ_BUILTIN_H
#define SITU_READ_BUILTIN_H

#include "read/net.h"

/* A parameter with its default; every value is a whole number. */
typedef struct builtin_parameter {
  const char *name;
  int64_t otherwise, least, most;
  const char *about;
} builtin_parameter;

typedef struct builtin {
  const char *name, *title, *source; /* source: the paper */
  const builtin_parameter *parameters; /* ended by a NULL name; the reader adds none of its own */
  /* Adds the network to `net`; values[i] belongs to parameters[i]. */
  situ_status (*generate)(net *n, const int64_t *values, situ_error *error);
} builtin;

extern const builtin *const builtins[];

#endif
