/* Each part of the plan as an ONNX model of its own, with a manifest that says what goes where. */
#include "base/fail.h"
#include "split/plan_parts.h"
#include "write/writer.h"

static situ_status write_folder(const char *folder, const situ_plan *plan, const situ_problem *p, const char *model,
                                situ_error *error) {
  onnx_file *file;
  onnx_parts *parts;
  TRY(onnx_file_open(&file, model, error));
  situ_status status = plan_parts_find(&parts, file, p->graph, plan, error);
  if (status == SITU_STATUS_OK) status = plan_parts_write(parts, folder, p->platform, error);
  onnx_parts_free(parts);
  onnx_file_free(file);
  return status;
}

const writer onnx_parts_writer = {.name = "onnx-parts",
                                  .title = "a folder: each part as an ONNX model, and a manifest",
                                  .suffix = "",
                                  .write_folder = write_folder};
