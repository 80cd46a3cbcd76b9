/* Minimum cut, for streams with overlap none: the value is the sum of all operators and transfers.
 *
 * Let s_v be 1 where operator v is in memory a, else 0. A tensor whose producer is in a and one of whose users is not
 * costs at least out = the cheapest transfer from a. One whose producer is not in a and one of whose users is costs at
 * least in = the cheapest transfer to a. So for any f, g >= 0 of the uses i of each tensor with sum f_i <= out and sum
 * g_i <= in
 *
 *     its cost  >=  sum over i of f_i (s_producer - s_i) + g_i (s_i - s_producer),
 *
 * and, with prices y >= 0 of a byte in each memory m, whose weights are at most cap_m,
 *
 *     value  >=  sum over items u of min over d of (p(u,d) + y_m(d) w(u) + [m(d) = a] h_u)  -  sum over m of y_m cap_m,
 *
 * where h_u collects what f and g give its operators. For given y the best f and g are a maximum flow, and with two
 * memories the right side is then the value of the best placement at these prices: the minimum cut of Stone,
 * "Multiprocessor scheduling with the aid of network flow algorithms", IEEE Trans. Software Eng. 3, 1977. Prices are
 * found by bisection, for the memory that has too little room. docs/theory/bounds/memory_cut.md. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/max_flow.h"
#include "bound/bound.h"
#include "view/items.h"

enum { BYTE_BITS = 32, BISECTIONS = 24, MAX_MEMORIES = 16 };
static const int64_t MAX_PRICE = (int64_t)1 << 52, FAR_NS = (int64_t)1 << 55; /* above every value of a plan */

typedef struct cutting {
  const situ_problem *problem;
  const situ_graph *graph;
  arena *arena;
  budget *budget;
  int32_t memory;               /* a */
  int64_t *byte;                /* [memory] prices, of 2^-32 ns */
  items all;                    /* units with their times and weights */
  int64_t *leave_ns, *enter_ns; /* [tensor] the cheapest transfer out of a, and into it */
  int64_t *in_a, *out_of_a;     /* [unit] its minimum cost there, prices included; FAR_NS where it cannot be */
  int64_t *shift;               /* [unit] h */
  int32_t *out_arc, *in_arc;    /* [use] */
  int64_t *out, *in;            /* [use] f and g */
  max_flow flow;
  int64_t best_ns; /* the best bound, and what proves it: */
  int32_t best_memory;
  int64_t *best_byte, *best_out, *best_in;
} cutting;

/* The cheapest transfer of tensor t from memory a to another one, or the reverse. */
static int64_t cheapest(const situ_problem *p, int32_t t, int32_t a, bool back) {
  int64_t min = FAR_NS; /* remains when there is no other memory */
  for (int32_t b = 0; b < p->n_memories; b++)
    if (b != a)
      min = min64(
          min,
          p->transfer_ns[t]
                        [p->costs->pair_kind[back ? (int64_t)b * p->n_memories + a : (int64_t)a * p->n_memories + b]]);
  return min;
}

/* Costs of units in a and outside it at the current prices. */
static void price_units(cutting *s) {
  const situ_problem *p = s->problem;
  for (int32_t u = 0; u < p->units.n; u++) {
    s->in_a[u] = s->out_of_a[u] = FAR_NS;
    for (int32_t d = 0; d < p->n_devices; d++) {
      int64_t time = items_time_ns(&s->all, u, d);
      if (time == SITU_NEVER_NS) continue;
      __int128 rent = ((__int128)s->byte[p->memory_of[d]] * s->all.weight_bytes[u]) >> BYTE_BITS;
      int64_t cost = rent > FAR_NS - time ? FAR_NS : time + (int64_t)rent;
      int64_t *min = p->memory_of[d] == s->memory ? &s->in_a[u] : &s->out_of_a[u];
      *min = min64(*min, cost);
    }
  }
}

