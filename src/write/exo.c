/* Shards for exo: a run of layers for each node around the ring. docs/formats/language-models.md */
#include "base/json.h"
#include "write/writer.h"

enum { FORM = SITU_FORM_LAYERS | SITU_FORM_EXPERTS | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_ENDS };

static situ_status write_layers(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  text_add(out, "{\n  \"n_layers\": %d,\n  \"shards\": [", (int)l->n);
  for (int32_t i = 0, from = 0; i < l->n_runs; from += l->count[i++]) {
    text_add(out, "%s\n    {\"node\": ", i ? "," : "");
    json_quote(out, p->platform->devices[l->run[i]].name);
    text_add(out,
             ", \"device_rank\": %d, \"world_size\": %d, \"start_layer\": %d, \"end_layer\": %d, \"n_layers\": %d}",
             (int)i, (int)l->n_runs, (int)from, (int)(from + l->count[i]), (int)l->n);
  }
  text_add(out, "\n  ]\n}\n");
  return SITU_STATUS_OK;
}

const writer exo_writer = {.name = "exo",
                           .title = "shards for exo's ring",
                           .suffix = ".json",
                           .target = "exo",
                           .write_layers = write_layers,
                           .form = FORM,
                           .reading = &exo_reading};
