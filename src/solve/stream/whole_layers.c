/* Layers in turn, as people place networks by hand: whole layers on the devices in the order of the network, in slices
 * or in several rounds (encoder and decoder of a translation network both over all devices), with an even share of the
 * work on each. List schedulers do not find such plans for unrolled networks: the first step of a layer decides where
 * it goes, by the gain of that step alone. Details: docs/theory/heuristics/layers.md. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/disjoint.h"
#include "base/fail.h"
#include "base/hash.h"
#include "graph/layers.h"
#include "solve/stream/contiguous.h"
#include "solve/stream/layouts.h"
#include "solve/stream/rank.h"
#include "view/unit.h"

enum {
  MAX_ROUNDS = 8,
  FIRST_ROUNDS = 2,
  FIRST_ROUNDS_LARGE = 5,
  BISECTIONS = 50,
  MAX_MOVES = 1000,
  MAX_SEEN = 256,
  MAX_STARTS = 4
};

typedef struct layer_work {
  double start, work; /* earliest start of a member, sum of mean times */
  int32_t number;
} layer_work;

typedef struct layering {
  layouts on;
  const situ_problem *problem;
  rank_costs costs;
  int32_t n_layers, *layer_of; /* [operator] */
  layer_work *layers;          /* by start */
  int64_t best_ns;
  int32_t *best, *next;    /* [layer] index in the sequence of devices */
  bool *begins;            /* [layer] whether it begins a phase */
  uint64_t seen[MAX_SEEN]; /* hashes of layouts */
  int32_t n_seen;
  int64_t start_ns[MAX_STARTS]; /* the best layouts: SITU_NEVER_NS for none */
  int32_t *start[MAX_STARTS];
} layering;

/* ---- Layers: operators with weights, and what depends on them ---- */

static void give(layering *s, int32_t v, int32_t number) {
  unit_members_put(unit_of(s->problem, v), s->layer_of, number);
}

static bool has_weights(const situ_problem *p, int32_t v) {
  unit_members u = unit_of(p, v);
  for (int32_t i = 0; i < u.n; i++)
    if (p->graph->weight_bytes[u.member[i]] > 0) return true;
  return false;
}

/* The layer of the producer of the largest input, the latest among equals; -1 where there is none. */
static int32_t layer_before(const layering *s, int32_t v) {
  const situ_graph *g = s->problem->graph;
  int32_t best = -1;
  int64_t max = -1;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], layer = s->layer_of[g->producer[t]];
    if (layer < 0 || g->size_bytes[t] < max) continue;
    max = g->size_bytes[t];
    best = layer;
  }
  return best;
}

static int32_t layer_after(const layering *s, int32_t v) {
  const situ_graph *g = s->problem->graph;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (g->use_start[t] < g->use_start[t + 1]) return s->layer_of[g->use[g->use_start[t]]];
  return -1;
}

static void find_weighted_layers(layering *s) {
  int32_t n = s->problem->n_operators;
  for (int32_t v = 0; v < n; v++) s->layer_of[v] = -1;
  for (int32_t v = 0; v < n; v++) {
    if (s->layer_of[v] >= 0) continue;
    int32_t layer = has_weights(s->problem, v) ? s->n_layers++ : layer_before(s, v);
    if (layer >= 0) give(s, v, layer);
  }
  for (int32_t v = n - 1; v >= 0; v--) {
    if (s->layer_of[v] >= 0) continue;
    int32_t layer = layer_after(s, v);
    give(s, v, layer >= 0 ? layer : s->n_layers++);
  }
}

COMPARATOR(by_start, layer_work, UP(start) UP(number))

/* Renumbers the layers by start. */
static bool sort_layers(layering *s, arena *a) {
  int32_t n = s->problem->n_operators;
  double *start;
  int32_t *rank;
  if (!ARENA_ARRAYS(a, ARRAY(start, n), ARRAY(rank, s->n_layers), ARRAY(s->layers, s->n_layers))) return false;
  rank_downward(start, s->problem, &s->costs);
  for (int32_t k = 0; k < s->n_layers; k++) s->layers[k] = (layer_work){.start = -1, .number = k};
  for (int32_t v = 0; v < n; v++) {
    layer_work *here = &s->layers[s->layer_of[v]];
    if (here->start < 0 || start[v] < here->start) here->start = start[v];
    here->work += s->costs.work[v];
  }
  qsort(s->layers, (size_t)s->n_layers, sizeof *s->layers, by_start);
  for (int32_t k = 0; k < s->n_layers; k++) rank[s->layers[k].number] = k;
  for (int32_t v = 0; v < n; v++) s->layer_of[v] = rank[s->layer_of[v]];
  return true;
}

/* ---- Plans ---- */

/* How much later layer k starts than the one before it. */
static double wait_before(const layering *s, int32_t k) { return s->layers[k].start - s->layers[k - 1].start; }

