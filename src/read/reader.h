/* read/reader.h - readers. Each is one file that exports one const struct; READER_ROWS lists them. */
#ifndef SITU_READ_READER_H
#define SITU_READ_READER_H

#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "situ/read.h"

/* The input of a reader. */
typedef struct read_source {
  const char *path;           /* for messages, suffix and the folder of external data; "builtin:..." for built-ins */
  const unsigned char *bytes; /* of the file; NULL for built-ins */
  size_t size_bytes;
  file_view *view;                  /* what reads them, for readers in parts; NULL: all bytes are there */
  const situ_read_options *options; /* never NULL; default_dim >= 0 */
} read_source;

/* Sees that the bytes of the source at `at` are there. A failure stays in the view; the bytes are zero then. */
static inline void read_need(const read_source *source, const unsigned char *at, size_t n) {
  if (source->view) file_need(source->view, (size_t)(at - source->bytes), n);
}

/* A model that came from standard input has such a path: the file has no name (cli/standard_input.c). */
#define READ_UNNAMED "/dev/fd/"
/* What a file is that no reader reads, and what to do; NULL if its first bytes are those of no such format. */
const char *read_no_model(const read_source *source);

/* The name of a model whose file does not name it: its path without the folder. */
static inline const char *read_base_name(const char *path) {
  if (strncmp(path, READ_UNNAMED, sizeof READ_UNNAMED - 1) == 0) return "standard input";
  return file_name(path);
}

/* BAD_ARGUMENT unless n_dims is the number of dims and each has a name. */
situ_status read_check_dims(const situ_read_options *options, situ_error *error);

/* Which segments of a training step are recomputed (graph/graph.h, graph_training): the first so many, and others. */
enum { READ_MAX_SEGMENTS = 4096 };
typedef struct recompute_choice {
  int32_t first, n_also; /* segments from n_also on are not among the others */
  bool also[READ_MAX_SEGMENTS];
} recompute_choice;
/* BAD_ARGUMENT if the option is none of its values, "auto" included. */
situ_status read_recompute(recompute_choice *out, const situ_read_options *options, situ_error *error);
/* That choice as the option says it: "none", "all", "8" or a list such as "2-5,9-9". The caller frees it. */
char *recompute_choice_text(const recompute_choice *choice);

/* Makes the model a training step, and says in its notes what that keeps. BAD_ARGUMENT if it has its own times,
 * BAD_INPUT if nothing can be trained or recomputed. */
situ_status read_make_training(situ_model *model, const char *path, const situ_read_options *options,
                               situ_error *error);

/* Adds to the dimensions given those that the model got by assumption, so that who runs it feeds the same sizes. Names
 * are borrowed from the model, the list is of the arena. */
situ_status read_take_assumed(situ_read_options *options, const situ_model *model, arena *a, situ_error *error);

/* The work of a language model: steps of two kinds, prefill and decoding, of the same operators and tensors. `graph` of
 * the model is one of them, `other` the other; the requested time is that of `repeats` steps of each. */
typedef struct read_steps {
  situ_graph *other;  /* NULL: no language model, one step of `graph` */
  bool prefill_first; /* `graph` is a step of prefill */
  int64_t repeats[2]; /* of `graph`, of `other`; may be 0 */
  int64_t whole[2];   /* of `graph`, of `other`: for the whole prompt, for all that is to be generated; at least 1 */
  double tokens[2];   /* expected number of tokens that a step of each adds */
  int64_t trained_context; /* tokens that the model was trained for; 0: not known */
  const char *engine;      /* the engine that files of this kind are made for, static; NULL: the general one */
} read_steps;

/* The content of a model; see the accessors of situ/read.h. */
struct situ_model {
  situ_graph *graph;
  situ_platform *platform; /* or NULL */
  situ_costs *costs;       /* or NULL */
  bool trained;            /* see read_result */
  int64_t *measured_ns;
  const char *measured_on;
  const char *reader, *notes;
  uint64_t hash;
  int64_t n_nested_operators;
  size_t header_bytes; /* see read_result */
  read_steps steps;
  situ_dim *dims;
  int32_t n_dims;
};

/* The output of a reader: `graph` always; `platform` and `costs` if the file has them; `notes` by text_add, a line
 * each. */
typedef struct read_result {
  situ_graph *graph;
  situ_platform *platform;
  situ_costs *costs;
  bool trained;            /* the graph is the training step that the options ask for */
  int64_t *measured_ns;    /* [operator] on devices whose class begins with `measured_on`, wherever else the model is
                              placed; NULL: nothing was measured, or the costs apply to the platform alone */
  const char *measured_on; /* static */
  text_buffer notes;
  int64_t n_nested_operators;
  size_t header_bytes; /* of a file of weights: the bytes that the model was read from, which determine its hash; 0: all
                          bytes */
  read_steps steps;
  situ_dim *dims; /* dynamic dimensions whose size was assumed and is not one; one allocation with their names */
  int32_t n_dims;
} read_result;

typedef struct reader {
  const char *name, *title;
  const char *suffixes; /* ".onnx .ort", tried when no reader knows the content */
  /* How sure the reader is that the content has its format: -1 certainly not, whatever the suffix, 0 no, 1 maybe, 2
   * certain. Examines a few bytes of the content only. NULL for the built-ins. */
  int (*recognise)(const read_source *source);
  bool names_dims; /* its files have dynamic dimensions with names */
  bool takes_load; /* its models are language models, and options say what they have to do */
  bool in_parts;   /* it asks for the bytes that it reads with read_need; for others the whole file is there, a text */
  /* Reads. On failure the caller frees the contents of `result`. */
  situ_status (*read)(read_result *result, const read_source *source, situ_error *error);
} reader;

/* The table of readers: one file that exports NAME_reader, and one line here. */
#define READER_ROWS(ROW) \
  ROW(onnx)              \
  ROW(gguf)              \
  ROW(safetensors)       \
  ROW(workload)          \
  ROW(openvino)          \
  ROW(tflite)            \
  ROW(pipedream)         \
  ROW(graph)             \
  ROW(builtin)
#define READER_DECLARE(NAME) extern const reader NAME##_reader;
READER_ROWS(READER_DECLARE)

extern const reader *const readers[]; /* ended by NULL */

/* The element type of a precision, UNKNOWN for AS_STORED. */
situ_dtype read_precision(situ_precision precision);

#endif
