#include "base/fail.h"
#include "cost/cost_models.h"

situ_status costs_apply_table(situ_costs *costs, const situ_graph *graph, const situ_platform *platform,
                              const char *path, situ_error *error) {
  return fail_with(error, SITU_STATUS_UNSUPPORTED, path, "not yet");
}
