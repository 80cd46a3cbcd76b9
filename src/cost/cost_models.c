#include "cost/cost_models.h"

#include <string.h>

#include "base/contracts.h"
#include "base/fail.h"

const cost_model *const cost_models[] = {&cost_roofline, NULL};

int32_t situ_cost_models_size(void) { return (int32_t)(sizeof cost_models / sizeof cost_models[0]) - 1; }

situ_known_cost_model situ_cost_models_entry(int32_t index) {
  const cost_model *m = cost_models[index];
  return (situ_known_cost_model){m->name, m->title, m->source};
}

static const cost_model *model_find(const char *name) {
  if (!name) return cost_models[0];
  for (int i = 0; cost_models[i]; i++)
    if (strcmp(cost_models[i]->name, name) == 0) return cost_models[i];
  return NULL;
}

situ_status situ_costs_estimate(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                const situ_cost_options *options, situ_error *error) {
  *out = NULL;
  const situ_cost_options defaults = {0};
  if (!options) options = &defaults;
  const cost_model *model = model_find(options->model);
  if (!model)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "no cost model is called \"%.60s\"; \"situ list costs\" prints all", options->model);
  if (!(options->efficiency >= 0.0 && options->efficiency <= 1.0))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "the efficiency must be above 0 and at most 1 (0 for the default), not %g", options->efficiency);
  situ_costs *costs = NULL;
  situ_status status = model->estimate(&costs, graph, platform, options, error);
  if (status == SITU_STATUS_OK && options->table_path)
    status = costs_apply_table(costs, graph, platform, options->table_path, error);
  if (status != SITU_STATUS_OK) {
    situ_costs_free(costs);
    return status;
  }
  ENSURE(costs_check(costs, graph, platform, NULL) == SITU_STATUS_OK);
  *out = costs;
  return SITU_STATUS_OK;
}