/* Builds the network: a unit on the source side is in a. */
static void build(cutting *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  int32_t n = p->units.n, source = n, sink = n + 1;
  max_flow_clear(&s->flow, n + 2 + 2 * g->n_tensors);
  for (int32_t u = 0; u < n; u++) {
    int64_t min = min64(s->in_a[u], s->out_of_a[u]); /* common to all cuts */
    max_flow_add(&s->flow, source, u, s->out_of_a[u] - min);
    max_flow_add(&s->flow, u, sink, s->in_a[u] - min);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = p->units.of[g->producer[t]], out = n + 2 + 2 * t, in = out + 1;
    max_flow_add(&s->flow, from, out, s->leave_ns[t]);
    max_flow_add(&s->flow, in, from, s->enter_ns[t]);
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = p->units.of[g->use[i]];
      s->out_arc[i] = s->in_arc[i] = -1;
      if (to == from) continue;
      s->out_arc[i] = max_flow_add(&s->flow, out, to, MAX_FLOW_ENDLESS);
      s->in_arc[i] = max_flow_add(&s->flow, to, in, MAX_FLOW_ENDLESS);
    }
  }
  (void)max_flow_run(&s->flow, source, sink, s->budget);
}

/* The bound that f and g prove, exactly; fills shift. */
static int64_t evaluate(cutting *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  __int128 sum = 0;
  for (int32_t u = 0; u < p->units.n; u++) s->shift[u] = 0;
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int64_t f = s->out_arc[i] < 0 ? 0 : max_flow_on(&s->flow, s->out_arc[i]);
      int64_t back = s->in_arc[i] < 0 ? 0 : max_flow_on(&s->flow, s->in_arc[i]);
      s->out[i] = f;
      s->in[i] = back;
      s->shift[p->units.of[g->producer[t]]] += f - back;
      s->shift[p->units.of[g->use[i]]] += back - f;
    }
  for (int32_t u = 0; u < p->units.n; u++) {
    __int128 min = (__int128)FAR_NS << BYTE_BITS;
    for (int32_t d = 0; d < p->n_devices; d++) {
      int64_t time = items_time_ns(&s->all, u, d);
      if (time == SITU_NEVER_NS) continue;
      int32_t m = p->memory_of[d];
      __int128 cost = ((__int128)time + (m == s->memory ? s->shift[u] : 0)) * ((int64_t)1 << BYTE_BITS);
      cost += (__int128)s->byte[m] * s->all.weight_bytes[u];
      if (cost < min) min = cost;
    }
    sum += min;
  }
  for (int32_t m = 0; m < p->n_memories; m++)
    if (s->byte[m] > 0) sum -= (__int128)s->byte[m] * p->platform->memory_bytes[m];
  return sum <= 0 ? 0 : (int64_t)min64((int64_t)(sum >> BYTE_BITS), FAR_NS);
}

#define COPY(to, from, count) memcpy((to), (from), (size_t)(count) * sizeof *(to))

/* Keeps the current flow and prices if their bound is the best so far. */
static void keep(cutting *s) {
  int64_t lower_ns = evaluate(s);
  if (lower_ns <= s->best_ns) return;
  s->best_ns = lower_ns;
  s->best_memory = s->memory;
  COPY(s->best_byte, s->byte, s->problem->n_memories);
  COPY(s->best_out, s->out, s->graph->n_uses);
  COPY(s->best_in, s->in, s->graph->n_uses);
}

static bool certify(const cutting *s, certificate *proof) {
  certificate_start(proof, "memory_cut", s->best_ns);
  int64_t *memory = certificate_add(proof, "memory", 1, s->arena);
  int64_t *byte = certificate_add(proof, "byte_prices", s->problem->n_memories, s->arena);
  int64_t *out = certificate_add(proof, "out", s->graph->n_uses, s->arena);
  int64_t *in = certificate_add(proof, "in", s->graph->n_uses, s->arena);
  if (!memory || !byte || !out || !in) return false;
  *memory = s->best_memory;
  COPY(byte, s->best_byte, s->problem->n_memories);
  COPY(out, s->best_out, s->graph->n_uses);
  COPY(in, s->best_in, s->graph->n_uses);
  return true;
}

