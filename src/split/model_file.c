#include "split/model_file.h"

#include <stdlib.h>

int32_t model_type_number(situ_dtype dtype) {
  /* TensorProto.DataType; 8-bit floats have several numbers, so theirs must be declared in the file */
  static const int8_t numbers[SITU_DTYPE_MAX] = {
      [SITU_DTYPE_F64] = 11, [SITU_DTYPE_F32] = 1,    [SITU_DTYPE_F16] = 10, [SITU_DTYPE_BF16] = 16,
      [SITU_DTYPE_I64] = 7,  [SITU_DTYPE_I32] = 6,    [SITU_DTYPE_I16] = 5,  [SITU_DTYPE_I8] = 3,
      [SITU_DTYPE_U64] = 13, [SITU_DTYPE_U32] = 12,   [SITU_DTYPE_U16] = 4,  [SITU_DTYPE_U8] = 2,
      [SITU_DTYPE_BOOL] = 9, [SITU_DTYPE_STRING] = 8, [SITU_DTYPE_C64] = 14, [SITU_DTYPE_C128] = 15};
  return (unsigned)dtype < SITU_DTYPE_MAX ? numbers[dtype] : 0;
}

void model_file_free(model_file *file) {
  if (!file) return;
  if (file->format && file->format->close) file->format->close(file);
  file_close(&file->view);
  free(file->values);
  free(file->externals);
  arena_free(file->arena);
}
