#include "chain/branch_chain.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "chain/chain.h"

enum { ROUNDS = 600, LINES = 40, LINES_EVERY = 150 };
static const int64_t MAX_PRICE = (int64_t)1 << 52, MAX_SECONDARY_PRICE = (int64_t)1 << 58;
static const double WORK_LIMIT = 3e8;

static int64_t min_time(const branch_chain *s, int32_t v) {
  const situ_problem *p = s->problem;
  int64_t min = SITU_NEVER_NS;
  for (int32_t k = 0; k < s->n_types; k++)
    if (problem_allows(p, v, s->first[k])) min = min64(min, problem_time_ns(p, v, s->first[k]));
  return min;
}

/* The longest chain when each operator takes its minimum time. */
static bool find_chain(branch_chain *s) {
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
    end[v] = sat_add(start, min_time(s, v));
    if (end[v] > end[last]) last = v;
  }
  for (int32_t v = last; v >= 0; v = before[v]) s->n_chain++;
  for (int32_t v = last, i = s->n_chain; v >= 0; v = before[v]) s->chain[--i] = v;
  return true;
}

/* Whether w reads everything that u makes for v. */
static bool reads_all(const situ_graph *g, int32_t w, int32_t u, int32_t v) {
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    bool reads = g->producer[g->in[i]] != u;
    for (int64_t k = g->in_start[w]; !reads && k < g->in_start[w + 1]; k++) reads = g->in[k] == g->in[i];
    if (!reads) return false;
  }
  return true;
}

/* Marks with 3 what lies between the transfer into a segment and its end: what the last operator of the segment depends
 * on, and what depends on the first one or on another of its unit that waits for the same tensors of operator `before`
 * (-1: none). Operators are in topological order, so only those after `before` can; returns the lowest. Segments
 * ascend, so nothing after the last one is marked yet. */
static int32_t mark_between(uint8_t *reached, const situ_problem *p, int32_t before, int32_t first, int32_t last) {
  const situ_graph *g = p->graph;
  int32_t lowest = before < 0 ? first : before + 1;
  memset(reached + lowest, 0, (size_t)(last - lowest + 1));
  for (int32_t v = lowest; v <= last; v++) {
    bool enters = v == first || (before >= 0 && p->units.of[v] == p->units.of[first] && reads_all(g, v, before, first));
    if (enters) reached[v] = 1;
    for (int64_t i = g->in_start[v]; !reached[v] && i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (u >= lowest && reached[u]) reached[v] = 1;
    }
  }
  reached[last] |= 2;
  for (int32_t v = last; v >= lowest; v--)
    for (int64_t i = g->in_start[v]; reached[v] & 2 && i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (u >= lowest) reached[u] |= 2;
    }
  return lowest;
}

/* Adds a segment, which `before` leads to, to the times of element k. */
static void time_segment(branch_chain *s, int32_t k, int32_t before, int32_t first, int32_t last, uint8_t *reached) {
  const situ_problem *p = s->problem;
  const chain_element *x = &s->elements[k];
  bool starts = x->first == first;
  unit_members of = unit_list_members(&p->units, x->unit);
  int32_t lowest = s->sums ? first : mark_between(reached, p, before, first, last);
  for (int32_t type = 0; type < s->n_types; type++) {
    int32_t d = s->first[type];
    int64_t at = (int64_t)k * s->n_types + type, *sum = &s->time_ns[at], whole = items_time_ns(&s->all, x->unit, d);
    if (starts) *sum = whole == SITU_NEVER_NS ? whole : 0;
    if (s->sums && starts && x->holds_weights) *sum = whole;
    if (s->secondary_ns && starts)
      s->secondary_ns[at] = x->holds_weights ? items_time_ns(&s->secondary, x->unit, d) : 0;
    for (int32_t i = 0; i < of.n && !s->sums && *sum != SITU_NEVER_NS; i++) {
      int32_t v = of.member[i];
      if (v >= lowest && reached[v] == 3) *sum = sat_add(*sum, problem_time_ns(p, v, d));
    }
  }
}

