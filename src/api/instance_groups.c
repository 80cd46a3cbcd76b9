/* Groups of devices of an instance (tensor parallelism): the platform of groups takes the place of the one named. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/instance.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"
#include "cost/efficiency.h"
#include "cost/training_split.h"
#include "platform/grouped.h"
#include "read/reader.h"

static const double MIN_SHARE = 1e-4;
enum { NAMED_DEVICES = 3 };

/* Shares of the members of one group, as in "3,1". *n: how many; 0: the text has none. */
static situ_status read_shares(double share[INSTANCE_MAX_SHARES], int32_t *n, const char *text, situ_error *error) {
  double sum = 0;
  *n = 0;
  if (!strchr(text, ',')) return SITU_STATUS_OK;
  for (const char *at = text; at; at = *at ? at + 1 : NULL) {
    if (*n < INSTANCE_MAX_SHARES) at = text_scan_number(at, &share[*n]);
    if (!at || *n == INSTANCE_MAX_SHARES || !(share[*n] > 0 && share[*n] <= 1e9) || (*at && *at != ','))
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                       "tensor-parallel \"%.80s\": expected shares above 0 of 2 to %d devices, as in 3,1", text,
                       INSTANCE_MAX_SHARES);
    sum += share[(*n)++];
  }
  for (int32_t i = 0; i < *n; i++)
    if ((share[i] /= sum) < MIN_SHARE)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                       "tensor-parallel \"%.80s\": each share must be at least 1/10000 of their sum", text);
  return SITU_STATUS_OK;
}

situ_status instance_group_size(int32_t *out, const instance_options *o, situ_error *error) {
  const char *text = o->call.tensor_parallel;
  double share[INSTANCE_MAX_SHARES];
  char *end;
  *out = 1;
  if (!text) return SITU_STATUS_OK;
  *out = INSTANCE_AUTO_GROUPS;
  if (strcmp(text, "auto") == 0) return SITU_STATUS_OK;
  TRY(read_shares(share, out, text, error));
  if (*out > 0) return SITU_STATUS_OK;
  long k = strtol(text, &end, 10);
  if (end == text || *end || k < 1 || k > SITU_MAX_DEVICES)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "tensor-parallel must be auto, a number from 1 to %d, or shares as in 3,1, not \"%.40s\"",
                     SITU_MAX_DEVICES, text);
  *out = (int32_t)k;
  return SITU_STATUS_OK;
}

/* OK, or why the operators of an instance cannot be split. */
static situ_status check_split(const situ_instance *i, situ_error *error) {
  const situ_graph *g = i->model->graph;
  if (i->model->costs && i->platform == i->model->platform)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, g->model,
                     "has its own measured times; operators split for estimated costs only");
  for (int32_t v = 0; v < g->n_operators && !g->made_training; v++)
    if (g->phase[v] != SITU_PHASE_FORWARD)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, g->name[v],
                       "is of a training step that situ did not make, whose operators groups of devices do not split");
  return SITU_STATUS_OK;
}

int32_t instance_group_sizes(int32_t sizes[INSTANCE_GROUP_SIZES], int32_t max) {
  int32_t n = 0;
  for (int32_t k = 1; k <= max && n + 1 < INSTANCE_GROUP_SIZES; k *= 2) sizes[n++] = k;
  if (sizes[n - 1] < max) sizes[n++] = max;
  return n;
}

/* [device] that the caller leaves unused: they are in no group, and their names stay. NULL without memory. */
static bool *find_alone(const situ_instance *i, arena *a) {
  bool *alone = ARENA_ZERO(a, bool, i->platform->n_devices);
  for (int32_t k = 0; alone && k < i->options.call.n_unused; k++) {
    int32_t d = situ_platform_find(i->platform, i->options.call.unused[k]);
    if (d >= 0) alone[d] = true;
  }
  return alone;
}

