#include "learn/hsdag_groups.h"

#include <string.h>

#include "base/contracts.h"
#include "base/csr.h"

static bool allow_the_same(const environment *env, int32_t u, int32_t v) {
  int64_t n = env->n_devices;
  return memcmp(env->allowed + u * n, env->allowed + v * n, (size_t)n * sizeof *env->allowed) == 0;
}

static bool has_weights(const environment *env, int32_t u) {
  for (int32_t m = env->member_start[u]; m < env->member_start[u + 1]; m++)
    if (env->problem->graph->weight_bytes[env->member[m]] > 0) return true;
  return false;
}

/* The only other unit that unit u reads from; -1 if there are several or none, or if u has weights, which come from
 * constants. */
static int32_t only_producer(const environment *env, int32_t u) {
  const situ_graph *g = env->problem->graph;
  int32_t only = -1;
  if (has_weights(env, u)) return -1;
  for (int32_t m = env->member_start[u]; m < env->member_start[u + 1]; m++) {
    int32_t v = env->member[m];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t from = env->unit_of[g->producer[g->in[i]]];
      if (from == u || from == only) continue;
      if (only >= 0) return -1;
      only = from;
    }
  }
  return only;
}

/* Numbers groups by their last unit. Before, group_of holds the root of each unit. number[unit] is scratch. */
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

/* Lists the groups that read from each group, in the order found. */
static bool list_readers(group_lists *out, const hsdag_groups *groups, const environment *env, arena *a) {
  const situ_graph *g = env->problem->graph;
  int32_t *last, room = g->n_uses + groups->n_constants;
  if (!ARENA_ARRAYS(a, ARRAY(last, groups->n), ARRAY(out->start, (int64_t)groups->n + 1), ARRAY(out->to, room)))
    return false;
  for (int32_t k = 0; k < groups->n; k++) last[k] = -1;
  int32_t n = 0;
  for (int32_t u = 0; u < env->n_units && groups->n_constants > 0; u++) {
    if (!has_weights(env, u)) continue;
    out->start[n] = n;
    out->to[n++] = groups->group_of[u];
  }
  for (int32_t k = groups->n_constants; k < groups->n; k++) {
    out->start[k] = n;
    last[k] = k;
    for (int32_t m = groups->member_start[k]; m < groups->member_start[k + 1]; m++)
      for (int32_t i = env->member_start[groups->member[m]]; i < env->member_start[groups->member[m] + 1]; i++)
        for (int32_t t = g->out_start[env->member[i]]; t < g->out_start[env->member[i] + 1]; t++)
          for (int64_t use = g->use_start[t]; use < g->use_start[t + 1]; use++) {
            int32_t to = groups->group_of[env->unit_of[g->use[use]]];
            if (last[to] == k) continue;
            last[to] = k;
            out->to[n++] = to;
          }
  }
  out->start[groups->n] = n;
  return true;
}

/* Finds the classes by linear search: they are few, since devices differ in kind and pins are rare. */
static void find_classes(hsdag_groups *out, const environment *env, int32_t *first) {
  int32_t n_classes = 0;
  for (int32_t g = out->n_constants; g < out->n; g++) {
    int32_t root = out->member[out->member_start[g]], class = 0;
    while (class < n_classes && !allow_the_same(env, root, first[class])) class ++;
    if (class == n_classes) first[n_classes++] = root;
    out->class_of[g] = class;
  }
}

/* Makes groups 0 .. n_constants-1 the constants, which are in the class of their only reader. */
static void put_constants_first(hsdag_groups *out, const environment *env) {
  for (int32_t g = out->n - 1; g >= 0; g--) out->place[g + out->n_constants] = out->place[g] + out->n_constants;
  for (int32_t g = 0; g < out->n_constants; g++) out->place[g] = g;
  for (int32_t u = 0; u < env->n_units; u++) out->group_of[u] += out->n_constants;
  out->n += out->n_constants;
}

bool hsdag_groups_find(hsdag_groups *out, const environment *env, bool constants, arena *a) {
  int32_t n = env->n_units;
  *out = (hsdag_groups){0};
  int32_t *scratch;
  for (int32_t u = 0; u < n && constants; u++) out->n_constants += has_weights(env, u);
  int64_t max = (int64_t)n + out->n_constants;
  if (!ARENA_ARRAYS(a, ARRAY(out->group_of, n), ARRAY(out->place, max), ARRAY(out->class_of, max), ARRAY(scratch, n)))
    return false;
  for (int32_t u = 0; u < n; u++) {
    int32_t from = only_producer(env, u);
    bool joins = from >= 0 && from < u && allow_the_same(env, u, from);
    out->group_of[u] = joins ? out->group_of[from] : u;
    out->n += !joins;
  }
  number_groups(out, n, scratch);
  put_constants_first(out, env);
  if (!csr_by_key(&out->member_start, &out->member, out->group_of, n, out->n, a)) return false;
  find_classes(out, env, scratch);
  group_lists found;
  if (!list_readers(&found, out, env, a) ||
      !csr_transpose(&out->before.start, &out->before.to, found.start, found.to, out->n, out->n, a) ||
      !csr_transpose(&out->next.start, &out->next.to, out->before.start, out->before.to, out->n, out->n, a))
    return false;
  for (int32_t g = 0; g < out->n_constants; g++) out->class_of[g] = out->class_of[found.to[found.start[g]]];
  CONTRACT(hsdag_groups_check(out, env));
  return true;
}

static const char *check_lists(const group_lists *x, int32_t n) {
  EXPECT(contracts_lists(x->start, n, x->start[n]), "start lists groups by group");
  EXPECT(contracts_within(x->to, x->start[n], 0, n), "lists are of groups");
  for (int32_t g = 0; g < n; g++) {
    EXPECT(contracts_rise(x->to + x->start[g], x->start[g + 1] - x->start[g]), "lists ascend, none twice");
    for (int32_t i = x->start[g]; i < x->start[g + 1]; i++) EXPECT(x->to[i] != g, "no group is next to itself");
  }
  return NULL;
}

const char *hsdag_groups_check(const hsdag_groups *x, const environment *env) {
  EXPECT(contracts_within(x->group_of, env->n_units, 0, x->n), "every unit is in a group");
  EXPECT(contracts_lists(x->member_start, x->n, env->n_units), "member_start lists units by group");
  for (int32_t g = 0; g < x->n; g++) {
    int32_t first = x->member_start[g], n = x->member_start[g + 1] - first;
    EXPECT((n > 0) == (g >= x->n_constants), "constants alone have no units");
    EXPECT(contracts_rise(x->member + first, n), "members ascend");
    for (int32_t i = first; i < first + n; i++) EXPECT(x->group_of[x->member[i]] == g, "members are of their group");
    EXPECT(first == 0 || x->member[first - 1] < x->member[first + n - 1], "groups are numbered by their last unit");
  }
  EXPECT(contracts_permutation(x->place, x->n), "every group has a place");
  EXPECT(contracts_within(x->class_of, x->n, 0, x->n), "every group has a class");
  EXPECT_CHECK(check_lists(&x->next, x->n));
  return check_lists(&x->before, x->n);
}