/* Adds tensor t to the transfer *row: the maximum counts, or the sum where all transfers run in sequence. */
static bool take_tensor(const branch_chain *s, const int64_t **row, int64_t **own, const situ_costs *costs, int32_t t) {
  const int64_t *more = costs->transfer_ns[t];
  if (!*row || (*row == more && !s->sums)) {
    *row = more;
    return true;
  }
  if (!*own && !(*own = ARENA_COPY(s->arena, *row, int64_t, costs->n_kinds))) return false;
  for (int32_t k = 0; k < costs->n_kinds; k++)
    (*own)[k] = s->sums ? sat_add((*own)[k], more[k]) : max64((*own)[k], more[k]);
  *row = *own;
  return true;
}

/* A transfer under construction: its rows by all costs, and those that are not yet rows of the costs. */
typedef struct transfer_rows {
  const int64_t *row, *other;
  int64_t *own, *other_own;
} transfer_rows;

static bool take_into(const branch_chain *s, transfer_rows *transfer, int32_t t) {
  const situ_problem *p = s->problem;
  return take_tensor(s, &transfer->row, &transfer->own, p->costs, t) &&
         (!p->secondary || take_tensor(s, &transfer->other, &transfer->other_own, p->secondary, t));
}

/* Takes the tensors that unit `from` makes and unit `to` reads and that no transfer has taken yet, found from the side
 * of `from` or of `to`. */
static bool take_rest(branch_chain *s, transfer_rows *transfer, int32_t from, int32_t to, bool from_side) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  unit_members of = unit_list_members(&p->units, from_side ? from : to);
  for (int32_t i = 0; i < of.n; i++) {
    int32_t v = of.member[i];
    for (int64_t k = g->in_start[v]; !from_side && k < g->in_start[v + 1]; k++) {
      int32_t t = g->in[k];
      if (p->units.of[g->producer[t]] != from || s->taken[t]) continue;
      s->taken[t] = true;
      if (!take_into(s, transfer, t)) return false;
    }
    for (int32_t t = g->out_start[v]; from_side && t < g->out_start[v + 1]; t++)
      for (int64_t k = g->use_start[t]; k < g->use_start[t + 1] && !s->taken[t]; k++) {
        if (p->units.of[g->use[k]] != to) continue;
        s->taken[t] = true;
        if (!take_into(s, transfer, t)) return false;
      }
  }
  return true;
}

/* The transfers from operator u to operator w, which follows it on the chain in another unit. False without memory. */
static bool find_transfers(branch_chain *s, const int64_t **row, const int64_t **other, int32_t u, int32_t w,
                           bool back) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  transfer_rows transfer = {0};
  for (int64_t i = g->in_start[w]; i < g->in_start[w + 1]; i++)
    if (g->producer[g->in[i]] == u && !take_into(s, &transfer, g->in[i])) return false;
  if (s->sums && !take_rest(s, &transfer, p->units.of[u], p->units.of[w], back)) return false;
  *row = transfer.row;
  if (p->secondary) *other = transfer.other;
  return true;
}

/* Where all transfers run in sequence, reserves the tensors that the chain itself moves from unit to unit. */
static bool reserve(branch_chain *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  if (!s->sums) return true;
  s->taken = ARENA_ZERO(s->arena, bool, g->n_tensors);
  for (int32_t i = 1; s->taken && i < s->n_chain; i++) {
    int32_t u = s->chain[i - 1], w = s->chain[i];
    if (p->units.of[u] == p->units.of[w]) continue;
    for (int64_t k = g->in_start[w]; k < g->in_start[w + 1]; k++)
      if (g->producer[g->in[k]] == u) s->taken[g->in[k]] = true;
  }
  return s->taken;
}

/* Finds the elements of the chain. A segment between two of one unit becomes a branch. `open` is a stack of elements.
 */
