/* read/onnx_skim.h - an ONNX file without its weights.
 *
 * One pass over the wire format of the file copies the fields that src/read/onnx.proto names and skips the rest: data
 * of tensors that are too large to matter for shapes, large attributes, documentation. Skipped bytes are never read, so
 * that the weights of a large file never enter memory. */
#ifndef SITU_READ_ONNX_SKIM_H
#define SITU_READ_ONNX_SKIM_H

#include "base/text.h"
#include "read/reader.h"
#include "situ/error.h"

enum {
  ONNX_MAX_NESTING = 64,           /* sub-graphs within sub-graphs; deeper files are refused */
  ONNX_KEPT_WHOLE_BYTES = 1 << 15, /* data kept of a tensor of int32, int64 or bool, and of an attribute */
  ONNX_KEPT_OTHER_BYTES = 1 << 10  /* data kept of a tensor of another type */
};

/* The first field that the schema of IR version 13 does not have. */
typedef struct onnx_newer {
  const char *message; /* static; NULL: there is none */
  uint32_t field;
} onnx_newer;

/* Adds the skimmed message to `out`. BAD_INPUT, with the place in the file, when the wire form is broken, a message
 * that must be single comes twice, or sub-graphs are nested too deeply. */
situ_status onnx_skim(text_buffer *out, onnx_newer *newer, const read_source *source, situ_error *error);

/* Whether the bytes look like an ONNX model: 2 when its outermost fields are those of one, 1 when they begin so. */
int onnx_skim_recognise(const read_source *source);

#endif
