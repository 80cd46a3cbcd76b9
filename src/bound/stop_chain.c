#include "bound/stop_chain.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"

enum { ROUNDS = 600 };
static const int64_t DEAREST = (int64_t)1 << 52;
static const double WORK_LIMIT = 3e8;

static int64_t least_time(const situ_problem *p, int32_t v) {
  int64_t least = SITU_NEVER_NS;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (problem_allows(p, v, d)) least = min64(least, problem_time_ns(p, v, d));
  return least;
}

/* The longest chain where each operator takes its least time. */
static bool find_chain(stop_chain *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int64_t *end = ARENA_NEW(s->arena, int64_t, p->n_operators);
  int32_t *before = ARENA_NEW(s->arena, int32_t, p->n_operators), last = 0;
  s->chain = ARENA_NEW(s->arena, int32_t, p->n_operators);
  if (!end || !before || !s->chain) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t start = 0;
    before[v] = -1;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (before[v] >= 0 && end[u] <= start) continue;
      start = end[u];
      before[v] = u;
    }
    end[v] = sat_add(start, least_time(p, v));
    if (end[v] > end[last]) last = v;
  }
  for (int32_t v = last; v >= 0; v = before[v]) s->n_chain++;
  for (int32_t v = last, i = s->n_chain; v >= 0; v = before[v]) s->chain[--i] = v;
  return true;
}

/* Time of a unit on a device; SITU_NEVER_NS where it may not be. */
static int64_t unit_time(const stop_chain *s, int32_t u, int32_t d) {
  int32_t k = s->all.column_of[d];
  return k < 0 ? SITU_NEVER_NS : s->all.time_ns[(int64_t)u * s->all.n_columns + k];
}

/* Marks what lies between s and t by 3. Operators are numbered so that only those between can. */
static void mark_between(uint8_t *reached, const situ_graph *g, int32_t first, int32_t last) {
  memset(reached + first, 0, (size_t)(last - first + 1));
  reached[first] = 1;
  for (int32_t v = first + 1; v <= last; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (u >= first && reached[u]) reached[v] = 1;
    }
  reached[last] |= 2;
  for (int32_t v = last; v >= first; v--)
    for (int64_t i = g->in_start[v]; reached[v] & 2 && i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (u >= first) reached[u] |= 2;
    }
}

/* Adds a segment to the times of stop k. */
static void time_segment(stop_chain *s, int32_t k, int32_t first, int32_t last, uint8_t *reached) {
  const situ_problem *p = s->problem;
  const chain_stop *x = &s->stops[k];
  bool starts = x->first == first;
  unit_members of = unit_list_members(&p->units, x->unit);
  if (!s->sums) mark_between(reached, p->graph, first, last);
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t *sum = &s->time_ns[(int64_t)k * p->n_devices + d], whole = unit_time(s, x->unit, d);
    if (starts) *sum = whole == SITU_NEVER_NS ? whole : 0;
    if (s->sums && starts && x->counts) *sum = whole;
    for (int32_t i = 0; i < of.n && !s->sums && *sum != SITU_NEVER_NS; i++) {
      int32_t v = of.member[i];
      if (v >= first && v <= last && reached[v] == 3) *sum = sat_add(*sum, problem_time_ns(p, v, d));
    }
  }
}

/* The way by kind of route of what operator u makes for operator w; NULL without memory. */
static const int64_t *way_of(const stop_chain *s, int32_t u, int32_t w) {
  const situ_graph *g = s->problem->graph;
  int32_t n_kinds = s->problem->costs->n_kinds;
  const int64_t *only = NULL;
  int64_t *most = NULL;
  for (int64_t i = g->in_start[w]; i < g->in_start[w + 1]; i++) {
    const int64_t *row = s->problem->transfer_ns[g->in[i]];
    if (g->producer[g->in[i]] != u || row == only) continue;
    if (only && !most && !(most = ARENA_COPY(s->arena, only, int64_t, n_kinds))) return NULL;
    only = only ? only : row;
    for (int32_t k = 0; most && k < n_kinds; k++) most[k] = max64(most[k], row[k]);
  }
  return most ? most : only;
}