static bool find_elements(branch_chain *s) {
  const situ_problem *p = s->problem;
  int32_t *open, depth = 0;
  int64_t cells = (int64_t)s->n_chain * s->n_types;
  uint8_t *reached;
  if (!ARENA_ARRAYS(s->arena, ZEROS(reached, p->n_operators), ZEROS(s->on_chain, p->units.n),
                    ARRAY(s->elements, s->n_chain), ARRAY(open, s->n_chain), ARRAY(s->at, s->n_chain),
                    ARRAY(s->time_ns, cells), ARRAY(s->from, cells), ARRAY(s->cost, cells), ARRAY(s->before, cells)) ||
      (p->secondary && !(s->secondary_ns = ARENA_ZERO(s->arena, int64_t, cells))) || !reserve(s))
    return false;
  for (int32_t i = 0, end; i < s->n_chain; i = end) {
    int32_t v = s->chain[i], u = p->units.of[v];
    for (end = i + 1; end < s->n_chain && p->units.of[s->chain[end]] == u;) end++;
    if (depth >= 2 && s->elements[open[depth - 2]].unit == u) {
      chain_element *branch = &s->elements[open[--depth]];
      branch->parent = open[depth - 1];
      branch->next = v;
      if (!find_transfers(s, &branch->out_ns, &branch->secondary_out_ns, branch->last, v, true)) return false;
    } else {
      chain_element *made = &s->elements[s->n];
      *made = (chain_element){.unit = u, .before = i > 0 ? s->chain[i - 1] : -1, .first = v, .parent = -1};
      made->holds_weights = !s->on_chain[u];
      if (i > 0 && !find_transfers(s, &made->in_ns, &made->secondary_in_ns, made->before, v, false)) return false;
      s->on_chain[u] = true;
      open[depth++] = s->n++;
    }
    int32_t k = open[depth - 1];
    s->elements[k].last = s->chain[end - 1];
    time_segment(s, k, i > 0 ? s->chain[i - 1] : -1, v, s->chain[end - 1], reached);
  }
  return true;
}

static inline __int128 transfer_cost(const branch_chain *s, const chain_multipliers *by, const int64_t *ns,
                                     const int64_t *other, int32_t from, int32_t to) {
  int32_t kind = s->kind[(int64_t)from * s->n_types + to];
  return chain_cost(by, ns[kind], other ? other[kind] : 0);
}

static inline __int128 cut_cost(const chain_multipliers *by, int32_t from, int32_t to) {
  return from == to ? 0 : (__int128)by->cut_ns << CHAIN_PRICE_BITS;
}

/* Adds the cheapest placement of branch x to the costs of the element around it. */
static void take_branch(branch_chain *s, chain_multipliers by, int32_t x) {
  const chain_element *branch = &s->elements[x];
  const __int128 *there = s->cost + (int64_t)x * s->n_types;
  __int128 *cost = s->cost + (int64_t)branch->parent * s->n_types;
  for (int32_t k = 0; k < s->n_types; k++) {
    __int128 min = -1;
    for (int32_t e = 0; cost[k] >= 0 && e < s->n_types; e++) {
      if (there[e] < 0 || (min >= 0 && there[e] >= min)) continue;
      __int128 sum = there[e] + transfer_cost(s, &by, branch->in_ns, branch->secondary_in_ns, k, e) +
                     transfer_cost(s, &by, branch->out_ns, branch->secondary_out_ns, e, k);
      if (min >= 0 && sum >= min) continue;
      min = sum;
      s->from[(int64_t)x * s->n_types + k] = e;
    }
    s->before[(int64_t)x * s->n_types + k] = min;
    cost[k] = min < 0 ? -1 : cost[k] + min;
  }
}

