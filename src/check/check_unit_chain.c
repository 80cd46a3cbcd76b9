/* The judge of chains of items. Each operator of the chain makes a tensor for the next one. A run of the chain within
 * one item, from s to t, is a segment: the operators of the item that depend on s and that t depends on run one after
 * the other on one device, from the start of s to the end of t. Segments follow one another, with the transfer of a
 * tensor between two of them. An operator of the item that reads all that s gets from the segment before cannot start
 * before that is there either: it, and what depends on it, counts as what depends on s does. A segment between two of
 * one item, which are on one device, goes there and back. So no plan is better than the best devices of segments, by
 * times, transfers and prices of the weights of their items (each counted at its first segment), with what all other
 * items pay at least for their weights, less prices times capacities. With overlap none all operators and transfers
 * follow one another, so an item takes the time of all its operators, once, on the chain or off it; from segment to
 * segment go all tensors from the one item to the other, each where the chain needs it first (those from one operator
 * of the chain to the next one, there); and a limit by secondary costs may have a price of 2^-20 ns a nanosecond: times
 * and transfers then count by both costs, and the limit goes off at its price.
 */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

enum { BYTE_BITS = 32, OTHER_BITS = 20, FREE = -2 };
static const double WORK_LIMIT = 1e9;

/* Prices of a byte are at most 2^52, that of a nanosecond by the secondary costs 2^58 (check_fields.c). Whatever is
 * added up along the chain and off it counts each operator and each tensor once: by either costs at most
 * PROBLEM_MAX_NS, 2^54, and at most 2^56 bytes of weights. In 2^-32 ns times are so at most 2^86, the other times 2^(58
 * + 54 + 12) = 2^124, weights 2^108; with the rent, at most 2^122, and the price of the limit, of which no more than
 * PROBLEM_MAX_NS counts, 2^124, no sum is beyond 2^126. */

typedef struct frame { /* segments of one item, with what was between them */
  int64_t first;       /* the number on the chain of the first operator */
  int32_t item;
  __int128 *cost; /* [device] -1 where it cannot be */
} frame;

typedef struct walk {
  judge *j;
  check_items items;
  const int64_t *chain, *byte;
  int64_t n, other; /* other: the price of a nanosecond by the secondary costs */
  bool sums;        /* all operators follow one another */
  bool *seen;       /* [item] its weights are paid for */
  uint8_t *between; /* [operator] 1: depends on what enters a segment; 2: its end t depends on it */
  int32_t *waits;   /* [operator] how many of the tensors that enter a segment it reads */
  int32_t *crosses; /* [number on the chain] the first tensor that goes to the segment that starts there, or -1 */
  int32_t *next;    /* [tensor] the next one of them, or -1; FREE: it is none */
  frame *frames;    /* a stack, along the chain */
  int64_t depth;
  int64_t *weight; /* [item] */
} walk;

static bool makes_for(const judge *j, int32_t t, int64_t w) {
  const situ_graph *g = j->graph;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
    if (g->use[i] == w) return true;
  return false;
}

/* What the tensors that go to the segment at number i of the chain take between two devices: all of them where they
 * follow one another, else the longest. */
static __int128 way_between(const walk *w, const situ_costs *c, int64_t i, int32_t a, int32_t b) {
  const int32_t *memory_of = w->j->platform->memory_of;
  int32_t kind = c->pair_kind[(int64_t)memory_of[a] * w->j->platform->n_memories + memory_of[b]];
  __int128 time = 0;
  for (int32_t t = w->crosses[i]; t >= 0; t = w->next[t]) {
    int64_t takes = c->transfer_ns[t][kind];
    if (w->sums || takes > time) time = w->sums ? time + takes : takes;
  }
  return time;
}

/* A time and one by the secondary costs at their price, of 2^-32 ns. */
static __int128 at_price(const walk *w, __int128 time, __int128 other) {
  return (time << BYTE_BITS) + ((w->other * other) << (BYTE_BITS - OTHER_BITS));
}

static __int128 transfer_price(const walk *w, int64_t i, int32_t a, int32_t b) {
  const situ_problem *p = w->j->problem;
  return at_price(w, way_between(w, p->costs, i, a, b), w->other > 0 ? way_between(w, p->secondary, i, a, b) : 0);
}

