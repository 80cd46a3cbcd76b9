/* The judge of tensors that are certain to be held at one instant of a stream: docs/theory/bounds/alive.md. While an
 * operator that takes time runs, all its ancestors have ended and none of its descendants has begun. A tensor that an
 * item has made or read by then, and has yet to read, is in the memory of the device of that item. Sums of bytes
 * saturate: an item counts a tensor once, an operator reads it once, so they are at most PROBLEM_MAX_BYTES. */
#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

/* Whether the operator takes more than no time on each device that it may be on. */
static bool always_takes_time(const judge *j, int32_t v) {
  const situ_problem *p = j->problem;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (check_may_run(j, v, d) && judge_time_ns(j, v, d) == 0) return false;
  return true;
}

/* begun[v]: v is `at` or comes before it; open[v]: v is `at` or comes behind it. */
static void find_ends(bool *begun, bool *open, const situ_graph *g, int32_t at) {
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    begun[v] = v == at;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1] && !begun[v]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && !begun[v]; i++) begun[v] = begun[g->use[i]];
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    open[v] = v == at;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && !open[v]; i++) open[v] = open[g->producer[g->in[i]]];
  }
}

int64_t check_alive_instant(const certificate *c) {
  const int64_t *at = certificate_get(c, "instant", 1);
  return at ? *at : -1;
}

bool check_alive_add(int64_t *bytes, const check_items *items, const judge *j, int32_t at, bool once) {
  const situ_graph *g = j->graph;
  bool *begun = ARENA_NEW(j->scratch, bool, g->n_operators), *open = ARENA_NEW(j->scratch, bool, g->n_operators);
  int32_t *has = ARENA_NEW(j->scratch, int32_t, items->n); /* [item] the last tensor that it had by then */
  if (!begun || !open || !has) return false;
  if (!always_takes_time(j, at)) return true;
  find_ends(begun, open, g, at);
  for (int32_t i = 0; i < items->n; i++) has[i] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t maker = g->producer[t];
    if (begun[maker]) has[items->of[maker]] = t;
    if (begun[maker] && g->use_start[t] == g->use_start[t + 1]) /* nobody uses it: it stays to the end */
      bytes[items->of[maker]] = sat_add(bytes[items->of[maker]], g->size_bytes[t]);
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      if (begun[g->use[i]]) has[items->of[g->use[i]]] = t;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t item = items->of[g->use[i]];
      if (!open[g->use[i]] || has[item] != t) continue;
      bytes[item] = sat_add(bytes[item], g->size_bytes[t]);
      has[item] = -1; /* it counts once */
      if (once) break;
    }
  }
  return true;
}

bool check_alive_rooms(bool *may, const judge *j, int64_t at) {
  const situ_graph *g = j->graph;
  int64_t devices = j->problem->n_devices;
  check_items items;
  for (int64_t i = 0; i < devices * g->n_operators; i++)
    may[i] = check_may_run(j, (int32_t)(i / devices), (int32_t)(i % devices));
  if (at < 0) return true;
  if (!check_items_find(&items, j)) return false;
  int64_t *weights = check_items_held(&items, j), *alive = ARENA_ZERO(j->scratch, int64_t, items.n);
  bool *room = ARENA_NEW(j->scratch, bool, items.n);
  if (!weights || !alive || !room || !check_alive_add(alive, &items, j, (int32_t)at, false)) return false;
  for (int32_t d = 0; d < devices; d++) {
    int64_t capacity = j->platform->memory_bytes[j->platform->memory_of[d]];
    for (int32_t i = 0; i < items.n; i++) room[i] = sat_add(weights[i], alive[i]) <= capacity;
    for (int32_t v = 0; v < g->n_operators; v++)
      if (judge_time_ns(j, v, d) > 0 && sat_add(weights[items.of[v]], judge_footprint(g, v)) > capacity)
        room[items.of[v]] = false;
    for (int32_t v = 0; v < g->n_operators; v++) may[v * devices + d] &= room[items.of[v]];
  }
  return true;
}

situ_status check_operator(int64_t *proved_ns, judge *j, const certificate *c, check_ends *find, int32_t window,
                           situ_error *error) {
  const int64_t *v = certificate_get(c, "operator", 1);
  int64_t devices = j->problem->n_devices, cells = devices * j->problem->n_operators, *head, *tail;
  bool *may;
  if (!ARENA_ARRAYS(j->scratch, ZEROS(head, cells), ZEROS(tail, cells), ARRAY(may, cells)) ||
      !check_alive_rooms(may, j, check_alive_instant(c)) || !find(head, tail, may, window, j))
    return fail_no_memory(error);
  *proved_ns = SITU_NEVER_NS;
  for (int32_t d = 0; d < devices; d++)
    *proved_ns = min64(*proved_ns, sat_add(head[*v * devices + d], tail[*v * devices + d]));
  return SITU_STATUS_OK;
}
