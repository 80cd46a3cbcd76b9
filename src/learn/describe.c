#include "learn/describe.h"

#include <math.h>

#include "base/checked.h"
#include "base/contracts.h"

/* Adds unit b to the list of a unit, unless it is that unit or already listed. */
static void add_unit(int32_t *list, int64_t *n, int32_t b, int32_t *seen_by, int32_t by) {
  if (b == by || seen_by[b] == by) return;
  seen_by[b] = by;
  if (list) list[*n] = b;
  ++*n;
}

/* Lists the units before (or after) each unit; with list NULL only counts. start[n_units + 1]. */
static void list_neighbours(const environment *env, bool after, int64_t *start, int32_t *list, int32_t *seen_by) {
  const situ_graph *g = env->problem->graph;
  int64_t n = 0;
  for (int32_t u = 0; u < env->n_units; u++) seen_by[u] = -1;
  for (int32_t u = 0; u < env->n_units; u++) {
    start[u] = n;
    for (int32_t i = env->member_start[u]; i < env->member_start[u + 1]; i++) {
      int32_t v = env->member[i];
      for (int64_t k = g->in_start[v]; !after && k < g->in_start[v + 1]; k++)
        add_unit(list, &n, env->unit_of[g->producer[g->in[k]]], seen_by, u);
      for (int32_t t = g->out_start[v]; after && t < g->out_start[v + 1]; t++)
        for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++)
          add_unit(list, &n, env->unit_of[g->use[k]], seen_by, u);
    }
  }
  start[env->n_units] = n;
}

static bool find_neighbours(nn_segments *out, const environment *env, bool after, arena *a) {
  int64_t *start = ARENA_NEW(a, int64_t, (int64_t)env->n_units + 1);
  int32_t *seen_by = ARENA_NEW(a, int32_t, env->n_units);
  if (!start || !seen_by) return false;
  list_neighbours(env, after, start, NULL, seen_by);
  int32_t *list = ARENA_NEW(a, int32_t, start[env->n_units]);
  if (!list) return false;
  list_neighbours(env, after, start, list, seen_by);
  *out = (nn_segments){.n = env->n_units, .start = start, .item = list};
  return true;
}

static bool find_kinds(nn_segments *out, const environment *env, arena *a) {
  int64_t *start = ARENA_NEW(a, int64_t, (int64_t)env->n_units + 1);
  int32_t *kind = ARENA_NEW(a, int32_t, env->problem->n_operators);
  if (!start || !kind) return false;
  for (int32_t u = 0; u <= env->n_units; u++) start[u] = env->member_start[u];
  for (int32_t i = 0; i < env->problem->n_operators; i++) kind[i] = env->problem->graph->kind[env->member[i]];
  *out = (nn_segments){.n = env->n_units, .start = start, .item = kind};
  return true;
}

static nn_real part(double x, double of) { return (nn_real)(log2(1 + x) / of); }

static void describe_outputs(nn_real *to, const environment *env, int32_t u) {
  const situ_graph *g = env->problem->graph;
  int64_t bytes = 0;
  int32_t largest = -1;
  for (int32_t i = env->member_start[u]; i < env->member_start[u + 1]; i++)
    for (int32_t t = g->out_start[env->member[i]]; t < g->out_start[env->member[i] + 1]; t++) {
      bytes = sat_add(bytes, g->size_bytes[t]);
      if (largest < 0 || g->size_bytes[t] > g->size_bytes[largest]) largest = t;
    }
  for (int32_t k = 0; k < DESCRIBE_DIMS; k++) {
    bool known = largest >= 0 && k < g->rank[largest];
    int64_t dim = known ? g->dims[g->dims_start[largest] + k] : 0;
    to[k] = part(dim > 0 ? (double)dim : 0, 20);
  }
  to[DESCRIBE_DIMS] = part((double)bytes, 40);
}

bool describe(description *out, const environment *env, arena *a) {
  *out = (description){.n = env->n_units, .n_kinds = env->problem->graph->n_kinds};
  out->numbers = ARENA_NEW(a, nn_real, (int64_t)env->n_units * DESCRIBE_NUMBERS);
  if (!out->numbers || !find_kinds(&out->kinds, env, a) || !find_neighbours(&out->before, env, false, a) ||
      !find_neighbours(&out->after, env, true, a))
    return false;
  for (int32_t u = 0; u < env->n_units; u++) {
    nn_real *to = out->numbers + (int64_t)u * DESCRIBE_NUMBERS;
    describe_outputs(to, env, u);
    to[DESCRIBE_DIMS + 1] = part((double)(out->before.start[u + 1] - out->before.start[u]), 8);
    to[DESCRIBE_DIMS + 2] = part((double)(out->after.start[u + 1] - out->after.start[u]), 8);
    to[DESCRIBE_DIMS + 3] = (nn_real)u / (nn_real)env->n_units;
  }
  return true;
}

void describe_fastest(int32_t *device, const environment *env) {
  for (int32_t u = 0; u < env->n_units; u++) {
    int64_t min = INT64_MAX;
    device[u] = 0;
    for (int32_t d = 0; d < env->n_devices; d++) {
      int64_t time = 0;
      for (int32_t i = env->member_start[u]; i < env->member_start[u + 1]; i++)
        time = sat_add(time, problem_time_ns(env->problem, env->member[i], d));
      if (!env->allowed[(int64_t)u * env->n_devices + d] || time >= min) continue;
      min = time;
      device[u] = d;
    }
  }
  ENSURE(contracts_within(device, env->n_units, 0, env->n_devices));
}
