#include "solve/pipeline/stages.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "view/footprint.h"
#include "view/link_prices.h"
#include "view/nets.h"
#include "view/replicas.h"
#include "view/unit.h"

bool stages_serve(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_PIPELINE && footprint_is_per_device(p);
}

/* Renumbers the classes so that F goes upwards, by Kahn's algorithm with a stack: a
 * depth-first order, whose prefixes cut few tensors. */
static bool order_classes(stages *s, arena *a) {
  int32_t n = s->n = s->classes.n_classes;
  const constraint_graph *f = &s->classes.forward;
  int32_t *waiting, *rank, *stack;
  s->n_words = (n + 63) / 64;
  if (!ARENA_ARRAYS(a, ZEROS(waiting, n), ARRAY(rank, n), ARRAY(stack, n), ARRAY(s->class_at, n),
                    ZEROS(s->predecessors, (int64_t)n * s->n_words)))
    return false;
  for (int32_t i = 0; i < f->start[n]; i++) waiting[f->to[i]]++;
  int32_t depth = 0, done = 0;
  for (int32_t c = n - 1; c >= 0; c--)
    if (waiting[c] == 0) stack[depth++] = c;
  while (depth > 0) {
    int32_t c = stack[--depth];
    rank[c] = done;
    s->class_at[done++] = c;
    for (int32_t i = f->start[c + 1] - 1; i >= f->start[c]; i--)
      if (--waiting[f->to[i]] == 0) stack[depth++] = f->to[i];
  }
  for (int32_t c = 0; c < n; c++)
    for (int32_t i = f->start[c]; i < f->start[c + 1]; i++) {
      int32_t u = rank[c], v = rank[f->to[i]];
      s->predecessors[(int64_t)v * s->n_words + u / 64] |= 1ull << (u % 64);
    }
  return done == n;
}

static int32_t phase_of(const stages *s, int32_t v) { return s->n_phases == 1 ? 0 : problem_phase(s->problem, v); }

/* Times, weights and footprints of the classes. */
static bool sum_classes(stages *s, arena *a) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  bool trained = p->replicate && p->training;
  if (!ARENA_ARRAYS(a, ZEROS(s->time_ns, (int64_t)s->n_rows * s->n), ZEROS(s->weight_bytes, s->n),
                    ZEROS(s->footprint_bytes, s->n), ZEROS(s->trained_bytes, s->n), ZEROS(s->sharded_bytes, s->n),
                    ZEROS(s->update_ns, (int64_t)s->n_types * s->n)))
    return false;
  for (int32_t i = 0; i < s->n; i++) {
    int32_t c = s->class_at[i];
    for (int32_t m = s->classes.member_start[c]; m < s->classes.member_start[c + 1]; m++) {
      int32_t v = s->classes.member[m];
      s->footprint_bytes[i] = max64(s->footprint_bytes[i], footprint_running_bytes(p, v));
      s->weight_bytes[i] = sat_add(s->weight_bytes[i], footprint_held_bytes(p, v));
      if (trained && g->phase[v] == SITU_PHASE_FORWARD)
        s->trained_bytes[i] = sat_add(s->trained_bytes[i], p->given->weight_bytes[v]);
      if (problem_shards(p, v)) s->sharded_bytes[i] = sat_add(s->sharded_bytes[i], p->given->weight_bytes[v]);
      for (int32_t t = 0; trained && g->phase[v] == SITU_PHASE_UPDATE && t < s->n_types; t++) {
        int64_t *sum = &s->update_ns[(int64_t)t * s->n + i];
        *sum = sat_add(*sum, problem_time_ns(p, v, s->types[t].devices[0]));
      }
      for (int32_t row = 0; row < s->n_rows; row++) {
        int32_t d = s->types[row].devices[0];
        int64_t *sum = &s->time_ns[(int64_t)row * s->n + i];
        int64_t time_ns = row / s->n_types == phase_of(s, v) ? problem_time_ns(p, v, d) : 0;
        *sum = problem_allows(p, v, d) ? sat_add(*sum, time_ns) : SITU_NEVER_NS;
      }
    }
  }
  return true;
}

bool stages_list_touches(stages *s, arena *a) {
  return csr_transpose(&s->touch_start, &s->touch, s->pin_start, s->pin, s->n_edges, s->n, a);
}