/* Fills `next` for layers first .. end-1: slices on the first n devices in turn, each as full as `max` allows; faster
 * devices hold more. Returns whether there are enough slices. */
static bool fill_slices(layering *s, int32_t first, int32_t end, int32_t n, int32_t n_slices, double max) {
  int32_t slice = 0;
  double load = 0;
  for (int32_t k = first; k < end; k++) {
    double work = s->layers[k].work;
    while (slice < n_slices && load + work > max * s->on.speed[s->on.sequence[slice % n]]) {
      slice++;
      load = 0;
    }
    if (slice == n_slices) return false;
    load += work;
    s->next[k] = slice % n;
  }
  return true;
}

/* Likewise, with the fullest slice as small as possible, by bisection. */
static void split_evenly(layering *s, int32_t first, int32_t end, int32_t n, int32_t n_slices) {
  double low = 0, high = 1;
  for (int32_t k = first; k < end; k++) high += s->layers[k].work;
  high /= s->on.speed[s->on.sequence[n - 1]]; /* the slowest could then hold everything */
  for (int32_t i = 0; i < BISECTIONS; i++) {
    double middle = (low + high) / 2;
    if (fill_slices(s, first, end, n, n_slices, middle))
      high = middle;
    else
      low = middle;
  }
  fill_slices(s, first, end, n, n_slices, high);
}

/* Offers s->next, and keeps it as s->best if it is better. */
static bool improves(layering *s) {
  int64_t value = layouts_offer(&s->on, s->layer_of, s->next, s->best_ns);
  if (value >= s->best_ns) return false;
  s->best_ns = value;
  memcpy(s->best, s->next, (size_t)s->n_layers * sizeof *s->best);
  return true;
}

/* Offers s->next as a layout, and keeps the best ones, sorted. Duplicates are skipped. */
static void propose(layering *s) {
  size_t size = (size_t)s->n_layers * sizeof *s->next;
  if (hash_was_seen(s->seen, &s->n_seen, MAX_SEEN, hash_bytes(s->next, size, 0))) return;
  int32_t i = MAX_STARTS - 1, *room = s->start[i];
  int64_t value = layouts_offer(&s->on, s->layer_of, s->next, s->start_ns[i]);
  if (value >= s->start_ns[i]) return;
  for (; i > 0 && s->start_ns[i - 1] > value; i--) {
    s->start_ns[i] = s->start_ns[i - 1];
    s->start[i] = s->start[i - 1];
  }
  s->start_ns[i] = value;
  s->start[i] = room;
  memcpy(room, s->next, size);
}

/* Puts equally many layers on each of the first n devices, `rounds` times. Layers that start at the same time form one
 * layer (the two directions of a bidirectional one). */
static void split_layers(layering *s, int32_t first, int32_t end, int32_t n, int32_t rounds) {
  int32_t n_layers = 1, layer = 0;
  for (int32_t k = first + 1; k < end; k++) n_layers += wait_before(s, k) > 0;
  for (int32_t k = first; k < end; k++) {
    layer += k > first && wait_before(s, k) > 0;
    s->next[k] = (int32_t)((int64_t)layer * n * rounds / n_layers) % n;
  }
}

/* Lays out the network over the first n devices, once in each round. */
static void lay_out(layering *s, int32_t n, int32_t rounds) {
  split_evenly(s, 0, s->n_layers, n, n * rounds);
  propose(s);
  split_layers(s, 0, s->n_layers, n, rounds);
  propose(s);
}

/* Lays out each phase over the first n devices. A phase begins after each of the longest waits: a decoder waits for the
 * whole encoder, a projection for all steps. */
static void lay_out_phases(layering *s, int32_t n, int32_t n_phases) {
  bool *begins = s->begins;
  memset(begins, 0, (size_t)s->n_layers);
  for (int32_t i = 1; i < n_phases; i++) {
    int32_t longest = 0;
    for (int32_t k = 1; k < s->n_layers; k++)
      if (!begins[k] && (longest == 0 || wait_before(s, k) > wait_before(s, longest))) longest = k;
    begins[longest] = true;
  }
  for (int32_t evenly = 0; evenly < 2; evenly++) {
    for (int32_t first = 0, k = 1; k <= s->n_layers; k++) {
      if (k < s->n_layers && !begins[k]) continue;
      if (evenly)
        split_evenly(s, first, k, n, n);
      else
        split_layers(s, first, k, n, 1);
      first = k;
    }
    propose(s);
  }
}

