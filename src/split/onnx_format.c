/* ONNX: models of the reader onnx, cut by their messages. */
#include "split/onnx_file.h"

static int32_t node_of(const model_file *file, int64_t source_id) {
  return source_id >= 0 && source_id < file->n_nodes ? (int32_t)source_id : -1;
}

/* Whatever begins as no other format. */
static bool recognise(const unsigned char *bytes, size_t n) {
  (void)bytes, (void)n;
  return true;
}

const model_format onnx_format = {.reader = "onnx",
                                  .title = "ONNX",
                                  .suffix = ".onnx",
                                  .recognise = recognise,
                                  .open = onnx_file_open,
                                  .port = onnx_file_port,
                                  .typed = onnx_file_typed,
                                  .node = node_of,
                                  .write_part = onnx_part_write,
                                  .write_shared = onnx_externals_write};