/* Adds the cheapest transfer to an element from element `last` before it on the chain. */
static void take_transfer(branch_chain *s, chain_multipliers by, int32_t element, int32_t last) {
  const chain_element *x = &s->elements[element];
  const __int128 *before = s->cost + (int64_t)last * s->n_types;
  __int128 *cost = s->cost + (int64_t)element * s->n_types;
  for (int32_t k = 0; k < s->n_types; k++) {
    __int128 min = -1;
    for (int32_t e = 0; cost[k] >= 0 && e < s->n_types; e++) {
      if (before[e] < 0 || (min >= 0 && before[e] >= min)) continue;
      __int128 sum = before[e] + transfer_cost(s, &by, x->in_ns, x->secondary_in_ns, e, k) + cut_cost(&by, e, k);
      if (min >= 0 && sum >= min) continue;
      min = sum;
      s->from[(int64_t)element * s->n_types + k] = e;
    }
    s->before[(int64_t)element * s->n_types + k] = min;
    cost[k] = min < 0 ? -1 : cost[k] + min;
  }
}

__int128 branch_chain_run(branch_chain *s, const chain_multipliers *by) {
  const situ_problem *p = s->problem;
  int32_t n_types = s->n_types, last = -1;
  for (int32_t x = 0; x < s->n; x++)
    for (int32_t k = 0; k < n_types; k++) {
      int64_t at = (int64_t)x * n_types + k, time = s->time_ns[at];
      __int128 *cost = &s->cost[at];
      *cost = time == SITU_NEVER_NS ? -1 : chain_cost(by, time, s->secondary_ns ? s->secondary_ns[at] : 0);
      if (*cost >= 0 && s->elements[x].holds_weights)
        *cost += chain_rent(by, p->memory_of[s->first[k]], s->all.weight_bytes[s->elements[x].unit]);
    }
  for (int32_t x = s->n - 1; x >= 0; x--)
    if (s->elements[x].parent >= 0) take_branch(s, *by, x);
  for (int32_t x = 0; x < s->n; x++) {
    if (s->elements[x].parent >= 0) continue;
    if (last >= 0)
      take_transfer(s, *by, x, last);
    else
      memset(s->before + (int64_t)x * n_types, 0, (size_t)n_types * sizeof *s->before);
    s->at[x] = last;
    last = x;
  }
  const __int128 *end = s->cost + (int64_t)last * n_types;
  int32_t best = -1;
  for (int32_t k = 0; k < n_types; k++)
    if (end[k] >= 0 && (best < 0 || end[k] < end[best])) best = k;
  if (best < 0) return -1;
  __int128 min = end[best];
  for (int32_t x = last, k = best; x >= 0;) { /* `at` of elements on the chain holds the element before */
    int32_t before = s->at[x];
    s->at[x] = k;
    k = before >= 0 ? s->from[(int64_t)x * n_types + k] : k;
    x = before;
  }
  for (int32_t x = 0; x < s->n; x++)
    if (s->elements[x].parent >= 0) s->at[x] = s->from[(int64_t)x * n_types + s->at[s->elements[x].parent]];
  return min;
}

__int128 branch_chain_off(const branch_chain *s, const chain_multipliers *by, int32_t u, int32_t *where) {
  __int128 min = -1;
  for (int32_t k = 0; k < s->n_types; k++) {
    int32_t d = s->first[k];
    int64_t time = items_time_ns(&s->all, u, d), other = s->problem->secondary ? items_time_ns(&s->secondary, u, d) : 0;
    if (time == SITU_NEVER_NS) continue;
    __int128 cost = chain_cost(by, time, other) + chain_rent(by, s->problem->memory_of[d], s->all.weight_bytes[u]);
    if (min >= 0 && cost >= min) continue;
    min = cost;
    *where = d;
  }
  return min;
}

__int128 branch_chain_off_now(const branch_chain *s, int32_t u, int32_t *where) {
  return branch_chain_off(
      s, &(chain_multipliers){.time = s->sums, .secondary = s->sums ? s->by.secondary : 0, .byte = s->byte}, u, where);
}

