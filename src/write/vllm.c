/* vLLM's pipeline stages: how many layers each holds. The embedding is with the first stage, the head with the last.
 * And what the plan presumes: without it vLLM takes the context that the model was trained for.
 * docs/formats/language-models.md */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/fail.h"
#include "platform/catalogue.h"
#include "write/equal_shares.h"
#include "write/module_names.h"
#include "write/writer.h"

enum {
  FORM = SITU_FORM_LAYERS | SITU_FORM_EXPERTS | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_ENDS | SITU_FORM_NO_HOST |
         SITU_FORM_ONE_SERVER | SITU_FORM_ALIKE
};

/* Bytes that a GPU reports: catalogues and plans count those that are sold, in units of 10^9, of memories that are
 * built in units of 2^30. */
static double reported_bytes(const situ_problem *p, int32_t d) {
  const situ_device_kind_info *row = catalogue_find(p->platform->class_name[p->class_of[d]]);
  double built = row ? (double)row->memory_bytes / 1e9 * 1073741824 : 0;
  return fmax(built * platform_members(p->platform, d),
              (double)situ_platform_memory_bytes(p->platform, p->memory_of[d]));
}

/* The share of each GPU that vLLM may fill: its default, or what the plan needs. */
static double utilization(const situ_plan *plan) {
  double share = 0.9;
  for (int32_t d = 0; d < plan->n_devices; d++) {
    double bytes = (double)plan_use(plan, d).memory_bytes;
    if (bytes > 0) share = fmax(share, ceil(100 * bytes / reported_bytes(plan->problem, d)) / 100);
  }
  return fmin(share, 0.99);
}

static void add_conditions(text_buffer *out, const situ_plan *plan) {
  const situ_graph *g = plan->problem->graph;
  if (g->cache_tokens == 0) return;
  text_add(out, " --max-model-len %lld --max-num-seqs %lld", (long long)(g->cache_tokens / g->streams),
           (long long)g->streams);
  if (g->cache_type && strcmp(g->cache_type, "q8_0") == 0) text_add(out, " --kv-cache-dtype fp8");
  char share[32];
  c_locale_print(share, sizeof share, "%.2f", utilization(plan));
  text_add(out, " --gpu-memory-utilization %s", share);
}

/* Caches of 16 bits, or of 8, which q8_0 stands for. */
static situ_status serves(const situ_problem *p, situ_error *error) {
  const char *type = p->graph->cache_type;
  bool known = !type || strcmp(type, "q8_0") == 0 || strcmp(type, "bf16") == 0;
  return known
             ? equal_shares_check(p, true, "vLLM", error)
             : fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                         "has caches of type %s; vLLM has 16 bits (f16, bf16) and fp8 (expected --kv-type q8_0 for it)",
                         type);
}

static situ_status write_layers(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  text_add(out, "CUDA_VISIBLE_DEVICES=");
  int32_t size = platform_members(p->platform, l->run[0]);
  for (int32_t i = 0; i < l->n_runs; i++)
    for (int32_t k = 0; k < size; k++)
      text_add(out, "%s%d", i + k ? "," : "", (int)(module_names_gpu(p, l->run[i]) + k));
  text_add(out, "\nVLLM_PP_LAYER_PARTITION=");
  for (int32_t i = 0; i < l->n_runs; i++) text_add(out, "%s%d", i ? "," : "", (int)l->count[i]);
  text_add(out, "\n--pipeline-parallel-size %d", (int)l->n_runs);
  if (size > 1) text_add(out, " --tensor-parallel-size %d", (int)size);
  add_conditions(out, plan);
  text_add(out, "\n");
  return SITU_STATUS_OK;
}

const writer vllm_writer = {.name = "vllm",
                            .title = "stages for vLLM: environment variables and options",
                            .groups = true,
                            .suffix = ".txt",
                            .target = "vLLM",
                            .write_layers = write_layers,
                            .form = FORM,
                            .serves = serves,
                            .reading = &vllm_reading};
