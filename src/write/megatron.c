/* Megatron-LM's pipeline: the layers of each stage as a layout, "Et*5|t*6|t*4L" (E the embedding, t a layer, L head and
 * loss), and sizes of groups. docs/run-your-plan.md */
#include "base/fail.h"
#include "write/equal_shares.h"
#include "write/writer.h"

enum {
  FORM = SITU_FORM_LAYERS | SITU_FORM_EXPERTS | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_ENDS | SITU_FORM_NO_HOST |
         SITU_FORM_ALIKE
};

/* Chunks of equally many layers have an option of their own, which a layout replaces. */
static bool is_even(const layer_plan *l) {
  for (int32_t i = 1; i < l->n_runs; i++)
    if (l->count[i] != l->count[0]) return false;
  return l->chunks && l->chunks->n_used > 1;
}

static situ_status write_layers(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  int32_t size = platform_members(p->platform, l->run[0]), n = l->chunks ? l->chunks->n_used : l->n_runs;
  text_add(out, "--pipeline-model-parallel-size %d --tensor-model-parallel-size %d", (int)n, (int)size);
  if (is_even(l)) {
    text_add(out, " --num-layers-per-virtual-pipeline-stage %d\n# ranks:", (int)l->count[0]);
  } else {
    text_add(out, " --pipeline-model-parallel-layout '");
    for (int32_t i = 0; i < l->n_runs; i++)
      text_add(out, "%s%st*%d%s", i ? "|" : "", i ? "" : "E", (int)l->count[i], i == l->n_runs - 1 ? "L" : "");
    text_add(out, "'\n# ranks:");
  }
  for (int32_t i = 0; i < n; i++) text_add(out, " %s", p->platform->devices[l->run[i]].name);
  text_add(out, "\n");
  return SITU_STATUS_OK;
}

static situ_status serves(const situ_problem *p, situ_error *error) {
  TRY(equal_shares_check_schedule(p, 1U << SITU_SCHEDULE_1F1B | 1U << SITU_SCHEDULE_INTERLEAVED, "Megatron-LM", error));
  return equal_shares_check(p, true, "Megatron-LM", error);
}

const writer megatron_writer = {.name = "megatron",
                                .title = "stages for Megatron-LM: its options",
                                .groups = true,
                                .suffix = ".txt",
                                .target = "Megatron-LM",
                                .write_layers = write_layers,
                                .form = FORM,
                                .serves = serves,
                                .reading = &megatron_reading};
