#include "solve/pipeline/relaxed.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/contracts.h"

/* The ideals reached in one state. */
typedef struct reach {
  int64_t n;
  int32_t *ideal;
  int64_t *max; /* price */
} reach;

typedef struct program {
  const boundary_ranges *ranges;
  const ideal_set *set;
  int32_t *order; /* ideals, by the price before them */
  reach *reaches; /* [state] */
  int64_t max_ns, work, max_work;
} program;

/* The maximum price before `to` if the used devices hold `max` up to `from`, and the next r of a type share what
 * follows; -1 if these cannot. */
static int64_t extend(const program *g, int32_t from, int64_t max, int32_t to, int32_t type, int32_t r) {
  const stages *s = g->set->stages;
  int64_t max_ns = sat_mul(g->max_ns, r);
  if (!ideals_may_hold(g->set, from, to, type)) return -1;
  stage_cost cost = ideals_cost(g->set, from, to, type);
  if (stages_load(s, &cost) > max_ns) return -1;
  int64_t transfers_ns = s->overlaps ? 0 : cost.in_ns + cost.out_ns;
  int64_t reached = sat_add(max, boundary_ranges_price(g->ranges, type, max_ns - transfers_ns));
  return min64(reached, g->ranges->total - g->set->boundaries[to].after);
}

/* The same over all ideals of a state; -1 if `to` is unreachable. */
static int64_t extend_all(program *g, int32_t state, int32_t to, int32_t type, int32_t r) {
  const boundary_ranges *w = g->ranges;
  const boundary *b = &g->set->boundaries[to];
  const reach *from = &g->reaches[state];
  int64_t best = -1, all = w->total - b->after, room = boundary_ranges_room(w, type, r), j = 0;
  for (; j < from->n && best < all; j++) {
    if (sat_add(from->max[j], room) <= max64(best, b->before - 1)) continue;
    if (!ideals_within(g->set, from->ideal[j], to)) continue;
    int64_t max = extend(g, from->ideal[j], from->max[j], to, type, r);
    if (max >= b->before) best = max64(best, max);
  }
  g->work += j;
  return best;
}

/* The maximum price before ideal `to` in a state; -1 if it is unreachable. */
static int64_t reach_ideal(program *g, int32_t state, int32_t to) {
  const boundary_ranges *w = g->ranges;
  int64_t best = -1;
  for (int32_t t = 0; t < w->stages->n_types; t++) {
    int32_t used = boundary_ranges_used(w, state, t);
    for (int32_t r = 1; r <= used && r <= w->stages->types[t].max_sharing; r++)
      best = max64(best, extend_all(g, state - r * w->weight[t], to, t, r));
  }
  return best;
}

/* Fills one state. False without memory; *stopped: it takes too much work. */
static bool fill(program *g, int32_t state, bool *stopped, budget *b) {
  reach *r = &g->reaches[state];
  r->ideal = malloc(((size_t)g->set->n + 1) * sizeof *r->ideal);
  r->max = malloc(((size_t)g->set->n + 1) * sizeof *r->max);
  if (!r->ideal || !r->max) return false;
  for (int64_t i = 0; i < g->set->n && !*stopped; i++) {
    int32_t ideal = g->order[i];
    if (i % 64 == 0) *stopped = budget_spend(b, 1) || g->work > g->max_work;
    if (ideal == 0 || (ideal != g->set->full && !ideals_in_state(g->set, ideal, state))) continue;
    int64_t max = reach_ideal(g, state, ideal);
    if (max < 0) continue;
    r->ideal[r->n] = ideal;
    r->max[r->n++] = max;
  }
  return true;
}

static bool reaches_full(const program *g, int32_t state) {
  const reach *r = &g->reaches[state];
  for (int64_t i = 0; i < r->n; i++)
    if (r->ideal[i] == g->set->full) return true;
  return false;
}

static bool run(program *g, bool *refuted, budget *b) {
  int32_t n_states = g->ranges->n_states;
  bool stopped = false, reached = false, made;
  g->order = ideals_by_price(g->set);
  g->reaches = calloc((size_t)n_states, sizeof *g->reaches);
  made = g->order && g->reaches;
  if (made) {
    g->reaches[0] = (reach){.n = 1, .ideal = calloc(1, sizeof(int32_t)), .max = calloc(1, sizeof(int64_t))};
    made = g->reaches[0].ideal && g->reaches[0].max;
  }
  for (int32_t state = 1; made && !stopped && !reached && state < n_states; state++) {
    made = fill(g, state, &stopped, b);
    reached = made && reaches_full(g, state);
  }
  for (int32_t state = 0; g->reaches && state < n_states; state++) {
    free(g->reaches[state].ideal);
    free(g->reaches[state].max);
  }
  free(g->reaches);
  free(g->order);
  *refuted = made && !stopped && !reached;
  return made;
}

bool relaxed_refutes(bool *refuted, boundary_ranges *coarse, int64_t max_ns, int64_t max_work, int64_t max_bytes,
                     budget *b) {
  REQUIRE(max_ns >= 0);
  ideal_set set;
  *refuted = false;
  boundary_ranges_set(coarse, max_ns);
  if (!ideals_narrow(coarse, max_work / 4, b)) return false;
  ideals_result found = ideals_find(&set, coarse, max_work, max_bytes, b);
  bool made = found != IDEALS_NO_MEMORY;
  if (found == IDEALS_ALL && set.full < 0) *refuted = true;
  if (found == IDEALS_ALL && set.full >= 0) {
    program g = {.ranges = coarse, .set = &set, .max_ns = max_ns, .max_work = max_work};
    made = run(&g, refuted, b);
  }
  ideals_free(&set);
  return made;
}