/* Adds element x on the types of `at`, and the transfers to it, to the plan. */
static void add_element(branch_chain *s, int32_t x, int32_t before) {
  const chain_element *element = &s->elements[x];
  int64_t here = (int64_t)x * s->n_types + s->at[x];
  int32_t from = element->parent >= 0 ? element->parent : before;
  s->plan.value_ns = sat_add(s->plan.value_ns, s->time_ns[here]);
  if (s->secondary_ns) s->plan.secondary_ns = sat_add(s->plan.secondary_ns, s->secondary_ns[here]);
  if (from >= 0) {
    int32_t kind = s->kind[(int64_t)s->at[from] * s->n_types + s->at[x]];
    s->plan.value_ns = sat_add(s->plan.value_ns, element->in_ns[kind]);
    if (element->secondary_in_ns) s->plan.secondary_ns = sat_add(s->plan.secondary_ns, element->secondary_in_ns[kind]);
  }
  if (element->parent >= 0) {
    int32_t kind = s->kind[(int64_t)s->at[x] * s->n_types + s->at[from]];
    s->plan.value_ns = sat_add(s->plan.value_ns, element->out_ns[kind]);
    if (element->secondary_out_ns)
      s->plan.secondary_ns = sat_add(s->plan.secondary_ns, element->secondary_out_ns[kind]);
  }
}

/* The bound that the current prices prove; -1 when the program has no plan. Fills used_bytes and plan, and turns `at`
 * into devices. */
static int64_t evaluate(branch_chain *s) {
  const situ_problem *p = s->problem;
  __int128 sum = branch_chain_run(s, &s->by);
  if (sum < 0) return -1;
  s->plan = (branch_chain_plan){0};
  for (int32_t m = 0; m < p->n_memories; m++) s->used_bytes[m] = 0;
  for (int32_t x = 0, before = -1; x < s->n; x++) {
    add_element(s, x, before);
    if (s->elements[x].parent < 0) before = x;
  }
  for (int32_t x = 0; x < s->n; x++) {
    s->at[x] = s->first[s->at[x]];
    if (s->elements[x].holds_weights)
      s->used_bytes[p->memory_of[s->at[x]]] += (double)s->all.weight_bytes[s->elements[x].unit];
  }
  for (int32_t u = 0; u < p->units.n; u++) {
    int32_t d = -1;
    if (s->on_chain[u] || (s->all.weight_bytes[u] == 0 && !s->sums)) continue;
    __int128 cost = branch_chain_off_now(s, u, &d);
    if (cost < 0) continue;
    sum += cost;
    if (s->sums) s->plan.value_ns = sat_add(s->plan.value_ns, items_time_ns(&s->all, u, d));
    if (p->secondary) s->plan.secondary_ns = sat_add(s->plan.secondary_ns, items_time_ns(&s->secondary, u, d));
    s->used_bytes[p->memory_of[d]] += (double)s->all.weight_bytes[u];
  }
  s->plan.priced_ns = (double)s->plan.value_ns;
  for (int32_t m = 0; m < p->n_memories; m++) {
    if (s->byte[m] == 0) continue;
    sum -= (__int128)s->byte[m] * p->platform->memory_bytes[m];
    s->plan.priced_ns +=
        ldexp((double)s->byte[m], -CHAIN_PRICE_BITS) * (s->used_bytes[m] - (double)p->platform->memory_bytes[m]);
  }
  if (s->by.secondary > 0) sum -= chain_cost(&s->by, 0, p->max_secondary_ns);
  __int128 lower = sum <= 0 ? 0 : sum >> CHAIN_PRICE_BITS;
  return lower > PROBLEM_MAX_NS ? SITU_NEVER_NS : (int64_t)lower; /* no plan takes this long, so there is none */
}

static void try_prices(branch_chain *s, branch_chain_report *report, void *context) {
  const situ_problem *p = s->problem;
  for (int32_t m = 0; m < p->n_memories; m++) {
    double y = s->price[s->type_of[m]] * (double)((int64_t)1 << CHAIN_PRICE_BITS);
    bool limited = p->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES;
    s->byte[m] = !limited ? 0 : y < (double)MAX_PRICE ? (int64_t)y : MAX_PRICE;
  }
  double secondary = ldexp(s->secondary_multiplier, CHAIN_SECONDARY_BITS);
  s->by.secondary = !p->secondary                             ? 0
                    : secondary < (double)MAX_SECONDARY_PRICE ? (int64_t)secondary
                                                              : MAX_SECONDARY_PRICE;
  int64_t lower_ns = evaluate(s);
  if (lower_ns >= 0) report(context, s, lower_ns);
}

