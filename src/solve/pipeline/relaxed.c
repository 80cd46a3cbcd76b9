#include "solve/pipeline/relaxed.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/contracts.h"

/* The ideals reached in one state. */
typedef struct reach {
  int64_t n;
  int32_t *ideal;
  int64_t *most; /* price */
} reach;

typedef struct program {
  const boundary_ranges *ranges;
  const ideal_set *set;
  int32_t *order; /* ideals, by what is before them */
  reach *reaches; /* [state] */
  int64_t most_ns, work, most_work;
} program;

/* The most price before `to` when the devices used hold `most` up to `from` and the next r of a type share what
 * follows; -1 when they cannot bear what is certain. */
static int64_t extend(const program *g, int32_t from, int64_t most, int32_t to, int32_t type, int32_t r) {
  const stages *s = g->set->stages;
  int64_t most_ns = sat_mul(g->most_ns, r);
  if (!ideals_may_hold(g->set, from, to, type)) return -1;
  stage_cost cost = ideals_cost(g->set, from, to, type);
  if (stages_load(s, &cost) > most_ns) return -1;
  int64_t transfers_ns = s->greatest ? 0 : cost.in_ns + cost.out_ns;
  int64_t reached = sat_add(most, boundary_ranges_price(g->ranges, type, most_ns - transfers_ns));
  return min64(reached, g->ranges->total - g->set->boundaries[to].after);
}

/* The same from all ideals of a state; -1 when `to` is out of reach. */
static int64_t extend_all(program *g, int32_t state, int32_t to, int32_t type, int32_t r) {
  const boundary_ranges *w = g->ranges;
  const boundary *b = &g->set->boundaries[to];
  const reach *from = &g->reaches[state];
  int64_t best = -1, all = w->total - b->after, room = boundary_ranges_room(w, type, r), j = 0;
  for (; j < from->n && best < all; j++) {
    if (sat_add(from->most[j], room) <= max64(best, b->before - 1)) continue;
    if (!ideals_within(g->set, from->ideal[j], to)) continue;
    int64_t most = extend(g, from->ideal[j], from->most[j], to, type, r);
    if (most >= b->before) best = max64(best, most);
  }
  g->work += j;
  return best;
}

/* The most price before ideal `to` in a state; -1 when it is out of reach. */
static int64_t reach_ideal(program *g, int32_t state, int32_t to) {
  const boundary_ranges *w = g->ranges;
  int64_t best = -1;
  for (int32_t t = 0; t < w->stages->n_types; t++) {
    int32_t used = boundary_ranges_used(w, state, t);
    for (int32_t r = 1; r <= used && r <= w->stages->types[t].most_sharing; r++)
      best = max64(best, extend_all(g, state - r * w->weight[t], to, t, r));
  }
  return best;
}

/* False without memory; *stopped when it is too much work. */
static bool fill(program *g, int32_t state, bool *stopped, budget *b) {
  reach *r = &g->reaches[state];
  r->ideal = malloc(((size_t)g->set->n + 1) * sizeof *r->ideal);
  r->most = malloc(((size_t)g->set->n + 1) * sizeof *r->most);
  if (!r->ideal || !r->most) return false;
  for (int64_t i = 0; i < g->set->n && !*stopped; i++) {
    int32_t ideal = g->order[i];
    if (i % 64 == 0) *stopped = budget_spend(b, 1) || g->work > g->most_work;
    if (ideal == 0 || (ideal != g->set->full && !ideals_in_state(g->set, ideal, state))) continue;
    int64_t most = reach_ideal(g, state, ideal);
    if (most < 0) continue;
    r->ideal[r->n] = ideal;
    r->most[r->n++] = most;
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
    g->reaches[0] = (reach){.n = 1, .ideal = calloc(1, sizeof(int32_t)), .most = calloc(1, sizeof(int64_t))};
    made = g->reaches[0].ideal && g->reaches[0].most;
  }
  for (int32_t state = 1; made && !stopped && !reached && state < n_states; state++) {
    made = fill(g, state, &stopped, b);
    reached = made && reaches_full(g, state);
  }
  for (int32_t state = 0; g->reaches && state < n_states; state++) {
    free(g->reaches[state].ideal);
    free(g->reaches[state].most);
  }
  free(g->reaches);
  free(g->order);
  *refuted = made && !stopped && !reached;
  return made;
}

bool relaxed_refutes(bool *refuted, boundary_ranges *coarse, int64_t most_ns, int64_t most_work, int64_t most_bytes,
                     budget *b) {
  REQUIRE(most_ns >= 0);
  ideal_set set;
  *refuted = false;
  boundary_ranges_set(coarse, most_ns);
  if (!ideals_narrow(coarse, most_work / 4, b)) return false;
  ideals_result found = ideals_find(&set, coarse, most_work, most_bytes, b);
  bool made = found != IDEALS_NO_MEMORY;
  if (found == IDEALS_ALL && set.full < 0) *refuted = true;
  if (found == IDEALS_ALL && set.full >= 0) {
    program g = {.ranges = coarse, .set = &set, .most_ns = most_ns, .most_work = most_work};
    made = run(&g, refuted, b);
  }
  ideals_free(&set);
  return made;
}
