#include "partition/part_search.h"

#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/rng.h"

enum { MAX_REPAIRS = 12, MAX_DRY_RESTARTS = 32, MAX_FIRST = 4, CUT_STEPS = 64 };

/* What is minimised, in this order: operators that parts lack, the cost, the parts. */
typedef struct part_value {
  int64_t n_missing, cost;
  int32_t n_parts;
} part_value;

static bool is_less(part_value a, part_value b) {
  if (a.n_missing != b.n_missing) return a.n_missing < b.n_missing;
  return a.cost != b.cost ? a.cost < b.cost : a.n_parts < b.n_parts;
}

typedef struct part_search {
  part_request *q;
  budget *b;
  device_cut cut;
  part_sequence sequence, parts;       /* of the last trial; of the pass over parts */
  int32_t firsts[MAX_FIRST], n_firsts; /* devices that the first part may be on */
  int32_t *device_of;                  /* [operator] scratch */
  int32_t *current, *trial, *best;     /* [unit] */
  int32_t *wanted;                     /* [unit] at the minimum cost so far, parts of any size */
  part_value current_value, best_value, wanted_value;
  bool *banned; /* [unit * n_devices] by repairs; scratch */
  int64_t lower_bound;
} part_search;

/* ---- what no partition can do ---- */

/* A device for which all its operators are too few for one part runs nothing. False if that leaves a unit nothing. */
static bool close_devices(part_request *q) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (int32_t d = 0; d < q->n_devices; d++) {
      int64_t n = 0;
      for (int32_t u = 0; u < q->n_units; u++)
        if (part_allows(q, u, d)) n += q->unit_start[u + 1] - q->unit_start[u];
      if (n == 0 || n >= q->min_operators[d]) continue;
      changed = true;
      for (int32_t u = 0; u < q->n_units; u++) q->allowed[(int64_t)u * q->n_devices + d] = false;
    }
  }
  for (int32_t u = 0; u < q->n_units; u++) {
    bool any = false;
    for (int32_t d = 0; d < q->n_devices && !any; d++) any = part_allows(q, u, d);
    if (!any) return false;
  }
  return true;
}

/* Along a path a part ends where the device changes, so no partition has fewer parts than any path needs. Returns 0
 * without memory. */
static int32_t bound_parts(const part_request *q, arena *a) {
  const situ_graph *g = q->graph;
  arena_mark mark = arena_get_mark(a);
  int32_t k = q->n_devices, needed = 1, *cheapest = ARENA_ZERO(a, int32_t, (int64_t)g->n_operators * k);
  for (int32_t v = 0; v < g->n_operators && cheapest; v++) {
    int32_t min = INT32_MAX, *mine = &cheapest[(int64_t)v * k];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t p = g->producer[g->in[i]], any = INT32_MAX;
      const int32_t *theirs = &cheapest[(int64_t)p * k];
      for (int32_t d = 0; d < k; d++)
        if (part_allows(q, q->unit[p], d) && theirs[d] < any) any = theirs[d];
      for (int32_t d = 0; d < k; d++) {
        int32_t here = part_allows(q, q->unit[p], d) && theirs[d] < any + 1 ? theirs[d] : any + 1;
        if (here > mine[d]) mine[d] = here;
      }
    }
    for (int32_t d = 0; d < k; d++)
      if (part_allows(q, q->unit[v], d) && mine[d] < min) min = mine[d];
    if (min + 1 > needed) needed = min + 1;
  }
  arena_release(a, mark);
  return cheapest ? needed : 0;
}

/* ---- values ---- */

static void spread(part_search *s, const int32_t *device) {
  for (int32_t v = 0; v < s->q->graph->n_operators; v++) s->device_of[v] = device[s->q->unit[v]];
}

static int64_t count_missing(const part_search *s) {
  int64_t n = 0;
  for (int32_t p = 0; p < s->sequence.n_parts; p++)
    n += max64(0, s->q->min_operators[s->sequence.device[p]] - s->sequence.size[p]);
  return n;
}

