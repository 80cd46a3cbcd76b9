/* Split points for torch.distributed.pipelining: the first layer of each stage but the first. docs/run-your-plan.md */
#include "base/json.h"
#include "write/module_names.h"
#include "write/writer.h"

enum {
  FORM = SITU_FORM_LAYERS | SITU_FORM_EXPERTS | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_ENDS | SITU_FORM_NAMES
};

static situ_status write_layers(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  text_add(out, "{\n  \"split_points\": {");
  module_names_add_splits(out, l);
  text_add(out, "},\n  \"devices\": [");
  for (int32_t i = 0; i < l->n_runs; i++) {
    text_add(out, "%s", i ? ", " : "");
    json_quote(out, p->platform->devices[l->run[i]].name);
  }
  text_add(out, "]\n}\n");
  return SITU_STATUS_OK;
}

const writer torch_pipelining_writer = {.name = "torch-pipelining",
                                        .title = "split points for torch.distributed.pipelining",
                                        .suffix = ".json",
                                        .target = "torch.distributed.pipelining",
                                        .write_layers = write_layers,
                                        .form = FORM,
                                        .reading = &torch_pipelining_reading};
