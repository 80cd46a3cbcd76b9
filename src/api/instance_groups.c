/* Groups of devices of an instance (tensor parallelism): the platform of groups takes the place of the one named. */
#include <stdlib.h>
#include <string.h>

#include "api/instance.h"
#include "base/fail.h"
#include "cost/tensor_split.h"
#include "platform/grouped.h"
#include "read/reader.h"

situ_status instance_group_size(int32_t *out, const instance_options *o, situ_error *error) {
  const char *text = o->call.tensor_parallel;
  char *end;
  *out = 1;
  if (!text) return SITU_STATUS_OK;
  *out = INSTANCE_AUTO_GROUPS;
  if (strcmp(text, "auto") == 0) return SITU_STATUS_OK;
  long k = strtol(text, &end, 10);
  if (end == text || *end || k < 1 || k > SITU_MAX_DEVICES)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "tensor-parallel must be auto or a number from 1 to %d, not \"%.40s\"", SITU_MAX_DEVICES, text);
  *out = (int32_t)k;
  return SITU_STATUS_OK;
}

/* OK, or why the operators of an instance cannot be split. */
static situ_status check_split(const situ_instance *i, situ_error *error) {
  const situ_graph *g = i->model->graph;
  if (i->model->costs && i->platform == i->model->platform)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, g->model,
                     "has its own measured times; operators split for estimated costs only");
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->phase[v] != SITU_PHASE_FORWARD)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, g->name[v],
                       "belongs to a training step, whose operators groups of devices do not split yet");
  return SITU_STATUS_OK;
}

int32_t instance_group_sizes(int32_t sizes[INSTANCE_GROUP_SIZES], int32_t max) {
  int32_t n = 0;
  for (int32_t k = 1; k <= max && n + 1 < INSTANCE_GROUP_SIZES; k *= 2) sizes[n++] = k;
  if (sizes[n - 1] < max) sizes[n++] = max;
  return n;
}

int32_t instance_max_group(const situ_instance *i) {
  return check_split(i, NULL) == SITU_STATUS_OK ? platform_max_group(i->platform) : 1;
}

situ_status instance_make_groups(situ_instance *i, situ_error *error) {
  int32_t k;
  tensor_split *split = ARENA_NEW(i->arena, tensor_split, 1);
  situ_platform *grouped;
  TRY(instance_group_size(&k, &i->options, error));
  if (k == INSTANCE_AUTO_GROUPS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "only situ place tries group sizes; name one instead of auto, as in --tensor-parallel 2");
  if (k == 1) return SITU_STATUS_OK;
  TRY(check_split(i, error));
  if (!split || !tensor_split_find(split, i->model->graph, i->arena)) return fail_no_memory(error);
  TRY(platform_grouped(&grouped, i->platform, k, tensor_split_extra_bytes(split, k), error));
  i->split = split;
  i->ungrouped = i->own_platform;
  i->platform = i->own_platform = grouped;
  return SITU_STATUS_OK;
}