/* What a tensor that enters or leaves a device of a type costs it. */
static int64_t price_ns(const stages *s, const link_prices *links, int32_t type, int32_t t, bool into) {
  const situ_problem *p = s->problem;
  int32_t d = s->types[type].devices[0];
  if (s->by_links) return link_prices_ns(links, into ? &links->in[type] : &links->out[type], t);
  return into ? problem_transfer_ns(p, t, p->host, d) : problem_transfer_ns(p, t, d, p->host);
}

static bool find_edges(stages *s, arena *a) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int32_t *rank_of, *seen;
  int64_t cells = (int64_t)s->n_rows * g->n_tensors;
  link_prices links;
  s->n_edges = 0;
  if (!ARENA_ARRAYS(a, ARRAY(rank_of, g->n_operators), ZEROS(seen, s->n),
                    ZEROS(s->pin_start, (int64_t)g->n_tensors + 1), ARRAY(s->pin, g->n_uses + g->n_tensors),
                    ZEROS(s->in_ns, cells), ZEROS(s->out_ns, cells)))
    return false;
  if (s->by_links && !link_prices_find(&links, p, s->types, s->n_types, a)) return false;
  for (int32_t i = 0; i < s->n; i++) unit_members_put(contraction_members(&s->classes, s->class_at[i]), rank_of, i);
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t at = s->pin_start[s->n_edges], n_pins = nets_pins(g, t, rank_of, seen, s->pin + at);
    bool costs = false;
    for (int32_t row = 0; row < s->n_rows && n_pins > 1; row++) {
      bool here = row / s->n_types == phase_of(s, g->producer[t]) && !s->types[row].is_host;
      int64_t in_ns = here ? price_ns(s, &links, row % s->n_types, t, true) : 0;
      int64_t out_ns = here ? price_ns(s, &links, row % s->n_types, t, false) : 0;
      s->in_ns[(int64_t)row * g->n_tensors + s->n_edges] = in_ns;
      s->out_ns[(int64_t)row * g->n_tensors + s->n_edges] = out_ns;
      costs |= in_ns > 0 || out_ns > 0;
    }
    if (costs) s->pin_start[++s->n_edges] = at + n_pins;
  }
  for (int32_t k = 1; k < s->n_rows; k++) { /* close up the rows */
    memmove(s->in_ns + (int64_t)k * s->n_edges, s->in_ns + (int64_t)k * g->n_tensors, (size_t)s->n_edges * 8);
    memmove(s->out_ns + (int64_t)k * s->n_edges, s->out_ns + (int64_t)k * g->n_tensors, (size_t)s->n_edges * 8);
  }
  return stages_list_touches(s, a);
}

static bool build(stages *s, arena *a) { return order_classes(s, a) && sum_classes(s, a) && find_edges(s, a); }

/* Renames class c to into[c] (numbers of s->classes) and forgets the empty ones. */
static bool fuse(stages *s, const int32_t *into, arena *a) {
  contraction *c = &s->classes;
  int32_t n = c->n_classes, n_left = 0, n_edges = 0, n_operators = s->problem->n_operators;
  int32_t *number, *next, *start, *member;
  constraint_graph f;
  if (!ARENA_ARRAYS(a, ARRAY(number, n), ARRAY(next, n), ZEROS(f.start, n + 2), ARRAY(f.to, c->forward.start[n])))
    return false;
  for (int32_t i = 0; i < n; i++) number[i] = into[i] == i ? n_left++ : -1;
  for (int32_t v = 0; v < n_operators; v++) c->class_of[v] = number[into[c->class_of[v]]];
  if (!csr_by_key(&start, &member, c->class_of, n_operators, n_left, a)) return false;
  for (int32_t i = 0; i < n; i++) f.start[number[into[i]] + 2] += c->forward.start[i + 1] - c->forward.start[i];
  csr_sum(f.start, n_left);
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = c->forward.start[i]; k < c->forward.start[i + 1]; k++)
      f.to[csr_put(f.start, number[into[i]])] = number[into[c->forward.to[k]]];
  for (int32_t i = 0; i < n_left; i++) next[i] = -1; /* drop repeats and loops */
  for (int32_t i = 0; i < n_left; i++) {
    int32_t from = f.start[i], to = f.start[i + 1];
    f.start[i] = n_edges;
    for (int32_t k = from; k < to; k++) {
      if (f.to[k] == i || next[f.to[k]] == i) continue;
      next[f.to[k]] = i;
      f.to[n_edges++] = f.to[k];
    }
  }
  f.start[n_left] = n_edges;
  f.n = n_left;
  *c = (contraction){
      .n_classes = n_left, .class_of = c->class_of, .member_start = start, .member = member, .forward = f};
  return true;
}

