#include "view/grouping.h"

#include "base/checked.h"
#include "view/footprint.h"

enum { PARTS_OF_MEMORY = 4 }; /* a joined group takes at most this part of the largest memory */

grouping grouping_of_colocations(const situ_problem *p) {
  return (grouping){.n_groups = p->graph->n_colocations,
                    .of = p->graph->colocation,
                    .start = p->group_start,
                    .member = p->group_member};
}

int32_t grouping_only_consumer(const situ_graph *g, int32_t v) {
  int32_t only = -1;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      if (only >= 0 && g->use[i] != only) return -1;
      only = g->use[i];
    }
  return only;
}

typedef struct joining {
  const situ_problem *problem;
  int32_t *into;                /* [operator] union-find */
  int32_t *pin;                 /* [root] */
  bool *classes;                /* [root * n_classes] where all of it may run; by time only */
  bool *usable;                 /* [class] some device of it may be used */
  int64_t *weights, *footprint; /* [root] bytes */
  int64_t most_bytes;
} joining;

static int32_t root_of(int32_t *into, int32_t v) {
  while (into[v] != v) v = into[v] = into[into[v]];
  return v;
}

/* Whether one device may run both, and they are small enough together. */
static bool may_join(const joining *j, int32_t a, int32_t b) {
  const situ_problem *p = j->problem;
  if (sat_add(sat_add(j->weights[a], j->weights[b]), max64(j->footprint[a], j->footprint[b])) > j->most_bytes)
    return false;
  int32_t pin = j->pin[a] >= 0 ? j->pin[a] : j->pin[b];
  if (j->pin[a] >= 0 && j->pin[b] >= 0 && j->pin[a] != j->pin[b]) return false;
  for (int32_t k = 0; k < p->n_classes; k++) {
    bool both = j->classes[(int64_t)a * p->n_classes + k] && j->classes[(int64_t)b * p->n_classes + k];
    if (both && (pin >= 0 ? p->class_of[pin] == k : j->usable[k])) return true;
  }
  return false;
}

static void join(joining *j, int32_t a, int32_t b) {
  int32_t n = j->problem->n_classes;
  j->into[a] = b;
  j->weights[b] = sat_add(j->weights[b], j->weights[a]);
  j->footprint[b] = max64(j->footprint[b], j->footprint[a]);
  if (j->pin[b] < 0) j->pin[b] = j->pin[a];
  for (int32_t k = 0; k < n; k++) j->classes[(int64_t)b * n + k] &= j->classes[(int64_t)a * n + k];
}

static bool joining_init(joining *j, const situ_problem *p, arena *a) {
  int32_t n = p->n_operators;
  *j = (joining){.problem = p};
  j->into = ARENA_NEW(a, int32_t, n);
  j->pin = ARENA_COPY(a, p->pin, int32_t, n);
  j->classes = ARENA_NEW(a, bool, (int64_t)n * p->n_classes);
  j->usable = ARENA_ZERO(a, bool, p->n_classes);
  j->weights = ARENA_COPY(a, p->graph->weight_bytes, int64_t, n);
  j->footprint = ARENA_NEW(a, int64_t, n);
  if (!j->into || !j->pin || !j->classes || !j->usable || !j->weights || !j->footprint) return false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->unused[d]) continue;
    j->usable[p->class_of[d]] = true;
    j->most_bytes = max64(j->most_bytes, p->platform->memory_bytes[p->memory_of[d]]);
  }
  if (j->most_bytes != SITU_UNLIMITED_BYTES) j->most_bytes /= PARTS_OF_MEMORY;
  for (int32_t v = 0; v < n; v++) {
    j->into[v] = v;
    j->footprint[v] = footprint_bytes(p->graph, v);
    for (int32_t k = 0; k < p->n_classes; k++)
      j->classes[(int64_t)v * p->n_classes + k] = p->time_ns[(int64_t)v * p->n_classes + k] != SITU_NEVER_NS;
  }
  for (int32_t k = 0; k < p->graph->n_colocations; k++) {
    int32_t first = p->group_member[p->group_start[k]];
    for (int32_t i = p->group_start[k] + 1; i < p->group_start[k + 1]; i++) join(j, p->group_member[i], first);
  }
  return true;
}

/* Groups of two and more, numbered by their first member. */
static bool list_groups(grouping *out, int32_t *into, int32_t n, arena *a) {
  int32_t *of = ARENA_NEW(a, int32_t, n), *size = ARENA_ZERO(a, int32_t, n), *number = ARENA_NEW(a, int32_t, n);
  int32_t *start = ARENA_ZERO(a, int32_t, (int64_t)n + 2), *member = ARENA_NEW(a, int32_t, n);
  if (!of || !size || !number || !start || !member) return false;
  *out = (grouping){.of = of, .start = start, .member = member};
  for (int32_t v = 0; v < n; v++) {
    size[root_of(into, v)]++;
    number[v] = -1;
  }
  for (int32_t v = 0; v < n; v++) {
    int32_t root = into[v] = root_of(into, v);
    if (size[root] > 1 && number[root] < 0) number[root] = out->n_groups++;
    of[v] = number[root];
    if (of[v] >= 0) start[of[v] + 2]++;
  }
  for (int32_t k = 0; k < out->n_groups; k++) start[k + 2] += start[k + 1];
  for (int32_t v = 0; v < n; v++)
    if (of[v] >= 0) member[start[of[v] + 1]++] = v;
  return true;
}

bool grouping_coplace(grouping *out, bool *larger, const situ_problem *p, arena *a) {
  joining j;
  *larger = false;
  if (!joining_init(&j, p, a)) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t consumer = grouping_only_consumer(p->graph, v);
    if (consumer < 0) continue;
    int32_t one = root_of(j.into, v), other = root_of(j.into, consumer);
    if (one == other || !may_join(&j, one, other)) continue;
    join(&j, one, other);
    *larger = true;
  }
  return list_groups(out, j.into, p->n_operators, a);
}