/* Whether the current cut puts more weights into a than fit. */
static bool is_too_full(const cutting *s) {
  int64_t sum = 0;
  for (int32_t u = 0; u < s->problem->units.n; u++)
    if (max_flow_with_source(&s->flow, u)) sum = sat_add(sum, s->all.weight_bytes[u]);
  return sum > s->problem->platform->memory_bytes[s->memory];
}

static void cut_at(cutting *s, int64_t price) {
  s->byte[s->memory] = price;
  price_units(s);
  build(s);
  keep(s);
}

/* Bisects the price of a byte in a, from 0 to the maximum. */
static void cut_memory(cutting *s, int32_t memory) {
  int64_t low = 0, high = MAX_PRICE;
  s->memory = memory;
  for (int32_t t = 0; t < s->graph->n_tensors; t++) {
    s->leave_ns[t] = cheapest(s->problem, t, memory, false);
    s->enter_ns[t] = cheapest(s->problem, t, memory, true);
  }
  cut_at(s, 0);
  if (s->problem->platform->memory_bytes[memory] != SITU_UNLIMITED_BYTES && is_too_full(s))
    for (int i = 0; i < 2 * BISECTIONS && low + 1 < high && !budget_over(s->budget); i++) {
      /* by powers of two first, since prices span many orders of magnitude */
      int64_t middle = low == 0 ? high >> 2 : low + (high - low) / 2;
      cut_at(s, middle);
      if (is_too_full(s))
        low = middle;
      else
        high = middle;
      if (low > 0 && high - low < low / 4096) break;
    }
  s->byte[memory] = 0;
}

static bool make(cutting *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  int64_t nodes = p->units.n + 2 + 2 * (int64_t)g->n_tensors;
  int64_t arcs = 2 * (int64_t)p->units.n + 2 * (int64_t)g->n_tensors + 2 * g->n_uses;
  if (nodes > INT32_MAX / 2 || arcs > INT32_MAX / 2) return false;
  if (!ARENA_ARRAYS(s->arena, ZEROS(s->byte, p->n_memories), ZEROS(s->best_byte, p->n_memories)) ||
      !ARENA_ARRAYS(s->arena, ARRAY(s->in_a, p->units.n), ARRAY(s->out_of_a, p->units.n), ARRAY(s->shift, p->units.n),
                    ARRAY(s->out_arc, g->n_uses), ARRAY(s->in_arc, g->n_uses), ARRAY(s->out, g->n_uses),
                    ARRAY(s->in, g->n_uses), ARRAY(s->leave_ns, g->n_tensors), ARRAY(s->enter_ns, g->n_tensors),
                    ARRAY(s->best_out, g->n_uses), ARRAY(s->best_in, g->n_uses)) ||
      !max_flow_new(&s->flow, (int32_t)nodes, (int32_t)arcs, s->arena))
    return false;
  return true;
}

static situ_status memory_cut_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                      budget *b, situ_error *error) {
  *lower_ns = 0;
  if (p->overlap != SITU_OVERLAP_NONE || p->objective != SITU_OBJECTIVE_LATENCY) return SITU_STATUS_OK;
  cutting s = {.problem = p, .graph = p->graph, .arena = scratch, .budget = b};
  TRY(items_list(&s.all, p, scratch, error));
  if (!make(&s)) return fail_no_memory(error);
  for (int32_t m = 0; m < p->n_memories && m < MAX_MEMORIES && !budget_over(b); m++) cut_memory(&s, m);
  *lower_ns = s.best_ns;
  return s.best_ns == 0 || certify(&s, proof) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound memory_cut_bound = {
    .name = "memory_cut",
    .title = "minimum cut between one memory and all others, if nothing overlaps",
    .source = "Stone 1977",
    .models = MODEL_STREAM,
    .compute = memory_cut_compute,
};
