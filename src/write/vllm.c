/* vLLM's pipeline stages: how many layers each holds. The embedding is with the first stage, the head with the last.
 * docs/formats/language-models.md */
#include "base/fail.h"
#include "write/layer_plan.h"
#include "write/writer.h"

static situ_status write_in(text_buffer *out, const situ_plan *plan, const situ_problem *p, arena *a,
                            situ_error *error) {
  layer_plan l;
  int32_t n, *run = ARENA_NEW(a, int32_t, p->n_devices), *count = ARENA_NEW(a, int32_t, p->n_devices);
  if (!run || !count) return fail_no_memory(error);
  TRY(layer_plan_find(&l, plan, p, false, "vLLM", a, error));
  TRY(layer_plan_runs(&n, run, count, &l, p, "vLLM", error));
  for (int32_t i = 0; i < n; i++)
    if (problem_is_host(p, run[i]))
      return fail_with(error, SITU_STATUS_UNSUPPORTED, p->platform->devices[run[i]].name,
                       "has layers, but is a host; the stages of vLLM are GPUs (--unused)");
  if ((l.first >= 0 && l.first != run[0]) || (l.head >= 0 && l.head != run[n - 1]))
    return fail_with(
        error, SITU_STATUS_UNSUPPORTED, p->graph->model,
        "has its embedding or its head on another device than the first and the last layer; vLLM does not");
  text_add(out, "CUDA_VISIBLE_DEVICES=");
  for (int32_t i = 0; i < n; i++) text_add(out, "%s%d", i ? "," : "", (int)layer_plan_gpu(p, run[i]));
  text_add(out, "\nVLLM_PP_LAYER_PARTITION=");
  for (int32_t i = 0; i < n; i++) text_add(out, "%s%d", i ? "," : "", (int)count[i]);
  text_add(out, "\n--pipeline-parallel-size %d\n", (int)n);
  return SITU_STATUS_OK;
}

static situ_status write(text_buffer *out, const situ_plan *plan, const situ_problem *p, situ_error *error) {
  arena *a = arena_new();
  situ_status status = a ? write_in(out, plan, p, a, error) : fail_no_memory(error);
  arena_free(a);
  return status;
}

const writer vllm_writer = {
    .name = "vllm", .title = "stages for vLLM: variables and an option", .suffix = ".txt", .write = write};
