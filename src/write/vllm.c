/* vLLM's pipeline stages: how many layers each holds. The embedding is with the first stage, the head with the last.
 * docs/formats/language-models.md */
#include "base/fail.h"
#include "write/layer_plan.h"
#include "write/writer.h"

static situ_status add_stages(text_buffer *out, const layer_plan *l, const situ_problem *p, situ_error *error) {
  for (int32_t i = 0; i < l->n_runs; i++)
    if (problem_is_host(p, l->run[i]))
      return fail_with(error, SITU_STATUS_UNSUPPORTED, p->platform->devices[l->run[i]].name,
                       "has layers, but is a host; the stages of vLLM are GPUs (--unused)");
  TRY(layer_plan_keeps_ends(l, p, "vLLM", error));
  text_add(out, "CUDA_VISIBLE_DEVICES=");
  for (int32_t i = 0; i < l->n_runs; i++) text_add(out, "%s%d", i ? "," : "", (int)layer_plan_gpu(p, l->run[i]));
  text_add(out, "\nVLLM_PP_LAYER_PARTITION=");
  for (int32_t i = 0; i < l->n_runs; i++) text_add(out, "%s%d", i ? "," : "", (int)l->count[i]);
  text_add(out, "\n--pipeline-parallel-size %d\n", (int)l->n_runs);
  return SITU_STATUS_OK;
}

static situ_status write(text_buffer *out, const situ_plan *plan, const situ_problem *p, situ_error *error) {
  layer_plan l;
  situ_status status = layer_plan_find(&l, plan, p, false, "vLLM", error);
  if (status == SITU_STATUS_OK) status = add_stages(out, &l, p, error);
  layer_plan_free(&l);
  return status;
}

const writer vllm_writer = {
    .name = "vllm", .title = "stages for vLLM: variables and an option", .suffix = ".txt", .write = write};