/* The best of several sequences of these devices, which is that of s->sequence afterwards. */
static part_value find_parts(part_search *s, const int32_t *device) {
  part_value best = {INT64_MAX, 0, INT32_MAX};
  int32_t first = 0;
  bool backward = false, last = false;
  int64_t work = s->sequence.work;
  spread(s, device);
  for (int pass = 0; pass < 2 && best.n_missing > 0; pass++)
    for (int32_t d = 0; d < s->n_firsts; d++) {
      part_sequence_find(&s->sequence, s->device_of, s->firsts[d], pass);
      part_value found = {count_missing(s), 0, s->sequence.n_parts};
      last = is_less(found, best);
      if (last) best = found, first = s->firsts[d], backward = pass;
    }
  if (!last) part_sequence_find(&s->sequence, s->device_of, first, backward);
  budget_spend(s->b, s->sequence.work - work);
  return best;
}

static part_value value_of(part_search *s, const int32_t *device) {
  part_value found = find_parts(s, device);
  found.cost = sat_add(device_cut_cost(&s->cut, device, NULL), sat_mul(s->q->part_cost, found.n_parts));
  budget_spend(s->b, s->q->n_units + s->q->graph->n_uses);
  return found;
}

static bool is_done(const part_search *s) {
  return s->b->stop != BUDGET_GOING || (s->best_value.n_missing == 0 && s->best_value.cost <= s->lower_bound);
}

static void copy(const part_search *s, int32_t *to, const int32_t *from) {
  memcpy(to, from, (size_t)s->q->n_units * sizeof *to);
}

static void keep_best(part_search *s) {
  if (s->current_value.cost < s->wanted_value.cost) {
    s->wanted_value = s->current_value;
    copy(s, s->wanted, s->current);
  }
  if (!is_less(s->current_value, s->best_value)) return;
  s->best_value = s->current_value;
  copy(s, s->best, s->current);
}

static void start_from(part_search *s, const int32_t *device) {
  copy(s, s->current, device);
  s->current_value = value_of(s, s->current);
  keep_best(s);
}

/* Takes the trial if it is better. */
static bool try_it(part_search *s) {
  part_value found = value_of(s, s->trial);
  if (!is_less(found, s->current_value)) return false;
  copy(s, s->current, s->trial);
  s->current_value = found;
  keep_best(s);
  return true;
}

/* ---- constructions ---- */

static int32_t cheapest(const part_request *q, int32_t u) {
  int32_t best = -1;
  for (int32_t d = 0; d < q->n_devices; d++)
    if (part_allows(q, u, d) && (best < 0 || part_unit_cost(q, u, d) < part_unit_cost(q, u, best))) best = d;
  return best;
}

static void expand_all(part_search *s, int32_t *device) {
  int32_t n_same = 0, n = s->q->n_devices;
  for (int32_t d = 0; n_same < n && s->b->stop == BUDGET_GOING; d = (d + 1) % n) {
    n_same = device_cut_expand(&s->cut, device, d, s->b) ? 1 : n_same + 1;
    budget_spend(s->b, CUT_STEPS * (s->q->n_units + s->q->graph->n_uses));
  }
}

/* Everything where it is cheapest, or on one device where that is allowed; then expansions. */
static void construct(part_search *s) {
  const part_request *q = s->q;
  for (int32_t base = -1; base < q->n_devices; base++) {
    bool alone = base >= 0;
    for (int32_t u = 0; u < q->n_units; u++) {
      bool here = base >= 0 && part_allows(q, u, base);
      s->trial[u] = here ? base : cheapest(q, u);
      alone = alone && here;
    }
    if (is_done(s) && !alone && base >= 0) continue;
    if (alone) start_from(s, s->trial);
    expand_all(s, s->trial);
    start_from(s, s->trial);
  }
}

/* ---- parts that are too small ---- */

static bool is_small(const part_sequence *parts, const part_request *q, int32_t part) {
  return parts->size[part] < q->min_operators[parts->device[part]];
}

/* Units of small parts lose the devices that these are on, if they have others; cuts then choose anew, as long as there
 * are steps. */