int32_t instance_max_group(const situ_instance *i) {
  arena *a = arena_new();
  const bool *alone = a ? find_alone(i, a) : NULL;
  int32_t max = alone && check_split(i, NULL) == SITU_STATUS_OK ? platform_max_group(i->platform, alone) : 1;
  arena_free(a);
  return max;
}

bool instance_shares_text(char into[INSTANCE_SHARES_BYTES], const situ_instance *i, int32_t k, bool by_memory) {
  const situ_platform *p = i->platform;
  const cost_engine *engine =
      cost_engine_find(i->options.cost.engine ? i->options.cost.engine : i->model->steps.engine);
  arena *a = arena_new();
  const bool *alone = a ? find_alone(i, a) : NULL;
  int32_t first = alone && k > 1 && k <= INSTANCE_MAX_SHARES && engine ? platform_first_together(p, k, alone) : -1;
  double part[INSTANCE_MAX_SHARES], sum = 0, before = 0;
  size_t n = 0;
  arena_free(a);
  for (int32_t j = 0; first >= 0 && j < k; j++) {
    const situ_device *d = &p->devices[first + j];
    double speed = d->memory_bytes_per_s * efficiency_of(d, engine, EFFICIENCY_MATMUL, SITU_DTYPE_F16).memory;
    sum += part[j] = by_memory ? (double)d->memory_bytes : speed;
  }
  for (int32_t j = 0; first >= 0 && j < k; j++) { /* they add up to 100 */
    double percent = round(100 * (before + part[j]) / sum) - round(100 * before / sum);
    n += (size_t)snprintf(into + n, INSTANCE_SHARES_BYTES - n, "%s%d", j > 0 ? "," : "", (int)fmax(1, percent));
    before += part[j];
  }
  return first >= 0;
}

int32_t instance_max_together(const situ_instance *i) {
  const cost_engine *engine =
      cost_engine_find(i->options.cost.engine ? i->options.cost.engine : i->model->steps.engine);
  bool split = engine && engine->own_rates && check_split(i, NULL) == SITU_STATUS_OK;
  arena *a = arena_new();
  const bool *alone = a ? find_alone(i, a) : NULL;
  int32_t max = split && alone ? platform_max_together(i->platform, alone) : 1;
  arena_free(a);
  return max;
}

/* The platform whose first devices are one group with these shares. */
static situ_status group_by_shares(situ_platform **out, const situ_platform *p, const tensor_split *split,
                                   const double *share, int32_t k, const bool *alone, situ_error *error) {
  int64_t extra_bytes[INSTANCE_MAX_SHARES];
  for (int32_t m = 0; m < k; m++) extra_bytes[m] = tensor_split_member_bytes(split, share, k, m);
  return platform_grouped_by_shares(out, p, k, share, extra_bytes, alone, error);
}

/* As many groups of k equal devices as there are, or one with the shares that the options name, or with those of their
 * speeds where no k devices are equal. */
static situ_status group_devices(situ_platform **out, const situ_instance *i, const tensor_split *split, int32_t k,
                                 situ_error *error) {
  double share[INSTANCE_MAX_SHARES];
  char by_speed[INSTANCE_SHARES_BYTES];
  int32_t n, n_equal = 1;
  bool equals = platform_max_group(i->platform, i->alone) >= k;
  TRY(read_shares(share, &n, i->options.call.tensor_parallel, error));
  if (n == 0 && !equals && instance_shares_text(by_speed, i, k, false)) TRY(read_shares(share, &n, by_speed, error));
  while (n_equal < n && share[n_equal] == share[0]) n_equal++;
  equals |= platform_max_together(i->platform, i->alone) < k; /* which the message is about */
  if (n == 0 || (equals && n_equal == n))
    return platform_grouped(out, i->platform, k, tensor_split_extra_bytes(split, k), i->alone, error);
  if (i->model->graph->made_training)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "training steps split evenly only: over %d equal devices",
                     (int)k);
  return group_by_shares(out, i->platform, split, share, n, i->alone, error);
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
  i->alone = find_alone(i, i->arena);
  if (!i->alone || !split || !training_split_find(split, i->model->graph, i->arena)) return fail_no_memory(error);
  TRY(group_devices(&grouped, i, split, k, error));
  i->split = split;
  i->ungrouped = i->own_platform;
  i->platform = i->own_platform = grouped;
  return SITU_STATUS_OK;
}

