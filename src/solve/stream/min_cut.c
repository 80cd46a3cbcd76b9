/* Minimum cuts, for streams with overlap none, whose value is the sum of all operators and transfers.
 *
 * For all units on two devices, a minimum cut finds which should change places (Stone, "Multiprocessor scheduling with
 * the aid of network flow algorithms", IEEE Trans. Software Eng. 3, 1977); units elsewhere only contribute costs. With
 * two devices the result is optimal. With more, pairs take turns until none improves (a swap move in the sense of
 * Boykov, Veksler, Zabih, "Fast approximate energy minimization via graph cuts", IEEE Trans. PAMI 23, 2001). Where a
 * memory has too little room, a byte there gets a price, found by bisection. docs/theory/exact/min_cut.md. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/max_flow.h"
#include "solve/common/solver.h"
#include "view/equal_devices.h"
#include "view/items.h"

enum { BISECTIONS = 40, BYTE_BITS = 32 };
static const int64_t FAR_NS = (int64_t)1 << 55, MAX_PRICE = (int64_t)1 << 52;

typedef struct swap {
  solve_run *run;
  const situ_problem *problem;
  const situ_graph *graph;
  int32_t a, b;     /* devices; a unit on the source side is on a */
  int32_t *device;  /* [operator] the current placement */
  int32_t *unit_at; /* [unit] its device in it */
  int32_t *before;  /* [unit] likewise, before the swap */
  items all;        /* units with their times and weights */
  int64_t *on[2];   /* [unit] its cost on a and on b, apart from tensors between movable units */
  int32_t *seen;    /* [memory] the last tensor counted as sent there */
  max_flow flow;
  int64_t value_ns; /* of the current placement */
  int64_t cuts;
} swap;

static bool is_movable(const swap *s, int32_t u) { return s->before[u] == s->a || s->before[u] == s->b; }

static int32_t memory_at(const swap *s, int32_t u) { return s->problem->memory_of[s->before[u]]; }

/* The time of tensor t from one memory to another; 0 within one. */
static int64_t way_ns(const swap *s, int32_t t, int32_t from, int32_t to) {
  const situ_problem *p = s->problem;
  return p->transfer_ns[t][p->costs->pair_kind[(int64_t)from * p->n_memories + to]];
}

/* Time plus price of bytes of the movable units on a and b. price: of a byte in the memories of a and b, in 2^-32
 * ns. */
static void price_units(swap *s, const int64_t price[2]) {
  const situ_problem *p = s->problem;
  const int32_t devices[2] = {s->a, s->b};
  for (int32_t u = 0; u < p->units.n; u++)
    for (int k = 0; is_movable(s, u) && k < 2; k++) {
      int32_t column = s->all.column_of[devices[k]];
      int64_t sum = column < 0 ? FAR_NS : min64(FAR_NS, s->all.time_ns[(int64_t)u * s->all.n_columns + column]);
      __int128 rent = ((__int128)price[k] * s->all.weight_bytes[u]) >> BYTE_BITS;
      s->on[k][u] = rent > FAR_NS - sum ? FAR_NS : sum + (int64_t)rent;
    }
}

/* A tensor whose producer stays in memory m: movable users in the memory of a or b pay for its way once, unless a fixed
 * user there has paid. */
static void add_arrivals(swap *s, int32_t t, int32_t m, int32_t *node, const bool paid[2]) {
  const situ_graph *g = s->graph;
  const int32_t memory[2] = {s->problem->memory_of[s->a], s->problem->memory_of[s->b]};
  int32_t source = s->problem->units.n, sink = source + 1;
  for (int k = 0; k < 2 && memory[0] != memory[1]; k++) { /* otherwise it comes there anyway */
    if (memory[k] == m || paid[k]) continue;
    int32_t meet = (*node)++;
    if (k == 0)
      max_flow_add(&s->flow, meet, sink, way_ns(s, t, m, memory[k]));
    else
      max_flow_add(&s->flow, source, meet, way_ns(s, t, m, memory[k]));
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t u = s->problem->units.of[g->use[i]];
      if (is_movable(s, u)) max_flow_add(&s->flow, k ? meet : u, k ? u : meet, MAX_FLOW_ENDLESS);
    }
  }
}

