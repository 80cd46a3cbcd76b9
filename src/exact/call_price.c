#include "exact/call_price.h"

#include "base/checked.h"
#include "base/contracts.h"

static const int64_t CALLS_PER_STEP = 512, MAX_NS = (int64_t)1 << 49, MAX_PRICE = (int64_t)1 << 40,
                     MAX_TOLL = (int64_t)1 << 46;
enum { ROOM_BITS = 20, ROUNDS = 12, FIRST_TOLL = 64 };

/* Finds the longest path through the nodes, each with its minimum time. */
static bool find_path(call_price *c, arena *a) {
  const call_graph *g = c->lattice->graph;
  int64_t *reach_ns = ARENA_NEW(a, int64_t, g->n);
  int32_t *by = ARENA_NEW(a, int32_t, g->n), last = 0;
  if (!reach_ns || !by) return false;
  for (int32_t v = 0; v < g->n; v++) {
    int64_t min = min64(g->call_ns[v], g->host_ns[v]), before = 0;
    by[v] = -1;
    for (int32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int64_t reach = reach_ns[g->producer[g->in[i]]];
      if (by[v] >= 0 && reach <= before) continue;
      before = reach;
      by[v] = i;
    }
    reach_ns[v] = before + (min == SITU_NEVER_NS ? 0 : min);
    if (reach_ns[v] > reach_ns[last]) last = v;
  }
  c->ending[last] = CALL_PARTS;
  for (int32_t v = last;; v = g->producer[g->in[by[v]]]) {
    c->through[v] = CALL_PARTS;
    if (by[v] < 0) return true;
    c->flow_in[g->in_use[by[v]]] = CALL_PARTS;
  }
}

/* Selects groups that fewer than a quarter of the ideals cut. For the others, one level for all would bound nothing. */
static void find_ties(call_price *c) {
  const call_lattice *l = c->lattice;
  c->n_levels = 1;
  if (l->graph->call_bytes == SITU_UNLIMITED_BYTES) return;
  for (int32_t k = 0; k < 64; k++) {
    int32_t n = 0;
    for (int32_t i = 0; i < l->n; i++) n += l->cut[i] >> k & 1;
    if (n > 0 && n < l->n / 4) c->ties |= 1ull << k;
  }
  c->level_bytes = l->graph->call_bytes / CALL_LEVELS;
  if (c->ties && c->level_bytes > 0) c->n_levels = CALL_LEVELS;
}

bool call_price_make(call_price *c, const call_lattice *l, bool *unsupported, arena *a) {
  const call_graph *g = l->graph;
  *c = (call_price){.lattice = l};
  *unsupported = g->total_ns > MAX_NS || g->n == 0;
  if (*unsupported) return false;
  int64_t weights = 0;
  for (int32_t v = 0; v < g->n; v++) weights = sat_add(weights, g->weight_bytes[v]);
  while (weights >> c->shift >> ROOM_BITS) c->shift++;
  c->room = g->all_bytes >> c->shift;
  find_ties(c);
  return ARENA_ARRAYS(a, ZEROS(c->through, g->n), ZEROS(c->ending, g->n), ZEROS(c->flow_in, g->use_start[g->n_tensors]),
                      ARRAY(c->rest, (int64_t)l->n * c->n_levels), ARRAY(c->rest_calls, (int64_t)l->n * c->n_levels)) &&
         find_path(c, a) && call_iterator_make(&c->iterator, l, c->flow_in, c->through, a);
}

int32_t call_price_level(const call_price *c, const call_move *move, int32_t level) {
  const call_lattice *l = c->lattice;
  int64_t limit = l->graph->call_bytes, bytes = move->host ? 0 : move->weight_bytes;
  if (c->n_levels == 1) return 0;
  if (!move->host && move->groups & l->cut[move->from] & c->ties) bytes = sat_add(bytes, level * c->level_bytes);
  if (bytes > limit) return -1;
  uint64_t cut = l->cut[move->to] & c->ties;
  if (!cut) return 0;
  int64_t min = cut & move->groups ? bytes / c->level_bytes : CALL_LEVELS - 1;
  if (cut & ~move->groups) min = min64(min, level);
  return (int32_t)min64(min, CALL_LEVELS - 1);
}

/* Relaxes one move from an ideal, at all its levels. */
static void relax(call_price *c, const call_move *move, int64_t cost, int32_t n_levels) {
  int64_t from = (int64_t)move->from * c->n_levels;
  for (int32_t k = 0; k < n_levels; k++) {
    int32_t level = call_price_level(c, move, k);
    if (level < 0) return; /* higher levels fail too */
    int64_t to = (int64_t)move->to * c->n_levels + level, next = c->rest[to];
    if (next == SITU_NEVER_NS || cost + next >= c->rest[from + k]) continue;
    c->rest[from + k] = cost + next;
    c->rest_calls[from + k] = c->rest_calls[to] + !move->host;
  }
}