/* The only class that F joins with class i on one side, -1 for none, -2 for several. */
static void find_neighbours(const stages *s, int32_t *before, int32_t *after) {
  for (int32_t i = 0; i < s->n; i++) before[i] = after[i] = -1;
  for (int32_t v = 0; v < s->n; v++)
    for (int32_t k = 0; k < s->n_words; k++)
      for (uint64_t left = s->predecessors[(int64_t)v * s->n_words + k]; left; left &= left - 1) {
        int32_t u = k * 64 + __builtin_ctzll(left);
        before[v] = before[v] == -1 ? u : -2;
        after[u] = after[u] == -1 ? v : -2;
      }
}

/* Whether a class has no work: no time on any type, no weights, no footprint. */
static bool is_idle(const stages *s, int32_t v) {
  for (int32_t row = 0; row < s->n_rows; row++)
    if (s->time_ns[(int64_t)row * s->n + v] != 0) return false;
  if (s->trained_bytes[v] != 0 || s->sharded_bytes[v] != 0) return false;
  return s->memory_is_free || (s->weight_bytes[v] == 0 && s->footprint_bytes[v] == 0);
}

/* The cost of the edges between v and x for the devices that hold v (here) and x (there) if these differ. */
typedef struct edge_costs {
  int64_t here_in_ns, here_out_ns, there_in_ns, there_out_ns;
} edge_costs;

/* Edges with more pins count if `shared`. False if an edge has more pins and is not made by x: its cost is unknown. */
static bool cost_between(const stages *s, int32_t v, int32_t x, int32_t row, bool shared, edge_costs *out) {
  *out = (edge_costs){0};
  for (int32_t i = s->touch_start[v]; i < s->touch_start[v + 1]; i++) {
    int32_t e = s->touch[i], first = s->pin_start[e], n_pins = s->pin_start[e + 1] - first;
    int32_t producer = s->pin[first];
    bool joined = false;
    for (int32_t k = 0; k < n_pins; k++) joined |= s->pin[first + k] == x;
    if (!joined) continue;
    if (n_pins > 2 && producer != x) return false;
    if (n_pins > 2 && !shared) continue;
    int64_t in_ns = s->in_ns[(int64_t)row * s->n_edges + e], out_ns = s->out_ns[(int64_t)row * s->n_edges + e];
    *(producer == v ? &out->here_out_ns : &out->here_in_ns) += producer == v ? out_ns : in_ns;
    *(producer == v ? &out->there_in_ns : &out->there_out_ns) += producer == v ? in_ns : out_ns;
  }
  return true;
}

/* Whether each edge of v joins it to exactly one of x and y. */
static bool between(const stages *s, int32_t v, int32_t x, int32_t y) {
  for (int32_t i = s->touch_start[v]; i < s->touch_start[v + 1]; i++) {
    int32_t e = s->touch[i];
    bool has_x = false, has_y = false;
    for (int32_t k = s->pin_start[e]; k < s->pin_start[e + 1]; k++) {
      has_x |= s->pin[k] == x;
      has_y |= s->pin[k] == y;
    }
    if (has_x == has_y) return false;
  }
  return true;
}

/* Whether the costs saved cover the costs paid, whatever else the load of the device is. */
static bool covers(const stages *s, int64_t saved_in, int64_t saved_out, int64_t paid_in, int64_t paid_out) {
  if (s->overlaps) return paid_in <= saved_in && paid_out <= saved_out;
  return paid_in + paid_out <= saved_in + saved_out;
}

/* Whether moving the idle class v to the device of `to` never raises any load, its other neighbour being `from`
 * (-1: none): the possible cost of the edges to `from`, on either side, must be saved by edges between v and `to`
 * alone. docs/theory/exact/ideal_dp.md proves it case by case. */
