/* read/tflite_file.h - a TFLite file as plain structs. The format is a flatbuffer: tables whose fields are found
 * through a list of offsets. Every offset and length of the file is checked. docs/formats/tflite.md */
#ifndef SITU_READ_TFLITE_FILE_H
#define SITU_READ_TFLITE_FILE_H

#include "base/arena.h"
#include "read/reader.h"

enum { TFLITE_MAX_RANK = 8 };

typedef struct tflite_tensor {
  const char *name;
  situ_dtype dtype;
  int32_t rank;
  int64_t dims[TFLITE_MAX_RANK];
  bool open[TFLITE_MAX_RANK]; /* the file leaves the dimension open */
  int64_t stored_bytes;       /* of a constant; 0: computed, or an input */
} tflite_tensor;

typedef struct tflite_operator {
  int32_t code;                    /* of the built-in operator */
  const char *custom;              /* the name of another one, or NULL */
  const int32_t *inputs, *outputs; /* tensors; -1: omitted */
  int32_t n_inputs, n_outputs;
  int64_t window[2]; /* height and width of what a pooling operator sees; 0 for others */
} tflite_operator;

/* The first graph of the file. */
typedef struct tflite_graph {
  const char *name; /* "" if it has none */
  tflite_tensor *tensors;
  tflite_operator *operators;
  int32_t n_tensors, n_operators, n_graphs;
} tflite_graph;

bool tflite_recognise(const read_source *source);
/* BAD_INPUT, with the byte, for an offset or a number that cannot be. All is in the arena. */
situ_status tflite_parse(tflite_graph *out, const read_source *source, arena *a, situ_error *error);

#endif
