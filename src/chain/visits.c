#include "chain/visits.h"

#include "base/checked.h"
#include "view/footprint.h"
#include "view/unit.h"

static void find_times(visits *s) {
  const situ_problem *p = s->problem;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t *row = s->time_ns + (int64_t)v * s->n_memories;
    for (int32_t m = 0; m < s->n_memories; m++) row[m] = SITU_NEVER_NS;
    for (int32_t d = 0; d < p->n_devices; d++)
      if (problem_allows(p, v, d)) row[p->memory_of[d]] = min64(row[p->memory_of[d]], problem_time_ns(p, v, d));
  }
}

static void find_sizes(visits *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  for (int32_t v = 0; v < p->n_operators; v++) {
    unit_members u = unit_of(p, v);
    s->footprint_bytes[v] = footprint_bytes(g, v);
    if (u.member[0] != v) continue; /* all members are handled below: a unit may be all steps of a layer */
    int64_t bytes = 0;
    for (int32_t i = 0; i < u.n; i++) bytes = sat_add(bytes, g->weight_bytes[u.member[i]]);
    for (int32_t i = 0; i < u.n; i++) s->weight_bytes[u.member[i]] = bytes;
  }
}

static bool are_alike(const visits *v, int32_t a, int32_t b) {
  const situ_problem *p = v->problem;
  bool alike = p->platform->memory_bytes[a] == p->platform->memory_bytes[b];
  for (int64_t i = 0; i < p->n_operators && alike; i++)
    alike = v->time_ns[i * v->n_memories + a] == v->time_ns[i * v->n_memories + b];
  return alike;
}

void visits_find_kinds(visits *v) {
  memory_kinds *kinds = &v->kinds;
  kinds->n = 0;
  for (int32_t m = 0; m < v->n_memories; m++) {
    int32_t k = 0;
    while (k < kinds->n && !are_alike(v, kinds->some[k], m)) k++;
    if (k == kinds->n) {
      kinds->members[k] = 0;
      kinds->some[kinds->n++] = m;
    }
    kinds->of[m] = k;
    kinds->members[k]++;
  }
}

bool visits_init(visits *v, const situ_problem *problem, arena *a) {
  int64_t n = problem->n_operators, nm = problem->n_memories;
  *v = (visits){.problem = problem, .n_memories = problem->n_memories, .scratch = a};
  if (!ARENA_ARRAYS(a, ARRAY(v->time_ns, n * nm), ARRAY(v->weight_bytes, n), ARRAY(v->footprint_bytes, n),
                    ARRAY(v->kinds.of, nm), ARRAY(v->kinds.members, nm), ARRAY(v->kinds.some, nm)))
    return false;
  find_times(v);
  find_sizes(v);
  visits_find_kinds(v);
  return true;
}
