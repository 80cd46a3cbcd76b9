#include "report/plan_row.h"

#include <stdio.h>

#include "plan/layer_plan.h"
#include "plan/plan.h"

static const char *device_name(const situ_plan *plan, int32_t d) { return plan->problem->platform->devices[d].name; }

static void find_fullest(plan_row *row, const situ_plan *plan) {
  for (int32_t d = 0; d < plan->n_devices; d++) {
    situ_device_use use = plan_use(plan, d);
    double share = use.memory_limit_bytes > 0 && use.memory_limit_bytes != SITU_UNLIMITED_BYTES
                       ? (double)use.memory_bytes / (double)use.memory_limit_bytes
                       : 0;
    if (share <= row->fullest) continue;
    row->fullest = share;
    row->fullest_device = device_name(plan, d);
  }
}

void plan_row_layers(char into[PLAN_ROW_LAYERS_BYTES], const situ_plan *plan) {
  layer_plan l;
  situ_error why;
  int n = 0;
  snprintf(into, PLAN_ROW_LAYERS_BYTES, "some are cut");
  if (layer_plan_find(&l, plan, SITU_FORM_LAYERS, NULL, &why) == SITU_STATUS_OK)
    for (int32_t k = 0, first = 0; k < l.n && n < PLAN_ROW_LAYERS_BYTES - 40; k++) {
      if (k + 1 < l.n && l.device[k + 1] == l.device[k]) continue;
      n += snprintf(into + n, (size_t)(PLAN_ROW_LAYERS_BYTES - n), "%s%.24s %d", first ? ", " : "",
                    device_name(plan, l.device[k]), (int)(k + 1 - first));
      first = k + 1;
    }
  layer_plan_free(&l);
}

plan_row plan_row_of(const situ_plan *plan, const situ_model *model, double goal_tokens_per_s) {
  plan_row row = {.decode = "-", .prefill = "-"};
  if (!plan || !plan_exists(plan)) return row;
  row.rates = token_rates_of(plan, model);
  if (row.rates.decode > 0) rates_text_beside(row.decode, row.rates.decode, goal_tokens_per_s);
  if (row.rates.prefill > 0) rates_text(row.prefill, row.rates.prefill);
  find_fullest(&row, plan);
  plan_row_layers(row.layers, plan);
  return row;
}
