#include "exact/sweep.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

enum { SLOTS = 64 };
typedef unsigned __int128 key;                          /* two bits for each slot */
enum { ALL_OUT = 0, ALL_IN = 1, PARTED = 2, PAID = 3 }; /* PARTED: the producer is still to come */

typedef struct state_table {
  key *keys;        /* [state] of the next layer */
  int32_t n, *slot; /* open addressing, -1 empty */
  uint32_t mask;
} state_table;

typedef struct builder {
  const shares *shares;
  int32_t type;
  int32_t *slot_of;       /* [edge] -1 while it is not open, or forgotten */
  int32_t *passed;        /* [edge] pins seen so far */
  int32_t edge_in[SLOTS]; /* [slot] or -1 */
  state_table now, next;
  sweep *out;
} builder;

static bool table_init(state_table *t, int32_t max_states, arena *a) {
  uint32_t size = 16;
  while (size < (uint32_t)max_states * 4) size *= 2;
  t->mask = size - 1;
  return ARENA_ARRAYS(a, ARRAY(t->keys, (int64_t)max_states * 2), ARRAY(t->slot, size));
}

static void table_clear(state_table *t) {
  t->n = 0;
  memset(t->slot, 0xff, ((size_t)t->mask + 1) * sizeof *t->slot);
}