/* Time of all operators of an item on a device by the secondary costs. */
static __int128 other_time(const walk *w, int32_t item, int32_t d) {
  __int128 sum = 0;
  for (int32_t k = w->items.start[item]; w->other > 0 && k < w->items.start[item + 1]; k++)
    sum += problem_secondary_time_ns(w->j->problem, w->items.member[k], d);
  return sum;
}

static bool is_chain(const walk *w) {
  const situ_graph *g = w->j->graph;
  for (int64_t i = 0; i < w->n; i++) {
    bool follows = i == 0;
    for (int32_t t = i > 0 ? g->out_start[w->chain[i - 1]] : 0; !follows && t < g->out_start[w->chain[i - 1] + 1]; t++)
      follows = makes_for(w->j, t, w->chain[i]);
    if (!follows) return false;
  }
  return true;
}

/* Tensor t goes to the segment at number i of the chain. */
static void cross(walk *w, int32_t t, int64_t i) {
  w->next[t] = w->crosses[i];
  w->crosses[i] = t;
}

/* The tensors that operator u makes and item `to` reads, and that go nowhere yet, go to number i; returns the work. */
static double cross_rest(walk *w, int32_t u, int32_t to, int64_t i) {
  const situ_graph *g = w->j->graph;
  for (int32_t t = g->out_start[u]; t < g->out_start[u + 1]; t++)
    for (int64_t k = g->use_start[t]; k < g->use_start[t + 1] && w->next[t] == FREE; k++)
      if (w->items.of[g->use[k]] == to) cross(w, t, i);
  return (double)(g->use_start[g->out_start[u + 1]] - g->use_start[g->out_start[u]]);
}

/* Finds what goes from segment to segment; false where that, or to walk along it, takes too long. */
static bool find_crossings(walk *w) {
  const situ_graph *g = w->j->graph;
  const int32_t *of = w->items.of;
  double work = 0, pairs = (double)w->j->problem->n_devices * w->j->problem->n_devices;
  for (int32_t t = 0; t < g->n_tensors; t++) w->next[t] = FREE;
  w->crosses[0] = -1;
  for (int64_t i = 1; i < w->n; i++) {
    int64_t u = w->chain[i - 1];
    w->crosses[i] = -1;
    for (int32_t t = g->out_start[u]; of[u] != of[w->chain[i]] && t < g->out_start[u + 1]; t++)
      if (makes_for(w->j, t, w->chain[i])) cross(w, t, i);
  }
  for (int64_t i = 1; w->sums && i < w->n && work <= WORK_LIMIT; i++) {
    int32_t from = of[w->chain[i - 1]], to = of[w->chain[i]];
    for (int32_t k = w->items.start[from]; from != to && k < w->items.start[from + 1]; k++)
      work += cross_rest(w, w->items.member[k], to, i);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) work += w->next[t] == FREE ? 0 : pairs;
  return work <= WORK_LIMIT;
}

/* Counts for the operators from lowest to t how many of the tensors they read that go to the segment at number i of the
 * chain; returns how many there are. */
static int32_t count_waits(walk *w, int64_t i, int64_t lowest, int64_t t) {
  const situ_graph *g = w->j->graph;
  int32_t n = 0;
  memset(w->waits + lowest, 0, (size_t)(t - lowest + 1) * sizeof *w->waits);
  for (int32_t x = w->crosses[i]; x >= 0; x = w->next[x], n++)
    for (int64_t k = g->use_start[x]; k < g->use_start[x + 1]; k++)
      if (g->use[k] <= t && w->waits[g->use[k]] == n) w->waits[g->use[k]] = n + 1;
  return n;
}

/* Marks what lies between the transfer into the segment that starts at number i and operator t; operators are numbered
 * so that only those behind the one before i can. Returns the lowest that is marked or not. */
