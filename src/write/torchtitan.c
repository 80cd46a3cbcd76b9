/* torchtitan's stages: the modules of each, as its [parallelism] has them. docs/run-your-plan.md */

#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "write/equal_shares.h"
#include "write/module_names.h"
#include "write/writer.h"

enum {
  FORM = SITU_FORM_LAYERS | SITU_FORM_EXPERTS | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_ENDS | SITU_FORM_NAMES |
         SITU_FORM_ALIKE
};

static const char *const schedules[] = {[SITU_SCHEDULE_1F1B] = "1F1B",
                                        [SITU_SCHEDULE_GPIPE] = "GPipe",
                                        [SITU_SCHEDULE_INTERLEAVED] = "Interleaved1F1B",
                                        [SITU_SCHEDULE_ZB_V] = "ZBVZeroBubble"};

/* The modules of operators outside of layers, each once, in the order of the network. */
static bool add_modules(text_buffer *out, const layer_plan *l, const situ_problem *p, bool before, bool *first) {
  const situ_graph *g = p->graph;
  string_map *said = string_map_new(l->arena, p->n_operators);
  for (int32_t v = 0; said && v < p->n_operators; v++) {
    const char *module = g->layer[v] >= 0 ? g->layer_name[g->layer[v]] : g->weight_bytes[v] > 0 ? g->name[v] : NULL;
    if (g->phase[v] != SITU_PHASE_FORWARD || l->layers.of[v] >= 0 || l->layers.before[v] != before || !module ||
        string_map_get(said, module) >= 0)
      continue;
    if (string_map_put(said, module, v) < 0) return false;
    text_add(out, "%s", *first ? "" : ", ");
    module_names_quote(out, module);
    *first = false;
  }
  return said != NULL;
}

static situ_status write_layers(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  bool ok = true;
  int32_t size = platform_members(p->platform, l->run[0]);
  int32_t degree = l->chunks ? l->chunks->n_used : l->n_runs;
  text_add(out, "[parallelism]\npipeline_parallel_degree = %d\n", (int)degree);
  if (size > 1) text_add(out, "tensor_parallel_degree = %d\n", (int)size);
  if (p->micro_batches > 0) text_add(out, "pipeline_parallel_schedule = \"%s\"\n", schedules[p->schedule]);
  text_add(out, "module_fqns_per_model_part = [\n");
  for (int32_t i = 0, k = 0; i < l->n_runs; i++) {
    bool first = true;
    text_add(out, "  [");
    if (i == 0) ok = add_modules(out, l, p, true, &first);
    for (int32_t end = k + l->count[i]; k < end; k++) {
      text_add(out, "%s", first ? "" : ", ");
      module_names_quote(out, l->layers.name[k]);
      first = false;
    }
    if (i == l->n_runs - 1) ok = add_modules(out, l, p, false, &first) && ok;
    text_add(out, "], # ");
    json_quote(out, p->platform->devices[l->run[i]].name);
    text_add(out, "\n");
  }
  text_add(out, "]\n");
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

/* It splits by parallelize_module, which copies no heads. */
static situ_status serves(const situ_problem *p, situ_error *error) {
  TRY(equal_shares_check_schedule(p, ~(1U << SITU_SCHEDULE_ZB_H1), "torchtitan", error));
  return equal_shares_check(p, false, "torchtitan", error);
}

const writer torchtitan_writer = {.name = "torchtitan",
                                  .title = "stages for torchtitan: its [parallelism] section",
                                  .groups = true,
                                  .suffix = ".toml",
                                  .target = "torchtitan",
                                  .write_layers = write_layers,
                                  .form = FORM,
                                  .serves = serves,
                                  .reading = &torchtitan_reading};
