/* Co-placement (Jeon et al., "Baechi", SoCC 2020): an operator with exactly one consumer shares a unit with it. One
 * pass is the fixpoint, because joining changes no operator's consumers. Units are joined only while one device may run
 * all, and (here) while they take a small part of the largest memory, so that they still pack. */
#include "base/checked.h"
#include "base/disjoint.h"
#include "graph/neighbours.h"
#include "view/footprint.h"
#include "view/level.h"

enum { PARTS_OF_MEMORY = 4 }; /* joined units take at most 1 / PARTS_OF_MEMORY of the largest memory */

/* Arrays by fine unit. Sums are stored at roots. */
typedef struct joining {
  const situ_problem *problem;
  const unit_list *fine;
  int32_t *into;
  int32_t *pin;
  bool *classes;                /* [unit * n_classes] classes that can run all of it */
  bool *usable;                 /* [class] some device of it may be used */
  int64_t *weights, *footprint; /* bytes */
  int64_t max_bytes;
} joining;

/* Whether one device may run both, and both together are small enough. */
static bool may_join(const joining *j, int32_t a, int32_t b) {
  const situ_problem *p = j->problem;
  if (sat_add(sat_add(j->weights[a], j->weights[b]), max64(j->footprint[a], j->footprint[b])) > j->max_bytes)
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

static bool joining_init(joining *j, const situ_problem *p, const unit_list *fine, arena *a) {
  int32_t n = fine->n, n_classes = p->n_classes;
  *j = (joining){.problem = p, .fine = fine};
  if (!ARENA_ARRAYS(a, ARRAY(j->into, n), ARRAY(j->pin, n), ARRAY(j->classes, (int64_t)n * n_classes),
                    ZEROS(j->usable, n_classes), ZEROS(j->weights, n), ZEROS(j->footprint, n)))
    return false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->unused[d]) continue;
    j->usable[p->class_of[d]] = true;
    j->max_bytes = max64(j->max_bytes, p->platform->memory_bytes[p->memory_of[d]]);
  }
  if (j->max_bytes != SITU_UNLIMITED_BYTES) j->max_bytes /= PARTS_OF_MEMORY;
  disjoint_init(j->into, n);
  for (int32_t u = 0; u < n; u++) j->pin[u] = -1;
  for (int64_t i = 0; i < (int64_t)n * n_classes; i++) j->classes[i] = true;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t u = fine->of[v];
    if (p->pin[v] >= 0) j->pin[u] = p->pin[v];
    j->weights[u] = sat_add(j->weights[u], p->graph->weight_bytes[v]);
    j->footprint[u] = max64(j->footprint[u], footprint_bytes(p->graph, v));
    for (int32_t k = 0; k < n_classes; k++)
      j->classes[(int64_t)u * n_classes + k] &= p->time_ns[(int64_t)v * n_classes + k] != SITU_NEVER_NS;
  }
  return true;
}

static bool coplaced_find(level_list *out, const situ_problem *p, const level_request *request, arena *a) {
  const unit_list *fine = request->fine ? request->fine : &p->units;
  joining j;
  int32_t *key = ARENA_NEW(a, int32_t, p->n_operators);
  bool joined = false;
  out->n = 0;
  if (!key || !joining_init(&j, p, fine, a)) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t consumer = neighbours_only_user(p->graph, v);
    if (consumer < 0) continue;
    int32_t one = disjoint_root(j.into, fine->of[v]), other = disjoint_root(j.into, fine->of[consumer]);
    if (one == other || !may_join(&j, one, other)) continue;
    join(&j, one, other);
    joined = true;
  }
  for (int32_t v = 0; v < p->n_operators; v++) key[v] = disjoint_root(j.into, fine->of[v]);
  return !joined || unit_list_find(&out->of[out->n++], key, p->n_operators, fine->n, a);
}

const level_row level_coplaced = {
    .name = "coplaced",
    .title = "an operator and its only consumer",
    .source = "Jeon et al. (Baechi), SoCC 2020",
    .find = coplaced_find,
};