/* ---- devices beside the groups of a training step ---- */

int32_t instance_max_members(const situ_platform *platform) {
  int32_t k = 1;
  for (int32_t d = 0; d < platform->n_devices; d++)
    if (platform_members(platform, d) > k) k = platform_members(platform, d);
  return k;
}

/* All that a device may have to hold at once; an operator that runs may also need the whole of what replicas share. */
static int64_t step_bytes(const situ_instance *i, const situ_platform *platform, int32_t k) {
  const situ_graph *g = i->model->graph;
  const situ_problem_options *o = &i->options.problem;
  bool few = o->schedule == SITU_SCHEDULE_1F1B; /* keeps no more inputs than there are stages */
  int64_t all = 0, running = 0, inputs = max64(max64(o->in_flight, o->copies), platform->n_devices);
  if (!few) inputs = max64(inputs, o->micro_batches);
  for (int32_t t = 0; t < g->n_tensors; t++)
    all = sat_add(all, sat_mul(inputs, training_split_held_bytes(i->split, t, k)));
  for (int32_t v = 0; v < g->n_operators; v++) {
    all = sat_add(all, g->weight_bytes[v]);
    running = max64(running, sat_add(g->workspace_bytes[v], sat_mul(2, g->weight_bytes[v])));
  }
  return sat_add(all, running);
}

int32_t instance_find_smaller(const situ_instance *i, const situ_platform *platform) {
  int32_t k = instance_max_members(platform);
  int64_t all = step_bytes(i, platform, k);
  for (int32_t d = 0; d < platform->n_devices; d++)
    if (platform_members(platform, d) != k && !(i->unused && i->unused[d]) &&
        all > platform->memory_bytes[platform->memory_of[d]])
      return d;
  return -1;
}

situ_status instance_refuse_smaller(const situ_platform *platform, int32_t d, situ_error *error) {
  return fail_with(error, SITU_STATUS_UNSUPPORTED, platform->devices[d].name,
                   "is no group of %d like the others, and too small to hold the whole training step: leave it out "
                   "(--unused %s)",
                   (int)instance_max_members(platform), platform->devices[d].name);
}

static bool has_group(const situ_instance *i) {
  int32_t k = instance_max_members(i->platform);
  for (int32_t d = 0; d < i->platform->n_devices; d++)
    if (platform_members(i->platform, d) == k && !(i->unused && i->unused[d])) return true;
  return false;
}

situ_status instance_leave_smaller(situ_instance *i, situ_error *error) {
  text_buffer names = {0};
  int32_t n = 0;
  if (!i->split || !i->model->graph->made_training) return SITU_STATUS_OK;
  bool open = !i->options.call.fix && !i->options.problem.pins && has_group(i);
  for (int32_t d; open && (d = instance_find_smaller(i, i->platform)) >= 0; n++) {
    if (!i->unused && !(i->unused = ARENA_ZERO(i->arena, bool, i->platform->n_devices))) return fail_no_memory(error);
    i->unused[d] = true;
    if (n < NAMED_DEVICES) text_add(&names, "%s%.64s", n == 0 ? "" : ", ", i->platform->devices[d].name);
  }
  i->scene.unused = i->unused;
  if (n == 0) return SITU_STATUS_OK;
  if (n > NAMED_DEVICES) text_add(&names, " and %d more", (int)n - NAMED_DEVICES);
  char *text = text_take(&names);
  i->left_out = text ? arena_string(i->arena, text) : NULL;
  free(text);
  return i->left_out && i->unused ? SITU_STATUS_OK : fail_no_memory(error);
}
