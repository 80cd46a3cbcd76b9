/* PyTorch's tensor parallelism: how parallelize_module splits each module over the devices of a group, and which
 * modules are a stage where there are several groups. docs/run-your-plan.md */
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "write/module_names.h"
#include "write/module_styles.h"
#include "write/writer.h"

enum {
  FORM = SITU_FORM_LAYERS | SITU_FORM_EXPERTS | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_ENDS | SITU_FORM_NO_HOST |
         SITU_FORM_NAMES | SITU_FORM_ALIKE
};

/* The words of torch.distributed.tensor.parallel. */
static const char *const words[] = {
    [MODULE_WHOLE] = NULL,
    [MODULE_BY_COLUMNS] = "{\"style\": \"ColwiseParallel\"}",
    [MODULE_GATHERED] = "{\"style\": \"ColwiseParallel\", \"output_layouts\": \"Replicate\"}",
    [MODULE_BY_ROWS] = "{\"style\": \"RowwiseParallel\"}",
    [MODULE_BY_ROWS_OF_ALL] = "{\"style\": \"RowwiseParallel\", \"input_layouts\": \"Replicate\"}",
    [MODULE_TABLE] = "{\"style\": \"RowwiseParallel\", \"input_layouts\": \"Replicate\"}",
};

/* The modules that a device splits, each once, in the order of the network. */
static situ_status add_modules(text_buffer *out, const situ_plan *plan, const module_styles *m, int32_t device,
                               arena *a, situ_error *error) {
  const situ_problem *p = plan->problem;
  string_map *said = string_map_new(a, p->n_operators);
  bool first = true;
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (plan->device[v] != device || m->style[v] == MODULE_WHOLE) continue;
    const char *path = module_styles_path(m, v, a);
    if (!said || !path) return fail_no_memory(error);
    if (*path == '\0')
      return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->name[v],
                       "is in no module of its own, but parallelize_module splits modules");
    int64_t before = string_map_get(said, path);
    if (before >= 0 && before != m->style[v])
      return fail_with(error, SITU_STATUS_UNSUPPORTED, path,
                       "has products that are split in two ways; parallelize_module has one style for each module");
    if (before >= 0) continue;
    if (string_map_put(said, path, m->style[v]) < 0) return fail_no_memory(error);
    text_add(out, "%s\n      ", first ? "" : ",");
    module_names_quote(out, path);
    text_add(out, ": %s", words[m->style[v]]);
    first = false;
  }
  if (!first) text_add(out, "\n    ");
  return SITU_STATUS_OK;
}

static situ_status add_stages(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  int32_t size = platform_members(p->platform, l->run[0]);
  module_styles m = {0};
  if (size > 1) TRY(module_styles_find(&m, p->graph, size, l->arena, error));
  text_add(out, "{\n  \"mesh\": {\"pp\": %d, \"tp\": %d},\n  \"split_points\": {", (int)l->n_runs, (int)size);
  module_names_add_splits(out, l);
  text_add(out, "},\n  \"stages\": [");
  for (int32_t i = 0; i < l->n_runs; i++) {
    text_add(out, "%s\n    {\"device\": ", i ? "," : "");
    json_quote(out, p->platform->devices[l->run[i]].name);
    text_add(out, ", \"modules\": {");
    if (size > 1) TRY(add_modules(out, plan, &m, l->run[i], l->arena, error));
    text_add(out, "}}");
  }
  text_add(out, "\n  ]\n}\n");
  return SITU_STATUS_OK;
}

/* Files of GGUF name no modules of PyTorch. What no group could split is refused before the search, so that it looks
 * for no such plan. */
static situ_status serves(const situ_problem *p, situ_error *error) {
  int32_t size = 1;
  if (p->n_copies > 1)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                     "is placed in %d copies (--copies), but parallelize_module splits one", (int)p->n_copies);
  for (int32_t v = 0; v < p->n_operators; v++)
    if (strncmp(p->graph->name[v], "blk.0.", 6) == 0)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                       "has the names of GGUF, not those of modules; name the model's folder of safetensors instead");
  for (int32_t d = 0; d < p->n_devices; d++)
    if (platform_members(p->platform, d) > size) size = platform_members(p->platform, d);
  if (size == 1) return SITU_STATUS_OK;
  module_styles m;
  arena *a = arena_new();
  situ_status status = a ? module_styles_find(&m, p->graph, size, a, error) : fail_no_memory(error);
  arena_free(a);
  return status;
}

static situ_status write(text_buffer *out, const situ_plan *plan, situ_error *error) {
  layer_plan l;
  situ_status status = serves(plan->problem, error);
  if (status != SITU_STATUS_OK) return status;
  status = layer_plan_find(&l, plan, FORM, "parallelize_module", error);
  if (status == SITU_STATUS_OK) status = add_stages(out, &l, plan, error);
  layer_plan_free(&l);
  return status;
}

const writer torch_tensor_parallel_writer = {.name = "torch-tensor-parallel",
                                             .title = "styles of modules for parallelize_module of PyTorch",
                                             .groups = true,
                                             .suffix = ".json",
                                             .write = write,
                                             .form = FORM,
                                             .serves = serves};
