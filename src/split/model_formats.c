/* The table of formats of model files. */
#include <string.h>

#include "base/fail.h"
#include "split/model_file.h"

#define ADDRESS(NAME) &NAME##_format,
static const model_format *const formats[] = {MODEL_FORMAT_ROWS(ADDRESS) NULL};

situ_status model_format_need(const char *reader, const char *path, situ_error *error) {
  for (int i = 0; formats[i]; i++)
    if (strcmp(formats[i]->reader, reader) == 0) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, path, "is not an ONNX or OpenVINO model; only these can be run");
}

situ_status model_format_find(const model_format **out, const char *path, situ_error *error) {
  enum { ENOUGH = 4096 };
  file_view view = {0};
  int i = 0;
  situ_status status = file_begin(&view, path, error);
  size_t n = view.size_bytes < ENOUGH ? view.size_bytes : ENOUGH;
  if (status == SITU_STATUS_OK) {
    file_need(&view, 0, n);
    while (!formats[i]->recognise(view.bytes, n)) i++; /* the last takes all */
    status = file_result(&view, path, error);
  }
  file_close(&view);
  *out = formats[i];
  return status;
}

situ_status model_file_open(model_file **out, const char *path, situ_error *error) {
  const model_format *format;
  *out = NULL;
  TRY(model_format_find(&format, path, error));
  TRY(format->open(out, path, error));
  (*out)->format = format;
  return SITU_STATUS_OK;
}