/* A tensor whose producer may move. Its way to fixed users depends on the producer alone; between a and b it depends on
 * whether some user is on the other side. */
static void add_departures(swap *s, int32_t t, int32_t from, int32_t *node, const bool paid[2]) {
  const situ_graph *g = s->graph;
  const int32_t memory[2] = {s->problem->memory_of[s->a], s->problem->memory_of[s->b]};
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t u = s->problem->units.of[g->use[i]], m = memory_at(s, u);
    if (is_movable(s, u) || s->seen[m] == t) continue;
    s->seen[m] = t;
    for (int k = 0; k < 2; k++) s->on[k][from] = min64(FAR_NS, sat_add(s->on[k][from], way_ns(s, t, memory[k], m)));
  }
  for (int k = 0; k < 2 && memory[0] != memory[1]; k++) { /* from memory[k] to the other one */
    if (paid[1 - k]) continue;
    int32_t meet = (*node)++;
    max_flow_add(&s->flow, k ? meet : from, k ? from : meet, way_ns(s, t, memory[k], memory[1 - k]));
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t u = s->problem->units.of[g->use[i]];
      if (is_movable(s, u) && u != from) max_flow_add(&s->flow, k ? u : meet, k ? meet : u, MAX_FLOW_ENDLESS);
    }
  }
}

static void add_tensors(swap *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  int32_t node = p->units.n + 2;
  for (int32_t m = 0; m < p->n_memories; m++) s->seen[m] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = p->units.of[g->producer[t]];
    bool moves = is_movable(s, from), paid[2] = {false, false};
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t u = p->units.of[g->use[i]];
      moves = moves || is_movable(s, u);
      if (is_movable(s, u)) continue;
      paid[0] = paid[0] || memory_at(s, u) == p->memory_of[s->a];
      paid[1] = paid[1] || memory_at(s, u) == p->memory_of[s->b];
    }
    if (!moves) continue;
    if (is_movable(s, from))
      add_departures(s, t, from, &node, paid);
    else
      add_arrivals(s, t, memory_at(s, from), &node, paid);
  }
}

/* Finds the best places for what is on a and b, at these prices. */
static void cut(swap *s, const int64_t price[2]) {
  const situ_problem *p = s->problem;
  int32_t n = p->units.n, source = n, sink = n + 1;
  max_flow_clear(&s->flow, n + 2 + 2 * s->graph->n_tensors);
  price_units(s, price);
  add_tensors(s);
  for (int32_t u = 0; u < n; u++) {
    if (!is_movable(s, u)) continue;
    int64_t min = min64(s->on[0][u], s->on[1][u]);
    max_flow_add(&s->flow, source, u, s->on[1][u] - min);
    max_flow_add(&s->flow, u, sink, s->on[0][u] - min);
  }
  (void)max_flow_run(&s->flow, source, sink, s->run->budget);
  s->cuts++;
  for (int32_t u = 0; u < n; u++) {
    if (!is_movable(s, u)) continue;
    s->unit_at[u] = max_flow_with_source(&s->flow, u) ? s->a : s->b;
    unit_members of = unit_list_members(&p->units, u);
    for (int32_t i = 0; i < of.n; i++) s->device[of.member[i]] = s->unit_at[u];
  }
}

/* Tries the cut at some prices. Returns which of the two memories has too little room: 0, 1, or -1 for none. */
static int try_cut(swap *s, const int64_t price[2], simulation *found) {
  const int32_t memory[2] = {s->problem->memory_of[s->a], s->problem->memory_of[s->b]};
  cut(s, price);
  *found = solve_try(s->run, &(placement){.device = s->device});
  for (int k = 0; k < 2 && found->value_ns != SITU_NEVER_NS && found->excess_bytes > 0; k++)
    if (found->peak_bytes[memory[k]] > s->problem->platform->memory_bytes[memory[k]]) return k;
  return -1;
}