/* Stops of the chain: a segment between two of one unit becomes a detour. `open` is a stack of stops along the chain.
 */
static bool find_stops(stop_chain *s) {
  const situ_problem *p = s->problem;
  int32_t *open, depth = 0;
  uint8_t *reached;
  if (!ARENA_ARRAYS(
          s->arena, ZEROS(reached, p->n_operators), ZEROS(s->on_chain, p->units.n), ARRAY(s->stops, s->n_chain),
          ARRAY(open, s->n_chain), ARRAY(s->at, s->n_chain), ARRAY(s->time_ns, (int64_t)s->n_chain * p->n_devices),
          ARRAY(s->from, (int64_t)s->n_chain * p->n_devices), ARRAY(s->cost, (int64_t)s->n_chain * p->n_devices)))
    return false;
  for (int32_t i = 0, end; i < s->n_chain; i = end) {
    int32_t v = s->chain[i], u = p->units.of[v];
    for (end = i + 1; end < s->n_chain && p->units.of[s->chain[end]] == u;) end++;
    if (depth >= 2 && s->stops[open[depth - 2]].unit == u) {
      chain_stop *detour = &s->stops[open[--depth]];
      detour->inside = open[depth - 1];
      detour->next = v;
      if (!(detour->way_out = way_of(s, detour->last, v))) return false;
    } else {
      chain_stop *made = &s->stops[s->n];
      *made = (chain_stop){.unit = u, .before = i > 0 ? s->chain[i - 1] : -1, .first = v, .inside = -1};
      made->counts = !s->on_chain[u];
      if (i > 0 && !(made->way_in = way_of(s, made->before, v))) return false;
      s->on_chain[u] = true;
      open[depth++] = s->n++;
    }
    int32_t k = open[depth - 1];
    s->stops[k].last = s->chain[end - 1];
    time_segment(s, k, v, s->chain[end - 1], reached);
  }
  return true;
}

static const int32_t *kinds_from(const situ_problem *p, int32_t d) {
  return p->costs->pair_kind + (int64_t)p->memory_of[d] * p->n_memories;
}

/* Adds the cheapest detour x to the costs of the stop around it. */
static void take_detour(stop_chain *s, int32_t x) {
  const situ_problem *p = s->problem;
  const chain_stop *detour = &s->stops[x];
  const __int128 *there = s->cost + (int64_t)x * p->n_devices;
  __int128 *cost = s->cost + (int64_t)detour->inside * p->n_devices;
  for (int32_t d = 0; d < p->n_devices; d++) {
    __int128 least = -1;
    const int32_t *kinds = kinds_from(p, d);
    for (int32_t e = 0; cost[d] >= 0 && e < p->n_devices; e++) {
      if (there[e] < 0 || (least >= 0 && there[e] >= least)) continue;
      int64_t way = sat_add(detour->way_in[kinds[p->memory_of[e]]], detour->way_out[kinds_from(p, e)[p->memory_of[d]]]);
      __int128 sum = there[e] + ((__int128)way << STOP_CHAIN_BITS);
      if (least >= 0 && sum >= least) continue;
      least = sum;
      s->from[(int64_t)x * p->n_devices + d] = e;
    }
    cost[d] = least < 0 ? -1 : cost[d] + least;
  }
}

