#include "learn/hsdag_groups.h"

#include <string.h>

#include "base/csr.h"

static bool allow_the_same(const world *w, int32_t u, int32_t v) {
  int64_t n = w->n_devices;
  return memcmp(w->allowed + u * n, w->allowed + v * n, (size_t)n * sizeof *w->allowed) == 0;
}

/* The only other unit that unit u reads from, or -1: also where it reads weights, which come from constants. */
static int32_t only_producer(const world *w, int32_t u) {
  const situ_graph *g = w->problem->graph;
  int32_t only = -1;
  for (int32_t m = w->member_start[u]; m < w->member_start[u + 1]; m++) {
    int32_t v = w->member[m];
    if (g->weight_bytes[v] > 0) return -1;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t from = w->unit_of[g->producer[g->in[i]]];
      if (from == u || from == only) continue;
      if (only >= 0) return -1;
      only = from;
    }
  }
  return only;
}

/* Numbers groups by their last unit; group_of holds the root of each unit before. number[unit] is scratch. */
static void number_groups(hsdag_groups *out, int32_t n_units, int32_t *number) {
  int32_t seen = 0;
  for (int32_t u = 0; u < n_units; u++) number[u] = -1;
  for (int32_t u = n_units - 1; u >= 0; u--) {
    int32_t root = out->group_of[u];
    if (number[root] < 0) number[root] = out->n - 1 - seen++;
  }
  for (int32_t u = 0, place = 0; u < n_units; u++) {
    int32_t root = out->group_of[u];
    if (root == u) out->place[number[u]] = place++;
    out->group_of[u] = number[root];
  }
}

/* The groups that read from each, in the order found. */
static bool list_readers(group_lists *out, const hsdag_groups *groups, const world *w, arena *a) {
  const situ_graph *g = w->problem->graph;
  int32_t *last = ARENA_NEW(a, int32_t, groups->n);
  out->start = ARENA_NEW(a, int32_t, (int64_t)groups->n + 1);
  out->to = ARENA_NEW(a, int32_t, g->n_uses);
  if (!last || !out->start || !out->to) return false;
  for (int32_t k = 0; k < groups->n; k++) last[k] = -1;
  int32_t n = 0;
  for (int32_t k = 0; k < groups->n; k++) {
    out->start[k] = n;
    last[k] = k;
    for (int32_t m = groups->member_start[k]; m < groups->member_start[k + 1]; m++)
      for (int32_t i = w->member_start[groups->member[m]]; i < w->member_start[groups->member[m] + 1]; i++)
        for (int32_t t = g->out_start[w->member[i]]; t < g->out_start[w->member[i] + 1]; t++)
          for (int64_t use = g->use_start[t]; use < g->use_start[t + 1]; use++) {
            int32_t to = groups->group_of[w->unit_of[g->use[use]]];
            if (last[to] == k) continue;
            last[to] = k;
            out->to[n++] = to;
          }
  }
  out->start[groups->n] = n;
  return true;
}

/* Few classes: devices differ in kind, pins are rare. */
static void find_classes(hsdag_groups *out, const world *w, int32_t *first) {
  int32_t n_classes = 0;
  for (int32_t g = 0; g < out->n; g++) {
    int32_t root = out->member[out->member_start[g]], class = 0;
    while (class < n_classes && !allow_the_same(w, root, first[class])) class ++;
    if (class == n_classes) first[n_classes++] = root;
    out->class_of[g] = class;
  }
}

bool hsdag_groups_find(hsdag_groups *out, const world *w, arena *a) {
  int32_t n = w->n_units;
  *out = (hsdag_groups){0};
  int32_t *scratch;
  if (!ARENA_ARRAYS(a, ARRAY(out->group_of, n), ARRAY(out->place, n), ARRAY(out->class_of, n), ARRAY(scratch, n)))
    return false;
  for (int32_t u = 0; u < n; u++) {
    int32_t from = only_producer(w, u);
    bool joins = from >= 0 && from < u && allow_the_same(w, u, from);
    out->group_of[u] = joins ? out->group_of[from] : u;
    out->n += !joins;
  }
  number_groups(out, n, scratch);
  if (!csr_by_key(&out->member_start, &out->member, out->group_of, n, out->n, a)) return false;
  find_classes(out, w, scratch);
  group_lists found;
  return list_readers(&found, out, w, a) &&
         csr_transpose(&out->before.start, &out->before.to, found.start, found.to, out->n, out->n, a) &&
         csr_transpose(&out->next.start, &out->next.to, out->before.start, out->before.to, out->n, out->n, a);
}