static void repair(part_search *s) {
  part_request *q = s->q;
  size_t bytes = (size_t)q->n_units * (size_t)q->n_devices * sizeof(bool);
  bool *allowed = q->allowed;
  if (s->wanted_value.n_missing == 0) return;
  memcpy(s->banned, allowed, bytes);
  q->allowed = s->banned;
  start_from(s, s->wanted);
  for (int32_t round = 0; round < MAX_REPAIRS && s->current_value.n_missing > 0; round++) {
    bool changed = false;
    (void)value_of(s, s->current);
    copy(s, s->trial, s->current);
    for (int32_t v = 0; v < q->graph->n_operators; v++) {
      int32_t u = q->unit[v], d = s->trial[u];
      if (!is_small(&s->sequence, q, s->sequence.part[v]) || !part_allows(q, u, d)) continue;
      s->banned[(int64_t)u * q->n_devices + d] = false;
      int32_t other = cheapest(q, u);
      if (other < 0) s->banned[(int64_t)u * q->n_devices + d] = true;
      if (other < 0) continue;
      s->trial[u] = other;
      changed = true;
    }
    if (!changed) break;
    expand_all(s, s->trial);
    start_from(s, s->trial);
  }
  q->allowed = allowed;
}

/* A part that is too small takes units beside it. */
static bool grow(part_search *s, int32_t part) {
  const part_request *q = s->q;
  const situ_graph *g = q->graph;
  int32_t d = s->parts.device[part], n_queue = 0, *queue = s->sequence.queue;
  int64_t n = s->parts.size[part];
  copy(s, s->trial, s->current);
  for (int32_t v = 0; v < g->n_operators; v++)
    if (s->parts.part[v] == part) queue[n_queue++] = v;
  for (int32_t i = 0; i < n_queue && n < q->min_operators[d]; i++) {
    int32_t v = queue[i];
    int64_t begin = g->use_start[g->out_start[v]], end = g->use_start[g->out_start[v + 1]];
    int64_t n_before = g->in_start[v + 1] - g->in_start[v];
    for (int64_t k = 0; k < n_before + end - begin && n < q->min_operators[d]; k++) {
      int32_t w = k < n_before ? g->producer[g->in[g->in_start[v] + k]] : g->use[begin + k - n_before], u = q->unit[w];
      if (s->trial[u] == d || !part_allows(q, u, d)) continue;
      s->trial[u] = d;
      n += q->unit_start[u + 1] - q->unit_start[u];
      for (int32_t m = q->unit_start[u]; m < q->unit_start[u + 1] && n_queue < g->n_operators; m++)
        queue[n_queue++] = q->member[m];
    }
  }
  return try_it(s);
}

/* A whole part goes to another device, as far as that may run it. */
static bool move_part(part_search *s, int32_t part, int32_t to) {
  const part_request *q = s->q;
  bool changed = false;
  if (s->parts.device[part] == to) return false;
  copy(s, s->trial, s->current);
  for (int32_t v = 0; v < q->graph->n_operators; v++) {
    int32_t u = q->unit[v];
    if (s->parts.part[v] != part || !part_allows(q, u, to)) continue;
    changed |= s->trial[u] != to;
    s->trial[u] = to;
  }
  return changed && try_it(s);
}

/* The parts are those before the first change: afterwards they are sets of operators to move, no more. */
static bool search_parts(part_search *s) {
  bool improved = false;
  (void)find_parts(s, s->current);
  part_sequence_copy(&s->parts, &s->sequence);
  for (int32_t part = 0; part < s->parts.n_parts && !is_done(s); part++) {
    improved |= is_small(&s->parts, s->q, part) && grow(s, part);
    for (int32_t d = 0; d < s->q->n_devices && !is_done(s); d++) improved |= move_part(s, part, d);
  }
  return improved;
}

/* ---- single units ---- */

static bool has_neighbour_on(const part_search *s, int32_t u, int32_t d) {
  const part_request *q = s->q;
  const situ_graph *g = q->graph;
  for (int32_t m = q->unit_start[u]; m < q->unit_start[u + 1]; m++) {
    int32_t v = q->member[m];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      if (s->current[q->unit[g->producer[g->in[i]]]] == d) return true;
    for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++)
      if (s->current[q->unit[g->use[i]]] == d) return true;
  }
  return false;
}

