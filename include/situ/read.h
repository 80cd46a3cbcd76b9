/* situ/read.h - model files in. */
#ifndef SITU_READ_H
#define SITU_READ_H

#include "situ/costs.h"
#include "situ/graph.h"
#include "situ/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_dim {
  const char *name; /* the name of a dynamic dimension in the file */
  int64_t value;    /* >= 0 */
} situ_dim;

typedef struct situ_read_options {
  const char *reader;   /* by name (situ list readers); NULL: chosen by content, then suffix */
  const situ_dim *dims; /* values of dynamic dimensions */
  int32_t n_dims;
  int64_t default_dim;    /* for dynamic dimensions that have no value; 0 means 1 */
  int64_t max_file_bytes; /* refuse files above this; 0 means no limit */
  bool training; /* make a training step of the forward pass that the file holds: backward and update operators */
} situ_read_options;

/* The result of reading a model: always a graph; platform and costs too if the file carries its own (else NULL). Text
 * fields belong to the model. */
typedef struct situ_model {
  situ_graph *graph;
  situ_platform *platform;    /* or NULL */
  situ_costs *costs;          /* or NULL */
  const char *reader;         /* name of the reader */
  const char *notes;          /* one remark for people per line (assumed dimensions, unknown kinds); "" when none */
  uint64_t hash;              /* of the bytes of the file, or of a built-in's text */
  int64_t n_nested_operators; /* operators inside sub-graphs and function bodies, costed into their owners */
} situ_model;

/* Reads a model: a file, or "builtin:NAME?key=value&..." for a generated one. options may be NULL.
 * IO when it cannot be opened; BAD_INPUT when malformed, with file and place; UNSUPPORTED when no reader recognises it.
 * BAD_ARGUMENT when `training` is set and the file holds a training step already, or carries its own times. */
SITU_API situ_status situ_model_read(situ_model **out, const char *path, const situ_read_options *options,
                                     situ_error *error);
SITU_API void situ_model_free(situ_model *model);

/* The built-in models, for lists and help. All text is static. */
typedef struct situ_builtin_info {
  const char *name;     /* as in "builtin:NAME" */
  const char *title;    /* what it is, in a line */
  const char *source;   /* the paper */
  char parameters[256]; /* with their defaults: "batch=1 image=224" */
} situ_builtin_info;

/* A parameter of a built-in model: a whole number. */
typedef struct situ_builtin_parameter {
  const char *name, *about;
  int64_t otherwise, least, most; /* the default and the range */
} situ_builtin_parameter;

SITU_API int32_t situ_builtin_size(void);
/* Built-in `index` (0 <= index < size); all NULL and empty when there is none. */
SITU_API situ_builtin_info situ_builtin_at(int32_t index);
/* Parameter number `parameter` of built-in `index`; false when there is none. */
SITU_API bool situ_builtin_parameter_at(int32_t index, int32_t parameter, situ_builtin_parameter *out);

#ifdef __cplusplus
}
#endif
#endif
