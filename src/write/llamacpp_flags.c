/* Flags for llama.cpp. Layers go to devices in the order of -dev by the counts of -ts, in which the head counts as one
 * more of the last; the first ones, which -ngl leaves out, are on the CPU. Or one group of devices splits all operators
 * (-sm tensor). docs/formats/language-models.md */
#include "base/fail.h"
#include "plan/layer_plan.h"
#include "write/writer.h"

enum {
  FORM = SITU_FORM_LAYERS | SITU_FORM_SPILL | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_HEAD |
         SITU_FORM_HOST_FIRST | SITU_FORM_ONE_SERVER | SITU_FORM_ONE_GROUP
};

/* The back end that runs a device. */
static const char *back_end(const situ_device *d) {
  switch (d->family) {
    case SITU_FAMILY_GPU_AMD: return "ROCm";
    case SITU_FAMILY_GPU_INTEL: return "SYCL";
    case SITU_FAMILY_GPU_APPLE: return "MTL";
    default: return "CUDA";
  }
}

/* What llama.cpp calls a device: the back end, and a number among its devices. Of a group, all members. */
static void add_device(text_buffer *out, const situ_problem *p, int32_t device) {
  const situ_device *devices = p->platform->devices;
  const char *name = back_end(&devices[device]);
  int32_t number = 0;
  for (int32_t d = 0; d < device; d++)
    if (!devices[d].is_host && back_end(&devices[d]) == name) number += platform_members(p->platform, d);
  for (int32_t k = 0; k < platform_members(p->platform, device); k++)
    text_add(out, "%s%s%d", k > 0 ? "," : "", name, (int)number + k);
}

/* The numbers of layers whose experts are on the host. */
static void add_spilled(text_buffer *out, const layer_plan *l) {
  bool any = false;
  for (int32_t k = 0; k < l->n; k++) {
    if (!l->spilled[k]) continue;
    text_add(out, "%s%d", any ? "|" : " -ot 'blk\\.(", (int)k);
    any = true;
  }
  if (any) text_add(out, ")\\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU'");
}

static void add_flags(text_buffer *out, const layer_plan *l, const situ_problem *p) {
  const int32_t *run = l->run, *count = l->count, n_runs = l->n_runs;
  int32_t from = problem_is_host(p, run[0]), n_gpu_layers = 0;
  for (int32_t i = from; i < n_runs; i++) n_gpu_layers += count[i];
  bool head_alone = l->head >= 0 && l->head != run[n_runs - 1];
  if (n_gpu_layers == 0 && !head_alone) {
    text_add(out, "-dev none -ngl 0");
    return;
  }
  text_add(out, "-dev ");
  for (int32_t i = from; i < n_runs; i++) {
    if (i > from) text_add(out, ",");
    add_device(out, p, run[i]);
  }
  if (head_alone) {
    if (n_runs > from) text_add(out, ",");
    add_device(out, p, l->head);
  }
  text_add(out, " -sm layer -ts ");
  for (int32_t i = from; i < n_runs; i++)
    text_add(out, "%s%d", i > from ? "," : "", (int)(count[i] + (i + 1 == n_runs && !head_alone)));
  if (head_alone) text_add(out, "%s1", n_runs > from ? "," : "");
  text_add(out, " -ngl %d", (int)n_gpu_layers + 1);
  if (l->first >= 0 && !problem_is_host(p, l->first)) {
    text_add(out, " -ot token_embd.weight="); /* no quotes: $(cat FILE) would keep them */
    add_device(out, p, l->first);
  }
  add_spilled(out, l);
}

static bool has_groups(const situ_problem *p) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (p->platform->devices[d].members > 1) return true;
  return false;
}

/* With -sm tensor, llama.cpp has one group of all devices of -dev, and no layer on the CPU. */
static situ_status serves(const situ_problem *p, situ_error *error) {
  if (has_groups(p) && p->graph->cache_type)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                     "has a quantised cache, which llama.cpp does not split over devices");
  return SITU_STATUS_OK;
}

static void add_tensor_flags(text_buffer *out, const layer_plan *l, const situ_problem *p) {
  text_add(out, "-dev ");
  add_device(out, p, l->run[0]);
  text_add(out, " -sm tensor -fa on -ngl %d", (int)l->n + 1);
}

static situ_status write(text_buffer *out, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  layer_plan l;
  situ_status status = layer_plan_find(&l, plan, FORM, "llama.cpp", error);
  if (status == SITU_STATUS_OK) (p->platform->devices[l.run[0]].members > 1 ? add_tensor_flags : add_flags)(out, &l, p);
  layer_plan_free(&l);
  if (status != SITU_STATUS_OK) return status;
  if (p->graph->cache_tokens > 0) text_add(out, " -c %lld", (long long)p->graph->cache_tokens);
  const char *type = p->graph->cache_type; /* quantised values need flash attention */
  if (type) text_add(out, " -ctk %s -ctv %s -fa on", type, type);
  text_add(out, " --fit off\n");
  return SITU_STATUS_OK;
}

const writer llamacpp_writer = {.name = "llama.cpp",
                                .title = "flags for llama-server and llama-cli",
                                .groups = true,
                                .suffix = ".txt",
                                .write = write,
                                .form = FORM,
                                .serves = serves};
