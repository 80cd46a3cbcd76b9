/* situ/read.h - model files in.
 *
 * A model is frozen: any number of threads may read it. It owns its graph, platform, costs and texts; texts of infos
 * are static. */
#ifndef SITU_READ_H
#define SITU_READ_H

#include "situ/costs.h"
#include "situ/graph.h"
#include "situ/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Closed: it never grows. */
typedef struct situ_dim {
  const char *name; /* the name of a dynamic dimension in the file */
  int64_t value;    /* >= 0 */
} situ_dim;

/* In which type values of floating types are counted: a question, not a conversion. */
typedef enum situ_precision {
  SITU_PRECISION_AS_STORED,
  SITU_PRECISION_F32,
  SITU_PRECISION_F16,
  SITU_PRECISION_BF16,
  SITU_PRECISION_I8
} situ_precision;
/* "f16"; "unknown" for AS_STORED and for what is no precision. */
SITU_API const char *situ_precision_name(situ_precision precision);

typedef struct situ_read_options {
  size_t size;
  const char *reader;   /* by name (situ list readers); NULL: chosen by content, then suffix */
  const situ_dim *dims; /* values of dynamic dimensions */
  /* For dynamic dimensions that have no value. 0: usual sizes are assumed, which the notes of the model state. */
  int64_t default_dim;
  int64_t max_file_bytes; /* refuse files above this; 0 means no limit */
  bool training; /* make a training step of the forward pass that the file holds: backward and update operators */
  int32_t n_dims;
  situ_log_callback *log; /* receives the notes of the model; may be NULL */
  void *log_context;
  /* Weights and activations of floating types count in this one: their bytes, and the rate of what computes with them.
   * Weights that are compressed in the file keep their bytes. */
  situ_precision precision;
  int32_t reserved; /* 0 */
  /* Language models (docs/formats/language-models.md): tokens of the prompt, of the cache, streams side by side, tokens
   * to generate; 0 means not given. A prompt asks for prefill, tokens to generate for that many steps of decoding, both
   * for a whole request, neither for one step of decoding behind a full cache. */
  int64_t prompt, context, batch, generate;
  /* Speculative decoding: each step takes `draft` guessed tokens with it, each of which is right with probability
   * `acceptance`, above 0, at most 1; 0 means 0.7. What makes the guesses is not counted. */
  int64_t draft;
  double acceptance;
  const char *kv_type; /* of the elements of caches: "f16", "q8_0", ...; NULL: f16 */
} situ_read_options;
#define SITU_READ_OPTIONS_INIT SITU_SIZED(situ_read_options)

/* What a reader got out of a model: always a graph; a platform and costs too where the file carries its own. */
typedef struct situ_model situ_model;

/* Reads a model: a file, or "builtin:NAME?key=value&..." for a generated one. options may be NULL.
 * IO when it cannot be opened; BAD_INPUT when malformed, with file and place; UNSUPPORTED when no reader recognises it.
 * BAD_ARGUMENT when `training` is set and the file holds a training step already or precision is i8, and when
 * `training` or `precision` is set and the file carries its own times. */
SITU_API situ_status situ_model_read(situ_model **out, const char *path, const situ_read_options *options,
                                     situ_error *error);
SITU_API void situ_model_free(situ_model *model);

SITU_API const situ_graph *situ_model_graph(const situ_model *model);
SITU_API const situ_platform *situ_model_platform(const situ_model *model); /* or NULL */
SITU_API const situ_costs *situ_model_costs(const situ_model *model);       /* or NULL */
SITU_API const char *situ_model_reader(const situ_model *model);            /* the name of the reader */
/* One remark for people per line (assumed dimensions, unknown kinds); "" when there is none. */
SITU_API const char *situ_model_notes(const situ_model *model);
/* Of the bytes of the file, or of a built-in's text. */
SITU_API uint64_t situ_model_hash(const situ_model *model);
/* Operators inside sub-graphs and function bodies, costed into their owners. */
SITU_API int64_t situ_model_n_nested_operators(const situ_model *model);

/* How many dynamic dimensions got an assumed size other than 1 (options: default_dim). */
SITU_API int32_t situ_model_n_assumed_dims(const situ_model *model);
/* One of them; false when there is none of this index. The name is borrowed from the model. */
SITU_API bool situ_model_assumed_dim(const situ_model *model, int32_t index, situ_dim *out);

/* The table of readers. */
typedef struct situ_reader_info {
  size_t size;
  const char *name, *title;
  const char *suffixes; /* ".onnx .ort"; "" for none */
} situ_reader_info;
#define SITU_READER_INFO_INIT SITU_SIZED(situ_reader_info)
SITU_API int32_t situ_reader_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_reader_at(int32_t index, situ_reader_info *out);

/* The table of built-in networks. */
typedef struct situ_builtin_info {
  size_t size;
  const char *name;     /* as in "builtin:NAME" */
  const char *title;    /* what it is, in a line */
  const char *source;   /* the paper */
  char parameters[256]; /* with their defaults: "batch=1 image=224" */
} situ_builtin_info;
#define SITU_BUILTIN_INFO_INIT SITU_SIZED(situ_builtin_info)
SITU_API int32_t situ_builtin_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_builtin_at(int32_t index, situ_builtin_info *out);

/* A parameter of a built-in network: a whole number. */
typedef struct situ_builtin_parameter {
  size_t size;
  const char *name, *about;
  int64_t otherwise, least, most; /* the default and the range */
} situ_builtin_parameter;
#define SITU_BUILTIN_PARAMETER_INIT SITU_SIZED(situ_builtin_parameter)
/* Parameter number `parameter` of built-in `index`; false when there is none. */
SITU_API bool situ_builtin_parameter_at(int32_t index, int32_t parameter, situ_builtin_parameter *out);

#ifdef __cplusplus
}
#endif
#endif