static bool search_units(part_search *s) {
  bool improved = false;
  for (int32_t u = 0; u < s->q->n_units && !is_done(s); u++)
    for (int32_t d = 0; d < s->q->n_devices && !is_done(s); d++) {
      if (d == s->current[u] || !part_allows(s->q, u, d) || !has_neighbour_on(s, u, d)) continue;
      copy(s, s->trial, s->current);
      s->trial[u] = d;
      improved |= try_it(s);
    }
  return improved;
}

static void descend(part_search *s) {
  while (!is_done(s) && search_parts(s) + search_units(s) > 0)
    ;
}

/* Some units go elsewhere, and the descent begins again, from the best. */
static void restart(part_search *s) {
  rng r = rng_new(1);
  const part_request *q = s->q;
  for (int32_t dry = 0; dry < MAX_DRY_RESTARTS && !is_done(s); dry++) {
    part_value before = s->best_value;
    copy(s, s->trial, s->best);
    for (int32_t i = 0; i < 2 + q->n_units / 8; i++) {
      int32_t u = (int32_t)rng_below(&r, (uint64_t)q->n_units), d = (int32_t)rng_below(&r, (uint64_t)q->n_devices);
      if (part_allows(q, u, d)) s->trial[u] = d;
    }
    start_from(s, s->trial);
    descend(s);
    if (is_less(s->best_value, before)) dry = -1;
  }
}

/* ---- the whole ---- */

static bool is_used(const part_request *q, int32_t d) {
  for (int32_t u = 0; u < q->n_units; u++)
    if (part_allows(q, u, d)) return true;
  return false;
}

static situ_status prepare(part_search *s, part_request *q, budget *b, arena *a, situ_error *error) {
  int32_t n = q->n_units;
  *s =
      (part_search){.q = q, .b = b, .best_value = {INT64_MAX, INT64_MAX, INT32_MAX}, .wanted_value = {0, INT64_MAX, 0}};
  TRY(device_cut_new(&s->cut, q, a, error));
  if (!part_sequence_new(&s->sequence, q->graph, q->n_devices, a) ||
      !part_sequence_new(&s->parts, q->graph, q->n_devices, a) ||
      !ARENA_ARRAYS(a, ARRAY(s->device_of, q->graph->n_operators), ARRAY(s->current, n), ARRAY(s->trial, n),
                    ARRAY(s->best, n), ARRAY(s->wanted, n), ARRAY(s->banned, (int64_t)n * q->n_devices)))
    return fail_no_memory(error);
  for (int32_t d = 0; d < q->n_devices && s->n_firsts < MAX_FIRST; d++)
    if (is_used(q, d)) s->firsts[s->n_firsts++] = d;
  int32_t n_parts = q->part_cost > 0 ? bound_parts(q, a) : 1;
  if (n_parts == 0) return fail_no_memory(error);
  s->lower_bound = sat_add(device_cut_bound(&s->cut, b), sat_mul(q->part_cost, n_parts));
  return SITU_STATUS_OK;
}

situ_status part_search_run(part_answer *out, part_request *q, budget *b, arena *a, situ_error *error) {
  part_search s;
  *out = (part_answer){.outcome = SITU_OUTCOME_INFEASIBLE, .cost = INT64_MAX, .lower_bound = INT64_MAX};
  if (!close_devices(q)) return SITU_STATUS_OK;
  TRY(prepare(&s, q, b, a, error));
  construct(&s);
  repair(&s);
  start_from(&s, s.best);
  descend(&s);
  restart(&s);
  *out = (part_answer){.outcome = SITU_OUTCOME_LIMIT, .cost = INT64_MAX, .lower_bound = s.lower_bound};
  if (s.best_value.n_missing > 0) return SITU_STATUS_OK;
  (void)value_of(&s, s.best);
  (void)device_cut_cost(&s.cut, s.best, &out->n_crossings);
  out->outcome = s.best_value.cost <= s.lower_bound ? SITU_OUTCOME_OPTIMAL : SITU_OUTCOME_FEASIBLE;
  out->cost = s.best_value.cost;
  out->n_parts = s.sequence.n_parts;
  out->part = s.sequence.part;
  out->device = s.sequence.device;
  return SITU_STATUS_OK;
}
