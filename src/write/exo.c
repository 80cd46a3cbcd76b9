/* Shards for exo: a run of layers for each node around the ring. docs/formats/language-models.md */
#include "base/fail.h"
#include "base/json.h"
#include "write/layer_plan.h"
#include "write/writer.h"

static situ_status write_in(text_buffer *out, const situ_plan *plan, const situ_problem *p, arena *a,
                            situ_error *error) {
  layer_plan l;
  int32_t n, *run = ARENA_NEW(a, int32_t, p->n_devices), *count = ARENA_NEW(a, int32_t, p->n_devices);
  if (!run || !count) return fail_no_memory(error);
  TRY(layer_plan_find(&l, plan, p, false, "exo", a, error));
  TRY(layer_plan_runs(&n, run, count, &l, p, "exo", error));
  if ((l.first >= 0 && l.first != run[0]) || (l.head >= 0 && l.head != run[n - 1]))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                     "has its embedding or its head on another device than the first and the last layer; exo does not");
  text_add(out, "{\n  \"n_layers\": %d,\n  \"shards\": [", (int)l.n);
  for (int32_t i = 0, from = 0; i < n; from += count[i++]) {
    text_add(out, "%s\n    {\"node\": ", i ? "," : "");
    json_quote(out, p->platform->devices[run[i]].name);
    text_add(out,
             ", \"device_rank\": %d, \"world_size\": %d, \"start_layer\": %d, \"end_layer\": %d, \"n_layers\": %d}",
             (int)i, (int)n, (int)from, (int)(from + count[i]), (int)l.n);
  }
  text_add(out, "\n  ]\n}\n");
  return SITU_STATUS_OK;
}

static situ_status write(text_buffer *out, const situ_plan *plan, const situ_problem *p, situ_error *error) {
  arena *a = arena_new();
  situ_status status = a ? write_in(out, plan, p, a, error) : fail_no_memory(error);
  arena_free(a);
  return status;
}

const writer exo_writer = {.name = "exo", .title = "shards for exo's ring", .suffix = ".json", .write = write};