static int64_t mark_between(walk *w, int64_t i, int64_t t) {
  const situ_graph *g = w->j->graph;
  int64_t s = w->chain[i], lowest = i > 0 ? w->chain[i - 1] + 1 : s;
  int32_t n_crossing = count_waits(w, i, lowest, t);
  memset(w->between + lowest, 0, (size_t)(t - lowest + 1));
  w->between[s] = 1;
  for (int64_t v = lowest; v <= t; v++) {
    if (n_crossing > 0 && w->items.of[v] == w->items.of[s] && w->waits[v] == n_crossing) w->between[v] = 1;
    for (int64_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
      if (g->producer[g->in[k]] >= lowest && w->between[g->producer[g->in[k]]] & 1) w->between[v] = 1;
  }
  w->between[t] |= 2;
  for (int64_t v = t; v >= lowest; v--)
    for (int64_t k = g->in_start[v]; w->between[v] & 2 && k < g->in_start[v + 1]; k++)
      if (g->producer[g->in[k]] >= lowest) w->between[g->producer[g->in[k]]] |= 2;
  return lowest;
}

/* The time of a segment, what is marked from `lowest` to t, on a device that its item may use, at the price of the
 * secondary costs. */
static __int128 segment_time(const walk *w, int32_t item, int64_t lowest, int64_t t, int32_t d) {
  __int128 time = 0;
  if (w->sums && w->seen[item]) return 0;
  if (w->sums) return at_price(w, check_item_time(&w->items, w->j, item, d), other_time(w, item, d));
  for (int32_t k = w->items.start[item]; k < w->items.start[item + 1]; k++) {
    int32_t v = w->items.member[k];
    if (v >= lowest && v <= t && w->between[v] == 3) time += problem_time_ns(w->j->problem, v, d);
  }
  return at_price(w, time, 0);
}

/* The top of the stack becomes a transfer there and back from the frame below it, which goes on with number `next`. */
static void fold(walk *w, int64_t next) {
  const frame *x = &w->frames[--w->depth], *below = x - 1;
  int32_t n_devices = w->j->problem->n_devices;
  for (int32_t d = 0; d < n_devices; d++) {
    __int128 min = -1;
    for (int32_t e = 0; below->cost[d] >= 0 && e < n_devices; e++) {
      if (x->cost[e] < 0) continue;
      __int128 cost = x->cost[e] + transfer_price(w, x->first, d, e) + transfer_price(w, next, e, d);
      if (min < 0 || cost < min) min = cost;
    }
    below->cost[d] = min < 0 ? -1 : below->cost[d] + min;
  }
}

/* Takes in the segment of chain[first .. last]; false without memory. */
static bool take_segment(walk *w, int64_t first, int64_t last) {
  const judge *j = w->j;
  int64_t s = w->chain[first], t = w->chain[last];
  int32_t item = w->items.of[s], n_devices = j->problem->n_devices;
  int64_t lowest = w->sums ? s : mark_between(w, first, t);
  if (w->depth >= 2 && w->frames[w->depth - 2].item == item) {
    fold(w, first);
  } else {
    frame *made = &w->frames[w->depth++];
    *made = (frame){.first = first, .item = item};
    made->cost = ARENA_ZERO(j->scratch, __int128, n_devices);
    if (!made->cost) return false;
  }
  frame *here = &w->frames[w->depth - 1];
  for (int32_t d = 0; d < n_devices; d++) {
    if (check_item_time(&w->items, j, item, d) == SITU_NEVER_NS) here->cost[d] = -1;
    if (here->cost[d] < 0) continue;
    here->cost[d] += segment_time(w, item, lowest, t, d);
    if (!w->seen[item]) here->cost[d] += (__int128)w->byte[j->platform->memory_of[d]] * w->weight[item];
  }
  w->seen[item] = true;
  return true;
}

/* The minimum cost of the items that are not on the chain. */
static __int128 rent_of_others(const walk *w) {
  __int128 sum = 0;
  for (int32_t i = 0; i < w->items.n; i++) {
    __int128 min = -1;
    for (int32_t d = 0; !w->seen[i] && d < w->j->problem->n_devices; d++) {
      int64_t time = check_item_time(&w->items, w->j, i, d);
      if (time == SITU_NEVER_NS) continue;
      __int128 rent = (__int128)w->byte[w->j->platform->memory_of[d]] * w->weight[i];
      if (w->sums) rent += at_price(w, time, other_time(w, i, d));
      if (min < 0 || rent < min) min = rent;
    }
    if (min > 0) sum += min;
  }
  return sum;
}

/* The frames that are left, one after the other: the least cost of the last, or -1. */
static __int128 walk_along(walk *w) {
  const judge *j = w->j;
  int32_t n_devices = j->problem->n_devices;
  __int128 min = -1;
  for (int64_t k = 1; k < w->depth; k++) {
    const frame *x = &w->frames[k], *before = x - 1;
    for (int32_t d = 0; d < n_devices; d++) {
      min = -1;
      for (int32_t e = 0; x->cost[d] >= 0 && e < n_devices; e++) {
        if (before->cost[e] < 0) continue;
        __int128 cost = before->cost[e] + transfer_price(w, x->first, e, d);
        if (min < 0 || cost < min) min = cost;
      }
      x->cost[d] = min < 0 ? -1 : x->cost[d] + min;
    }
  }
  min = -1;
  const __int128 *end = w->frames[w->depth - 1].cost;
  for (int32_t d = 0; d < n_devices; d++)
    if (end[d] >= 0 && (min < 0 || end[d] < min)) min = end[d];
  return min;
}

static int64_t add_up(walk *w) {
  const judge *j = w->j;
  __int128 min = walk_along(w);
  if (min < 0) return SITU_NEVER_NS; /* some item can run nowhere: there is no plan */
  min += rent_of_others(w);
  min -= check_rent(j, w->byte);
  if (w->other > 0) min -= at_price(w, 0, min64(j->problem->max_secondary_ns, PROBLEM_MAX_NS)); /* no plan takes more */
  __int128 value = min <= 0 ? 0 : min >> BYTE_BITS;
  return value > PROBLEM_MAX_NS ? SITU_NEVER_NS : (int64_t)value; /* no plan takes so long */
}

static bool make_walk(walk *w) {
  const judge *j = w->j;
  if (!check_items_find(&w->items, j)) return false;
  if (!ARENA_ARRAYS(j->scratch, ZEROS(w->seen, w->items.n), ZEROS(w->between, j->graph->n_operators),
                    ARRAY(w->waits, j->graph->n_operators), ARRAY(w->frames, w->n), ARRAY(w->crosses, w->n),
                    ARRAY(w->next, j->graph->n_tensors)))
    return false;
  w->weight = check_items_held(&w->items, j);
  return w->weight;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  walk w = {.j = j,
            .sums = j->problem->overlap == SITU_OVERLAP_NONE,
            .n = certificate_size(c, "chain"),
            .chain = certificate_get(c, "chain", -1),
            .byte = certificate_get(c, "byte_prices", -1)};
  const int64_t *other = certificate_get(c, "other_price", 1);
  *proved_ns = CERTIFICATE_MALFORMED;
  if (!is_chain(&w)) return SITU_STATUS_OK;
  if (other) w.other = *other;
  *proved_ns = CERTIFICATE_TOO_LONG;
  if ((double)w.n * j->problem->n_devices * j->problem->n_devices > WORK_LIMIT) return SITU_STATUS_OK;
  *proved_ns = 0;
  if (j->problem->objective != SITU_OBJECTIVE_LATENCY || j->problem->n_copies > 1) return SITU_STATUS_OK;
  if (!make_walk(&w)) return fail_no_memory(error);
  *proved_ns = CERTIFICATE_TOO_LONG;
  if (!find_crossings(&w)) return SITU_STATUS_OK;
  for (int64_t first = 0, last; first < w.n; first = last + 1) {
    last = first;
    while (last + 1 < w.n && w.items.of[w.chain[last + 1]] == w.items.of[w.chain[first]]) last++;
    if (!take_segment(&w, first, last)) return fail_no_memory(error);
  }
  *proved_ns = add_up(&w);
  return SITU_STATUS_OK;
}

const certificate_rule unit_chain_rule = {.kind = "unit_chain",
                                          .form = "a chain of operators, each with a tensor for the next",
                                          .models = MODEL_STREAM,
                                          .prove = prove};