static int32_t table_put(state_table *t, key k) {
  uint64_t h = ((uint64_t)k ^ (uint64_t)(k >> 64) * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
  for (uint32_t i = (uint32_t)(h >> 32) & t->mask;; i = (i + 1) & t->mask) {
    if (t->slot[i] < 0) {
      t->keys[t->n] = k;
      return t->slot[i] = t->n++;
    }
    if (t->keys[t->slot[i]] == k) return t->slot[i];
  }
}

static int32_t bits_of(key k, int32_t slot) { return (int32_t)(k >> (2 * slot)) & 3; }
static key with_bits(key k, int32_t slot, int32_t bits) {
  return (k & ~((key)3 << (2 * slot))) | (key)(unsigned)bits << (2 * slot);
}

static int64_t price_of(const builder *b, int32_t e) {
  int64_t at = (int64_t)b->type * b->shares->n_edges + e;
  return b->shares->in_ns[at] + b->shares->out_ns[at];
}

/* One edge sees its next pin, class c, in the set or outside: its new bits, and what it costs now. */
static int32_t see(const builder *b, int32_t e, int32_t c, int32_t bits, int32_t in, int64_t *cost_ns) {
  const shares *s = b->shares;
  int64_t at = (int64_t)b->type * s->n_edges + e, in_ns = s->in_ns[at], out_ns = s->out_ns[at];
  if (b->passed[e] == 0) return in ? ALL_IN : ALL_OUT;
  if (bits == PAID) return PAID;
  int64_t min = min64(in_ns, out_ns);
  if (bits == PARTED) {
    if (s->producer[e] != c) return PARTED;
    *cost_ns += (in ? out_ns : in_ns) - min;
    return PAID;
  }
  if (bits == in) return bits;
  if (s->producer[e] > c && in_ns != out_ns) {
    *cost_ns += min;
    return PARTED;
  }
  bool made_inside = s->producer[e] == c ? in : bits == ALL_IN;
  *cost_ns += made_inside ? out_ns : in_ns;
  return PAID;
}

static int32_t to_units(const builder *b, int64_t ns) {
  int64_t units = ns / b->out->unit_ns;
  return units > b->out->limit ? SWEEP_NEVER : (int32_t)units;
}

/* Assigns slots to the edges that begin at c. Those that get none are forgotten. */
static void open_edges(builder *b, int32_t c) {
  const shares *s = b->shares;
  for (int32_t i = s->touch_start[c]; i < s->touch_start[c + 1]; i++) {
    int32_t e = s->touch[i], slot = 0;
    if (s->pin[s->pin_start[e]] != c || price_of(b, e) == 0) continue;
    while (slot < SLOTS && b->edge_in[slot] >= 0) slot++;
    b->out->n_forgotten += slot == SLOTS;
    if (slot == SLOTS) continue;
    b->edge_in[slot] = e;
    b->slot_of[e] = slot;
  }
}

static void leave(builder *b, int32_t slot) {
  b->slot_of[b->edge_in[slot]] = -1;
  b->edge_in[slot] = -1;
}

/* Clears a slot in all states of the next layer and merges those that become equal. */
static void merge_states(builder *b, sweep_arc *arcs, int32_t n_arcs, int32_t slot, int32_t *number) {
  int32_t n = b->next.n;
  key *keys = b->next.keys;
  table_clear(&b->next);
  for (int32_t i = 0; i < n; i++) number[i] = table_put(&b->next, with_bits(keys[i], slot, 0)); /* i >= next.n: safe */
  for (int32_t i = 0; i < n_arcs; i++)
    for (int32_t in = 0; in < 2; in++)
      if (arcs[i].to[in] >= 0) arcs[i].to[in] = number[arcs[i].to[in]];
}

/* Forgets the cheapest open edge. False when none is open. */
static bool forget(builder *b, sweep_arc *arcs, int32_t n_arcs, int32_t *number) {
  int32_t cheapest = -1;
  for (int32_t k = 0; k < SLOTS; k++)
    if (b->edge_in[k] >= 0 && (cheapest < 0 || price_of(b, b->edge_in[k]) < price_of(b, b->edge_in[cheapest])))
      cheapest = k;
  if (cheapest < 0) return false;
  b->out->n_forgotten++;
  leave(b, cheapest);
  merge_states(b, arcs, n_arcs, cheapest, number);
  return true;
}

/* Lists the arcs of layer c. */
static void pass(builder *b, int32_t c, sweep_arc *arcs) {
  const shares *s = b->shares;
  table_clear(&b->next);
  for (int32_t i = 0; i < b->now.n; i++)
    for (int32_t in = 0; in < 2; in++) {
      key k = b->now.keys[i];
      int64_t cost_ns = in ? s->time_ns[(int64_t)b->type * s->n + c] : 0;
      arcs[i].to[in] = -1;
      if (to_units(b, cost_ns) == SWEEP_NEVER) continue;
      for (int32_t j = s->touch_start[c]; j < s->touch_start[c + 1]; j++) {
        int32_t e = s->touch[j], slot = b->slot_of[e];
        if (slot < 0) continue;
        int32_t bits = see(b, e, c, bits_of(k, slot), in, &cost_ns);
        bool closes = b->passed[e] + 1 == s->pin_start[e + 1] - s->pin_start[e];
        k = with_bits(k, slot, closes ? 0 : bits);
      }
      if (to_units(b, cost_ns) == SWEEP_NEVER) continue;
      arcs[i].units[in] = to_units(b, cost_ns);
      arcs[i].to[in] = table_put(&b->next, k);
    }
  for (int32_t j = s->touch_start[c]; j < s->touch_start[c + 1]; j++) {
    int32_t e = s->touch[j];
    b->passed[e]++;
    if (b->slot_of[e] >= 0 && b->passed[e] == s->pin_start[e + 1] - s->pin_start[e]) leave(b, b->slot_of[e]);
  }
}

static bool builder_init(builder *b, int32_t max_states, arena *a) {
  int32_t m = b->shares->n_edges;
  b->slot_of = ARENA_NEW(a, int32_t, m);
  b->passed = ARENA_ZERO(a, int32_t, m);
  for (int32_t k = 0; k < SLOTS; k++) b->edge_in[k] = -1;
  if (!b->slot_of || !b->passed || !table_init(&b->now, max_states, a) || !table_init(&b->next, max_states, a))
    return false;
  for (int32_t e = 0; e < m; e++) b->slot_of[e] = -1;
  return true;
}

bool sweep_find(sweep *out, const shares *s, int32_t type, int64_t max_ns, int32_t max_states, arena *a) {
  REQUIRE(type >= 0 && type < s->n_types && max_ns > 0 && max_states > 0);
  *out = (sweep){.n = s->n, .unit_ns = max_ns / (SWEEP_NEVER - 1) + 1, .first = ARENA_NEW(a, int64_t, s->n + 1)};
  builder b = {.shares = s, .type = type, .out = out};
  out->limit = (int32_t)(max_ns / out->unit_ns);
  int32_t *number = ARENA_NEW(a, int32_t, (int64_t)max_states * 2);
  sweep_arc **layer = ARENA_NEW(a, sweep_arc *, s->n + 1);
  if (!out->first || !number || !layer || !builder_init(&b, max_states, a)) return false;
  table_clear(&b.now);
  table_put(&b.now, 0);
  out->first[0] = 0;
  for (int32_t c = 0; c < s->n; c++) {
    int32_t n = b.now.n;
    layer[c] = ARENA_NEW(a, sweep_arc, n);
    if (!layer[c]) return false;
    open_edges(&b, c);
    pass(&b, c, layer[c]);
    while (b.next.n > max_states && forget(&b, layer[c], n, number)) continue;
    state_table passed = b.now;
    b.now = b.next;
    b.next = passed;
    out->first[c + 1] = out->first[c] + n;
    out->n_widest = n > out->n_widest ? n : out->n_widest;
  }
  out->arc = ARENA_NEW(a, sweep_arc, out->first[s->n] + 1);
  if (!out->arc) return false;
  ENSURE(contracts_long_lists(out->first, s->n, out->first[s->n]));
  for (int32_t c = 0; c < s->n; c++)
    memcpy(out->arc + out->first[c], layer[c], (size_t)(out->first[c + 1] - out->first[c]) * sizeof **layer);
  return true;
}

/* Relaxes a row of the dynamic program: minimum load by sum of prices. Beyond `reach` it is SWEEP_NEVER. */
static void relax(int32_t *restrict to, int32_t *to_reach, const int32_t *restrict from, int32_t reach, int32_t units,
                  int32_t price, int32_t top, int32_t limit) {
  if (units > limit || reach < 0) return;
  while (reach >= 0 && from[reach] > limit - units) reach--;
  if (reach < 0) return;
  int32_t base = from[0] + units, end = reach + price > top ? top : reach + price;
  for (int32_t x = *to_reach + 1; x <= end; x++) to[x] = SWEEP_NEVER;
  if (end > *to_reach) *to_reach = end;
  for (int32_t x = 0; x < price && x <= end; x++) to[x] = to[x] < base ? to[x] : base;
  int32_t *shifted = to + price;
  for (int32_t x = 0; x <= end - price; x++) {
    int32_t load = from[x] + units;
    shifted[x] = shifted[x] < load ? shifted[x] : load;
  }
}

static int32_t n_states(const sweep *s, int32_t layer) {
  return layer == s->n ? 1 : (int32_t)(s->first[layer + 1] - s->first[layer]);
}

/* Computes the rows of the next layer from those of this one. */
static void sweep_step(int32_t *next, int32_t *next_reach, const int32_t *now, const int32_t *reach, const sweep *s,
                       int32_t c, const int32_t *price, int32_t top, int32_t limit) {
  int64_t width = (int64_t)top + 1;
  for (int32_t i = 0; i < n_states(s, c + 1); i++) next_reach[i] = -1;
  for (int32_t i = 0; i < n_states(s, c); i++) {
    const sweep_arc *arc = &s->arc[s->first[c] + i];
    for (int32_t in = 0; in < 2; in++)
      if (arc->to[in] >= 0)
        relax(next + arc->to[in] * width, &next_reach[arc->to[in]], now + i * width, reach[i], arc->units[in],
              !in              ? 0
              : price[c] < top ? price[c]
                               : top,
              top, limit);
  }
}

static void finish(int32_t *min, const int32_t *row, int32_t reach, int32_t top) {
  for (int32_t x = 0; x <= top; x++) min[x] = x <= reach ? row[x] : SWEEP_NEVER;
}

int64_t sweep_curve_cells(const sweep *s, int64_t top) { return 2 * (int64_t)s->n_widest * (top + 2); }
int64_t sweep_best_cells(const sweep *s, int64_t top) { return (s->first[s->n] + 1) * (top + 2); }

void sweep_curve(int32_t *min, const sweep *s, const int32_t *price, int32_t top, int32_t limit, int32_t *scratch) {
  REQUIRE(top >= 0 && limit >= 0 && limit <= s->limit && contracts_within(price, s->n, 0, (int64_t)INT32_MAX + 1));
  int32_t *reach = scratch, *next_reach = reach + s->n_widest;
  int32_t *now = next_reach + s->n_widest, *next = now + (int64_t)s->n_widest * (top + 1);
  now[0] = reach[0] = 0;
  for (int32_t c = 0; c < s->n; c++) {
    sweep_step(next, next_reach, now, reach, s, c, price, top, limit);
    int32_t *row = now, *row_reach = reach;
    now = next;
    reach = next_reach;
    next = row;
    next_reach = row_reach;
  }
  finish(min, now, reach[0], top);
}

/* Finds the state, the choice and the sum from which entry x of a state of layer c + 1 came. */
static bool came_from(int32_t *state, int32_t *x, const int32_t *now, const int32_t *reach, int32_t load,
                      const sweep *s, int32_t c, int32_t price, int32_t top) {
  int32_t to = *state;
  for (int32_t i = 0; i < n_states(s, c); i++) {
    const sweep_arc *arc = &s->arc[s->first[c] + i];
    for (int32_t in = 1; in >= 0; in--) { /* prefers taking the class */
      int32_t before = in ? (*x > price ? *x - price : 0) : *x;
      if (arc->to[in] != to || before > reach[i]) continue;
      if (now[(int64_t)i * (top + 1) + before] + arc->units[in] != load) continue;
      *state = i;
      *x = before;
      return in;
    }
  }
  return false;
}

void sweep_best(bool *taken, int32_t *min, const sweep *s, const int32_t *price, int32_t top, int32_t limit,
                int32_t within, int32_t *scratch) {
  REQUIRE(within >= 0 && within <= limit);
  int64_t width = (int64_t)top + 1;
  int32_t *reach = scratch, *rows = scratch + s->first[s->n] + 1;
  rows[0] = reach[0] = 0;
  for (int32_t c = 0; c < s->n; c++)
    sweep_step(rows + s->first[c + 1] * width, reach + s->first[c + 1], rows + s->first[c] * width, reach + s->first[c],
               s, c, price, top, limit);
  const int32_t *last = rows + s->first[s->n] * width;
  finish(min, last, reach[s->first[s->n]], top);
  int32_t state = 0, x = reach[s->first[s->n]];
  while (x >= 0 && last[x] > within) x--;
  int32_t load = x >= 0 ? last[x] : 0;
  for (int32_t c = s->n - 1; c >= 0; c--) {
    const int32_t *now = rows + s->first[c] * width;
    taken[c] = x >= 0 && came_from(&state, &x, now, reach + s->first[c], load, s, c, price[c], top);
    if (x >= 0) load = now[state * width + x];
  }
}