/* Adds the cheapest way to stop k from stop `last` before it on the chain. */
static void take_way(stop_chain *s, int32_t k, int32_t last) {
  const situ_problem *p = s->problem;
  const __int128 *before = s->cost + (int64_t)last * p->n_devices;
  __int128 *cost = s->cost + (int64_t)k * p->n_devices;
  for (int32_t d = 0; d < p->n_devices; d++) {
    __int128 least = -1;
    for (int32_t e = 0; cost[d] >= 0 && e < p->n_devices; e++) {
      if (before[e] < 0 || (least >= 0 && before[e] >= least)) continue;
      int64_t way = s->stops[k].way_in[kinds_from(p, e)[p->memory_of[d]]];
      __int128 sum = before[e] + ((__int128)way << STOP_CHAIN_BITS);
      if (least >= 0 && sum >= least) continue;
      least = sum;
      s->from[(int64_t)k * p->n_devices + d] = e;
    }
    cost[d] = least < 0 ? -1 : cost[d] + least;
  }
}

/* The dynamic program at the prices `byte`: detours first, then along the chain. Fills `at`; the least cost, or -1. */
static __int128 run_program(stop_chain *s) {
  const situ_problem *p = s->problem;
  int32_t n_devices = p->n_devices, last = -1;
  for (int32_t k = 0; k < s->n; k++)
    for (int32_t d = 0; d < n_devices; d++) {
      int64_t time = s->time_ns[(int64_t)k * n_devices + d];
      __int128 *cost = &s->cost[(int64_t)k * n_devices + d];
      *cost = time == SITU_NEVER_NS ? -1 : (__int128)time << STOP_CHAIN_BITS;
      if (*cost >= 0 && s->stops[k].counts)
        *cost += (__int128)s->byte[p->memory_of[d]] * s->all.weight_bytes[s->stops[k].unit];
    }
  for (int32_t k = s->n - 1; k >= 0; k--)
    if (s->stops[k].inside >= 0) take_detour(s, k);
  for (int32_t k = 0; k < s->n; k++) {
    if (s->stops[k].inside >= 0) continue;
    if (last >= 0) take_way(s, k, last);
    s->at[k] = last;
    last = k;
  }
  const __int128 *end = s->cost + (int64_t)last * n_devices;
  int32_t best = -1;
  for (int32_t d = 0; d < n_devices; d++)
    if (end[d] >= 0 && (best < 0 || end[d] < end[best])) best = d;
  if (best < 0) return -1;
  __int128 least = end[best];
  for (int32_t k = last, d = best; k >= 0;) { /* `at` of stops along the chain held the stop before */
    int32_t before = s->at[k];
    s->at[k] = d;
    d = before >= 0 ? s->from[(int64_t)k * n_devices + d] : d;
    k = before;
  }
  for (int32_t k = 0; k < s->n; k++)
    if (s->stops[k].inside >= 0) s->at[k] = s->from[(int64_t)k * n_devices + s->at[s->stops[k].inside]];
  return least;
}

__int128 stop_chain_off(const stop_chain *s, int32_t u, int32_t *where) {
  const situ_problem *p = s->problem;
  __int128 least = -1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t time = unit_time(s, u, d);
    if (time == SITU_NEVER_NS) continue;
    __int128 cost = (__int128)s->byte[p->memory_of[d]] * s->all.weight_bytes[u];
    if (s->sums) cost += (__int128)time << STOP_CHAIN_BITS;
    if (least >= 0 && cost >= least) continue;
    least = cost;
    *where = d;
  }
  return least;
}

/* What the present prices prove, -1: the program has no plan; fills held. */
static int64_t evaluate(stop_chain *s) {
  const situ_problem *p = s->problem;
  __int128 sum = run_program(s);
  if (sum < 0) return -1;
  for (int32_t m = 0; m < p->n_memories; m++) s->held[m] = 0;
  for (int32_t k = 0; k < s->n; k++)
    if (s->stops[k].counts) s->held[p->memory_of[s->at[k]]] += (double)s->all.weight_bytes[s->stops[k].unit];
  for (int32_t u = 0; u < p->units.n; u++) {
    int32_t d = -1;
    if (s->on_chain[u] || (s->all.weight_bytes[u] == 0 && !s->sums)) continue;
    __int128 cost = stop_chain_off(s, u, &d);
    if (cost < 0) continue;
    sum += cost;
    s->held[p->memory_of[d]] += (double)s->all.weight_bytes[u];
  }
  for (int32_t m = 0; m < p->n_memories; m++)
    if (s->byte[m] > 0) sum -= (__int128)s->byte[m] * p->platform->memory_bytes[m];
  return sum <= 0 ? 0 : (int64_t)(sum >> STOP_CHAIN_BITS);
}

