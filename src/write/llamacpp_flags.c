/* Flags for llama.cpp. Layers go to devices in the order of -dev by the counts of -ts, in which the head counts as one
 * more of the last; the first ones, which -ngl leaves out, are on the CPU. docs/formats/language-models.md */
#include "plan/layer_plan.h"
#include "write/writer.h"

enum {
  FORM = SITU_FORM_LAYERS | SITU_FORM_SPILL | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_HEAD |
         SITU_FORM_HOST_FIRST | SITU_FORM_ONE_SERVER
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

/* What llama.cpp calls a device: the back end, and a number among its devices. */
static void add_device(text_buffer *out, const situ_problem *p, int32_t device) {
  const situ_device *devices = p->platform->devices;
  const char *name = back_end(&devices[device]);
  int32_t number = 0;
  for (int32_t d = 0; d < device; d++) number += !devices[d].is_host && back_end(&devices[d]) == name;
  text_add(out, "%s%d", name, (int)number);
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

static situ_status write(text_buffer *out, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  layer_plan l;
  situ_status status = layer_plan_find(&l, plan, FORM, "llama.cpp", error);
  if (status == SITU_STATUS_OK) add_flags(out, &l, p);
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
                                .suffix = ".txt",
                                .write = write,
                                .form = FORM};