/* Cuts between a and b. Returns whether that improved the placement; otherwise it is restored. */
static bool cut_pair(swap *s, int32_t a, int32_t b) {
  int64_t price[2] = {0, 0}, low = 0, high = MAX_PRICE, before_ns = s->value_ns;
  s->a = a;
  s->b = b;
  memcpy(s->before, s->unit_at, (size_t)s->problem->units.n * sizeof *s->before);
  simulation found;
  int full = try_cut(s, price, &found);
  for (int i = 0; full >= 0 && i < BISECTIONS && low + 1 < high && !s->run->budget->stop; i++) {
    price[full] = low == 0 ? high >> 2 : low + (high - low) / 2; /* prices span many orders of magnitude */
    bool fits = try_cut(s, price, &found) != full;
    if (fits)
      high = price[full];
    else
      low = price[full];
    if (low > 0 && high - low < low / 1024) break;
  }
  bool better = s->run->incumbent->best.device && s->run->incumbent->value_ns < before_ns;
  const int32_t *best = s->run->incumbent->best.device;
  for (int32_t v = 0; best && v < s->problem->n_operators; v++) {
    s->device[v] = best[v];
    s->unit_at[s->problem->units.of[v]] = best[v];
  }
  if (best) s->value_ns = s->run->incumbent->value_ns;
  return better;
}

/* Cuts pairs in turn until a whole round improves nothing. Of equal empty devices, one is enough. */
static void cut_all_pairs(swap *s, const equal_devices *equal) {
  bool better = true;
  while (better && !solve_done(s->run)) {
    better = false;
    for (int32_t a = 0; a < s->problem->n_devices; a++)
      for (int32_t b = a + 1; b < s->problem->n_devices && !solve_done(s->run); b++) {
        bool held[2] = {false, false}, next[2] = {true, true};
        const int32_t devices[2] = {a, b};
        for (int32_t u = 0; u < s->problem->units.n; u++)
          for (int k = 0; k < 2; k++) held[k] = held[k] || s->unit_at[u] == devices[k];
        for (int k = 0; k < 2; k++) next[k] = held[k] || equal_devices_first(equal, devices[k]);
        if ((held[0] || held[1]) && next[0] && next[1]) better = cut_pair(s, a, b) || better;
      }
  }
}

static situ_status min_cut_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  const situ_graph *g = p->graph;
  swap s = {.run = run, .problem = p, .graph = g, .value_ns = SITU_NEVER_NS};
  equal_devices equal;
  int64_t nodes = p->units.n + 2 + 2 * (int64_t)g->n_tensors;
  int64_t arcs = 2 * (int64_t)p->units.n + 2 * (int64_t)g->n_tensors + 2 * g->n_uses;
  if (solve_done(run) || !run->incumbent->best.device) return SITU_STATUS_OK;
  TRY(items_list(&s.all, p, run->arena, run->error));
  if (nodes > INT32_MAX / 2 || arcs > INT32_MAX / 2 ||
      !ARENA_ARRAYS(run->arena, ARRAY(s.device, p->n_operators), ARRAY(s.unit_at, p->units.n),
                    ARRAY(s.before, p->units.n), ARRAY(s.on[0], p->units.n), ARRAY(s.on[1], p->units.n),
                    ARRAY(s.seen, p->n_memories)) ||
      !max_flow_new(&s.flow, (int32_t)nodes, (int32_t)arcs, run->arena) ||
      !equal_devices_find(&equal, p, EQUAL_ALWAYS, run->arena))
    return fail_no_memory(run->error);
  for (int32_t v = 0; v < p->n_operators; v++) {
    s.device[v] = run->incumbent->best.device[v];
    s.unit_at[p->units.of[v]] = s.device[v];
  }
  s.value_ns = run->incumbent->value_ns;
  cut_all_pairs(&s, &equal);
  solve_count(run, "cuts", s.cuts);
  return SITU_STATUS_OK;
}

static bool min_cut_serves(const situ_problem *p) {
  return p->overlap == SITU_OVERLAP_NONE && p->objective == SITU_OBJECTIVE_LATENCY;
}

const solver min_cut_solver = {
    .name = "min_cut",
    .title = "minimum cuts between pairs of devices, if nothing overlaps",
    .source = "Stone 1977",
    .models = MODEL_STREAM,
    .serves = min_cut_serves,
    .starts = {{&single_solver, 1}, {&m_topo_solver, 1}, {&heft_solver, 1}},
    .solve = min_cut_solve,
};