static bool may_join(const stages *s, int32_t v, int32_t to, int32_t from) {
  for (int32_t row = 0; row < s->n_rows; row++) {
    edge_costs saved, paid = {0};
    if (!cost_between(s, v, to, row, false, &saved) || (from >= 0 && !cost_between(s, v, from, row, true, &paid)))
      return false;
    /* The cost of v beside `to` replaces that of v alone, and likewise at the other end. */
    if (!covers(s, saved.here_in_ns, saved.here_out_ns, paid.there_in_ns, paid.there_out_ns) ||
        !covers(s, saved.there_in_ns, saved.there_out_ns, paid.here_in_ns, paid.here_out_ns))
      return false;
  }
  return between(s, v, to, from);
}

/* Fuses idle classes with a neighbour where that raises no load, until there are none. */
static bool fuse_idle(stages *s, arena *a) {
  while (true) {
    int32_t *before = ARENA_NEW(a, int32_t, s->n), *after = ARENA_NEW(a, int32_t, s->n), n_fused = 0;
    int32_t *into = ARENA_NEW(a, int32_t, s->n);
    bool *touched = ARENA_ZERO(a, bool, s->n);
    if (!before || !after || !into || !touched) return false;
    find_neighbours(s, before, after);
    for (int32_t i = 0; i < s->n; i++) into[i] = i;
    for (int32_t v = 0; v < s->n; v++) {
      int32_t u = before[v], w = after[v], joined = -1;
      if (u == -2 || w == -2 || !is_idle(s, v) || touched[v] || (u >= 0 && touched[u]) || (w >= 0 && touched[w]))
        continue;
      if (w >= 0 && may_join(s, v, w, u))
        joined = w;
      else if (u >= 0 && may_join(s, v, u, w))
        joined = u;
      if (joined < 0) continue;
      touched[v] = touched[joined] = true;
      if (u >= 0) touched[u] = true;
      if (w >= 0) touched[w] = true;
      into[s->class_at[v]] = s->class_at[joined];
      n_fused++;
    }
    if (n_fused == 0) return true;
    if (!fuse(s, into, a) || !build(s, a)) return false;
  }
}

/* Idle classes without predecessors and without costly edges can be on the first device: they become one class that
 * precedes all others, so that they do not multiply the ideals. */
static bool lead_with_free(stages *s, arena *a) {
  int32_t *before = ARENA_NEW(a, int32_t, s->n), *after = ARENA_NEW(a, int32_t, s->n);
  int32_t *into = ARENA_NEW(a, int32_t, s->n), leader = -1, n_sources = 0;
  if (!before || !after || !into) return false;
  find_neighbours(s, before, after);
  for (int32_t v = 0; v < s->n; v++) {
    into[s->class_at[v]] = s->class_at[v];
    if (before[v] != -1) continue;
    n_sources++;
    if (!is_idle(s, v) || s->touch_start[v + 1] > s->touch_start[v]) continue;
    if (leader < 0) leader = v;
    into[s->class_at[v]] = s->class_at[leader];
  }
  if (leader < 0 || n_sources < 2) return true;
  int32_t leading_operator = s->classes.member[s->classes.member_start[s->class_at[leader]]];
  if (!fuse(s, into, a)) return false;
  contraction *c = &s->classes;
  int32_t first = c->class_of[leading_operator];
  bool *follows = ARENA_ZERO(a, bool, c->n_classes);
  constraint_graph f = {.n = c->n_classes, .start = ARENA_ZERO(a, int32_t, c->n_classes + 2)};
  f.to = ARENA_NEW(a, int32_t, c->forward.start[c->n_classes] + c->n_classes);
  if (!follows || !f.start || !f.to) return false;
  for (int32_t k = 0; k < c->forward.start[c->n_classes]; k++) follows[c->forward.to[k]] = true;
  int32_t n_edges = 0;
  for (int32_t i = 0; i < c->n_classes; i++) {
    f.start[i] = n_edges;
    for (int32_t k = c->forward.start[i]; k < c->forward.start[i + 1]; k++) f.to[n_edges++] = c->forward.to[k];
    for (int32_t j = 0; i == first && j < c->n_classes; j++)
      if (!follows[j] && j != first) f.to[n_edges++] = j;
  }
  f.start[c->n_classes] = n_edges;
  c->forward = f;
  return build(s, a);
}