void branch_chain_at(branch_chain *s, const int64_t *byte, int64_t secondary, branch_chain_report *report,
                     void *context) {
  memcpy(s->byte, byte, (size_t)s->problem->n_memories * sizeof *byte);
  s->by.secondary = secondary;
  int64_t lower_ns = evaluate(s);
  if (lower_ns >= 0) report(context, s, lower_ns);
}

/* Finds the best price of the secondary costs at the current prices of bytes. Each plan is a line in that price,
 * priced_ns + secondary_multiplier (secondary_ns - limit), and the bound is the lower envelope of all lines. The
 * intersection of a rising and a falling line is tried next, until no other line is below that point. */
static void find_secondary_multiplier(branch_chain *s, budget *b, branch_chain_report *report, void *context) {
  double limit = (double)s->problem->max_secondary_ns;
  if (!s->problem->secondary) return;
  s->secondary_multiplier = 0;
  try_prices(s, report, context);
  branch_chain_plan rising = s->plan;
  if (s->plan.secondary_ns <= s->problem->max_secondary_ns) return;
  s->secondary_multiplier = ldexp((double)MAX_SECONDARY_PRICE, -CHAIN_SECONDARY_BITS);
  try_prices(s, report, context);
  branch_chain_plan falling = s->plan;
  for (int line = 0; line < LINES && falling.secondary_ns <= limit && !budget_over(b); line++) {
    double secondary_multiplier =
        (falling.priced_ns - rising.priced_ns) / ((double)rising.secondary_ns - (double)falling.secondary_ns);
    if (!(secondary_multiplier > 0)) break;
    s->secondary_multiplier = secondary_multiplier;
    try_prices(s, report, context);
    double met = rising.priced_ns + secondary_multiplier * ((double)rising.secondary_ns - limit);
    double here = s->plan.priced_ns + secondary_multiplier * ((double)s->plan.secondary_ns - limit);
    if (here >= met - 0.5) break;
    *(s->plan.secondary_ns > limit ? &rising : &falling) = s->plan;
  }
}

/* By how many bytes the plan of the program exceeds the memories of a type; negative where there is room. */
static double excess_of(const branch_chain *s, int32_t type) {
  double sum = 0;
  for (int32_t m = 0; m < s->problem->n_memories; m++)
    if (s->type_of[m] == type && s->problem->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES)
      sum += s->used_bytes[m] - (double)s->problem->platform->memory_bytes[m];
  return sum;
}

/* By how much the plan exceeds the limit by the secondary costs, scaled to bytes so that the limit equals all weights.
 */
static double other_excess_of(const branch_chain *s, double weights) {
  const situ_problem *p = s->problem;
  return p->secondary ? ((double)s->plan.secondary_ns / (double)p->max_secondary_ns - 1) * weights : 0;
}

static double slowest_ns(const branch_chain *s) {
  double sum = 0;
  for (int32_t x = 0; x < s->n; x++) {
    int64_t max = 0;
    for (int32_t k = 0; k < s->n_types; k++) {
      int64_t time = s->time_ns[(int64_t)x * s->n_types + k];
      if (time != SITU_NEVER_NS) max = max64(max, time);
    }
    sum += (double)max;
  }
  return sum;
}

