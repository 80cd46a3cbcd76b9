/* read/builtin.h - models generated in code. Each is one file with one const struct, listed in read/builtins.c.
 *
 * A generator writes its network with the calls of read/net.h, which take shapes and FLOPs from the table of operator
 * kinds: the generator only describes the network. */
#ifndef SITU_READ_BUILTIN_H
#define SITU_READ_BUILTIN_H

#include "read/net.h"

/* A parameter with its default; every value is an integer. */
typedef struct builtin_parameter {
  const char *name;
  int64_t default_value, min, max;
  const char *about;
} builtin_parameter;

enum { BUILTIN_MAX_PARAMETERS = 16 };

typedef struct builtin {
  const char *name, *title, *source;   /* source: the paper */
  const builtin_parameter *parameters; /* ended by a NULL name; the reader adds none of its own */
  /* Writes the network into `n`; values[i] belongs to parameters[i] and is in its range. Combinations that ranges
   * cannot exclude are rejected with net_refuse. */
  void (*generate)(net *n, const int64_t *values);
} builtin;

/* The table of built-in networks for images, text and sound, and a synthetic one: one file that exports builtin_NAME,
 * and one line here. */
#define BUILTIN_ROWS(ROW) \
  ROW(resnet50)           \
  ROW(inception)          \
  ROW(vgg)                \
  ROW(mobilenet)          \
  ROW(amoebanet)          \
  ROW(randwire_ws)        \
  ROW(randwire_er)        \
  ROW(randwire_ba)        \
  ROW(bert)               \
  ROW(gpt2)               \
  ROW(llama)              \
  ROW(moe)                \
  ROW(gnmt)               \
  ROW(rnnlm)              \
  ROW(transformer_xl)     \
  ROW(wavenet)            \
  ROW(layered)
#define BUILTIN_DECLARE(NAME) extern const builtin builtin_##NAME;
BUILTIN_ROWS(BUILTIN_DECLARE)

extern const builtin *const builtins[];

/* Rows common to most tables. */
#define BUILTIN_BATCH \
  { "batch", 1, 1, 65536, "batch size" }
#define BUILTIN_BITS \
  { "bits", 32, 16, 32, "bits per number, 16 or 32" }
#define BUILTIN_HALF \
  { "bits", 16, 16, 32, "bits per number, 16 or 32" }

/* Whether a text is the name of a built-in network, with or without parameters, that only lacks "builtin:". */
bool builtin_lacks_prefix(const char *text);

/* Makes the network that a path names ("builtin:resnet50?batch=8"); *parameters (may be NULL) is its number of
 * parameters. BAD_INPUT, with a list of valid names, if there is no such network, parameter or value. */
situ_status builtin_generate(situ_graph **out, const char *path, situ_dtype precision, int64_t *parameters,
                             situ_error *error);

#endif