static void solve_from(call_price *c, int32_t from) {
  const call_lattice *l = c->lattice;
  const call_graph *g = l->graph;
  int64_t *rest = c->rest + (int64_t)from * c->n_levels;
  int32_t n_levels = l->cut[from] & c->ties ? c->n_levels : 1;
  for (int32_t k = 0; k < c->n_levels; k++) rest[k] = SITU_NEVER_NS;
  for (int64_t i = l->step_start[from]; i < l->step_start[from + 1]; i++) {
    int32_t v = l->step[i].node;
    call_move move = {.from = from, .to = l->step[i].ideal, .host = true, .groups = l->groups[v]};
    if (g->host_ns[v] != SITU_NEVER_NS) relax(c, &move, c->through[v] * g->host_ns[v], n_levels);
  }
  call_iterator *w = &c->iterator;
  call_iterator_start(w, from);
  bool deeper = true;
  for (int32_t to; (to = call_iterator_next(w, deeper)) >= 0;) {
    c->n_calls++;
    int64_t charge = call_price_paid(c, w->weight_bytes, 1), flow = w->flow;
    deeper = flow * (w->compute_ns + w->in_ns) + charge < rest[n_levels - 1];
    call_move move = {.from = from, .to = to, .weight_bytes = w->weight_bytes};
    if (c->n_levels > 1 && (l->cut[from] | l->cut[to]) & c->ties) move.groups = call_lattice_groups(l, from, to);
    relax(c, &move, flow * (w->compute_ns + w->in_ns + w->out_ns) + charge, n_levels);
  }
}

bool call_price_solve(call_price *c, budget *b) {
  REQUIRE(c->price >= 0 && c->toll >= 0);
  const call_lattice *l = c->lattice;
  int64_t spent = c->n_calls / CALLS_PER_STEP;
  for (int32_t k = 0; k < c->n_levels; k++) {
    int64_t end = (int64_t)(l->n - 1) * c->n_levels + k;
    c->rest[end] = c->rest_calls[end] = 0;
  }
  for (int32_t i = l->n - 2; i >= 0; i--) {
    solve_from(c, i);
    int64_t steps = c->n_calls / CALLS_PER_STEP;
    if (budget_spend(b, steps - spent)) return false;
    spent = steps;
  }
  c->lower_ns = c->rest[0];
  if (c->rest[0] == SITU_NEVER_NS) return true;
  int64_t scaled = c->rest[0] - call_price_allowance(c);
  c->lower_ns = scaled <= 0 ? 0 : (scaled + CALL_PARTS - 1) / CALL_PARTS;
  return true;
}

/* Raises the price while the bound rises. The bound is concave in the price, so the step shrinks once it falls. Like
 * raise_toll, returns false when the budget ends. */
static bool raise_price(call_price *c, budget *b) {
  int64_t best_ns = c->lower_ns, best = 0, step = (best_ns >> ROOM_BITS) * CALL_PARTS / 4 + 1;
  for (int32_t round = 0; round < ROUNDS && step > 0 && best + step < MAX_PRICE; round++) {
    c->price = best + step;
    if (!call_price_solve(c, b)) return false;
    if (c->lower_ns > best_ns) {
      best_ns = c->lower_ns;
      best = c->price;
      step *= 2;
    } else {
      step /= 4;
    }
  }
  c->price = best;
  return call_price_solve(c, b);
}

/* Raises the toll likewise. The bound rises as long as its shortest path has more calls than are allowed. */
static bool raise_toll(call_price *c, budget *b) {
  int32_t limit = c->lattice->graph->all_calls;
  int64_t best_ns = c->lower_ns, best = 0, low = 0, high = MAX_TOLL, step = best_ns / FIRST_TOLL * CALL_PARTS + 1;
  for (int32_t round = 0; round < ROUNDS && c->rest_calls[0] != limit && high - low > 1; round++) {
    if (c->rest_calls[0] > limit)
      low = c->toll;
    else
      high = c->toll;
    if (high == 0) return true; /* the limit on calls is not binding */
    c->toll = high < MAX_TOLL ? low + (high - low) / 2 : min64(low + step, high - 1);
    step *= 2;
    if (!call_price_solve(c, b)) return false;
    if (c->lower_ns <= best_ns) continue;
    best_ns = c->lower_ns;
    best = c->toll;
  }
  if (c->toll == best) return true;
  c->toll = best;
  return call_price_solve(c, b);
}

bool call_price_improve(call_price *c, budget *b) {
  const call_graph *g = c->lattice->graph;
  int64_t weights = 0;
  for (int32_t v = 0; v < g->n; v++) weights = sat_add(weights, g->weight_bytes[v]);
  if (!call_price_solve(c, b)) return false;
  if (c->lower_ns == SITU_NEVER_NS) return true;
  if (weights > g->all_bytes && !raise_price(c, b)) return false;
  return g->all_calls == INT32_MAX || raise_toll(c, b);
}