/* Drops memory limits if every device could hold everything. */
static void forget_idle_memory(stages *s) {
  const situ_problem *p = s->problem;
  int64_t need = 0, min = SITU_UNLIMITED_BYTES, n_inputs = problem_max_in_flight(p);
  for (int32_t i = 0; i < s->n; i++) need = sat_add(need, sat_add(s->weight_bytes[i], s->footprint_bytes[i]));
  for (int32_t v = 0; v < p->n_operators && (n_inputs > p->in_flight || p->zero > 0); v++) {
    need = sat_add(need, sat_mul(n_inputs - p->in_flight, footprint_stash_bytes(p->graph, v)));
    need = sat_add(need, p->given->weight_bytes[v] - p->graph->weight_bytes[v]);
    need = sat_add(need, problem_gathered_bytes(p, v));
  }
  for (int32_t t = 0; t < s->n_types; t++) min = min64(min, s->types[t].memory_bytes);
  if (need > min) return;
  for (int32_t row = 0; row < s->n_rows; row++) s->types[row].memory_bytes = SITU_UNLIMITED_BYTES;
  s->memory_is_free = true;
}

/* Keeps the edges from each node to later ones. */
static void drop_back_edges(constraint_graph *f) {
  int32_t n = 0;
  for (int32_t k = 0; k < f->n; k++) {
    int32_t from = f->start[k];
    f->start[k] = n;
    for (int32_t i = from; i < f->start[k + 1]; i++)
      if (f->to[i] > k) f->to[n++] = f->to[i];
  }
  f->start[f->n] = n;
}

int64_t stages_kept(const stages *s, int32_t k) {
  const situ_problem *p = s->problem;
  if (p->micro_batches == 0) return p->in_flight;
  if (p->kept_inputs > 0) return ((int64_t)p->kept_inputs + k) / (k + 1);
  return min64(p->micro_batches, k + 1);
}

bool stages_are_chain(const stages *s) {
  for (int32_t i = 1; i < s->n; i++)
    if (!(s->predecessors[(int64_t)i * s->n_words + (i - 1) / 64] >> ((i - 1) % 64) & 1)) return false;
  return true;
}

/* Adds the bytes of operator v, of a class, where that many inputs are kept. */
static void weigh_operator(stages *s, int32_t v, int64_t at, int64_t n_inputs) {
  const situ_problem *p = s->problem;
  int64_t *held = &s->deep_weight_bytes[at];
  *held = sat_add(*held, sat_mul(n_inputs, footprint_stash_bytes(p->graph, v)));
  if (!problem_shards(p, v)) *held = sat_add(*held, p->given->weight_bytes[v]);
}

/* Bytes of classes by the number of inputs that are kept. */
static bool weigh_depths(stages *s, arena *a) {
  const situ_problem *p = s->problem;
  if ((!problem_keeps_by_depth(p) && p->zero == 0) || s->memory_is_free) return true;
  s->n_depths = p->n_devices;
  int64_t cells = (int64_t)s->n_depths * s->n;
  if (!ARENA_ARRAYS(a, ZEROS(s->deep_weight_bytes, cells), ZEROS(s->gathered_bytes, s->n))) return false;
  for (int32_t i = 0; i < s->n; i++) {
    unit_members u = contraction_members(&s->classes, s->class_at[i]);
    for (int32_t k = 0; k < s->n_depths; k++)
      for (int32_t m = 0; m < u.n; m++) weigh_operator(s, u.member[m], (int64_t)k * s->n + i, stages_kept(s, k));
    for (int32_t m = 0; m < u.n; m++) {
      int64_t running = footprint_running_bytes(p, u.member[m]);
      s->gathered_bytes[i] = max64(s->gathered_bytes[i], sat_add(running, problem_gathered_bytes(p, u.member[m])));
    }
  }
  return true;
}