static void try_prices(stop_chain *s, stop_chain_visit *visit, void *context) {
  const situ_problem *p = s->problem;
  for (int32_t m = 0; m < p->n_memories; m++) {
    double y = s->price[s->type_of[m]] * (double)((int64_t)1 << STOP_CHAIN_BITS);
    bool limited = p->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES;
    s->byte[m] = !limited ? 0 : y < (double)DEAREST ? (int64_t)y : DEAREST;
  }
  int64_t lower_ns = evaluate(s);
  if (lower_ns >= 0) visit(context, s, lower_ns);
}

/* By how many bytes the plan of the program exceeds the memories of a type; less than 0 where there is room. */
static double excess_of(const stop_chain *s, int32_t type) {
  double sum = 0;
  for (int32_t m = 0; m < s->problem->n_memories; m++)
    if (s->type_of[m] == type && s->problem->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES)
      sum += s->held[m] - (double)s->problem->platform->memory_bytes[m];
  return sum;
}

void stop_chain_ascend(stop_chain *s, budget *b, stop_chain_visit *visit, void *context) {
  double weights = 0, slowest = 0;
  const situ_problem *p = s->problem;
  for (int32_t u = 0; u < p->units.n; u++) weights += (double)s->all.weight_bytes[u];
  for (int32_t k = 0; k < s->n; k++) {
    int64_t most = 0;
    for (int32_t d = 0; d < p->n_devices; d++) {
      int64_t time = s->time_ns[(int64_t)k * p->n_devices + d];
      if (time != SITU_NEVER_NS) most = max64(most, time);
    }
    slowest += (double)most;
  }
  try_prices(s, visit, context);
  double work = (double)s->n * p->n_devices * p->n_devices + p->units.n, step = weights > 0 ? slowest / weights : 0;
  for (int round = 0; round < ROUNDS && round * work < WORK_LIMIT && step > 0 && !budget_over(b); round++) {
    double norm = 0;
    for (int32_t k = 0; k < s->equal.n_types; k++) {
      double g = excess_of(s, k);
      if (g > 0 || s->price[k] > 0) norm += g * g;
    }
    if (norm <= 0) return;
    double length = step * pow(0.985, round) / sqrt(norm);
    for (int32_t k = 0; k < s->equal.n_types; k++) s->price[k] = fmax(0, s->price[k] + length * excess_of(s, k));
    try_prices(s, visit, context);
  }
}

bool stop_chain_serves(const situ_problem *p) {
  double work = (double)p->n_operators * p->n_devices * p->n_devices;
  return p->objective == SITU_OBJECTIVE_LATENCY && p->n_copies <= 1 && work <= WORK_LIMIT;
}

situ_status stop_chain_find(stop_chain *s, const situ_problem *p, arena *a, situ_error *error) {
  *s = (stop_chain){.problem = p, .arena = a, .sums = p->overlap == SITU_OVERLAP_NONE};
  TRY(items_list(&s->all, p, a, error));
  if (!ARENA_ARRAYS(a, ZEROS(s->price, p->n_devices), ARRAY(s->type_of, p->n_memories), ARRAY(s->byte, p->n_memories),
                    ARRAY(s->held, p->n_memories)) ||
      !equal_devices_find(&s->equal, p, EQUAL_LINKED, a) || !find_chain(s) || !find_stops(s))
    return fail_no_memory(error);
  for (int32_t d = p->n_devices - 1; d >= 0; d--) s->type_of[p->memory_of[d]] = s->equal.type_of[d];
  return SITU_STATUS_OK;
}
