/* vLLM's pipeline stages: how many layers each holds. The embedding is with the first stage, the head with the last.
 * docs/formats/language-models.md */
#include "plan/layer_plan.h"
#include "write/module_names.h"
#include "write/writer.h"

enum {
  FORM = SITU_FORM_LAYERS | SITU_FORM_EXPERTS | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_ENDS | SITU_FORM_NO_HOST |
         SITU_FORM_ONE_SERVER | SITU_FORM_ALIKE
};

static void add_stages(text_buffer *out, const layer_plan *l, const situ_problem *p) {
  text_add(out, "CUDA_VISIBLE_DEVICES=");
  int32_t size = platform_members(p->platform, l->run[0]);
  for (int32_t i = 0; i < l->n_runs; i++)
    for (int32_t k = 0; k < size; k++)
      text_add(out, "%s%d", i + k ? "," : "", (int)(module_names_gpu(p, l->run[i]) + k));
  text_add(out, "\nVLLM_PP_LAYER_PARTITION=");
  for (int32_t i = 0; i < l->n_runs; i++) text_add(out, "%s%d", i ? "," : "", (int)l->count[i]);
  text_add(out, "\n--pipeline-parallel-size %d", (int)l->n_runs);
  if (size > 1) text_add(out, " --tensor-parallel-size %d", (int)size);
  text_add(out, "\n");
}

static situ_status write(text_buffer *out, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  layer_plan l;
  situ_status status = layer_plan_find(&l, plan, FORM, "vLLM", error);
  if (status == SITU_STATUS_OK) add_stages(out, &l, p);
  layer_plan_free(&l);
  return status;
}

const writer vllm_writer = {.name = "vllm",
                            .title = "stages for vLLM: environment variables and an option",
                            .groups = true,
                            .suffix = ".txt",
                            .write = write,
                            .form = FORM,
                            .reading = &vllm_reading};