/* A row for each type and phase. */
static bool find_rows(stages *s, arena *a) {
  equal_devices equal;
  if (!equal_devices_find(&equal, s->problem, EQUAL_STAGED, a)) return false;
  s->n_types = equal.n_types;
  s->n_rows = s->n_types * s->n_phases;
  s->types = ARENA_NEW(a, device_type, s->n_rows);
  for (int32_t row = 0; s->types && row < s->n_rows; row++) s->types[row] = equal.types[row % s->n_types];
  return s->types != NULL;
}

/* Everything but what fuses classes. */
static bool find_plain(stages *s, const situ_problem *problem, bool fused, arena *a) {
  REQUIRE(stages_serve(problem));
  *s = (stages){.problem = problem, .free = !fused, .by_links = problem->communication == SITU_COMMUNICATION_LINK};
  s->overlaps = s->by_links || problem->async_copies;
  s->n_phases = s->by_links ? 1 : problem->n_phases;
  if (!contract(&s->classes, problem, fused, a)) return false;
  s->n = s->classes.n_classes;
  s->too_large = s->n > STAGES_MAX_CLASSES;
  if (s->too_large) return true;
  if (s->free) drop_back_edges(&s->classes.forward);
  if (!find_rows(s, a) || !build(s, a)) return false;
  forget_idle_memory(s);
  return true;
}

bool stages_find_free(stages *s, const situ_problem *problem, arena *a) {
  if (!find_plain(s, problem, false, a)) return false;
  CONTRACT(stages_check(s));
  return true;
}

bool stages_find(stages *s, const situ_problem *problem, arena *a) {
  if (!find_plain(s, problem, true, a)) return false;
  if (s->too_large) return true;
  /* With links the loads are only bounds, so they do not justify fusing. */
  if (!s->by_links && (!fuse_idle(s, a) || !lead_with_free(s, a))) return false;
  CONTRACT(stages_check(s));
  return weigh_depths(s, a);
}

bool stages_fit(const stages *s) {
  const int64_t max = INT64_MAX / 8;
  int64_t weights = 0;
  for (int32_t row = 0; row < s->n_rows; row++) {
    int64_t sum = 0;
    for (int32_t i = 0; i < s->n; i++)
      if (s->time_ns[(int64_t)row * s->n + i] != SITU_NEVER_NS) sum = sat_add(sum, s->time_ns[(int64_t)row * s->n + i]);
    for (int32_t e = 0; e < s->n_edges; e++)
      sum = sat_add(sum, sat_add(s->in_ns[(int64_t)row * s->n_edges + e], s->out_ns[(int64_t)row * s->n_edges + e]));
    if (sum > max) return false;
  }
  for (int32_t i = 0; i < s->n; i++) weights = sat_add(weights, sat_add(s->weight_bytes[i], s->footprint_bytes[i]));
  return weights < max;
}

bool stages_drop_edges(stages *s, const bool *drop, arena *a) {
  int32_t n = 0, n_edges = s->n_edges;
  int32_t *kept = ARENA_NEW(a, int32_t, n_edges);
  if (!kept) return false;
  for (int32_t e = 0; e < n_edges; e++) {
    if (drop[e]) continue;
    int32_t from = s->pin_start[e], n_pins = s->pin_start[e + 1] - from, to = s->pin_start[n];
    memmove(s->pin + to, s->pin + from, (size_t)n_pins * sizeof *s->pin);
    kept[n++] = e;
    s->pin_start[n] = to + n_pins;
  }
  for (int32_t row = 0; row < s->n_rows; row++)
    for (int32_t e = 0; e < n; e++) {
      s->in_ns[(int64_t)row * n + e] = s->in_ns[(int64_t)row * n_edges + kept[e]];
      s->out_ns[(int64_t)row * n + e] = s->out_ns[(int64_t)row * n_edges + kept[e]];
    }
  s->n_edges = n;
  if (!stages_list_touches(s, a)) return false;
  CONTRACT(stages_check(s));
  return true;
}

bool stage_order_find(stage_order *out, const stages *s, arena *a) {
  int64_t n = 0, n_words = (int64_t)s->n * s->n_words;
  for (int64_t i = 0; i < n_words; i++) n += __builtin_popcountll(s->predecessors[i]);
  *out = (stage_order){ARENA_NEW(a, int32_t, (int64_t)s->n + 1), ARENA_NEW(a, int32_t, n)};
  if (!out->start || !out->before) return false;
  out->start[0] = 0;
  for (int32_t v = 0; v < s->n; v++) {
    int32_t at = out->start[v];
    for (int32_t k = 0; k < s->n_words; k++)
      for (uint64_t left = s->predecessors[(int64_t)v * s->n_words + k]; left; left &= left - 1)
        out->before[at++] = k * 64 + __builtin_ctzll(left);
    out->start[v + 1] = at;
  }
  return true;
}

