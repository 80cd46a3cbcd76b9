/* Times that a program gives from memory, in place of estimates. */
#include <stdio.h>

#include "base/arguments.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"
#include "cost/cost_models.h"
#include "graph/graph.h"
#include "platform/platform.h"

/* The maximum of a problem (docs/model.md, "Limits"). */
static const int64_t MAX_NS = (int64_t)1 << 54;

static bool is_time(int64_t time_ns) { return time_ns == SITU_NEVER_NS || (time_ns >= 0 && time_ns <= MAX_NS); }

/* Puts a time in place of another; shares of it that are known apart cannot be longer. */
static void put_time(situ_costs *c, int64_t at, int64_t time_ns) {
  c->time_ns[at] = time_ns;
  c->measured[at] = true;
  if (c->collective_ns) c->collective_ns[at] = min64(c->collective_ns[at], time_ns);
  if (c->end_ns) c->end_ns[at] = min64(c->end_ns[at], time_ns);
}

/* Makes room for what put_time marks, and adds to the source. `hash` is that of the given times. */
static situ_status note_given(situ_costs *c, int64_t n, uint64_t hash, situ_error *error) {
  char source[512];
  if (!c->measured && !(c->measured = ARENA_ZERO(c->arena, bool, (int64_t)c->n_operators * c->n_classes)))
    return fail_no_memory(error);
  snprintf(source, sizeof source, "%.400s; %lld times by the program", c->source, (long long)n);
  c->step[0] = c->step[1] = NULL; /* nobody knows of which step such a time is */
  c->table_hash = hash_bytes(&hash, sizeof hash, c->table_hash);
  c->source = arena_string(c->arena, source);
  return c->source ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status costs_ask(int64_t **times, int32_t *given, const situ_graph *graph, const situ_platform *platform,
                      const situ_cost_options *o, arena *scratch, situ_error *error) {
  int32_t n_classes = platform->n_classes;
  int64_t *found = *times = ARENA_NEW(scratch, int64_t, (int64_t)graph->n_operators * n_classes);
  if (!found) return fail_no_memory(error);
  for (int32_t v = 0; v < graph->n_operators; v++)
    for (int32_t k = 0; k < n_classes; k++, found++) {
      *found = o->time_of(o->time_context, v, platform->class_device[k]);
      if (*found >= 0) given[v] = v;
      if (*found >= 0 && !is_time(*found))
        return fail_with(error, SITU_STATUS_BAD_ARGUMENT, graph->name[v],
                         "time_of gave %lld ns; a time is at most 2^54 ns, or SITU_NEVER_NS", (long long)*found);
    }
  return SITU_STATUS_OK;
}

situ_status costs_take(situ_costs *c, const int64_t *times, situ_error *error) {
  int64_t n = (int64_t)c->n_operators * c->n_classes, n_given = 0;
  for (int64_t i = 0; i < n; i++) n_given += times[i] >= 0;
  TRY(note_given(c, n_given, hash_bytes(times, (size_t)n * sizeof *times, 0), error));
  for (int64_t i = 0; i < n; i++)
    if (times[i] >= 0) put_time(c, i, times[i]);
  return SITU_STATUS_OK;
}

static situ_status check_change(const situ_costs *c, const situ_platform *p, const situ_operator_time *x,
                                situ_error *error) {
  if (x->op < 0 || x->op >= c->n_operators || x->device < 0 || x->device >= p->n_devices)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "there is no operator %d or no device %d", (int)x->op,
                     (int)x->device);
  if (!is_time(x->time_ns))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "operator %d: a time is from 0 to 2^54 ns, or SITU_NEVER_NS, not %lld", (int)x->op,
                     (long long)x->time_ns);
  if (situ_costs_kernel(c, x->op) == x->op) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                   "operator %d is fused: its time is counted with that of operator %d (situ_costs_kernel)", (int)x->op,
                   (int)situ_costs_kernel(c, x->op));
}

situ_status situ_costs_change(situ_costs **out, const situ_costs *costs, const situ_platform *platform,
                              const situ_operator_time *times, int32_t n_times, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, costs, platform));
  if (n_times < 0 || (n_times > 0 && !times))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "n_times is not the number of times");
  if (costs->n_classes != platform->n_classes || costs->n_memories != platform->n_memories ||
      (costs->machine != 0 && costs->machine != platform_shape_hash(platform)))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, costs->source, "the cost tables are not of this platform");
  for (int32_t k = 0; k < n_times; k++) TRY(check_change(costs, platform, &times[k], error));
  situ_costs *changed = costs_copies(costs, 1);
  if (!changed) return fail_no_memory(error);
  uint64_t hash = 0;
  for (int32_t k = 0; k < n_times; k++) hash = hash_bytes(&times[k], sizeof times[k], hash);
  situ_status status = note_given(changed, n_times, hash, error);
  for (int32_t k = 0; k < n_times && status == SITU_STATUS_OK; k++)
    put_time(changed, (int64_t)times[k].op * changed->n_classes + platform->class_of[times[k].device],
             times[k].time_ns);
  HAND_OUT(out, changed, status, situ_costs_free);
}