/* Whether the best plan improves with layer k on another device. */
static bool move_layer(layering *s, int32_t k) {
  for (int32_t i = 0; i < s->on.n_sequence && !solve_done(s->on.run); i++) {
    bool beside = (k > 0 && s->best[k - 1] == i) || (k + 1 < s->n_layers && s->best[k + 1] == i);
    if (i == s->best[k] || (!beside && (int64_t)s->n_layers * s->on.n_sequence > MAX_MOVES)) continue;
    memcpy(s->next, s->best, (size_t)s->n_layers * sizeof *s->next);
    s->next[k] = i;
    if (improves(s)) return true;
  }
  return false;
}

/* Moves one layer at a time until no move helps: in small networks to any device, else to that of the layer before or
 * after. */
static void move_layers(layering *s) {
  for (int32_t k = 0, last = 0; last < s->n_layers && !solve_done(s->on.run); k = (k + 1) % s->n_layers)
    last = move_layer(s, k) ? 0 : last + 1;
}

static bool layers_init(layering *s, solve_run *run) {
  const situ_problem *p = run->problem;
  arena *a = run->arena;
  *s = (layering){.problem = p, .best_ns = SITU_NEVER_NS};
  s->layer_of = ARENA_NEW(a, int32_t, p->n_operators);
  if (!s->layer_of || !layouts_init(&s->on, run) || !rank_costs_find(&s->costs, a, p, RANK_MEAN)) return false;
  find_weighted_layers(s);
  s->best = ARENA_NEW(a, int32_t, s->n_layers);
  s->next = ARENA_NEW(a, int32_t, s->n_layers);
  s->begins = ARENA_NEW(a, bool, s->n_layers);
  for (int32_t i = 0; i < MAX_STARTS; i++) {
    s->start_ns[i] = SITU_NEVER_NS;
    if (!(s->start[i] = ARENA_NEW(a, int32_t, s->n_layers))) return false;
  }
  return s->best && s->next && s->begins && sort_layers(s, a);
}

/* ---- One interval of whole layers for each device ---- */

/* The units of a problem, with those of each layer joined. *none: there are no layers. False without memory. */
static bool join_layers(unit_list *out, bool *none, const situ_problem *p, arena *a) {
  layer_list l;
  int32_t n = p->n_operators, *into, *first;
  if (!ARENA_ARRAYS(a, ARRAY(into, n), ARRAY(first, n)) || !layers_find(&l, p->graph, a)) return false;
  *none = l.n < 2;
  if (*none) return true;
  disjoint_init(into, n);
  for (int32_t k = 0; k < p->units.n; k++) {
    unit_members u = unit_list_members(&p->units, k);
    for (int32_t i = 1; i < u.n; i++) disjoint_join(into, u.member[0], u.member[i]);
  }
  for (int32_t k = 0; k < l.n; k++) first[k] = -1;
  for (int32_t v = 0; v < n; v++) {
    if (l.of[v] < 0) continue;
    if (first[l.of[v]] < 0) first[l.of[v]] = v;
    disjoint_join(into, first[l.of[v]], v);
  }
  for (int32_t v = 0; v < n; v++) first[v] = disjoint_root(into, v);
  return unit_list_find(out, first, n, n, a);
}

static situ_status layers_solve(solve_run *run) {
  layering *s = ARENA_ZERO(run->arena, layering, 1);
  unit_list layers;
  bool none = true;
  if (run->problem->n_operators == 0) return SITU_STATUS_OK;
  if (!s || !layers_init(s, run)) return fail_no_memory(run->error);
  if (!join_layers(&layers, &none, run->problem, run->arena)) return fail_no_memory(run->error);
  bool large = solve_is_large(run->problem);
  int32_t max_rounds = !run->brief ? MAX_ROUNDS : large ? FIRST_ROUNDS_LARGE : FIRST_ROUNDS;
  if (!none && !(run->brief && large) && !solve_done(run)) TRY(contiguous_offer(run, &layers));
  for (int32_t n = s->on.n_sequence; n >= 2; n = layouts_fewer(n))
    for (int32_t k = 1; k <= MAX_ROUNDS && k <= s->n_layers; k++) {
      if (solve_done(run) || k > max_rounds) return SITU_STATUS_OK;
      if (k == 1 || (int64_t)k * n <= s->n_layers) lay_out(s, n, k);
      if (k > 1) lay_out_phases(s, n, k);
    }
  for (int32_t i = 0; i < MAX_STARTS && s->start_ns[i] < SITU_NEVER_NS; i++) {
    s->best_ns = s->start_ns[i];
    memcpy(s->best, s->start[i], (size_t)s->n_layers * sizeof *s->best);
    move_layers(s);
  }
  return SITU_STATUS_OK;
}

const solver layers_solver = {
    .name = "layers",
    .title = "whole layers, as intervals or round-robin, then improved layer by layer",
    .source = "Sutskever, Vinyals, Le, NeurIPS 2014; Wu et al., GNMT, 2016",
    .models = MODEL_STREAM,
    .anytime = true,
    .starts = {{&families_solver, 1}},
    .solve = layers_solve,
};
