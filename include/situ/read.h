/* situ/read.h - reading model files.
 *
 * A model is frozen: any number of threads may read it. It owns its graph, platform, costs and texts; texts in info
 * structs are static. */
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

/* The type in which floating-point values are counted. It changes the estimates, not the model. */
typedef enum situ_precision {
  SITU_PRECISION_AS_STORED,
  SITU_PRECISION_F32,
  SITU_PRECISION_F16,
  SITU_PRECISION_BF16,
  SITU_PRECISION_I8
} situ_precision;
/* "f16", ...; "unknown" for AS_STORED and for any other value. */
SITU_API const char *situ_precision_name(situ_precision precision);

/* What changes the weights in a training step, and what it keeps of each: nothing (plain descent), momenta, or both
 * moments of Adam. MIXED also keeps a copy in F32 of weights of 16 bits, whose moments are in F32; of others it is
 * ADAM. NONE: gradients are computed and nothing is updated. DEFAULT is ADAM_MIXED. */
typedef enum situ_optimizer {
  SITU_OPTIMIZER_DEFAULT = 0,
  SITU_OPTIMIZER_NONE,
  SITU_OPTIMIZER_SGD,
  SITU_OPTIMIZER_MOMENTUM,
  SITU_OPTIMIZER_ADAM,
  SITU_OPTIMIZER_ADAM_MIXED,
  SITU_OPTIMIZER_ADAFACTOR,
  SITU_OPTIMIZER_ADAM_8BIT
} situ_optimizer;
/* "sgd", ...; "unknown" for any other value. */
SITU_API const char *situ_optimizer_name(situ_optimizer optimizer);

typedef struct situ_read_options {
  size_t size;
  const char *reader;   /* by name (situ list readers); NULL: chosen by content, then by suffix */
  const situ_dim *dims; /* values of dynamic dimensions */
  /* For dynamic dimensions without a value. 0: usual sizes are assumed, which the notes of the model state. */
  int64_t default_dim;
  int64_t max_file_bytes; /* reject larger files; 0: no limit */
  bool training; /* add backward and update operators to the forward pass in the file, to make it a training step */
  /* With `training`: a host holds the states of the optimizer and makes the updates (ZeRO-Offload). Costs that
   * situ_costs_estimate makes have the time; the one-call interface also takes the states from the host's memory. */
  bool offload_optimizer;
  int32_t n_dims;
  situ_log_callback *log; /* receives the notes about the model; may be NULL */
  void *log_context;
  /* Count floating-point weights and activations in this type: it sets their size and the peak rate of the operators
   * that compute with them. Weights that are compressed in the file keep their size. */
  situ_precision precision;
  situ_optimizer optimizer; /* with `training` */
  /* With `training`: the gradients of so many inputs add up before the weights are updated, so each input has that
   * share of the work of the optimizer. 0 means 1. The one-call interface (situ/instance.h) takes it from the problem.
   */
  int32_t micro_batches;
  /* Language models (docs/formats/language-models.md): tokens of the prompt, capacity of the cache in tokens, number of
   * parallel streams, tokens to generate; 0 means not given. With `prompt` the graph is the prefill, with `generate`
   * that many steps of decoding, with both a whole request, with neither one step of decoding with a full cache. */
  int64_t prompt, context, batch, generate;
  /* Speculative decoding: each step also verifies `draft` guessed tokens, each of which is right with probability
   * `acceptance`, above 0 and at most 1; 0 means 0.7. The cost of making the guesses is not included. */
  int64_t draft;
  double acceptance;
  const char *kv_type; /* element type of caches: "f16", "q8_0", ...; NULL: f16 */
  /* Names of dynamic dimensions whose sizes, though given here, are guesses: those that an earlier reading of the model
   * assumed. Ended by NULL; may be NULL. */
  const char *const *assumed;
  /* With `training`: the layers whose activations are not kept but computed again in the backward pass (activation
   * checkpointing): "none", as NULL; "all"; or a number, the first so many. situ_place also takes "auto". */
  const char *recompute;
  int64_t ubatch; /* language models: the tokens of a prompt that engines take through the network at once; 0: 512 */
} situ_read_options;
#define SITU_READ_OPTIONS_INIT SITU_SIZED(situ_read_options)

/* A model that was read: always a graph, and also a platform and costs if the file carries its own. */
typedef struct situ_model situ_model;

/* Reads a model: a file, or "builtin:NAME?key=value&..." for a generated one. options may be NULL. IO if it cannot be
 * opened; BAD_INPUT, with file and position, if it is malformed; UNSUPPORTED if no reader recognises it. BAD_ARGUMENT
 * if `training` is set and the file already holds a training step or precision is i8, or if `training` or `precision`
 * is set and the file carries its own times. */
SITU_API situ_status situ_model_read(situ_model **out, const char *path, const situ_read_options *options,
                                     situ_error *error);
SITU_API void situ_model_free(situ_model *model);

SITU_API const situ_graph *situ_model_graph(const situ_model *model);
SITU_API const situ_platform *situ_model_platform(const situ_model *model); /* or NULL */
SITU_API const situ_costs *situ_model_costs(const situ_model *model);       /* or NULL */

typedef struct situ_model_summary {
  size_t size;
  const char *reader;         /* the name of the reader */
  const char *notes;          /* one per line (assumed dimensions, unknown kinds); "" if there are none */
  uint64_t hash;              /* of the bytes of the file, or of the text that names a built-in */
  int32_t n_assumed_dims;     /* dynamic dimensions with an assumed size other than 1 (options: default_dim) */
  int64_t n_nested_operators; /* operators inside sub-graphs and function bodies, whose costs are included in those of
                                 their owners */
} situ_model_summary;
#define SITU_MODEL_SUMMARY_INIT SITU_SIZED(situ_model_summary)
/* False, and nothing is written, if the model or `out` is NULL or `out` has no size. Texts belong to the model. */
SITU_API bool situ_model_get_summary(const situ_model *model, situ_model_summary *out);

/* An assumed dimension; false if there is none of this index. The name is borrowed from the model. */
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
  const char *title;    /* a description in one line */
  const char *source;   /* the paper */
  char parameters[256]; /* with their defaults: "batch=1 image=224" */
} situ_builtin_info;
#define SITU_BUILTIN_INFO_INIT SITU_SIZED(situ_builtin_info)
SITU_API int32_t situ_builtin_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_builtin_at(int32_t index, situ_builtin_info *out);

/* An integer parameter of a built-in network. */
typedef struct situ_builtin_parameter {
  size_t size;
  const char *name, *about;
  int64_t default_value, min, max;
} situ_builtin_parameter;
#define SITU_BUILTIN_PARAMETER_INIT SITU_SIZED(situ_builtin_parameter)
/* Parameter number `parameter` of built-in `index`; false when there is none. */
SITU_API bool situ_builtin_parameter_at(int32_t index, int32_t parameter, situ_builtin_parameter *out);

#ifdef __cplusplus
}
#endif
#endif