void branch_chain_ascend(branch_chain *s, budget *b, branch_chain_report *report, void *context) {
  const situ_problem *p = s->problem;
  double weights = 0;
  for (int32_t u = 0; u < p->units.n; u++) weights += (double)s->all.weight_bytes[u];
  s->secondary_multiplier = 0;
  try_prices(s, report, context);
  find_secondary_multiplier(s, b, report, context);
  double work = (double)s->n * s->n_types * s->n_types + p->units.n, step = weights > 0 ? slowest_ns(s) / weights : 0;
  for (int round = 0; round < ROUNDS && round * work < WORK_LIMIT && step > 0 && !budget_over(b); round++) {
    double norm = 0, late = other_excess_of(s, weights);
    for (int32_t k = 0; k < s->n_types; k++) {
      double g = excess_of(s, k);
      if (g > 0 || s->price[k] > 0) norm += g * g;
    }
    if (norm <= 0) return; /* memory is not binding, and the secondary_multiplier is optimal already */
    if (late > 0 || s->secondary_multiplier > 0) norm += late * late;
    double length = step * pow(0.985, round) / sqrt(norm);
    for (int32_t k = 0; k < s->n_types; k++) s->price[k] = fmax(0, s->price[k] + length * excess_of(s, k));
    s->secondary_multiplier = fmax(0, s->secondary_multiplier + length * late * weights / (double)p->max_secondary_ns);
    if (p->secondary && round % LINES_EVERY == LINES_EVERY - 1) find_secondary_multiplier(s, b, report, context);
    try_prices(s, report, context);
  }
}

bool branch_chain_serves(const situ_problem *p) {
  double work = (double)p->n_operators * p->n_devices * p->n_devices;
  return p->objective == SITU_OBJECTIVE_LATENCY && p->n_copies <= 1 && work <= WORK_LIMIT;
}

static bool find_types(branch_chain *s) {
  const situ_problem *p = s->problem;
  if (!equal_devices_find(&s->equal, p, EQUAL_LINKED, s->arena)) return false;
  int32_t n = s->n_types = s->equal.n_types;
  if (!ARENA_ARRAYS(s->arena, ARRAY(s->first, n), ARRAY(s->kind, (int64_t)n * n), ZEROS(s->price, s->equal.n_all),
                    ARRAY(s->type_of, p->n_memories), ZEROS(s->byte, p->n_memories),
                    ARRAY(s->used_bytes, p->n_memories)))
    return false;
  for (int32_t k = 0; k < n; k++) s->first[k] = s->equal.types[k].devices[0];
  for (int32_t k = 0; k < n; k++)
    for (int32_t e = 0; e < n; e++)
      s->kind[(int64_t)k * n + e] = p->device_kind[(int64_t)s->first[k] * p->n_devices + s->first[e]];
  for (int32_t d = p->n_devices - 1; d >= 0; d--) s->type_of[p->memory_of[d]] = s->equal.type_of[d];
  return true;
}

situ_status branch_chain_find(branch_chain *s, const situ_problem *p, arena *a, situ_error *error) {
  situ_problem view;
  *s = (branch_chain){.problem = p, .arena = a, .sums = p->overlap == SITU_OVERLAP_NONE};
  TRY(items_list(&s->all, p, a, error));
  if (p->secondary) {
    problem_view_costs(&view, p, p->secondary);
    TRY(items_list(&s->secondary, &view, a, error));
  }
  if (!find_types(s)) return fail_no_memory(error);
  s->by = (chain_multipliers){.time = true, .byte = s->byte};
  return find_chain(s) && find_elements(s) ? SITU_STATUS_OK : fail_no_memory(error);
}

bool branch_chain_of(branch_chain *s, const chain *c, arena *a) {
  const situ_problem *p = c->problem;
  *s = (branch_chain){.problem = p, .arena = a, .n = c->n};
  if (!find_types(s)) return false;
  int64_t cells = (int64_t)c->n * s->n_types;
  if (!ARENA_ARRAYS(a, ZEROS(s->elements, c->n), ARRAY(s->at, c->n), ARRAY(s->time_ns, cells), ARRAY(s->from, cells),
                    ARRAY(s->cost, cells), ARRAY(s->before, cells)))
    return false;
  for (int32_t x = 0; x < c->n; x++) {
    s->elements[x] = (chain_element){.parent = -1, .in_ns = c->crossing_ns + (int64_t)x * p->n_kinds};
    for (int32_t k = 0; k < s->n_types; k++)
      s->time_ns[(int64_t)x * s->n_types + k] = chain_time_ns(c, s->first[k], x, x + 1);
  }
  return true;
}
