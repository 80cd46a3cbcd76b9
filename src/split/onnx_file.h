/* split/onnx_file.h - splits ONNX models and assembles parts from the bytes of their messages. Node numbers are those
 * of the file, which the reader's operators keep as source_id. */
#ifndef SITU_SPLIT_ONNX_FILE_H
#define SITU_SPLIT_ONNX_FILE_H

#include "split/model_parts.h"

situ_status onnx_file_open(model_file **out, const char *path, situ_error *error);

/* The functions of the format's row. */
bool onnx_file_port(const model_file *file, int32_t value, model_port *out);
bool onnx_file_typed(const model_file *file, int32_t value);
situ_status onnx_part_write(const model_parts *parts, int32_t k, const char *folder, bool named, situ_error *error);
situ_status onnx_externals_write(const model_file *file, const char *folder, situ_error *error);

/* Adds part k as a model: everything of the file that concerns its nodes, inputs and outputs with types. */
situ_status onnx_part_emit(text_buffer *out, const model_parts *parts, int32_t k, bool named, situ_error *error);

/* How a copy of a model differs from it. */
typedef struct onnx_edit {
  void (*add)(text_buffer *node, int32_t v, void *context); /* adds fields to node v */
  bool (*drops)(const wire_field *field);                   /* fields of nodes that are left out */
  bool (*model_drops)(const wire_field *field);             /* of the model; may be NULL */
  const text_buffer *model;                                 /* fields that the model gets; may be NULL */
  void *context;
} onnx_edit;

/* Writes the whole modified model to FOLDER/model.onnx, with external data next to it. Creates the folder. */
situ_status onnx_edit_write(const model_file *file, const onnx_edit *edit, const char *folder, situ_error *error);
/* Writes a file of a folder. */
situ_status onnx_joined_write(const char *folder, const char *name, const void *bytes, size_t n, situ_error *error);

#endif
