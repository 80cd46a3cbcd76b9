/* Each part of the plan as an ONNX model of its own, with a manifest of the tensors between them. */
#include "split/plan_parts.h"
#include "write/writer.h"

static situ_status write_folder(const char *folder, const situ_plan *plan, const char *model, situ_error *error) {
  return plan_parts_write_by(plan_parts_write, folder, plan, model, error);
}

const writer onnx_parts_writer = {.name = "onnx-parts",
                                  .title = "a folder: each part as an ONNX model, and a manifest",
                                  .suffix = "",
                                  .write_folder = write_folder};