int64_t stages_time_ns(const stages *s, int32_t type, int32_t class_index) {
  int64_t sum = 0;
  for (int32_t row = type; row < s->n_rows; row += s->n_types)
    sum = sat_add(sum, s->time_ns[(int64_t)row * s->n + class_index]);
  return sum;
}

int64_t stages_shared_load(const stages *s, int32_t row, const stage_cost *whole, int32_t r, int64_t trained_bytes,
                           int64_t update_ns) {
  REQUIRE(r > 1 && row >= 0 && row < s->n_rows);
  stage_cost each = *whole;
  const int64_t max = INT64_MAX / 16; /* more than any load; sums stay exact below */
  if (row >= s->n_rows - s->n_types)
    each.compute_ns += min64(sat_mul(update_ns, replicas_updates(s->problem, r) - 1), max);
  if (row >= s->n_rows - s->n_types && !s->by_links) { /* gradients are exchanged in the last phase */
    int64_t in_ns, out_ns;
    replicas_staged_sync(s->problem, s->types[row].devices[0], r, trained_bytes, &in_ns, &out_ns);
    each.in_ns += min64(in_ns, max);
    each.out_ns += min64(out_ns, max);
  }
  int64_t load_ns = stages_load(s, &each);
  return load_ns / r + (load_ns % r > 0);
}

static const char *check_order(const stages *s) {
  EXPECT(contracts_permutation(s->class_at, s->n) && s->n == s->classes.n_classes, "class_at numbers all classes");
  EXPECT(s->n_words == (s->n + 63) / 64, "sets of classes have n_words words");
  for (int32_t v = 0; v < s->n; v++)
    for (int32_t k = v / 64; k < s->n_words; k++) {
      uint64_t later = s->predecessors[(int64_t)v * s->n_words + k] >> (k == v / 64 ? v % 64 : 0);
      EXPECT(later == 0, "every edge of F goes upwards");
    }
  return NULL;
}

const char *stages_check(const stages *s) {
  if (s->too_large) return NULL;
  int32_t n_pins = s->pin_start[s->n_edges];
  EXPECT(s->n_rows == s->n_types * s->n_phases && (s->n_phases == 1 || !s->by_links), "a row for each phase and type");
  EXPECT_CHECK(check_order(s));
  EXPECT(contracts_amounts(s->time_ns, (int64_t)s->n_rows * s->n), "times are at least 0");
  EXPECT(contracts_amounts(s->weight_bytes, s->n) && contracts_amounts(s->footprint_bytes, s->n), "so are sizes");
  EXPECT(contracts_amounts(s->in_ns, (int64_t)s->n_rows * s->n_edges), "prices are at least 0");
  EXPECT(contracts_amounts(s->out_ns, (int64_t)s->n_rows * s->n_edges), "prices are at least 0");
  EXPECT(contracts_lists(s->pin_start, s->n_edges, n_pins), "pin_start lists pins by edge");
  EXPECT(contracts_lists(s->touch_start, s->n, n_pins), "touch_start lists pins by class");
  EXPECT(contracts_within(s->pin, n_pins, 0, s->n), "pins are classes");
  EXPECT(contracts_within(s->touch, n_pins, 0, s->n_edges), "classes touch edges");
  for (int32_t e = 0; e < s->n_edges; e++)
    EXPECT(s->pin_start[e + 1] - s->pin_start[e] >= 2, "an edge has two pins or more");
  for (int32_t c = 0; c < s->n; c++)
    EXPECT(contracts_rise(s->touch + s->touch_start[c], s->touch_start[c + 1] - s->touch_start[c]),
           "edges of a class ascend: pins are distinct");
  for (int32_t k = 0; k < s->n_types; k++) EXPECT(s->types[k].n_devices >= 1, "a type has devices");
  return NULL;
}
