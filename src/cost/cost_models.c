#include "cost/cost_models.h"

#include <string.h>

#include "base/arguments.h"
#include "base/contracts.h"
#include "base/log.h"
#include "graph/graph.h"

const cost_model *const cost_models[] = {&cost_roofline, NULL};

int32_t situ_cost_model_count(void) { return (int32_t)(sizeof cost_models / sizeof cost_models[0]) - 1; }

bool situ_cost_model_at(int32_t index, situ_cost_model_info *out) {
  if (index < 0 || index >= situ_cost_model_count()) return false;
  const cost_model *m = cost_models[index];
  situ_cost_model_info info = {.name = m->name, .title = m->title, .source = m->source};
  return GIVE(out, info);
}

static const cost_model *model_find(const char *name) {
  if (!name) return cost_models[0];
  for (int i = 0; cost_models[i]; i++)
    if (strcmp(cost_models[i]->name, name) == 0) return cost_models[i];
  return NULL;
}

/* Where the times come from, and how many of them are too low. */
static void tell(const situ_cost_options *o, const situ_costs *costs, const situ_graph *graph) {
  log_to to = {o->log, o->log_context};
  int32_t unknown = 0;
  for (int32_t v = 0; o->log && v < graph->n_operators; v++) unknown += !graph->inferred[v];
  log_line(to, SITU_LOG_NOTE, "operator times: %s", costs->source);
  if (unknown > 0)
    log_line(to, SITU_LOG_WARNING,
             "%d of %d operators were not understood: where no table gives their times, these are too low",
             (int)unknown, (int)graph->n_operators);
}

situ_status situ_costs_estimate(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                const situ_cost_options *given, situ_error *error) {
  situ_cost_options own, *options = &own;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, graph, platform));
  TRY(TAKE(own, given, SITU_COST_OPTIONS_INIT, error));
  const cost_model *model = model_find(options->model);
  if (!model)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "no cost model is called \"%.60s\"", options->model);
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
  tell(options, costs, graph);
  ENSURE(costs_check(costs, graph, platform, NULL) == SITU_STATUS_OK);
  *out = costs;
  return SITU_STATUS_OK;
}
